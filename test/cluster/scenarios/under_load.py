# SPDX-License-Identifier: GPL-2.0-or-later
"""The load of the GPUs decides how many of them a job starts with."""
from cluster import Nodes, check, scenario, shape

from . import steps
from .learn import explained, learnt_cells
from .sizes import total

shape("under-load", load=False, nodes=(Nodes("n1", "a100:8"),),
      rubato_conf=steps.conf("MessageInterval=0", "WarmUp=0"))


def measure(c, kind):
    """Jobs of type `kind` report that four GPUs are 1.5 times as fast as one."""
    jobs = []
    for gpus, rate in ((1, 10), (4, 15)):
        job = c.sbatch(f"--gpus={gpus} -t 60 --comment='rubato:job-type={kind}'", "sleep 600")
        c.wait_state(job, "RUNNING", 60)
        c.cmd(f"scontrol update JobId={job} Comment='rubato!report samples=10;rate={rate};batch=8'")
        jobs.append(job)
    c.expect(lambda: learnt_cells(c, kind), 2, f"the reports of {kind} to be learnt", 60)
    c.cmd("scancel " + " ".join(map(str, jobs)))


@scenario(cluster="under-load", needs=["rubato"], negative="load", timeout=240)
def a_job_starts_small_where_much_arrives(c):
    """A job that offers one to four GPUs takes four while little arrives, and one after a burst

    Both times all GPUs are free and no job waits; explain names the load.
    """
    kind = c.fresh_name("thrifty")
    measure(c, kind)
    c.wait(lambda: not c.ask("squeue -h"), 60, "no job to be left")

    def start(samples):
        return c.sbatch(f"--gpus=1 -t 1000 --comment='rubato:job-type={kind};samples={samples};gpus=1-4'",
                        "sleep 600")
    first = start(100)
    c.wait_state(first, "RUNNING", 60)
    c.cmd(f"squeue -h -j {first} -O JobID,State,tres-per-job:40")
    check(total(c, first) == 4, "four GPUs while little arrives", c.gpus(first))
    c.cmd(f"scancel {first}")
    burst = [c.sbatch(f"--gpus=1 -t 1000 --comment='rubato:job-type={kind};samples=30000'", "sleep 600")
             for _ in range(8)]
    for job in burst:
        c.wait_state(job, "RUNNING", 60)
    c.cmd("scancel " + " ".join(map(str, burst)))
    c.wait(lambda: not c.ask("squeue -h"), 60, "all GPUs to be free again")
    second = start(30000)
    c.wait_state(second, "RUNNING", 60)
    c.cmd(f"squeue -h -j {second} -O JobID,State,tres-per-job:40")
    facts = c.wait(lambda: explained(c, second), 60, "the decision of the running job")["facts"]
    c.cmd(f"rubato explain {second}")
    check(total(c, second) == 1, "one GPU after a burst of arrivals", c.gpus(second))
    check(float(facts.get("load", 0)) > 1, "a load above 1", facts)
