# SPDX-License-Identifier: GPL-2.0-or-later
"""Partitions: jobs in several, tiers, limits, and jobs that Rubato leaves to stock Slurm."""
from cluster import Nodes, Partition, check, scenario, shape

from . import steps
from .authority import STOPPED, runs, stays, start_order, waits_for


def partitions_are_equal(c):
    """Negative control: no partition has a higher tier, a time limit or is down."""
    c.change(partitions=tuple(Partition(part.name, part.nodes, part.default)
                              for part in c.shape.partitions), restart=False)


@scenario(cluster="authority", needs=["rubato"], negative=STOPPED)
def job_in_two_partitions(c):
    """`-p left,right` starts in whichever partition has room, and in the other one next time

    An admin sees: the same submission runs in `right` while `left` is full, and the other way
    round; while both are full it waits, and takes the first that comes free.
    """
    def fill(part, gpus):
        job = c.sbatch(f"-p {part} -N2 --gpus-per-node={gpus} -t 60", "sleep 300")
        runs(c, job)
        return job

    left = fill("left", 4)
    job = c.sbatch("-p left,right --gpus=2 -t 5", "sleep 900")
    seen = runs(c, job)
    check(seen["Partition"] == "right", f"job {job} in right", seen["Partition"])
    c.cmd(f"scancel {left} {job}")
    c.wait_state(job, "CANCELLED", 10)
    c.wait(lambda: not c.ask("squeue -h -t CG -w n[1-2],n[5-6]"), 10, "the nodes to be free")
    right = fill("right", 8)
    job = c.sbatch("-p left,right --gpus=2 -t 5", "sleep 0.2")
    seen = runs(c, job)
    check(seen["Partition"] == "left", f"job {job} in left", seen["Partition"])
    c.wait_state(job, "COMPLETED", 10)
    fill("left", 4)
    job = c.sbatch("-p left,right --gpus=2 -t 5", "sleep 0.2")
    stays(c, job, "PENDING", 1)
    c.cmd(f"squeue -j {job} -o '%.7i %P %T %r'")
    c.cmd(f"scancel {right}")
    seen = runs(c, job)
    check(seen["Partition"] == "right", f"job {job} in right again", seen["Partition"])
    # Only one of the job's partitions is managed: in the other one stock Slurm starts it.
    c.write_rubato_conf(c.shape.rubato_conf.replace("=all", "=left"))
    job = c.sbatch("-p left,right --gpus=2 -t 5", "sleep 0.2")
    seen = c.wait_state(job, "RUNNING,COMPLETING,COMPLETED", 20)
    check(seen["Partition"] == "right", f"job {job} in right, unmanaged", seen["Partition"])


@scenario(cluster="authority", needs=["rubato"], negative=partitions_are_equal)
def partition_tiers_limits_and_state(c):
    """A partition's tier, time limit and state hold for GPU jobs

    An admin sees: the job of the partition with PriorityTier=10 starts before one that was
    submitted earlier; PartitionTimeLimit and PartitionDown as reasons; both start once allowed.
    """
    blocker = c.sbatch("-w n5 --gpus=h100:8 -t 60", "sleep 300")
    runs(c, blocker)
    early = c.sbatch("-w n5 --gpus=h100:8 -t 5", "sleep 0.2")
    late = c.sbatch("-p first -w n5 --gpus=h100:8 -t 5", "sleep 0.2")
    long = c.sbatch("-p brief --gpus=a100:1 -t 5", "sleep 0.2")
    waits_for(c, long, "PartitionTimeLimit")
    c.cmd("scontrol update PartitionName=left State=DOWN")
    c.defer("scontrol update PartitionName=left State=UP")
    down = c.sbatch("-p left --gpus=a100:1 -t 5", "sleep 0.2")
    waits_for(c, down, "PartitionDown")
    c.cmd(f"scancel {blocker}")
    runs(c, early, 20)
    check(start_order(c, [early, late]) == [late, early], "the higher tier to start first",
          f"{start_order(c, [early, late])}")
    stays(c, down, "PENDING", 0.2)
    stays(c, long, "PENDING", 0.2)
    c.cmd("scontrol update PartitionName=left State=UP")
    c.cmd(f"scontrol update JobId={long} TimeLimit=1")
    runs(c, down)
    runs(c, long)


