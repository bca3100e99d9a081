# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs scenarios in random order on loaded clusters, each with its negative control."""
import argparse
import hashlib
import importlib
import json
import math
import os
import pathlib
import random
import signal
import sys
import time
import traceback

from . import cluster, dbd, heal, loaded, node_tables, parallel, plugins, registry
from .client import Failed
from .proc import ClusterError
from .registry import Skip

HERE = pathlib.Path(__file__).resolve().parent
#: Least seconds that a condition gets before it counts as failed, outside negative controls.
PATIENCE = 120.0


class TimeUp(Exception):
    """The body of a scenario exceeded its time limit."""


class TimeLimit:
    """with TimeLimit(20): raises TimeUp in the main thread after 20 seconds."""

    def __init__(self, seconds):
        self.seconds = seconds

    def _ring(self, *_):
        raise TimeUp(f"not at its end after {self.seconds:g} s")

    def __enter__(self):
        signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)

    def __exit__(self, *_):
        signal.setitimer(signal.ITIMER_REAL, 0)


def load_scenarios(folder):
    """Imports every scenarios/*.py, which registers its scenarios."""
    for file in sorted(pathlib.Path(folder).glob("*.py")):
        if file.stem != "__init__":
            importlib.import_module(f"{__package__}.scenarios.{file.stem}")


def unmet(wanted, flavour, plugin_dir=None):
    """Why a scenario cannot run here, "" if it can."""
    shape = registry.SHAPES.get(wanted.cluster)
    if shape is None:
        return f"no cluster shape named {wanted.cluster}"
    for need in wanted.needs:
        if need == "rubato" and flavour != "rubato":
            return "needs Rubato's plugins, this run is stock Slurm"
        if need == "root" and os.getuid() != 0:
            return "needs root"
        if need == "second-user" and cluster.second_user() is None:
            return "needs a second user (root makes one)"
        if need == "spank" and not plugins.Plugins(plugin_dir).spank():
            return "needs a SPANK plugin that Slurm's clients can load"
    if (shape.dbd or "dbd" in wanted.needs) and dbd.missing():
        return f"needs {', '.join(dbd.missing())}"
    return ""


