# SPDX-License-Identifier: GPL-2.0-or-later
"""Constraints that the model of a job lacks: Slurm says where and when, and that is reserved."""
import time

from cluster import check, scenario, shape
from cluster.slurmconf import Nodes

from . import steps

#: A job that waits is never far from a fixed reservation here, and the stream is of one GPU type.
shape("row", rubato_conf=steps.conf("ReserveAfter=5"),
      nodes=(Nodes("n[1-6]", "a100:4"),))


def _starts_in_stream(c, options, asserts):
    """A job that Slurm alone can place starts in a stream of jobs that would take each node.

    The odd nodes come free first, and the model would take these. Slurm refuses them.
    """
    first, later = c.latch(), c.latch()
    filled = [c.sbatch(f"-N1 -w n{i} --exclusive --gpus-per-node=4 -t 1",
                       (first if i % 2 else later).wait, name="fill") for i in range(1, 7)]
    for job in filled:
        c.wait_state(job, "RUNNING", 20)
    job = c.sbatch(f"{options} -t 5", "sleep 900", name="wide")
    stream = c.sbatch("--array=1-900 -N1 --exclusive --gpus-per-node=4 -t 1 -o /dev/null",
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


@scenario(cluster="row", needs=[], negative="ask-backfill", timeout=300, tier=2)
def named_node_and_others_in_stream(c):
    """`-w n2 -N3` gets n2 and two more in the same stream"""
    def asserts(seen):
        names = c.ask(f"scontrol show hostnames {seen['NodeList']}").split()
        check("n2" in names and len(names) == 3, "n2 and two others", names)
    _starts_in_stream(c, "-w n2 -N3 --exclusive --gpus-per-node=4", asserts)
