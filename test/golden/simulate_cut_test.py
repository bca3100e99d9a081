#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A run of `rubato simulate` that is cut by a signal still reports, and says that it was cut."""
import json
import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import golden  # noqa: E402

#: Enough that no machine is through with it before the signal comes: each arrival and end is a round.
JOBS = 20_000
PATIENCE = 300


def workload(folder):
    path = folder / "w.csv"
    rows = [f"j{i},{i},{1 + i % 4},{3000 + i % 977}" for i in range(JOBS)]
    path.write_text("job,arrival_s,gpus,run_s\n" + "\n".join(rows) + "\n")
    return path


class Cut(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rubato-cut-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def start(self, *options):
        """The command with a terminal as its standard error, and the terminal's other end."""
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        command = [golden.program(), "simulate", "-w", str(workload(self.folder)), "-c", "a:4x4",
                   "-p", "rubato-place,fifo", "--json", "--report", str(self.folder / "r.html"), *options]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True,
                                   env={**os.environ, "TZ": "UTC"})
        os.close(theirs)
        self.addCleanup(self.end, process)
        return process, ours

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()

    def read_until(self, terminal, word, seen=b""):
        """What the terminal shows, until `word` is in it; all of it where `word` is None."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if word is not None and word in seen:
                return seen
            if not select.select([terminal], [], [], 1)[0]:
                continue
            try:
                more = os.read(terminal, 4096)
            except OSError:  # the program has closed it
                more = b""
            if not more:
                break
            seen += more
        self.assertIsNone(word, f"no {word} on the terminal: {seen[-300:]}")
        return seen

    def cut_by(self, number):
        process, terminal = self.start()
        seen = self.read_until(terminal, b"jobs, ")
        process.send_signal(number)
        seen = self.read_until(terminal, None, seen)    # first: a full terminal stops who writes to it
        out, _ = process.communicate(timeout=PATIENCE)
        return process.returncode, [json.loads(line) for line in out.splitlines()], seen

    def test_a_run_that_is_ended_reports_what_was_finished(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal=number.name):
                code, runs, seen = self.cut_by(number)
                self.assertEqual(1, code)
                self.assertEqual(["rubato-place"], [run["policy"] for run in runs], "fifo was not started")
                self.assertTrue(runs[0]["cut"])
                self.assertLess(runs[0]["finished"], runs[0]["jobs"])
                page = (self.folder / "r.html").read_text()
                self.assertIn('<p class="cut">Runs cut short, at simulated time: rubato-place at ', page)
                bar, _, after = seen.rpartition(b"\r\x1b[K")
                self.assertIn(b"jobs, ", bar)
                self.assertNotIn(b"jobs, ", after, "the bar is wiped from the terminal")
                self.assertIn(b"interrupted", after)

    def test_a_cut_that_was_asked_for_is_no_failure(self):
        process, terminal = self.start("--until", "400")
        self.read_until(terminal, None)
        out, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual(0, process.returncode)
        runs = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([("rubato-place", True), ("fifo", True)],
                         [(run["policy"], run.get("cut", False)) for run in runs])


if __name__ == "__main__":
    unittest.main()
