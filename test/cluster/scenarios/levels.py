# SPDX-License-Identifier: GPL-2.0-or-later
"""The multi-level queue: of jobs that wait, those that need little of the GPUs go first."""
from cluster import check, scenario

from . import learn


@scenario(cluster="learn", needs=["rubato"], negative="levels", timeout=240)
def short_work_goes_before_long_work(c):
    """A job with much work to do waits for four with little, though it was submitted first

    squeue shows which of them runs when the node comes free.
    """
    kind = learn.a_kind()
    for job in learn.measure(c, kind):
        c.cmd(f"scancel {job}")
        c.wait_state(job, "CANCELLED", 60)
    node = learn.PLACES["v100"][0]
    whole = f"-w {node} --exclusive --gpus=v100:1 -t 60"
    blocker = c.sbatch(whole, "sleep 600")
    c.wait_state(blocker, "RUNNING", 60)
    hints = f"rubato:job-type={kind};samples="
    long = c.sbatch(f"{whole} --comment='{hints}100000000'", "sleep 600")
    short = [c.sbatch(f"{whole} --comment='{hints}10000'", "sleep 600") for _ in range(4)]
    c.wait(lambda: "in level 1 of the queue" in " ".join(c.ask(f"rubato explain {long}").split()),
           60, "the job with much work to be in level 1")
    c.cmd(f"rubato explain {long}")
    c.cmd(f"squeue -j {blocker},{long},{short[0]} -O JobID,State,PriorityLong")
    c.cmd(f"scancel {blocker}")
    c.wait(lambda: c.ask(f"squeue -h -t R -w {node}").strip(), 60, "the next job to start")
    first = c.cmd(f"squeue -h -t R -w {node} -o %i").split()
    check(first == [str(short[0])], f"job {short[0]}, the first of those with little work", first)
    c.cmd(f"squeue -h -j {long} -o '%i %T'")
