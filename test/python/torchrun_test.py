# SPDX-License-Identifier: GPL-2.0-or-later
"""contrib/torchrun/rubato-torchrun: which GPUs a job has, and how it says what is wrong. Live: scenarios/example.py."""
import importlib.machinery
import importlib.util
import os
import pathlib
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

# Of `scontrol show job -d`, Slurm 22.05.
SHOWN = """JobId=7 JobName=train
   NodeList=n[1-3],c1
   JOB_GRES=gpu:a100:5
     Nodes=n[1-2] CPU_IDs=0-1,4 Mem=2000 GRES=gpu:a100:2(IDX:0-1)
     Nodes=n3 CPU_IDs=32 Mem=1000 GRES=gpu:a100:1(IDX:3),shard:0
     Nodes=c1 CPU_IDs=0-15 Mem=1000 GRES=
   MinCPUsNode=1
"""


def expand(names):
    return {"n[1-2]": ["n1", "n2"]}.get(names, [names])


class Nodes(unittest.TestCase):
    def test_gpus_and_cpus_of_each_node(self):
        self.assertEqual(torchrun.parse_nodes(SHOWN, expand),
                         [torchrun.Node("n1", 2, 3), torchrun.Node("n2", 2, 3), torchrun.Node("n3", 1, 1)])

    def test_gpus_without_a_type(self):
        line = "     Nodes=n1 CPU_IDs=0 Mem=0 GRES=gpu:4(IDX:0-3)\n"
        self.assertEqual(torchrun.parse_nodes(line, expand), [torchrun.Node("n1", 4, 1)])

    def test_a_job_without_gpus_has_no_nodes(self):
        self.assertEqual(torchrun.parse_nodes("     Nodes=n1 CPU_IDs=0 Mem=0 GRES=\n", expand), [])

    def test_numbers_of_a_list(self):
        for text, count in (("0", 1), ("0-3", 4), ("0-1,4,8-9", 5), ("", 0)):
            self.assertEqual(torchrun.count_of(text), count, text)


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


if __name__ == "__main__":
    unittest.main()