class Runner:
    def __init__(self, options):
        self.options = options
        self.results = []
        self.restoring = 0.0      # seconds between the scenarios of a cluster
        self.spoiled = False      # a negative control left slurmctld's records wrong

    def run(self, chosen, seed):
        """Runs the scenarios shape by shape; returns the results."""
        print(f"order of seed {seed}", flush=True)

        def place(name):
            """Position of a name by the seed; adding or removing a scenario keeps the order of the
            others."""
            return hashlib.sha256(f"{seed} {name}".encode()).digest()
        for name in sorted({item.cluster for item in chosen}, key=place):
            group = [item for item in chosen if item.cluster == name]
            self._run_group(name, sorted(group, key=lambda item: place(item.name)))
        return self.results

    def _run_group(self, name, group):
        ready = []
        for item in group:
            reason = unmet(item, self.options.flavour, self.options.plugins)
            if reason:
                self._record(item, "skipped", reason, 0.0)
            else:
                ready.append(item)
        if not ready:
            return
        print(f"\n#### cluster {name}: {len(ready)} scenarios", flush=True)
        shape = registry.SHAPES[name]
        c = cluster.Cluster(f"{self.options.name}-{name}",
                            loaded.with_load(shape) if shape.load else shape,
                            flavour=self.options.flavour, plugin_dir=self.options.plugins)
        fit, begin, self.restoring = False, time.monotonic(), 0.0
        try:
            for item in ready:
                try:
                    fit = self._mend(c) if fit else self._start(c)
                except (ClusterError, Failed) as error:
                    fit = False
                    self._record(item, "failed", f"the cluster did not start: {error}", 0.0)
                    continue
                self._run_one(c, item)
        finally:
            c.down(wipe=fit and not self.options.keep)
        print(f"  cluster {name}: {time.monotonic() - begin:.0f} s, of which {self.restoring:.0f} s went into "
              "restoring it", flush=True)

    def _start(self, c):
        """Starts the cluster, or a new one if it exists already; True."""
        start = time.monotonic()
        c.give_up_deferred()
        c.down()
        c.shape, c.flavour, c.plugins = c.base_shape, c.base_flavour, c.base_plugins
        c.test_switch = ""
        c.up()
        heal.wait_loop(c)
        if c.shape.load:
            loaded.ensure(c)
            running, pending = loaded.summary(c)
            print(f"  up in {time.monotonic() - start:.1f} s with {running} running and {pending} "
                  f"pending jobs of background load in {c.base}", flush=True)
        return True

    def _mend(self, c):
        """Restores the cluster for the next scenario, or makes a new one; True."""
        start = time.monotonic()
        try:
            with TimeLimit(300):
                heal.heal(c)
                if self.spoiled:
                    c.restart_ctld()    # it counts the GPUs of jobs anew
                    heal.wait_loop(c)
                self.spoiled = False
                if c.shape.load:
                    loaded.ensure(c)
            self.restoring += time.monotonic() - start
            return True
        except (ClusterError, Failed, TimeUp, OSError) as error:
            print(f"  restoring it failed, so the cluster is made anew: {error}", flush=True)
            return self._start(c)

    def _run_one(self, c, item):
        print(f"\n== {item.name}: {item.title}", flush=True)
        start = time.monotonic()
        c.patience, c.longest_wait = PATIENCE, 0.0
        status, reason = self._body(c, item, max(item.timeout, 4 * PATIENCE))
        c.patience = 0.0
        seconds = time.monotonic() - start
        if status == "passed" and not self.options.no_negative:
            if isinstance(item.negative, str) and self.options.flavour != "rubato":
                print("  (its negative control needs Rubato)", flush=True)
            else:
                status, reason = self._negative(c, item, seconds)
        if status == "failed":
            for line in heal.hang_report(c):
                print("  " + line, flush=True)
            print("  end of slurmctld.log:", *("    " + line for line in
                  c.log_tail(lines=25).splitlines()), sep="\n", flush=True)
        self._record(item, status, reason, seconds)

    def _body(self, c, item, seconds):
        """(status, reason) of one run of the body. A sanitizer's report is a failure, and a node table that does
        not agree with the jobs."""
        before = set(heal.sanitizer_reports(c))
        status, reason = self._outcome(c, item, seconds)
        new = sorted(set(heal.sanitizer_reports(c)) - before)
        if new:
            text = pathlib.Path(new[0]).read_text(errors="replace")
            return "failed", "sanitizer report: " + text[:4000]
        if status == "passed" and item.tables and not c.ctld_may_be_down:
            wrong = node_tables.still_wrong(c)
            if wrong:
                return "failed", "node tables and jobs differ: " + "; ".join(wrong)
        return status, reason

    def _outcome(self, c, item, seconds):
        try:
            with TimeLimit(seconds):
                item.body(c)
        except Skip as skip:
            return "skipped", str(skip)
        except (Failed, TimeUp) as error:
            return "failed", str(error)
        except ClusterError as error:
            return "failed", f"the cluster broke: {error}"
        except Exception:  # pylint: disable=broad-except
            return "failed", "the scenario itself is wrong: " + traceback.format_exc()
        return "passed", ""

    def _negative(self, c, item, took):
        """Runs the body again with its mechanism off; it must fail, in bounded time."""
        bound = min(item.timeout, max(10.0, 2 * took + 5))
        try:
            self._mend(c)
            if isinstance(item.negative, str):
                line = item.negative if "=" in item.negative else f"TestOff={item.negative}"
                print(f"-- {item.name}: negative control: {line}", flush=True)
                c.test_switch = line
                c.write_rubato_conf(c.shape.rubato_conf or "")
            else:
                print(f"-- {item.name}: negative control: {item.negative.__name__}", flush=True)
                item.negative(c)
        except (ClusterError, Failed) as error:
            return "failed", f"its negative control could not begin: {error}"
        # What did not come in three times the longest wait of the run before does not come.
        c.limit = max(20.0, 3 * c.longest_wait)
        status, reason = self._body(c, item, bound)
        c.test_switch, c.limit = "", math.inf
        self.spoiled = item.negative == "shrink-repair"
        if status == "failed" and not reason.startswith(("the cluster broke", "the scenario its",
                                                         "sanitizer")):
            print(f"  it fails, as it must: {reason.splitlines()[0]}", flush=True)
            return "passed", ""
        return "failed", (f"its negative control {status}" if status != "failed" else
                          f"its negative control failed for another cause: {reason}")

    def _record(self, item, status, reason, seconds):
        self.results.append({"name": item.name, "status": status, "reason": reason,
                             "seconds": round(seconds, 3)})
        print(f"{status.upper()} {item.name}" + (f" ({seconds:.1f} s)" if seconds else "")
              + (f": {reason}" if reason else ""), flush=True)


