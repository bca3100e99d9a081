# SPDX-License-Identifier: GPL-2.0-or-later
"""Network topology: Slurm's topology/tree and --switches."""
import pathlib

from cluster import check, scenario

from . import steps
from .shrink import LONG

TREE = """SwitchName=s1 Nodes=n[1,3]
SwitchName=s2 Nodes=n[2,4]
SwitchName=s3 Nodes=n[5-8]
SwitchName=top Switches=s[1-3]
"""


def without_switches(c):
    """Negative control: --switches is removed from the submission"""
    submit = c.sbatch
    steps.replace(c, "sbatch", lambda options, *rest: submit(options.replace("--switches=1", ""), *rest))


@scenario(cluster="shrink", needs=["rubato"], negative=without_switches, timeout=120)
def a_job_gets_its_number_of_switches(c):
    """`--switches=1` with topology/tree: a job of two nodes starts on nodes of one switch

    Rubato does not know switches: it plans n[1-2], which are of two. Slurm chooses others for the start.
    """
    tree = pathlib.Path(c.path("etc/topology.conf"))
    tree.write_text(TREE, encoding="ascii")
    c.defer(tree.unlink)
    c.change(options={"TopologyPlugin": "topology/tree"})
    c.cmd("scontrol show topology")
    job = c.sbatch("-N2 --gpus-per-node=a100:4 --switches=1 -t 60", "sleep 900")
    c.wait_state(job, "RUNNING", LONG)
    c.cmd(f"squeue -j {job} -o '%i %T %N %r'")
    nodes = c.job(job)["NodeList"]
    check(nodes in ("n[1,3]", "n[2,4]"), "nodes of one switch", nodes)
    check(c.times(job).by == "rubato", "a start by Rubato", c.times(job).by)
    c.cmd(f"scancel {job}")
