# SPDX-License-Identifier: GPL-2.0-or-later
"""What the scenarios about Slurm's authority share: two cluster shapes and a few calls.

Rubato orders and places inside what Slurm allows. These scenarios set something that only Slurm
decides (a limit, a reservation, an owner), give it managed GPU jobs, and read from Slurm that it
held, and from slurmctld.log that Rubato's loop was what started the jobs.
"""
import time

from cluster import Nodes, Partition, check, shape

#: The loop never gives managed jobs back to stock Slurm here, however long it is silent.
CONF = ("Mode=place\nManagedPartitions=all\nHeartbeatTimeout=600\nPublishInterval=0.2\n"
        "GpuType=h100 Speed=3\nGpuType=a100 Speed=2\nGpuType=v100 Speed=1\n")
STOPPED = "TestInject=stop-loop"

#: n8 is a mixed node; n7 also shares its GPUs.
NODES = (Nodes("n[1-4]", "a100:4"), Nodes("n[5-6]", "h100:8"), Nodes("n7", "v100:2", shards=8),
         Nodes("n8", "v100:1,h100:1"))
PARTITIONS = (
    Partition("main", "n[1-8]", default=True),
    Partition("left", "n[1-2]"),
    Partition("right", "n[5-6]"),
    Partition("first", "n[1-8]", extra="PriorityTier=10"),
    Partition("brief", "n[1-8]", extra="MaxTime=1"),
    Partition("owned", "n[3-4]", extra="ExclusiveUser=YES"),
    Partition("gang", "n7", extra="OverSubscribe=FORCE:2"),
)
SCHEDULER = ("bf_interval=3,bf_continue,batch_sched_delay=0,sched_min_interval=100000,"
             "permit_job_expansion")

shape("authority", nodes=NODES, partitions=PARTITIONS, rubato_conf=CONF,
      options={"SchedulerParameters": SCHEDULER, "GresTypes": "gpu,shard"},
      lines=("Licenses=matlab:2",))

shape("accounts", dbd=True, rubato_conf=CONF, options={
    "PreemptType": "preempt/qos", "PreemptMode": "REQUEUE", "PreemptExemptTime": "0",
    "PriorityType": "priority/multifactor", "PriorityCalcPeriod": "1",
    "PriorityWeightFairshare": 100000, "PriorityDecayHalfLife": "1-0"})


def runs(c, job, timeout=10):
    """Waits until a managed job runs; checks that Rubato started it. Returns its fields."""
    seen = c.wait_state(job, "RUNNING,COMPLETING,COMPLETED", timeout)
    # The log line may appear slightly after the state.
    who = c.wait(lambda: c.times(job).by, timeout, f"slurmctld.log to say who started job {job}")
    check(who == "rubato", f"job {job} to be started by Rubato", who)
    return seen


def reason(c, job):
    """What plain squeue says of a job: "PENDING Licenses"."""
    return c.ask(f"squeue -h -j {job} -t all -o '%T %r'", check=False)


def waits_for(c, job, words, timeout=10):
    """Waits until squeue shows a pending job with these words in its reason; prints the row."""
    def poll():
        seen = reason(c, job)
        check(seen.startswith("PENDING"), f"job {job} to wait with reason {words}", seen)
        return words in seen
    try:
        c.wait(poll, timeout, f"squeue to give job {job} the reason {words}")
    finally:
        c.cmd(f"squeue -j {job} -t all -o '%.7i %.10P %.8u %.3t %.6Q %r'", check=False)


def stays(c, job, state="PENDING", seconds=1.5):
    """Checks that a job stays in one state for this many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        seen = c.job(job).get("JobState")
        check(seen == state, f"job {job} to stay {state}", seen)
        time.sleep(0.1)


def start_order(c, jobs):
    """The jobs of a list in the order in which slurmctld started them."""
    return sorted(jobs, key=lambda job: (c.times(job).start, job))
