# SPDX-License-Identifier: GPL-2.0-or-later
"""One half of a comparison: starts the cluster, submits the jobs on time, waits for their end, and reads
slurmctld's records."""
import dataclasses
import re
import time

from .. import cluster
from ..client import Failed
from . import outcome, site, workload

LIMIT = 1200        # seconds after which a half is given up
_FIELDS = {name: re.compile(rf"\b{name}=(\S+)") for name in
           ("JobId", "JobName", "JobState", "StartTime", "JOB_GRES")}
#: A job that Rubato starts to give its GPUs to a running one.
_HELPER = "rubato-grow"


@dataclasses.dataclass
class Half:
    """flavour: "stock" or "rubato"; late: seconds by which the latest submission was late."""
    flavour: str
    outcomes: list
    late: float
    seconds: float


def _start_of(text):
    try:
        return int(time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%S")))
    except ValueError:
        return 0


_ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL",
          "DEADLINE", "PREEMPTED"}


class Follower:
    """Polls Slurm for the states of the jobs; stores the GPUs of each allocation, which the record of
    its end lacks."""

    def __init__(self, c):
        self.c = c
        self.allocated = {}     # (job id, start) -> GPUs
        self.states = {}
        self.held = {}          # job id -> GPUs it holds now
        self.sizes = {}         # job id -> [(time, GPUs)], an entry for each size that was seen

    def look(self):
        """{job id: state} of all jobs."""
        self.held = {}
        for part in re.split(r"\n\s*\n", self.c.ask("scontrol show job -d", check=False)):
            found = {name: pattern.search(part) for name, pattern in _FIELDS.items()}
            if not found["JobId"] or not found["JobState"] or found["JobName"][1] == _HELPER:
                continue
            number, state = int(found["JobId"][1]), found["JobState"][1]
            self.states[number] = state
            gpus = outcome.gpus_in(found["JOB_GRES"][1]) if found["JOB_GRES"] else 0
            if gpus and state != "PENDING":
                self.allocated[number, _start_of(found["StartTime"][1])] = gpus
                if state not in _ENDED:
                    self.held[number] = gpus
                    sizes = self.sizes.setdefault(number, [])
                    if not sizes or sizes[-1][1] != gpus:
                        sizes.append((time.time(), gpus))
        return self.states


def _words(label, passed, total, follower):
    states = follower.states
    pending = sum(state == "PENDING" for state in states.values())
    ended = sum(state in _ENDED for state in states.values())
    return (f"{label}: {passed:4.0f} s, {total - len(states)} to come, {pending} pending, "
            f"{len(states) - pending - ended} running, {ended} of {total} ended, "
            f"{sum(follower.held.values())} of {workload.GPUS} GPUs busy")


def _run_jobs(c, load, label, progress):
    """Submits and waits; ({job id: Job}, Follower, seconds late)."""
    follower, ids, late = Follower(c), {}, 0.0
    due = list(load.jobs)
    begin = time.monotonic()
    looked = begin - 10
    while True:
        now = time.monotonic()
        if due and now - begin >= due[0].submit:
            job = due.pop(0)
            late = max(late, now - begin - job.submit)
            ids[c.sbatch(site.options(job), site.script(job, load.seed), name=job.name)] = job
            continue
        if now - looked >= 1:
            states = follower.look()
            looked = now
            progress.update(_words(label, now - begin, len(load.jobs), follower))
            ended = sum(state in _ENDED for state in states.values())
            if not due and ended == len(load.jobs):
                return ids, follower, late
        if now - begin > LIMIT:
            left = [f"{ids[i].name} {state}" for i, state in follower.states.items()
                    if state not in _ENDED]
            raise Failed(f"{label}: every job to have ended after {LIMIT} s; left are "
                         + ", ".join(left[:10]))
        time.sleep(min(0.2, max(0.0, begin + due[0].submit - now) if due else 0.2))


def _read(c, ids, follower):
    path = c.path("log/jobcomp.log")

    def all_written():
        found = outcome.read(path, ids, follower.allocated, site.TYPE_OF_NODE, follower.sizes)
        return found if all(i in found and found[i].state == follower.states[i].split("+")[0]
                            for i in ids) else None
    found = c.wait(all_written, 60, "slurmctld to write the record of every job")
    started = c.all_times()
    for number, item in found.items():
        item.by = started[number].by if number in started else ""
    return [found[i] for i in sorted(found)]


def run_half(flavour, load, shape, plugin_dir, label, progress):
    """One run of the workload on a fresh cluster."""
    begin = time.monotonic()
    c = cluster.Cluster(f"compare-{flavour}", shape, flavour=flavour, plugin_dir=plugin_dir,
                        testing=False)
    c.echo = False
    if flavour == "rubato" and not c.has_spank():
        raise cluster.ClusterError(
            f"{c.plugins.path} has no spank_rubato.so that clients can load, and without it jobs "
            "cannot report; build without sanitizers and with libslurm-dev")
    progress.update(f"{label}: starting the cluster")
    with c:
        ids, follower, late = _run_jobs(c, load, label, progress)
        outcomes = _read(c, ids, follower)
        progress.update(f"{label}: stopping the cluster")
    return Half(flavour, outcomes, late, time.monotonic() - begin)
