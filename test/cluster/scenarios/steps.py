# SPDX-License-Identifier: GPL-2.0-or-later
"""Steps that several scenario files share; registers no scenario."""
import json
import os
import pathlib
import re
import time

from cluster import Failed, check

PLACE = "Mode=place\nManagedPartitions=all\n"
HELD = ("JobHeldUser", "JobHeldAdmin", "BadConstraints", "launch_failed_requeued_held")


def conf(*lines):
    """Text of a rubato.conf: every partition managed, and these lines."""
    return PLACE + "".join(line + "\n" for line in lines)


def stats(c):
    """stats.json as the loop published it last; {} before the first time."""
    try:
        return json.loads(pathlib.Path(c.path("state/rubato/publish/stats.json")).read_text())
    except (OSError, ValueError):
        return {}


def submit_many(c, count, options, script="sleep 60", name="scenario"):
    """Submits `count` equal batch jobs with two submitters (about 150 a second); the job ids."""
    loop = f"sbatch --parsable -o /dev/null -J {name} {options} --wrap '{script}'"
    c.say(f"$ for i in $(seq {count}); do {loop}; done")
    text = c.ask(f"half() {{ for i in $(seq $1); do {loop} || exit 1; done; }}; "
                 f"half {count // 2} & half {count - count // 2}; wait", timeout=120)
    ids = sorted(int(word) for word in re.findall(r"^\d+$", text, re.MULTILINE))
    check(len(ids) == count, f"{count} jobs to be accepted", text[-500:])
    c.say(f"    {ids[0]} ... {ids[-1]}")
    return ids


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
    """{job id: (state, reason)} of squeue for these jobs, whatever state they are in."""
    text = c.ask("squeue -h -t all -o '%A|%T|%r' -j " + ",".join(map(str, jobs)))
    found = {}
    for line in text.splitlines():
        job, state, reason = line.split("|", 2)
        found[int(job)] = (state, reason)
    return found


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


def loop_is_back(c, timeout=15.0):
    """`scontrol reconfigure`, and waits for the end of a cycle after it: nothing hangs."""
    path = c.path("state/rubato/publish/stats.json")
    c.reconfigure()
    since = time.time()
    c.wait(lambda: os.path.exists(path) and os.path.getmtime(path) > since, timeout,
           "the loop to be back")


def replace(c, name, value):
    """Replaces a call of this cluster for a negative control, until the runner mends it."""
    setattr(c, name, value)
    c.defer(lambda: c.__dict__.pop(name, None))
