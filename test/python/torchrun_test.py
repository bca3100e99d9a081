# SPDX-License-Identifier: GPL-2.0-or-later
"""contrib/torchrun/rubato-torchrun: its options, and how it says what is wrong. Live: scenarios/example.py."""
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"])
PROGRAM = SOURCE / "contrib/torchrun/rubato-torchrun"
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("rubato_torchrun", str(PROGRAM))
spec = importlib.util.spec_from_loader(loader.name, loader)
torchrun = importlib.util.module_from_spec(spec)
loader.exec_module(torchrun)

class Words(unittest.TestCase):
    def test_options_end_at_the_program(self):
        options = torchrun.parse(["--torchrun", "torchrun --max_restarts=3", "train.py", "--save-seconds", "5"])
        self.assertEqual((options.program, options.arguments, options.save_seconds, options.torchrun),
                         ("train.py", ["--save-seconds", "5"], 60, ["torchrun", "--max_restarts=3"]))

    def test_outside_of_a_job(self):
        env = {key: value for key, value in os.environ.items() if not key.startswith("SLURM")}
        made = subprocess.run([sys.executable, "-B", str(PROGRAM), "train.py"], env=env, capture_output=True, text=True,
                              check=False)
        self.assertEqual((made.returncode, made.stdout), (1, ""))
        self.assertEqual(made.stderr, "rubato-torchrun: not in a job (SLURM_JOB_ID is not set); call it in a batch "
                         "script\n")

    def test_what_slurm_says(self):
        env = {**os.environ, "SLURM_JOB_ID": "7", "PATH": str(SOURCE / "no/such/folder")}
        made = subprocess.run([sys.executable, "-B", str(PROGRAM), "train.py"], env=env, capture_output=True, text=True,
                              check=False)
        self.assertEqual((made.returncode, made.stdout), (1, ""))
        # The thread that follows the notices says meanwhile that there is no rubato either, before this or after it.
        lines = made.stderr.splitlines()
        self.assertEqual([line for line in lines if not re.match("rubato-torchrun: .*'(scontrol|rubato)'$", line)], [])
        self.assertEqual(sum("scontrol" in line for line in lines), 1)


if __name__ == "__main__":
    unittest.main()
