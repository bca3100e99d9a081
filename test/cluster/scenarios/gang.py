# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs over many nodes: a gang starts whole, even in an endless stream of small jobs."""
from cluster import check, scenario, shape
from cluster.scenarios import steps

shape("queue")



def _gang_in_stream(c, options, gpus):
    """Submits a gang into an endless stream of 1-GPU jobs and waits until it runs.

    gpus: what it gets on nodes of each type, {"a100": 4}.
    """
    first = steps.fill(c, 36, "--gpus=1 -t 1")
    latch = c.latch()
    gang = c.sbatch(f"-N8 {options} -t 5", f"srun hostname > /dev/null; {latch.wait}", name="gang")
    stream = c.sbatch("--array=1-2000 --gpus=1 -t 1 -o /dev/null", steps.SOME_SECONDS,
                      name="stream")
    first.open()
    shown = set()

    def started():
        seen = c.job(gang)
        if seen.get("JobState") == "PENDING" and "Rubato" in seen.get("Reason", "") and not shown:
            shown.add(gang)
        row = c.ask(f"squeue -h --start -j {gang} -o '%S %Y'")
        if row and "N/A" not in row and len(shown) < 3:
            shown.add(row)
        return seen.get("JobState") == "RUNNING" and seen
    seen = c.wait(started, 30, "the gang to run")
    passed = c.ask(f"squeue -h -r -j {stream} -t R,CG,CD -o %T").count("\n") + 1
    c.say(*(f"squeue --start said: {row}" for row in shown if row != gang))
    c.cmd(f"scontrol -o show job {gang} | grep -oE ' (JobState|NodeList|NumNodes|StartTime)=[^ ]*'")
    found = c.gpus(gang)
    check(len(found) == 8 and all(count == gpus[kind] for kinds in found.values()
                                  for kind, count in kinds.items()), "its GPUs on 8 nodes", found)
    c.say(f"waited {c.wait_seconds(gang):.1f} s, started by {c.times(gang).by}; {passed} jobs of "
          f"the stream had started before")
    check(seen["NumNodes"] == "8" and c.times(gang).by == "rubato", "a start by Rubato on 8 nodes",
          c.times(gang))
    latch.open()
    c.wait_state(gang, "COMPLETED", 15)
    c.wait(lambda: [1 for row in c.jobs("RUNNING") if row["name"] == "stream"], 10,
           "the stream to go on")


@scenario(cluster="queue", needs=["rubato"], negative="reserve", timeout=90)
def gang_of_8_nodes_in_stream(c):
    """An 8-node gang, one GPU a node, starts in an endless stream of 1-GPU jobs with time limits

    A user sees its start and nodes in `squeue --start`; the small jobs keep running on the rest.
    """
    _gang_in_stream(c, "--gpus-per-node=1 --ntasks-per-node=1",
                    {"a100": 1, "h100": 1, "v100": 1})


@scenario(cluster="queue", needs=["rubato"], negative="reserve", timeout=90)
def gang_of_8_whole_nodes_in_stream(c):
    """A gang of 8 whole nodes starts in the same stream: every node runs empty for it

    A user who asks `--exclusive` gets all GPUs of each node: 4, 8 or 2.
    """
    _gang_in_stream(c, "--exclusive --gpus-per-node=2 --ntasks-per-node=1",
                    {"a100": 4, "h100": 8, "v100": 2})


@scenario(cluster="queue", needs=["rubato"], negative="resv-mask", timeout=60)
def gang_among_long_cpu_jobs(c):
    """Nodes that Rubato reserves for a gang are not given to long CPU jobs that come later

    One node of eight is still busy. The CPU jobs, which Rubato does not manage, would find room on
    the other seven at once and hold them for two hours; a user of the gang sees it start when the
    busy node is free, and the CPU jobs start after it.
    """
    latch = c.latch()
    c.sbatch("-w n1 --exclusive -t 2", latch.wait, name="busy")
    gang = c.sbatch("-N8 --exclusive --gpus-per-node=1 -t 5", "sleep 0.5", name="gang")
    c.wait(lambda: "n[1-8]" in c.ask(f"squeue -h --start -j {gang} -o %Y"), 10,
           "nodes reserved for the gang")
    c.cmd(f"squeue --start -j {gang} -o '%i %j %T %S %Y'")
    cpu = [c.sbatch("-n1 -t 120", "sleep 0.5", name="cpu") for _ in range(6)]
    # Stock Slurm gets the chance to give them the seven free nodes.
    steps.stock_looks(c)
    latch.open()
    c.wait_state(gang, "RUNNING,COMPLETED", 25)
    seen = [c.times(job) for job in cpu]
    c.say(f"the gang waited {c.wait_seconds(gang):.1f} s, started by {c.times(gang).by}")
    check(c.times(gang).by == "rubato", "Rubato to start the gang", c.times(gang))
    for job, times in zip(cpu, seen):
        check(not times.start or times.start >= c.times(gang).start,
              f"CPU job {job} not to start before the gang", times)
        c.wait_state(job, "COMPLETED", 30)
    c.say("CPU jobs waited " + ", ".join(f"{c.wait_seconds(job):.1f} s" for job in cpu))
