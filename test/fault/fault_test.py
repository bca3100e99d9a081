# SPDX-License-Identifier: GPL-2.0-or-later
"""200 seeds of rubato-fault, and what its checks must find."""
import os
import pathlib
import subprocess
import unittest

PROGRAM = pathlib.Path(os.environ["RUBATO_BUILD_DIR"]) / "test/fault/rubato-fault"


def play(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)


class Faults(unittest.TestCase):
    def test_no_fault_breaks_a_guarantee(self):
        result = play("run")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_a_broken_mechanism_is_found(self):
        """Each negative control fails with the check that is for it, and names the command that replays it."""
        found = {"free": "P2: job", "consent": "without consent", "flight": "are in flight",
                 "expiry": "does not expire", "loss": "is lost"}
        for word, text in found.items():
            with self.subTest(word=word):
                result = play("run", "--seeds", "30", "--break", word)
                self.assertEqual(result.returncode, 1)
                self.assertIn(text, result.stdout)
                self.assertIn(f"--break {word}", result.stdout)

    def test_a_seed_repeats(self):
        words = ("run", "--seeds", "2", "--first", "7", "--only", "killed")
        self.assertEqual(play(*words).stdout, play(*words).stdout)

    def test_points_are_listed(self):
        result = play("list")
        self.assertEqual(result.returncode, 0)
        self.assertIn("node-down ", result.stdout)
        self.assertEqual(play("run", "--only", "nothing").returncode, 2)


if __name__ == "__main__":
    unittest.main()
