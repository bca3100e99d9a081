# SPDX-License-Identifier: GPL-2.0-or-later
"""Observe mode: the same small workload with Rubato and with stock Slurm looks the same."""
import re

from cluster import check, scenario

from . import steps
from .authority import start_order

# Words of `scontrol show job` that differ between any two runs of a job.
_VARIES = re.compile(r"JobId=\d+|slurm-\d+\.out|CPU_IDs=\S+|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|"
                     r"RunTime=\S+|Priority=\d+|AllocNode:Sid=\S+|Scheduler=\S+")
RUN = {         # start at once and stay
    "wide": "-w n5 --gpus=h100:8 -t 60",
    "whole": "-w n6 --exclusive --gpus=h100:1 -t 60",
    "small": "-w n1 --gpus=a100:2 -n2 -t 5",
    "cpu": "-w n2 -n4 -t 5",
}
FOLLOW = {      # start when the first two have gone
    "first": "-w n5 --gpus=h100:8 -t 5",
    "second": "-w n6 --gpus=h100:4 -t 5",
    "gang": "-N2 -w n[5-6] --gpus-per-node=h100:2 -t 5",
}
WAIT = {        # wait until they are cancelled
    "held": "--hold --gpus=1 -t 5",
    "later": "--begin=now+1hour --gpus=1 -t 5 --comment=mine",
    "two_parts": "-p left,right --gpus=h100:8 -N2 --nice=10 -t 5",
    "licence": "-L matlab:2 -w n5 --gpus=h100:8 --nice=10 -t 5",
}


def look(c, jobs):
    """Lines Slurm prints of each job, without the words that differ between any two runs."""
    found = {}
    for name, job in jobs.items():
        text = c.ask(f"scontrol show job -d {job}")
        text += "\n" + c.ask(f"squeue -h -j {job} -t all -o 'squeue: %k|%T|%r|%N|%Y'")
        # The partition that Slurm tried last is listed first.
        text = re.sub(r"Partition=(\S+)", lambda m: " ".join(sorted(m[1].split(","))), text)
        found[name] = [line.strip() for line in _VARIES.sub("~", text).splitlines()]
    return found


def play(c):
    """Runs the workload once: (lines of each job while it waited, start order, nodes)."""
    jobs = {name: c.sbatch(options, "sleep 300") for name, options in RUN.items()}
    jobs.update({name: c.sbatch(options, "sleep 0.5") for name, options in FOLLOW.items()})
    jobs.update({name: c.sbatch(options, "sleep 300") for name, options in WAIT.items()})
    for name in RUN:
        c.wait_state(jobs[name], "RUNNING", 15)
        check(c.times(jobs[name]).by != "rubato", f"stock Slurm to start job `{name}`")
    steps.stock_looks(c)
    seen = look(c, jobs)
    c.cmd("squeue -p main -n scenario -o '%.6i %.8T %.20S %.8N %r'")
    c.cmd("scancel " + " ".join(str(jobs[name]) for name in (*WAIT, "wide")))
    c.wait_state(jobs["first"], "COMPLETED", 30)
    c.cmd(f"scancel {jobs['whole']}")
    for name in FOLLOW:
        c.wait_state(jobs[name], "COMPLETED", 30)
        check(c.times(jobs[name]).by != "rubato", f"stock Slurm to start job `{name}`")
    order = start_order(c, [jobs[name] for name in FOLLOW])
    order = [name for job in order for name in FOLLOW if jobs[name] == job]
    nodes = {name: c.job(jobs[name])["NodeList"] for name in FOLLOW}
    c.ask("scancel " + " ".join(str(job) for job in jobs.values()))
    c.wait(lambda: not c.jobs("PENDING,RUNNING,COMPLETING"), 15, "the workload to be gone")
    return seen, order, nodes


@scenario(cluster="authority", needs=["rubato"], negative="Mode=place", timeout=120)
def observe_mode_writes_nothing(c):
    """With Mode=observe and with stock Slurm the same jobs look the same, field by field

    An admin sees: no difference in `scontrol show job -d` and squeue (state, reason, nodes,
    SchedNodeList, StartTime, comments), the same jobs started in the same order on the same nodes.
    """
    c.write_rubato_conf("ManagedPartitions=all\n")      # Mode is observe unless it is named
    rubato = play(c)
    c.use_plugins("stock")
    c.wait(lambda: set(c.ask("sinfo -h -p main -o %T").split()) == {"idle"}, 15, "idle nodes")
    stock = play(c)
    for name, lines in stock[0].items():
        other = rubato[0][name]
        check(lines == other, f"job `{name}` as under stock Slurm: "
              f"{sorted(set(lines) - set(other))}", sorted(set(other) - set(lines)))
    check(rubato[1:] == stock[1:], f"order and nodes of stock Slurm: {stock[1:]}", rubato[1:])
    c.say(f"start order {stock[1]} on {stock[2]}, twice")
