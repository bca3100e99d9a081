# SPDX-License-Identifier: GPL-2.0-or-later
"""contrib/python/rubato.py: reports of a training loop, checkpoint requests, and resuming."""
import json
import logging
import os
import pathlib
import signal
import stat
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

SOURCE = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "contrib/python"))
import rubato  # noqa: E402


class Clock:
    """A clock that the test moves."""
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def clean(**more):
    """An environment without variables of Slurm or Rubato except `more`."""
    left = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "RUBATO"))}
    return mock.patch.dict(os.environ, {**left, **more}, clear=True)


def until(condition, seconds=5.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


class Reports(unittest.TestCase):
    def setUp(self):
        self.clock, self.sent = Clock(), []
        patch = clean()
        patch.start()
        self.addCleanup(patch.stop)

    def run_of(self, **words):
        return rubato.training(batch=100, send=self.sent.append, clock=self.clock,
                               **{"signal": None, **words})

    def test_rate_is_that_of_the_time_behind_the_first_step(self):
        run = self.run_of()
        run.step()
        self.clock.now += 2
        run.step()
        run.step(samples=300, loss=0.5)
        run._report()
        self.assertEqual(self.sent, ["report samples=500;rate=200;batch=100;loss=0.5"])
        self.assertEqual(run.rate, 200)

    def test_a_checkpoint_is_no_training_time(self):
        run = self.run_of()
        run.step()
        self.clock.now += 1
        run.step()
        with run.checkpointing():
            self.clock.now += 50
        self.clock.now += 1
        run.step()
        run._report()
        self.assertEqual(self.sent, ["report samples=300;rate=100;batch=100"])

    def test_a_report_within_a_checkpoint(self):
        run = self.run_of()
        run.step()
        self.clock.now += 5
        run.step()
        with run.checkpointing():
            self.clock.now += 5
            run._report()
            self.clock.now += 40
        self.clock.now += 5
        run.step()
        run._report()       # 45 s since the last one, 5 of them training
        self.assertEqual(self.sent, ["report samples=200;rate=20;batch=100",
                                     "report samples=300;rate=20;batch=100"])

    def test_nothing_new_is_no_report(self):
        run = self.run_of()
        run._report()
        run.step()
        run._report()
        self.clock.now += 9
        run._report()
        self.assertEqual(self.sent, [])

    def test_values_that_no_message_takes_are_left_out(self):
        run = self.run_of()
        run.step(loss=1.0)
        self.clock.now += 1
        run.step(loss=float("nan"), forward=-1, iteration=0, noise=float("inf"))
        run._report()
        self.assertEqual(self.sent, ["report samples=200;rate=100;batch=100;loss=1"])

    def test_all_values(self):
        run = self.run_of()
        run.step()
        self.clock.now += 1
        run.step(loss=-2, forward=0.1, iteration=0.25, noise=1e5)
        run._report()
        self.assertEqual(self.sent, ["report samples=200;rate=100;batch=100;loss=-2;forward=0.1;"
                                     "iteration=0.25;noise=100000"])

    def test_what_cannot_be_sent_does_not_reach_the_loop(self):
        def fails(_):
            raise OSError("no way")
        run = rubato.training(batch=1, send=fails, clock=self.clock, signal=None)
        with self.assertLogs("rubato", logging.WARNING) as log:
            for _ in range(3):
                run.step()
                self.clock.now += 1
                run._report()
        self.assertEqual(len(log.output), 1)
        self.assertIn("no way", log.output[0])

    def test_wrong_arguments_do_not_reach_the_loop(self):
        with self.assertLogs("rubato", logging.WARNING):
            with self.run_of(signal="NOSUCH") as run:
                run.step(samples="many")
                run.step(loss="low")
        self.assertFalse(run.should_checkpoint)

    def test_errors_of_the_training_go_through(self):
        with self.assertRaises(ZeroDivisionError):
            with self.run_of():
                1 / 0

    def test_the_thread_reports_by_itself_and_the_end_is_quick(self):
        run = rubato.training(batch=10, send=self.sent.append, signal=None, interval=0.1)
        begin = time.monotonic()
        with run:
            for _ in range(40):
                run.step()
                time.sleep(0.01)
        # The first one may come early, and one comes at the end. On a busy machine this takes longer.
        most = (time.monotonic() - begin) / 0.1 + 2
        self.assertGreaterEqual(len(self.sent), 2)
        self.assertLessEqual(len(self.sent), most)
        self.assertTrue(until(lambda: not run._thread.is_alive(), 2))

    def test_a_sender_that_hangs_does_not_hold_the_loop(self):
        stop = threading.Event()
        begin = time.monotonic()
        with rubato.training(batch=10, send=lambda _: stop.wait(20), signal=None,
                             interval=0.1) as run:
            for _ in range(30):
                run.step()
                time.sleep(0.01)
        self.assertLess(time.monotonic() - begin, 5)
        stop.set()


class Ways(unittest.TestCase):
    """The channel of a report."""
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.calls = self.folder / "calls"
        tool = self.folder / "bin/scontrol"
        tool.parent.mkdir()
        tool.write_text(f'#!/bin/sh\nprintf "%s|" "$@" >> {self.calls}\n', encoding="ascii")
        tool.chmod(tool.stat().st_mode | stat.S_IXUSR)
        self.path = f"{tool.parent}:/usr/bin:/bin"

    def test_the_report_file(self):
        file = self.folder / "report"
        file.write_text("before\n", encoding="ascii")
        with clean(RUBATO_REPORT_FILE=str(file), SLURM_JOB_ID="7", PATH=self.path):
            rubato._send("report a=1")
        self.assertEqual(file.read_text(encoding="ascii"), "before\nreport a=1\n")
        self.assertFalse(self.calls.exists())

    def test_scontrol_where_there_is_no_file(self):
        link = self.folder / "link"
        link.symlink_to(self.folder / "elsewhere")
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        for file in (self.folder / "missing", link, pipe, pathlib.Path(os.devnull)):
            with clean(RUBATO_REPORT_FILE=str(file), SLURM_JOB_ID="7", PATH=self.path):
                rubato._send("report a=1")
        self.assertEqual(self.calls.read_text(encoding="ascii"),
                         "update|JobId=7|Comment=rubato!report a=1|Partition=rubato!|" * 4)
        self.assertFalse((self.folder / "elsewhere").exists())
        self.assertFalse((self.folder / "missing").exists())

    def test_a_checkpoint_after_the_signal_ends_the_lead_time(self):
        for signalled, of_rubato, calls in ((True, True, 1), (False, True, 1), (True, False, 1)):
            more = {"RUBATO_GPUS": "2"} if of_rubato else {}
            with clean(SLURM_JOB_ID="7", PATH=self.path, **more):
                with rubato.training(batch=1, send=lambda _: None) as run:
                    if signalled:
                        os.kill(os.getpid(), signal.SIGUSR1)
                        self.assertTrue(until(lambda: run.should_checkpoint))
                    with run.checkpointing():
                        pass
                    said = "update|JobId=7|Comment=rubato!ack notice=0|Partition=rubato!|" * calls
                    self.assertTrue(until(lambda: self.calls.exists() and
                                          self.calls.read_text(encoding="ascii") == said))
                    time.sleep(0.1)
                    self.assertEqual(self.calls.read_text(encoding="ascii"), said)

    def test_nothing_outside_of_a_job(self):
        with clean(PATH=self.path):
            rubato._send("report a=1")
        self.assertFalse(self.calls.exists())


class Notices(unittest.TestCase):
    """With a program in place of `rubato wait-resize`, which prints what lies in numbered files."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.make("scontrol", f'printf "%s|" "$@" >>{self.folder}/calls')
        # Its answer is in the file of its number; without one it waits.
        self.make("rubato", f"""printf '%s|' "$@" >>{self.folder}/asked; echo >>{self.folder}/asked
n=$(wc -l <{self.folder}/asked)
while ! [ -e {self.folder}/code.$n ]; do sleep 0.02; done
cat {self.folder}/text.$n; exit $(cat {self.folder}/code.$n)""")

    def make(self, name, text):
        program = self.folder / name
        program.write_text("#!/bin/sh\n" + text + "\n", encoding="ascii")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)

    def answer(self, call, code, **document):
        (self.folder / f"text.{call}").write_text(json.dumps(document) if document else "", encoding="ascii")
        new = self.folder / "new"
        new.write_text(str(code), encoding="ascii")
        new.rename(self.folder / f"code.{call}")

    def asked(self):
        path = self.folder / "asked"
        return path.read_text(encoding="ascii").splitlines() if path.exists() else []

    def environment(self, **more):
        return clean(SLURM_JOB_ID="7", PATH=f"{self.folder}:{os.environ['PATH']}", **more)

    def test_one_after_the_other_and_the_answer(self):
        with self.environment(), rubato.training(batch=1, send=lambda _: None, notices=True) as run:
            self.assertIsNone(run.notice)
            self.answer(1, 124)     # nothing came
            self.answer(2, 11, notice=3, step="coming", live=True, gpus=2, leave="n[2-3]", **{"from": 6})
            self.assertTrue(until(lambda: run.notice))
            coming = run.notice
            self.assertEqual((coming.number, coming.step, coming.live, coming.before, coming.gpus, coming.leave,
                              coming.come), (3, "coming", True, 6, 2, "n[2-3]", ""))
            run.answered(coming)
            self.assertIsNone(run.notice)
            calls = self.folder / "calls"
            self.assertTrue(until(lambda: calls.exists() and calls.read_text(encoding="ascii") ==
                                  "update|JobId=7|Comment=rubato!ack notice=3|Partition=rubato!|"))
            self.answer(3, 0, notice=4, step="done", live=True, gpus=2, leave="n[2-3]", **{"from": 6})
            self.assertTrue(until(lambda: run.notice))
            run.answered(coming)    # late: the new one stays
            self.assertEqual(run.notice.number, 4)
            run.answered(run.notice)
            self.assertIsNone(run.notice)
            self.assertTrue(until(lambda: len(self.asked()) == 4))
            first = "wait-resize|--json|--timeout|600|"
            self.assertEqual(self.asked(), [first, first, first + "--after|3|", first + "--after|4|"])
            child = run._notices._child
        self.assertTrue(until(lambda: child.poll() is not None))
        self.assertTrue(until(lambda: not run._notices._thread.is_alive()))

    def test_a_signal_to_the_step_ends_the_command_only(self):
        with self.environment(), self.assertNoLogs("rubato"):
            with rubato.training(batch=1, send=lambda _: None, notices=True) as run:
                self.assertTrue(until(lambda: len(self.asked()) == 1))
                run._notices._child.send_signal(signal.SIGUSR1)
                self.answer(2, 10, notice=1, step="coming", live=False, gpus=2, **{"from": 1})
                self.assertTrue(until(lambda: run.notice))

    def test_the_job_has_ended(self):
        with self.environment(), rubato.training(batch=1, send=lambda _: None, notices=True) as run:
            self.answer(1, 3)
            self.assertTrue(until(lambda: not run._notices._thread.is_alive()))

    def test_trouble_is_logged_once_and_the_training_goes_on(self):
        with mock.patch.object(rubato, "_RETRY", 0.01), self.environment(), self.assertLogs("rubato") as logs:
            with rubato.training(batch=1, send=lambda _: None, notices=True) as run:
                self.answer(1, 4)       # Slurm does not answer
                self.answer(2, 0)       # no document
                self.answer(3, 0, notice=1, step="done", live=True, gpus=2, **{"from": 1})
                self.assertTrue(until(lambda: run.notice))
        self.assertEqual(len(logs.records), 1)
        self.assertIn("wait-resize ended with 4", logs.output[0])

    def test_without_the_command(self):
        (self.folder / "rubato").unlink()
        with clean(SLURM_JOB_ID="7", PATH=str(self.folder)), self.assertLogs("rubato") as logs:
            with rubato.training(batch=1, send=lambda _: None, notices=True) as run:
                self.assertTrue(until(lambda: not run._notices._thread.is_alive()))
        self.assertEqual(len(logs.records), 1)

    def test_nothing_outside_of_a_job(self):
        with clean(PATH=str(self.folder)), rubato.training(batch=1, send=lambda _: None, notices=True) as run:
            self.assertFalse(run._notices._thread.is_alive())
        self.assertEqual(self.asked(), [])


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
        self.assertEqual(rubato._read_nodes(SHOWN, expand),
                         [rubato.Node("n1", 2, 3), rubato.Node("n2", 2, 3), rubato.Node("n3", 1, 1), rubato.Node("c1", 0, 16)])

    def test_gpus_without_a_type(self):
        line = "     Nodes=n1 CPU_IDs=0 Mem=0 GRES=gpu:4(IDX:0-3)\n"
        self.assertEqual(rubato._read_nodes(line, expand), [rubato.Node("n1", 4, 1)])

    def test_numbers_of_a_list(self):
        for text, count in (("0", 1), ("0-3", 4), ("0-1,4,8-9", 5), ("", 0)):
            self.assertEqual(rubato._count(text), count, text)


class Checkpoints(unittest.TestCase):
    def test_the_signal_is_heard_and_the_old_handler_comes_back(self):
        heard = []
        old = signal.signal(signal.SIGUSR1, lambda *_: heard.append(1))
        self.addCleanup(signal.signal, signal.SIGUSR1, old)
        before = signal.getsignal(signal.SIGUSR1)
        with clean(), rubato.training(batch=1, signal="B:USR1@60", send=lambda _: None) as run:
            self.assertFalse(run.should_checkpoint)
            os.kill(os.getpid(), signal.SIGUSR1)
            self.assertTrue(until(lambda: run.should_checkpoint))
            with run.checkpointing():
                self.assertTrue(run.should_checkpoint)
            self.assertFalse(run.should_checkpoint)
        self.assertEqual(heard, [1])
        self.assertEqual(signal.getsignal(signal.SIGUSR1), before)

    def test_a_checkpoint_that_failed_is_still_wanted(self):
        with clean(), rubato.training(batch=1, signal=None, send=lambda _: None) as run:
            run.should_checkpoint = True
            with self.assertRaises(OSError):
                with run.checkpointing():
                    raise OSError("disk full")
            self.assertTrue(run.should_checkpoint)

    def test_progress_outlives_the_run(self):
        with tempfile.TemporaryDirectory() as folder, clean():
            file = os.path.join(folder, "progress.json")
            words = {"batch": 8, "signal": None, "progress_file": file, "send": lambda _: None}
            with rubato.training(**words) as run:
                run.step()
                with run.checkpointing():
                    pass
                run.step()      # lost: behind the checkpoint
            with rubato.training(**words) as run:
                self.assertEqual(run.samples, 8)
            self.assertEqual(os.listdir(folder), ["progress.json"])
            pathlib.Path(file).write_text("{", encoding="ascii")
            with self.assertLogs("rubato", logging.WARNING):
                with rubato.training(samples=3, **words) as run:
                    self.assertEqual(run.samples, 3)


class Environment(unittest.TestCase):
    def test_what_rubato_decided(self):
        with clean(RUBATO_GPUS="4", RUBATO_GPU_TYPE="a100", RUBATO_BATCH="512", RUBATO_PLAN="dp+gc",
                   RUBATO_JOB_TYPE="x", RUBATO_RESTART_REASON="resize", RUBATO_RESIZE_COUNT="2",
                   SLURM_RESTART_COUNT="3"):
            said = rubato.allocation()
            run = rubato.training(batch=256, signal=None)
        self.assertEqual((said.gpus, said.gpu_type, said.batch, said.plan, said.job_type,
                          said.restart_reason, said.resize_count, said.restarts),
                         (4, "a100", 512, "dp+gc", "x", "resize", 2, 3))
        self.assertEqual(run.batch, 512)

    def test_the_shares_of_a_batch(self):
        for text, wanted in (("96,96,32", [96, 96, 32]), ("8", [8]), ("8,x", None), (",", None), ("", None)):
            with clean(RUBATO_BATCH_SHARES=text):
                self.assertEqual(rubato.allocation().batch_shares, wanted, text)
        with clean():
            self.assertIsNone(rubato.allocation().batch_shares)

    def test_nothing_and_nonsense(self):
        for more in ({}, {"RUBATO_GPUS": "x", "RUBATO_BATCH": "-1", "RUBATO_RESIZE_COUNT": ""}):
            with clean(**more):
                said = rubato.allocation()
                run = rubato.training(batch=256, signal=None)
            self.assertEqual((said.gpus, said.gpu_type, said.batch, said.resize_count),
                             (None, None, None, 0))
            self.assertEqual(run.batch, 256)

    def test_the_interval(self):
        for text, seconds in (("5", 5), ("x", 60), ("0", 60), ("nan", 60), ("", 60)):
            with clean(RUBATO_REPORT_INTERVAL=text):
                self.assertEqual(rubato.training(batch=1, signal=None)._interval, seconds, text)


if __name__ == "__main__":
    unittest.main()
