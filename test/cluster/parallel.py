# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the scenarios of several cluster shapes in parallel, each shape in its own runner."""
import contextlib
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

RUN = pathlib.Path(__file__).resolve().parent / "run"
STOP_SECONDS = 300


class Child:
    """A runner of the scenarios of one shape; its output is kept until it ends."""

    def __init__(self, shape, items, options, folder):
        self.shape, self.items = shape, items
        self.log = pathlib.Path(folder, f"{shape}.log")
        self.json = pathlib.Path(folder, f"{shape}.json")
        command = [sys.executable, "-B", str(RUN), "--seed", str(options.seed), "--name",
                   options.name, "--flavour", options.flavour, "--mode", options.mode, "--repeat", str(options.repeat),
                   "--json", str(self.json), "--label", f"cluster {shape}"]
        command += ["--plugins", options.plugins] if options.plugins else []
        command += ["--no-negative"] if options.no_negative else []
        command += ["--keep"] if options.keep else []
        for item in items:
            command += ["--only", item.name]
        with open(self.log, "wb") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT,
                                            stdin=subprocess.DEVNULL, start_new_session=True,
                                            preexec_fn=release_signals)

    def results(self):
        """Its output; a scenario without a result has failed."""
        try:
            found = json.loads(self.json.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            found = []
        done = {result["name"] for result in found}
        return found + [{"name": item.name, "status": "failed", "seconds": 0.0,
                         "reason": f"not run: the runner ended with {self.process.returncode}: {self.last_line()}"}
                        for item in self.items if item.name not in done]

    def last_line(self):
        """Of its output: the error that ended it."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else "no output"

    def progress(self):
        """Lines of ended scenarios, as far as they are written."""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return [line for line in text.splitlines()
                if line.startswith(("PASSED ", "FAILED ", "SKIPPED "))]


def run(chosen, options):
    """Runs all of `chosen`, options.parallel shapes at a time, the longest first; the results."""
    groups = {}
    for item in chosen:
        groups.setdefault(item.cluster, []).append(item)
    most = {name: sum(item.timeout for item in items) for name, items in groups.items()}
    waiting = sorted(groups, key=lambda name: (-most[name], name))
    running, results = [], []
    with tempfile.TemporaryDirectory(prefix="rubato-run-") as folder:
        try:
            while waiting or running:
                while waiting and len(running) < options.parallel:
                    shape = waiting.pop(0)
                    print(f"#### cluster {shape}: {len(groups[shape])} scenarios begin", flush=True)
                    # A signal between the two would leave a runner that is never stopped.
                    with held_signals():
                        running.append([Child(shape, groups[shape], options, folder), 0])
                time.sleep(0.3)
                for entry in list(running):
                    child, shown = entry
                    ended = child.process.poll() is not None
                    lines = child.progress()
                    for line in lines[shown:]:
                        print(f"  {child.shape}: {line}", flush=True)
                    entry[1] = len(lines)
                    if ended:
                        running.remove(entry)
                        results += child.results()
                        print(child.log.read_text(encoding="utf-8", errors="replace"), flush=True)
        finally:
            stop([child.process for child, _ in running])
    return results


def release_signals():
    """In the child: unblocks the signals that held_signals() blocks in the parent."""
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


@contextlib.contextmanager
def held_signals():
    """Delays signals that arrive meanwhile."""
    numbers = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    old = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)


def stop(processes):
    """Sends SIGTERM, so that each runner stops its cluster; waits for that despite further signals."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    old = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for number, handler in old.items():
        signal.signal(number, handler)
