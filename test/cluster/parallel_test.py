# SPDX-License-Identifier: GPL-2.0-or-later
"""A signal to the runner of `--parallel` stops the runners of all shapes, and a runner that breaks says why; they are
played by a small program."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
LONG = 120

RUNNER = """
import pathlib, signal, sys, time
folder = pathlib.Path(__file__).parent
label = sys.argv[sys.argv.index("--label") + 1].split()[-1]
def end(number, frame):
    (folder / (label + ".stopped")).touch()
    sys.exit(128 + number)
signal.signal(signal.SIGTERM, end)
(folder / (label + ".started")).touch()
while True:
    time.sleep(1)
"""

PARENT = """
import pathlib, sys, types
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from cluster import cluster, parallel
parallel.RUN = pathlib.Path(sys.argv[2])
cluster.handle_signals()
options = types.SimpleNamespace(parallel=2, seed=1, name="x", flavour="", mode="place", repeat=1, plugins="",
                                no_negative=False, keep=False)
items = [types.SimpleNamespace(name=name, cluster=name, timeout=1) for name in ("one", "two")]
try:
    for result in parallel.run(items, options):
        print(result["name"], result["reason"])
except KeyboardInterrupt:
    sys.exit(130)
"""


class Stops(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.runner = self.folder / "run"
        self.runner.write_text(RUNNER, encoding="utf-8")

    def wait_for(self, *names):
        end = time.monotonic() + LONG
        while not all((self.folder / name).exists() for name in names):
            self.assertLess(time.monotonic(), end, f"no {names} in {os.listdir(self.folder)}")
            time.sleep(0.05)

    def stop_with(self, number):
        """The parent is started as a shell starts its background jobs: SIGINT is ignored."""
        parent = subprocess.Popen(
            [sys.executable, "-c", PARENT, str(TESTS), str(self.runner)],
            stdout=subprocess.DEVNULL,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        self.addCleanup(lambda: (parent.poll() is None and parent.kill(), parent.wait()))
        self.wait_for("one.started", "two.started")
        parent.send_signal(number)
        self.assertEqual(parent.wait(LONG), 128 + number)
        self.wait_for("one.stopped", "two.stopped")

    def test_sigint(self):
        self.stop_with(signal.SIGINT)

    def test_sigterm(self):
        self.stop_with(signal.SIGTERM)

    def test_a_scenario_that_was_not_run_says_what_ended_the_runner(self):
        self.runner.write_text("raise OSError('disk gone')\n", encoding="utf-8")
        said = subprocess.run([sys.executable, "-c", PARENT, str(TESTS), str(self.runner)],
                              capture_output=True, text=True, timeout=LONG, check=True).stdout
        for name in ("one", "two"):
            self.assertIn(f"{name} not run: the runner ended with 1: OSError: disk gone", said)


if __name__ == "__main__":
    unittest.main()
