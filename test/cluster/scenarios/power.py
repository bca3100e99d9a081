# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes that are powered down come up for a GPU job."""
import pathlib

from cluster import Nodes, Partition, check, scenario, shape

from .authority import CONF, STOPPED, runs

shape("cloud", nodes=(Nodes("n[1-2]", "h100:4"), Nodes("c[1-2]", "h100:8", cloud=True)),
      partitions=(Partition("main", "n[1-2],c[1-2]", default=True),),
      rubato_conf=CONF, options={"SuspendTime": 3})


@scenario(cluster="cloud", needs=["rubato"], negative=STOPPED)
def powered_down_nodes_resume(c):
    """A GPU job that only a powered-down node can run makes Slurm resume it, and runs there

    An admin sees: the job in CONFIGURING, ResumeProgram called with the node, then the job
    running; a job that fits a node that is up does not wake one.
    """
    log = pathlib.Path(c.path("log/power.log"))

    def resumed():
        text = log.read_text(encoding="utf-8") if log.exists() else ""
        return [line.split()[2] for line in text.splitlines() if " resume " in line]
    before = resumed()
    up = c.sbatch("--gpus=1 -t 5", "sleep 0.2")
    check(runs(c, up)["NodeList"] in ("n1", "n2"), f"job {up} on a node that is up")
    check(resumed() == before, "no node to be resumed for it", resumed())
    # srun polls for its nodes; a batch job would start at slurmctld's next check of configuring jobs,
    # every 30 s.
    task = c.popen("srun -J scenario --gpus=h100:8 -t 5 printenv CUDA_VISIBLE_DEVICES")
    row = c.wait(lambda: next((r for r in c.jobs("CONFIGURING,RUNNING")
                               if r["nodes"].startswith("c")), None), 8, "a job on a cloud node")
    c.cmd(f"squeue -j {row['id']} -o '%.6i %.12T %N'")
    c.cmd("sinfo -N -n c[1-2] -p main -O NodeList,StateLong,Gres")
    who = c.times(row["id"]).by
    check(who == "rubato", f"Rubato to start job {row['id']}", who)
    c.wait(lambda: len(resumed()) > len(before), 10, "ResumeProgram to be called")
    check(resumed()[-1] == row["nodes"], f"{row['nodes']} to be resumed", resumed()[-1])
    said = c.wait(lambda: task.poll() is not None and task.stdout.read(), 120, "srun to end")
    c.say(*said.splitlines())
    check(task.returncode == 0 and "0,1,2,3,4,5,6,7" in said, "eight devices in the job", said)
