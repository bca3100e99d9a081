# SPDX-License-Identifier: GPL-2.0-or-later
"""Cores with two hardware threads: requests count CPUs, and jobs get whole cores."""
from cluster import Nodes, check, scenario, shape
from cluster.scenarios import steps

shape("threads", nodes=(Nodes("n[1-3]", "a100:4", cpus=32, threads=2),), load=False)


def _running(c, options, cores):
    """Rubato starts the job, on this many cores."""
    job = c.sbatch(options, "sleep 900")
    steps.started_by(c, job, "rubato", 30)
    seen = c.job(job)
    check(int(seen["NumCPUs"]) == 2 * cores, f"job {job} to have {cores} cores", seen["NumCPUs"])
    return job


@scenario(cluster="threads", needs=["rubato"], negative="threads", timeout=120)
def both_threads_of_a_core_are_used(c):
    """Jobs that ask for all CPUs of a node, or for one thread of each core, start and fill it

    A user asks for CPUs as under stock Slurm: 64 of them are the 32 cores of a node.
    """
    whole = _running(c, "-w n1 --gpus=2 -n1 -c64 --mem=1000 -t 5", 32)
    half = [_running(c, f"-w {node} --gpus=1 {cpus} --mem=1000 -t 5", 16)
            for node, cpus in (("n2", "-n1 -c32"), ("n2", "-n4 -c8"), ("n3", "-n1 -c31"),
                               ("n3", "-n16 -c1 --hint=nomultithread"))]
    c.cmd("squeue -o '%i %T %C %N %r'")
    waits = c.sbatch("--gpus=1 -n1 -c2 --mem=1000 -t 5", "true")
    c.wait(lambda: c.job(waits).get("Reason", "None") != "None", 30, "a reason")
    steps.check_waiting(c, [waits])
    c.cmd(f"scancel {whole}")
    steps.started_by(c, waits, "rubato", 30)
    c.cmd("scancel " + " ".join(str(job) for job in half))
