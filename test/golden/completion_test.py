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
SCRIPTS = SOURCE / "contrib/completion/bash"
BASES = ["site", "published", "stats", "models"]


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runner = golden.Runner(golden.program())
        cls.folder = cls.runner.new_folder(BASES)

    @classmethod
    def tearDownClass(cls):
        cls.runner.remove(cls.folder)

    def bash(self, script):
        out, err, code = self.runner.run_in(self.folder, script)
        self.assertEqual((0, b""), (code, err), script)
        return out.decode()

    def offered(self, *words, program="rubato"):
        """What is offered for the last of the words."""
        line = " ".join(shlex.quote(word) for word in (program,) + words)
        script = shlex.quote(str(SCRIPTS / program))
        return set(self.bash(f"source {script}\nCOMP_WORDS=({line})\n"
                             f"COMP_CWORD={len(words)}\n_{program}\nprintf '%s\\n' "
                             '"${COMPREPLY[@]}"').split())

    def offered_rqueue(self, *words):
        return self.offered(*words, program="rqueue")

    def test_commands(self):
        self.assertEqual({"explain"}, self.offered("ex"))
        commands = set(re.findall(r"^  ([a-z][a-z-]*) +[A-Z]", self.bash("rubato --help"), re.M))
        self.assertEqual(commands, {word for word in self.offered("") if word[0] != "-"})

    def test_options_are_those_of_the_program(self):
        for command in ("doctor", "explain", "hints", "hold-size", "metrics", "models", "page", "pause", "rehearse", "report", "resize", "simulate",
                        "snapshot", "stats", "validate", "wait-resize"):
            text = self.bash(f"rubato {command} --help")
            wanted = set(re.findall(r"(?:^  |, |,)(--?[A-Za-z]+(?:-[a-z]+)*)(?=[, \n])",
                                    text.split("Options:")[1], re.M))
            self.assertEqual(wanted, self.offered(command, "-"), command)

    def test_every_hint_is_offered(self):
        """The options of whatif are those of the table of hints, which `rubato hints` prints."""
        keys = set(re.findall(r"in a comment: ([a-z-]+)", self.bash("rubato hints")))
        self.assertIn("gpu-types", keys)
        wanted = {f"--{no}dl-{key}" for key in keys for no in ("", "no-")}
        offered = {word for word in self.offered("whatif", "--") if re.match("--(no-)?dl-", word)}
        self.assertEqual(wanted, offered)

    def test_values(self):
        self.assertEqual({"always", "auto"}, self.offered("doctor", "--color", "a"))
        self.assertEqual({"never"}, self.offered("doctor", "--color", "=", "n"))
        self.assertEqual({"etc"}, self.offered("snapshot", "--replay", "et"))
        self.assertIn("root", self.offered("explain", "-u", "roo"))

    def test_profiles(self):
        self.assertEqual({"ml", "vision"}, self.offered("models", "-A", ""))
        self.assertEqual({"resnet50"}, self.offered("models", "--type", "r"))
        self.assertEqual({"a100"}, self.offered("models", "-g", "a"))
        self.assertEqual({"gpus=", "gpu-types="}, self.offered("hints", "--check", "gpu"))

    def test_rqueue_options_are_those_of_the_program(self):
        wanted = set(re.findall(r"(?<![\w-])--[A-Za-z]+(?:-[a-z]+)*", self.bash("rqueue --help")))
        offered = {word for word in self.offered_rqueue("-") if word.startswith("--")}
        self.assertEqual(set(), wanted - offered)
        for option in offered:
            _, err, _ = self.runner.run_in(self.folder, f"rqueue {option}")
            self.assertNotIn(b"unknown option", err, option)

    def test_rqueue_values(self):
        self.assertEqual({"never"}, self.offered_rqueue("--color", "n"))
        self.assertEqual({"jobid,dlrate", "jobid,dlremaining"},
                         self.offered_rqueue("-O", "jobid,dlr"))
        self.assertEqual({"dlsizes", "dlsamples", "dlstart"}, self.offered_rqueue("-S", "dls"))
        self.assertEqual({"system_comment"}, self.offered_rqueue("-O", "sys"))
        self.assertEqual(set(), self.offered_rqueue("-S", "sys"))
        self.assertEqual({"RUNNING"}, self.offered_rqueue("-t", "R") - {"REQUEUED"})
        self.assertEqual({"nobody,root"}, self.offered_rqueue("-u", "nobody,roo"))

    def test_job_ids(self):
        jobs = self.offered("explain", "")
        self.assertIn("1003", jobs)
        self.assertEqual({job for job in jobs if job.startswith("100")},
                         self.offered("explain", "100"))


if __name__ == "__main__":
    unittest.main()
