#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`rubato simulate --from-sacct` on generated months: replayed waits are those of the history, and waits lead."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import golden  # noqa: E402

SOURCE = pathlib.Path(os.environ.get("RUBATO_SOURCE_DIR", golden.HERE.parent.parent))
WITHIN = 0.10
DAY = 86400


class History(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="rubato-history-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)

    def month(self, *words, name="month.txt"):
        done = subprocess.run([sys.executable, SOURCE / "test/sim/site_month", *words], capture_output=True,
                              text=True, check=True, timeout=300)
        (self.folder / name).write_text(done.stdout)
        return done.stdout

    def simulate(self, *words):
        done = subprocess.run([golden.program(), "simulate", "--from-sacct", "month.txt", "-c", "a100:8x8", *words],
                              cwd=self.folder, capture_output=True, text=True, timeout=600, check=False,
                              env={**os.environ, "TZ": "UTC"})
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return done.stdout

    def runs(self, *words):
        return [json.loads(line) for line in self.simulate("--json", *words).splitlines()]

    def test_replayed_waits_are_those_of_the_month(self):
        for use in ("0.5", "0.75", "0.9"):
            with self.subTest(use=use):
                months = []
                for seed in ("0", "1", "2"):
                    self.month("--use", use, "--seed", seed)
                    months.append([run["waits"] for run in self.runs("-p", "backfill")])
                    self.assertEqual(*(waits["jobs"] for waits in months[-1]))
                real, replay = (sum(month[which]["mean_s"] for month in months) for which in (0, 1))
                self.assertLess(abs(replay / real - 1), WITHIN)

    def test_another_scheduler_waits_otherwise(self):
        """Negative control: a replay by other rules than those of the month."""
        self.month("--use", "0.75", "--seed", "0")
        real, replay = (run["waits"]["mean_s"] for run in self.runs("-p", "fifo"))
        self.assertGreater(abs(replay / real - 1), WITHIN)

    def test_jobs_that_wait_at_its_end_are_counted_as_such(self):
        rows = [row.split("|") for row in self.month("--use", "0.9", "--seed", "0").splitlines()[1:]]
        waiting = sum(row[3] == "Unknown" for row in rows)
        running = sum(row[3] != "Unknown" and row[4] == "Unknown" for row in rows)
        self.assertGreater(waiting, 0)
        text = self.simulate("-p", "backfill")
        self.assertIn(f"Running when it ends: {running} jobs; waiting then: {waiting}; the replay stops there.", text)
        real = self.runs("-p", "backfill")[0]
        self.assertEqual(waiting, real["waits"]["waiting"])
        self.assertEqual(real["jobs"] - waiting, real["finished"] + sum(
            row[3] != "Unknown" and row[4] == "Unknown" for row in rows
            if row[3] >= min(one[4] for one in rows)))

    def test_waits_lead_in_text_and_page(self):
        self.month("--use", "0.75", "--days", "7", "--seed", "1")
        text = self.simulate("--report", "r.html")
        self.assertRegex(text, r"\AFrom 2026-10-\d\d to 2026-10-17 \(6\.\d days\) \d+ jobs waited [\d.]+ h on average\. "
                               r"Under Rubato they would have waited [\d.]+ h, against [\d.]+ h in the replay of stock "
                               r"Slurm \([+-][\d.]+ %")
        self.assertEqual(["POLICY", "ACCOUNT", "GPUS", "JOB"], [line.split()[0] for line in text.splitlines()
                                                                if re.match(r"(POLICY|ACCOUNT|GPUS|JOB) ", line)])
        self.assertLess(text.index("WAITED"), text.index("SUITE"))
        page = (self.folder / "r.html").read_text()
        self.assertLess(page.index("<h2>Time waited</h2>"), page.index("Mean time from arrival to end"))
        self.assertIn("Mean wait by account", page)

    def test_a_cut_run_is_named_and_not_drawn_beside_whole_ones(self):
        self.month("--use", "0.5", "--days", "7", "--seed", "1")
        text = self.simulate("--until", "40000", "--report", "r.html")
        real, *cut = self.runs("--until", "40000")
        self.assertIn("waits", real)
        self.assertEqual(2, len(cut))
        self.assertEqual([False, False], ["waits" in run for run in cut])
        sentence = f"Cut short, so not compared: {', '.join(run['policy'] for run in cut)}."
        self.assertIn(sentence, text)
        page = (self.folder / "r.html").read_text()
        self.assertIn(sentence, page)
        self.assertIn("They are not drawn beside whole runs.", page)
        self.assertEqual({"(real)"}, set(re.findall(r'data-name="([^"]+)"', page)))


if __name__ == "__main__":
    unittest.main()