def all_gpu_jobs_pass(c):
    """Negative control: the gate is open, so that managed jobs start under stock Slurm too."""
    c.test_switch = "TestOff=gate"


@scenario(cluster="authority", needs=["rubato"], negative=all_gpu_jobs_pass)
def unmanaged_gpu_jobs_pass_through(c):
    """Shared GPUs, gang-scheduled partitions and het jobs are stock Slurm's, whatever the loop does

    With the loop stopped and the gate shut a plain GPU job waits, and these start all the same.
    An admin sees: shards, `-p gang`, `--gpus-per-socket`, het jobs and jobs of a partition that is
    not in ManagedPartitions run.
    """
    c.write_rubato_conf("Mode=place\nManagedPartitions=main,gang\nHeartbeatTimeout=600\n"
                        + STOPPED)
    plain = c.sbatch("--gpus=a100:1 -t 5", "sleep 0.2")
    jobs = {
        "a shard": c.sbatch("--gres=shard:1 -w n7 -t 5", "sleep 0.2"),
        "gang partition": c.sbatch("-p gang --gpus=v100:1 -t 5", "sleep 0.2"),
        "per socket": c.sbatch("--gpus-per-socket=1 --sockets-per-node=1 -n1 -w n1 -t 5",
                               "sleep 0.2"),
        "other partition": c.sbatch("-p right --gpus=h100:1 -t 5", "sleep 0.2"),
        "CPU job": c.sbatch("-n2 -t 5", "sleep 0.2"),
        "het job": c.sbatch("-n1 -t 5 : --gpus=a100:1 -n1", "sleep 0.2"),
    }
    for what, job in jobs.items():
        c.wait_state(job, "RUNNING,COMPLETING,COMPLETED", 25)
        c.say(f"{what}: started by {c.times(job).by or 'submit'}")
        check(c.times(job).by != "rubato", f"{what}: to be started by stock Slurm")
    seen = c.job(plain)["JobState"]
    check(seen == "PENDING", "the plain GPU job to wait for the loop", seen)
    c.write_rubato_conf(c.shape.rubato_conf)
    runs(c, plain)


shape("slices", nodes=(Nodes("n1", "1g.5gb:4"), Nodes("n2", "a100:4")), load=False)


def whole_gpus(c):
    """Negative control: whole GPUs are requested"""
    submit = c.sbatch
    steps.replace(c, "sbatch", lambda options, *rest: submit(options.replace("1g.5gb", "a100"), *rest))


@scenario(cluster="slices", needs=["rubato"], negative=whole_gpus)
def slices_of_gpus_pass_through(c):
    """A job for MIG slices (`--gpus=1g.5gb:2`) is started by stock Slurm, whatever the loop does

    With the loop stopped and the gate shut a job for whole GPUs waits.
    """
    c.write_rubato_conf("Mode=place\nManagedPartitions=all\nHeartbeatTimeout=600\n" + STOPPED)
    whole = c.sbatch("--gpus=a100:1 -t 5", "sleep 900")
    slices = c.sbatch("--gpus=1g.5gb:2 -t 5", "sleep 900")
    c.wait_state(slices, "RUNNING", 25)
    shown = c.cmd(f"scontrol show job -d {slices} | grep -E 'JobState|GRES'")
    check("JOB_GRES=gpu:1g.5gb:2\n" in shown + "\n", "two slices", shown)
    check(c.times(slices).by != "rubato", "a start by stock Slurm", c.times(slices).by)
    seen = c.job(whole)["JobState"]
    check(seen == "PENDING", "the job for whole GPUs to wait for the loop", seen)
