#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the bash completion offers."""
import os
import pathlib
import re
import shlex
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import golden  # noqa: E402

SOURCE = pathlib.Path(os.environ.get("RUBATO_SOURCE_DIR", golden.HERE.parent.parent))
SCRIPT = SOURCE / "contrib/completion/bash/rubato"


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runner = golden.Runner(golden.program())
        cls.folder = cls.runner.new_folder(["site", "published"])

    @classmethod
    def tearDownClass(cls):
        cls.runner.remove(cls.folder)

    def bash(self, script):
        out, err, code = self.runner.run_in(self.folder, script)
        self.assertEqual((0, b""), (code, err), script)
        return out.decode()

    def offered(self, *words):
        """What is offered for the last of the words."""
        line = " ".join(shlex.quote(word) for word in ("rubato",) + words)
        return set(self.bash(f"source {shlex.quote(str(SCRIPT))}\nCOMP_WORDS=({line})\n"
                             f"COMP_CWORD={len(words)}\n_rubato\nprintf '%s\\n' "
                             '"${COMPREPLY[@]}"').split())

    def test_commands(self):
        self.assertEqual({"explain"}, self.offered("ex"))
        commands = set(re.findall(r"^  ([a-z]+)  +[A-Z]", self.bash("rubato --help"), re.M))
        self.assertEqual(commands, {word for word in self.offered("") if word[0] != "-"})

    def test_options_are_those_of_the_program(self):
        for command in ("doctor", "explain", "snapshot"):
            text = self.bash(f"rubato {command} --help")
            wanted = set(re.findall(r"(?<![\w-])--?[a-z]+", text.split("Options:")[1]))
            self.assertEqual(wanted, self.offered(command, "-"), command)

    def test_values(self):
        self.assertEqual({"always", "auto"}, self.offered("doctor", "--color", "a"))
        self.assertEqual({"never"}, self.offered("doctor", "--color", "=", "n"))
        self.assertEqual({"etc"}, self.offered("snapshot", "--replay", "et"))
        self.assertIn("root", self.offered("explain", "-u", "roo"))

    def test_job_ids(self):
        jobs = self.offered("explain", "")
        self.assertIn("1003", jobs)
        self.assertEqual({job for job in jobs if job.startswith("100")},
                         self.offered("explain", "100"))


if __name__ == "__main__":
    unittest.main()
