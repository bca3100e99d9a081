#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One test for each case in cases/ (see golden.py)."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import golden  # noqa: E402


class Commands(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.runner = golden.Runner(golden.program())

    def check(self, case):
        result = self.runner.run(case)
        for name in ("exit", "stderr", "stdout"):
            self.assertEqual(golden.expected(case, name), result[name], f"{name} of {case.name}")

    def test_there_are_cases(self):
        self.assertGreaterEqual(len(golden.all_cases()), 60)


def add_cases():
    for case in golden.all_cases():
        name = "test_" + case.name.replace("-", "_")
        setattr(Commands, name, lambda self, case=case: self.check(case))


add_cases()

if __name__ == "__main__":
    unittest.main()
