# SPDX-License-Identifier: GPL-2.0-or-later
"""Constraints that the model of a job lacks: Slurm says where and when, and that is reserved."""
import json
import time

from cluster import check, scenario, shape
from cluster.slurmconf import Nodes

from . import steps
from .stock_rules import known_type

#: A job that waits is never far from a fixed reservation here, and the stream is of one GPU type.
shape("row", rubato_conf=steps.conf("ReserveAfter=5", "JobType=known Shared=yes"),
      nodes=(Nodes("n[1-6]", "a100:4"),))


def _starts_in_stream(c, options, asserts, where=""):
    """A job that Slurm alone can place starts in a stream of jobs that would take each node.

    The odd nodes come free first, and the model would take these. Slurm refuses them. where: options of the stream.
    """
    first, later = c.latch(), c.latch()
    filled = [c.sbatch(f"-N1 -w n{i} --exclusive --gpus-per-node=4 -t 1",
                       (first if i % 2 else later).wait, name="fill") for i in range(1, 7)]
    for job in filled:
        c.wait_state(job, "RUNNING", 20)
    job = c.sbatch(f"{options} -t 5", "sleep 900", name="wide")
    stream = c.sbatch(f"--array=1-900 -N1 {where} --exclusive --gpus-per-node=4 -t 1 -o /dev/null",
                      steps.SOME_SECONDS, name="stream")
    first.open()
    time.sleep(40)   # five refusals take 31 s
    later.open()
    c.wait_state(job, "RUNNING", 110)
    c.cmd(f"squeue -t all -j {job} -o '%.6i %.10T %N %S %r'")
    passed = len(c.ask(f"squeue -h -r -j {stream} -t R,CG,CD -o %T").split())
    c.say(f"waited {c.wait_seconds(job):.1f} s; {passed} jobs of the stream had started before")
    asserts(c.job(job))
    c.cmd(f"scancel {stream}")


@scenario(cluster="row", needs=[], negative="ask-backfill", timeout=300, tier=2)
def contiguous_nodes_in_stream(c):
    """`--contiguous -N3` gets its nodes in a stream of jobs that take any node which comes free"""
    def asserts(seen):
        first, last = seen["NodeList"].strip("n[]").split("-")
        check(int(last) - int(first) == 2, "three nodes in a row", seen["NodeList"])
    _starts_in_stream(c, "--contiguous -N3 --exclusive --gpus-per-node=4", asserts)


#: The same with free nodes of another type behind them.
shape("row-and-others", rubato_conf=steps.conf("ReserveAfter=5"),
      nodes=(Nodes("n[1-6]", "a100:4"), Nodes("n[7-9]", "v100:4")))


@scenario(cluster="row-and-others", needs=["rubato"], negative="ask-backfill", timeout=300, tier=2)
def contiguous_nodes_of_a_hinted_type_in_stream(c):
    """`--contiguous -N3` with `gpu-types=a100` gets three such nodes, though three with v100 are free"""
    def asserts(seen):
        first, last = seen["NodeList"].strip("n[]").split("-")
        check(int(last) - int(first) == 2 and int(last) <= 6, "three a100 nodes in a row", seen["NodeList"])
    _starts_in_stream(c, "--contiguous -N3 --exclusive --gpus-per-node=4 --comment='rubato:gpu-types=a100'", asserts,
                      where="-C a100")


@scenario(cluster="row-and-others", needs=["rubato"], negative="ask-backfill", timeout=300, tier=2)
def contiguous_nodes_of_two_hinted_types_in_stream(c):
    """`--contiguous -N3` with `gpu-types=a100/v100` gets three nodes of one type in such a stream"""
    c.wait_state(c.sbatch("-w n8 --exclusive --gpus-per-node=4 -t 60", "sleep 900", name="fill"), "RUNNING", 20)

    def asserts(seen):
        first, last = seen["NodeList"].strip("n[]").split("-")
        check(int(last) - int(first) == 2 and int(last) <= 6, "three a100 nodes in a row", seen["NodeList"])
    _starts_in_stream(c, "--contiguous -N3 --exclusive --gpus-per-node=4 --comment='rubato:gpu-types=a100/v100'",
                      asserts, where="-C a100")


