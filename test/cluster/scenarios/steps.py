# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps that several scenario files share; registers no scenario."""
import json
import os
import pathlib
import re
import time

from cluster import Failed, check
from cluster.registry import RUBATO_CONF as PLACE

SOME_SECONDS = "sleep $((RANDOM % 4 + 1)).$((RANDOM % 10))"
HELD = ("JobHeldUser", "JobHeldAdmin", "BadConstraints", "launch_failed_requeued_held")


def conf(*lines):
    """Text of a rubato.conf: every partition managed, plus these lines."""
    return PLACE + "".join(line + "\n" for line in lines)


def published(c, name):
    """A published file; {} if it does not exist yet."""
    try:
        return json.loads(pathlib.Path(c.path("state/rubato/publish", name)).read_text())
    except (OSError, ValueError):
        return {}


def elastic(c):
    """Whether the scenario runs in mode elastic (test/cluster/run --mode elastic)."""
    return stats(c).get("mode") == "elastic"


def stats(c):
    """stats.json as last published; {} before the first time."""
    return published(c, "stats.json")


def published_again(c):
    """Waits until stats.json contains all events so far: for the second write from now on, since the
    first may be in progress."""
    path = c.path("state/rubato/publish/stats.json")

    def after(moment):
        c.wait(lambda: os.path.exists(path) and os.path.getmtime(path) > moment, 60,
               "stats.json to be written")
        return os.path.getmtime(path)
    after(after(time.time()))


def submit_many(c, count, options, script="sleep 900", name="scenario"):
    """Submits `count` equal batch jobs with two submitters (about 150 a second); the job ids."""
    loop = f"sbatch --parsable -o /dev/null -J {name} {options} --wrap '{script}'"
    c.say(f"$ for i in $(seq {count}); do {loop}; done")
    text = c.ask(f"half() {{ for i in $(seq $1); do {loop} || exit 1; done; }}; "
                 f"half {count // 2} & half {count - count // 2}; wait", timeout=120)
    ids = sorted(int(word) for word in re.findall(r"^\d+$", text, re.MULTILINE))
    check(len(ids) == count, f"{count} jobs to be accepted", text[-500:])
    c.say(f"    {ids[0]} ... {ids[-1]}")
    return ids


def fill(c, count, options):
    """An array of `count` jobs that all run at once; opening the latch that is returned ends each
    within seconds, at another moment. The first jobs of a stream."""
    latch = c.latch()
    array = c.sbatch(f"--array=1-{count} {options} -o /dev/null",
                     f"{latch.wait}; {SOME_SECONDS}", name="fill")
    c.wait(lambda: len(c.ask(f"squeue -h -r -j {array} -t R -o %i").split()) == count, 20,
           f"the first {count} jobs of the stream to run")
    return latch


def occupy(c, kind, minutes=60):
    """Takes every GPU of the h100 or a100 nodes with one job a node; returns the job ids."""
    nodes = [name for name in c.shape.node_names()
             if name.startswith("n") and kind in dict(c.shape.node_spec(name).gpu_list())]
    jobs = []
    for name in nodes:
        count = dict(c.shape.node_spec(name).gpu_list())[kind]
        jobs.append(c.sbatch(f"-w {name} -N1 --gpus={kind}:{count} -t {minutes}", "sleep 600",
                             name="occupy"))
    for job in jobs:
        c.wait_state(job, "RUNNING", 20)
    return jobs


def states(c, jobs):
    """{job id: (state, reason)} of squeue for these jobs, in any state."""
    text = c.ask("squeue -h -t all -o '%A|%T|%r' -j " + ",".join(map(str, jobs)))
    found = {}
    for line in text.splitlines():
        job, state, reason = line.split("|", 2)
        found[int(job)] = (state, reason)
    return found


def stock_looks(c, times=1):
    """Waits until stock backfill has gone through the whole queue this many times from now on."""
    def cycles():
        return c.sdiag()["Backfilling stats/Total cycles"]
    before = cycles()       # one may be under way; at midnight slurmctld begins to count anew
    c.wait(lambda: cycles() - before not in range(times + 1), 20,
           "stock backfill to look at the queue")


def is_saved(c, words, timeout=15.0):
    """Waits until slurmctld, which saves its jobs within 5 s of a change, has saved these words."""
    def saved():
        try:
            return words.encode() in pathlib.Path(c.path("state/job_state")).read_bytes()
        except OSError:
            return False
    c.wait(saved, timeout, f"slurmctld to save `{words}`")


def check_waiting(c, jobs):
    """The jobs pend: not held, not rejected, not started."""
    for job in jobs:
        seen = c.job(job)
        check(seen.get("JobState") == "PENDING", f"job {job} to pend", seen.get("JobState"))
        check(seen.get("Priority") != "0" and seen.get("Reason") not in HELD,
              f"job {job} not to be held", f"Priority={seen.get('Priority')} {seen.get('Reason')}")


def started_by(c, job, who, timeout=20.0):
    """Waits for the start of a job in slurmctld.log and checks who started it.

    who: "rubato", or "stock" for any other. Returns the seconds from submit to start.
    """
    def started():
        times = c.times(job)
        if times.start:
            return times
        seen = c.job(job)
        if seen.get("JobState") in ("FAILED", "CANCELLED"):
            raise Failed(f"job {job} to start; it is {seen.get('JobState')}")
        return None
    times = c.wait(started, timeout, f"job {job} to start")
    seconds = times.start - times.submit
    c.say(f"job {job}: started by {times.by}, {seconds:.3f} s after submit")
    check((times.by == "rubato") == (who == "rubato"), f"{who} to start job {job}", times.by)
    return seconds


def loop_is_back(c):
    """`scontrol reconfigure`, then waits for the end of a cycle: nothing hangs."""
    c.reconfigure()
    published_again(c)


def replace(c, name, value):
    """Replaces a call of this cluster for a negative control, until the runner restores it."""
    setattr(c, name, value)
    c.defer(lambda: c.__dict__.pop(name, None))
