#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test/sim/full_table keeps finished cells and continues; test/sim/sweep appends to its log."""
import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import golden  # noqa: E402

SIM = pathlib.Path(os.environ.get("RUBATO_SOURCE_DIR", golden.HERE.parent.parent)) / "test/sim"


class Scripts(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rubato-table-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.cells = self.folder / "cells.jsonl"

    def command(self, *words, program=None):
        return [sys.executable, SIM / "full_table", "--program", program or golden.program(), "--cells", self.cells, *words]

    def table(self, *words, program=None, code=0):
        done = subprocess.run(self.command(*words, program=program), capture_output=True, text=True, timeout=600,
                              check=False)
        self.assertEqual(code, done.returncode, done.stderr)
        return done.stdout, done.stderr

    def test_finished_cells_are_kept(self):
        words = ["--suite", "elastic@10", "--policy", "fifo", "--policy", "backfill", "--seeds", "2"]
        text, progress = self.table(*words)
        self.assertIn("3 cells, 0 finished", progress)
        rows = [line.split(" | ") for line in text.splitlines()]
        self.assertEqual(5, len(rows))
        self.assertEqual(["fifo", "backfill", "backfill, exact limits"], [row[1] for row in rows[2:]])
        self.assertIn("±", rows[2][5])
        again, progress = self.table(*words)
        self.assertEqual(text, again)
        self.assertIn("3 cells, 3 finished", progress)
        lines = self.cells.read_text().splitlines()
        figures = json.loads(lines[0])["figures"]
        self.assertEqual(2, figures["seeds"])
        self.assertIn(f"{figures['avg_jct_s'] / 3600:,.2f} ±", text)

        drawn = self.folder / "table.svg"
        self.table(*words, "--picture", drawn)
        root = xml.etree.ElementTree.parse(drawn).getroot()
        tips = [title.text for title in root.iter("{http://www.w3.org/2000/svg}title") if not title.get("id")]
        average = {line["options"][3]: line["figures"]["avg_jct_s"] for line in map(json.loads, lines)
                   if "exact" not in line["options"]}
        self.assertEqual([f"elastic@10, fifo: {average['fifo'] / average['backfill']:.2f}"], tips)

        # A line that a kill cut is run again, and so are cells with other options.
        self.cells.write_text("\n".join(lines[:2]) + "\n" + lines[2][:40])
        self.assertIn("3 cells, 2 finished", self.table(*words)[1])
        self.assertIn("3 cells, 3 finished", self.table(*words)[1])
        self.assertIn("3 cells, 0 finished", self.table(*words[:-1], "3", "--print", code=1)[1])

    def test_cells_of_another_program_are_run_anew(self):
        words = ["--suite", "elastic@10", "--policy", "fifo", "--seeds", "1"]
        self.table(*words)
        other = self.folder / "rubato"
        other.write_text(f"#!/bin/sh\nexec {golden.program()} \"$@\"\n")
        other.chmod(0o755)
        self.assertIn("1 cells, 0 finished", self.table(*words, program=other)[1])
        self.assertIn("1 cells, 1 finished", self.table(*words)[1])
        self.assertEqual(2, len(self.cells.read_text().splitlines()))

    def test_an_interrupt_keeps_what_is_finished(self):
        words = ["--suite", "aiturbo-mix", "--policy", "fifo", "--policy", "rubato-place", "--jobs", "1"]
        with subprocess.Popen(self.command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            for _ in range(600):
                if self.cells.exists() and self.cells.read_text().count("\n") > 0:
                    break
                time.sleep(0.1)
            process.send_signal(signal.SIGTERM)
            errors = process.communicate(timeout=60)[1].decode()
        self.assertEqual(1, process.returncode)
        self.assertIn("call it again to continue", errors)
        finished = self.cells.read_text().count("\n")
        self.assertGreater(finished, 0)
        text, progress = self.table(*words, "--print", code=1)
        self.assertIn(f", {finished} finished", progress)
        self.assertEqual(finished, sum("±" in line for line in text.splitlines()))

    def test_a_cell_that_fails_is_named(self):
        program = self.folder / "rubato"
        program.write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
        program.chmod(0o755)
        self.assertIn("elastic@10 fifo: failed: broken",
                      self.table("--suite", "elastic@10", "--policy", "fifo", program=program, code=1)[1])

    def test_sweep_appends_to_its_log(self):
        log = self.folder / "log.csv"
        words = [sys.executable, SIM / "sweep", "--program", golden.program(), "--log", log, "--shape", "small", "--seeds", "2",
                 "--information", "known"]
        for conf in ((), ("--conf", "ReserveAfter=0")):
            subprocess.run([*words, *conf, f"with {len(conf)} words"], check=True, capture_output=True, timeout=600)
        with open(log, encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([("with 0 words", "small")] * 2 + [("with 2 words", "small")] * 2,
                         [(row["setting"], row["shape"]) for row in rows])
        self.assertEqual({"2"}, {row["seeds"] for row in rows})
        self.assertNotEqual(rows[0]["p99_jct_s"], rows[2]["p99_jct_s"])


if __name__ == "__main__":
    unittest.main()