@scenario(cluster="row", needs=[], negative="ask-backfill", timeout=300, tier=2)
def named_node_and_others_in_stream(c):
    """`-w n2 -N3` gets n2 and two more in the same stream"""
    def asserts(seen):
        names = c.ask(f"scontrol show hostnames {seen['NodeList']}").split()
        check("n2" in names and len(names) == 3, "n2 and two others", names)
    _starts_in_stream(c, "-w n2 -N3 --exclusive --gpus-per-node=4", asserts)


def _start_time(c, job):
    """The start that squeue shows, in seconds of the epoch.

    Each cycle of stock backfill clears it for a moment (backfill.c, _clear_job_estimates).
    """
    def shown():
        start = c.ask(f"squeue -h -j {job} -o %S")
        return 0 if start in ("", "N/A") else int(c.ask(f"date -d {start} +%s"))
    return c.wait(shown, 15, f"a start of job {job} in squeue")


@scenario(cluster="row", needs=["rubato"], negative="reserve", timeout=150)
def promised_start_is_kept_or_explained(c):
    """A promised start is not delayed by a later job; when its node drains, explain says so

    The later job is short by its work and goes first in the order, but its limit is two hours.
    """
    for i in range(2, 7):
        c.wait_state(c.sbatch(f"-w n{i} --exclusive --gpus=4 -t 60", "sleep 900"), "RUNNING", 20)
    c.wait_state(c.sbatch("-w n1 --gpus=1 -t 3", "sleep 900"), "RUNNING", 20)
    whole = c.sbatch("-N1 --gpus=4 -t 5", "sleep 900")
    c.wait(lambda: c.ask(f"squeue -h -j {whole} -o %r") == "RubatoReserved", 60,
           "a promised start")
    promised = _start_time(c, whole)
    c.cmd(f"rubato explain {whole} | grep -A3 Reason")
    known_type(c, "a100", (1, 4), "known", "")
    hinted = "--gpus=1 -t 120 --comment='rubato:job-type=known;samples={}'"
    # Tells how long jobs usually run, so that the job without hints counts as longer than the later one.
    c.sbatch(hinted.format(10**6) + " --begin=now+1hour", "true")
    later = c.sbatch(hinted.format(100), "sleep 900")
    # Mode elastic says what it favours instead.
    reasons = ("RubatoKeptForOthers", "RubatoNext", *(["RubatoGPUs"] if steps.elastic(c) else []))
    c.wait(lambda: c.ask(f"squeue -h -j {later} -o %r") in reasons, 60,
           "the later job to wait, and not to take the reserved node")
    c.cmd(f"squeue -j {whole},{later} -o '%.6i %.10T %S %r'")

    def order_of(job):
        text = c.ask(f"rubato explain {job} --json 2>/dev/null", check=False)
        return json.loads(text)["jobs"][0].get("order") if text.rc == 0 and text else None
    # The later job first: what is read after it is of a plan that has both.
    order = {job: c.wait(lambda job=job: order_of(job), 30, "the job in a plan") for job in (later, whole)}
    check(order[later] < order[whole], "the later job before it in the order", order)
    start = _start_time(c, whole)
    check(start <= promised, "the promised start", (start, promised))
    c.cmd("scontrol update NodeName=n1 State=DRAIN Reason=scenario")
    c.defer("scontrol update NodeName=n1 State=RESUME")
    c.wait(lambda: "later than promised: n1 is not available" in
           " ".join(c.ask(f"rubato explain {whole}").split()), 60, "explain to name the cause")
    c.cmd(f"rubato explain {whole} | grep -A4 Reason")
