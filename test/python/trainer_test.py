# SPDX-License-Identifier: GPL-2.0-or-later
"""contrib/trainer/rubato-trainer: its rates, and a whole run with checkpoint, end and resume."""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
SOURCE = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"])
PROGRAM = SOURCE / "contrib/trainer/rubato-trainer"
_loader = importlib.machinery.SourceFileLoader("trainer", str(PROGRAM))
trainer = importlib.util.module_from_spec(importlib.util.spec_from_loader("trainer", _loader))
_loader.exec_module(trainer)


class Rates(unittest.TestCase):
    def test_what_was_measured_comes_out_again(self):
        for name, (_, batch, kinds) in trainer.JOB_TYPES.items():
            for kind, points in kinds.items():
                for gpus, rate in points.items():
                    nodes = -(-gpus // trainer.GPUS_OF_A_NODE)
                    got = trainer.rate_of(name, kind, gpus, nodes, batch * gpus)
                    self.assertAlmostEqual(got / rate, 1, delta=0.001, msg=(name, kind, gpus))

    def test_more_gpus_are_faster_but_not_more_than_they_are(self):
        for name, (_, _, kinds) in trainer.JOB_TYPES.items():
            for kind in kinds:
                rates = [trainer.rate_of(name, kind, n) for n in range(1, 9)]
                self.assertEqual(rates, sorted(rates), (name, kind))
                # LM was measured 2 % above that on V100.
                self.assertLess(rates[7], 8.2 * rates[0], (name, kind))

    def test_two_nodes_are_slower_than_one(self):
        self.assertLess(trainer.rate_of("resnet50", "a100", 8, 2, 2048),
                        trainer.rate_of("resnet50", "a100", 8, 1, 2048))

    def test_a_small_batch_is_slower(self):
        self.assertLess(trainer.rate_of("resnet50", "a100", 8, 1, 256),
                        trainer.rate_of("resnet50", "a100", 8, 1, 2048))

    def test_plans_cost_what_the_docstring_says(self):
        plain = trainer.rate_of("resnet50", "a100", 1)
        self.assertAlmostEqual(trainer.rate_of("resnet50", "a100", 1, plan="dp+gc"), plain * 0.75)
        self.assertLess(trainer.rate_of("resnet50", "a100", 8, plan="zero"),
                        trainer.rate_of("resnet50", "a100", 8, plan="dp"))

    def test_one_type_of_job_is_faster_on_the_older_gpu(self):
        self.assertGreater(trainer.rate_of("recommendation", "p100", 1),
                           1.5 * trainer.rate_of("recommendation", "v100", 1))
        self.assertLess(trainer.rate_of("transformer", "p100", 1),
                        trainer.rate_of("transformer", "v100", 1))

    def test_a_job_on_several_types_is_as_fast_as_the_slowest(self):
        self.assertEqual(trainer.slowest_of("lm", ["p100", "v100"], 8, 2, None, ""),
                         ("p100", trainer.rate_of("lm", "p100", 8, 2)))
        self.assertEqual(trainer.slowest_of("mpt-7b", ["h100", "v100"], 8, 2, None, ""),
                         ("v100", None))

    def test_what_was_not_measured_has_no_rate(self):
        self.assertIsNone(trainer.rate_of("mpt-7b", "v100", 8))


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.report = self.folder / "report"
        self.report.touch()
        self.saved = self.folder / "saved.json"

    def start(self, *words, held=("--gpu-type", "v100", "--gpus", "2"), more=()):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "RUBATO"))}
        env.update(RUBATO_REPORT_FILE=str(self.report), RUBATO_REPORT_INTERVAL="0.3", **dict(more))
        child = subprocess.Popen(
            [sys.executable, str(PROGRAM), *held, "--checkpoint", str(self.saved),
             "--checkpoint-seconds", "0.1", *words], env=env,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(child.kill)
        return child

    def test_reports_checkpoints_and_resumes(self):
        child = self.start("--samples", "1e9")
        end = time.monotonic() + 20
        while len(self.report.read_text(encoding="ascii").splitlines()) < 2:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        child.send_signal(signal.SIGUSR1)
        while not self.saved.exists():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        child.kill()
        text = child.communicate()[0]
        self.assertRegex(text.splitlines()[0], "emulates")
        line = self.report.read_text(encoding="ascii").splitlines()[1]
        rate = float(re.search("rate=([0-9.e+]+)", line)[1])
        wanted = trainer.rate_of("resnet50", "v100", 2)
        self.assertTrue(wanted / 2 < rate < wanted * 2, (line, wanted))
        done = json.loads(self.saved.read_text(encoding="ascii"))["samples"]
        self.assertGreater(done, 0)
        again = self.start("--samples", str(done + 600)).communicate(timeout=20)[0]
        self.assertIn(f"goes on at {done} samples", again)
        self.assertIn(f"done: {done + 600} samples", again)
        self.assertFalse(self.saved.exists())

    def test_time_scale(self):
        begin = time.monotonic()
        text = self.start("--samples", "1e6", "--time-scale", "500").communicate(timeout=30)[0]
        self.assertIn("times 500", text.splitlines()[0])
        self.assertIn("done: 1000000 samples", text)
        self.assertLess(time.monotonic() - begin, 15)

    def test_it_goes_on_at_the_speed_of_the_gpus_that_it_holds(self):
        job = self.folder / "job"
        asks = self.folder / "scontrol"
        asks.write_text(f'#!/bin/sh\ncat {job}\n', encoding="ascii")
        asks.chmod(0o755)

        def hold(nodes, gpus):
            new = self.folder / "new"
            new.write_text(f"JobId=7\n   NumNodes={nodes} NumCPUs=9\n   JOB_GRES=gpu:v100:{gpus}\n",
                           encoding="ascii")
            new.replace(job)
        hold(2, 8)
        path = f"{self.folder}:{os.environ['PATH']}"
        child = self.start("--samples", "1e9", "--follow-size", "0.2", held=(),
                           more={"PATH": path, "SLURM_JOB_NUM_NODES": "2"})
        self.assertIn("emulates", child.stdout.readline())
        begin = child.stdout.readline()
        wanted = trainer.rate_of("resnet50", "v100", 8, 2, 8 * 256)
        self.assertEqual(begin, f"resnet50 on 8 v100, batch 2048, {wanted:.1f} samples/s\n")
        hold(1, 4)
        wanted = trainer.rate_of("resnet50", "v100", 4, 1, 4 * 256)
        self.assertEqual(child.stdout.readline(),
                         f"resized from 8 to 4 v100, batch 1024, {wanted:.1f} samples/s\n")
        child.kill()
        child.communicate()

    def test_it_loads_before_it_trains(self):
        begin = time.monotonic()
        text = self.start("--samples", "10", "--start-seconds", "2").communicate(timeout=30)[0]
        self.assertIn("done: 10 samples", text)
        self.assertGreaterEqual(time.monotonic() - begin, 2)

    def test_a_type_that_was_never_measured(self):
        child = self.start("--job-type", "mpt-1b")
        text = child.communicate(timeout=20)[0]
        self.assertEqual(child.returncode, 1)
        self.assertIn("mpt-1b was never measured on v100; choose from h100, a100", text)


if __name__ == "__main__":
    unittest.main()
