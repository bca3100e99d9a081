#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of scenarios by release says what the runs said, and of each scenario something."""
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("RUBATO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))


def table(*words):
    """(exit code, standard output, standard error) of test/cluster/releases."""
    made = subprocess.run([sys.executable, "-B", str(SOURCE / "test/cluster/releases"), *words],
                          capture_output=True, text=True, check=False)
    return made.returncode, made.stdout, made.stderr


class Releases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, *results):
        path = self.folder / name
        path.write_text(json.dumps([{"name": scenario, "status": status, "reason": reason}
                                    for scenario, status, reason in results]), encoding="utf-8")
        return str(path)

    def rows(self, *words):
        code, text, errors = table(*words)
        self.assertEqual((code, errors), (0, ""))
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertGreater(len(rows), 100)
        return {row["scenario"]: row for row in rows}

    def test_each_scenario_has_a_cell(self):
        first = self.file("a", ("random-kills-lose-no-job", "failed", "one\ntwo"),
                          ("failing-file-calls-lose-no-job", "passed", None),
                          ("a-submitit-job-has-hints-and-restarts", "skipped", "no submitit"))
        later = self.file("b", ("random-kills-lose-no-job", "passed", None))
        rows = self.rows(f"1.2={first}", f"1.3={first},{later}", "1.4=not run: no source")
        kills = rows["random-kills-lose-no-job"]
        self.assertEqual([kills[r] for r in ("1.2", "1.3", "1.4")], ["fail: one", "pass", "not run: no source"])
        self.assertEqual(kills["tier"], "2")
        self.assertEqual(rows["failing-file-calls-lose-no-job"]["1.3"], "pass")
        cells = [row["1.2"] for row in rows.values()]
        self.assertEqual(cells.count("pass"), 1)
        self.assertEqual(cells.count("not run: no run of it on this release is on record"), len(rows) - 3)
        self.assertEqual(rows["a-submitit-job-has-hints-and-restarts"]["1.2"], "not run: no submitit")

    def test_an_unknown_scenario_is_named(self):
        code, text, errors = table(f"1.2={self.file('a', ('no-such-thing', 'passed', None))}")
        self.assertEqual((code, text), (2, ""))
        self.assertIn("no scenario has the name no-such-thing", errors)

    def test_a_word_without_results_is_named(self):
        code, _, errors = table("1.2")
        self.assertEqual(code, 2)
        self.assertIn("1.2: RELEASE=RESULTS is wanted", errors)


if __name__ == "__main__":
    unittest.main()