def arguments():
    parser = argparse.ArgumentParser(
        prog="test/cluster/run", description="Runs the scenarios on private Slurm clusters.")
    add = parser.add_argument
    add("--list", action="store_true", help="list the scenarios and end")
    add("--only", action="append", default=[], metavar="NAME",
        help="run this scenario (repeatable; NAME* for a prefix)")
    add("--tier", type=int, choices=(1, 2), default=1,
        help="2: also the scenarios that take minutes (default: 1)")
    add("--seed", metavar="N", type=lambda text: None if text == "random" else int(text),
        help="seed of the order (default: random, which draws one and prints it)")
    add("--json", metavar="FILE", help="write the results there (default: cluster.json in "
        "$RUBATO_RESULTS, if that is set)")
    add("--label", metavar="TEXT", help="what to write before the last line's counts")
    add("--flavour", choices=("rubato", "stock"), default="rubato")
    add("--mode", choices=("place", "elastic"), default="place",
        help="mode of rubato.conf where a scenario has place (default: place)")
    add("--plugins", metavar="DIR", help="Rubato's plugin directory (default: the staged one)")
    add("--no-negative", action="store_true", help="without the negative controls")
    add("--repeat", type=int, default=1, metavar="N",
        help="run everything N times, each time in another order")
    add("--parallel", type=int, default=1, metavar="N", help="N clusters side by side, one a shape")
    add("--keep", action="store_true", help="keep the scratch folders")
    add("--name", default="test", help="name of the scratch folder (default: test)")
    return parser.parse_args()


def choose(names, tier):
    """The scenarios of --only; without it all up to this tier."""
    known = registry.SCENARIOS
    if not names:
        return [item for item in known.values() if item.tier <= tier]
    found = []
    for name in names:
        hits = [item for key, item in known.items()
                if key == name or (name.endswith("*") and key.startswith(name[:-1]))]
        if not hits:
            sys.exit(f"test/cluster/run: no scenario named {name}; --list shows them")
        found += [item for item in hits if item not in found]
    return found


def write_json(path, results):
    if path:
        temporary = pathlib.Path(str(path) + ".new")
        temporary.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        temporary.replace(path)


def main():
    options = arguments()
    sys.stdout.reconfigure(line_buffering=True)
    cluster.handle_signals()
    load_scenarios(HERE / "scenarios")
    registry.set_mode(options.mode)
    chosen = choose(options.only, options.tier)
    if options.list:
        for item in sorted(chosen, key=lambda i: (i.cluster, i.name)):
            print(f"{item.cluster:10} {item.name:36} {item.title}")
        return 0
    if not options.json and os.environ.get("RUBATO_RESULTS"):
        os.makedirs(os.environ["RUBATO_RESULTS"], exist_ok=True)
        options.json = os.path.join(os.environ["RUBATO_RESULTS"], "cluster.json")
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1, 100000)
    print(f"seed {options.seed} (repeat this order with --seed {options.seed})")
    runner = Runner(options)
    try:
        if options.parallel > 1 and len({item.cluster for item in chosen}) > 1:
            cluster.second_user()   # before two runners would make it at once
            runner.results = parallel.run(chosen, options)
        else:
            for number in range(options.repeat):
                runner.run(chosen, options.seed + number)
    except (ClusterError, Failed) as error:
        print(f"test/cluster/run: {error}", file=sys.stderr)
        done = {result["name"] for result in runner.results}
        for item in chosen:
            if item.name not in done:
                runner.results.append({"name": item.name, "status": "failed", "seconds": 0.0,
                                       "reason": f"not run: {error}"})
    except KeyboardInterrupt:
        print("test/cluster/run: interrupted, the clusters are being stopped", file=sys.stderr)
        cluster.stop_all()
        return 130
    finally:
        write_json(options.json, runner.results)
    number = {status: sum(r["status"] == status for r in runner.results)
              for status in ("passed", "failed", "skipped")}
    for result in runner.results:
        if result["status"] == "failed":
            print(f"failed: {result['name']}: {result['reason'].splitlines()[0]}")
    label = f"{options.label}: " if options.label else ""
    print(label + ", ".join(f"{count} {status}" for status, count in number.items()))
    return 1 if number["failed"] else 0
