# SPDX-License-Identifier: GPL-2.0-or-later
"""Order and holds: Nice, priorities, top, hold, requeue, begin times, deadlines, two users."""
import datetime
import re

from cluster import check, scenario, second_user

from .authority import STOPPED, reason, runs, stays, start_order, waits_for


def nice_and_top_are_ignored(c):
    """Negative control: every job keeps its priority from submission."""
    original, submit = c.cmd, c.sbatch
    c.cmd = lambda command, **options: original(
        re.sub(r"^scontrol (top|update JobId=\S+ Priority)", r"true \1", command), **options)
    c.sbatch = lambda options, *rest, **more: submit(
        re.sub(r"--nice=\d+", "", options), *rest, **more)
    c.defer(lambda: (delattr(c, "cmd"), delattr(c, "sbatch")))


@scenario(cluster="authority", needs=["rubato"], negative=nice_and_top_are_ignored)
def priorities_order_gpu_jobs(c):
    """Nice, `scontrol update Priority=` and `scontrol top` order the waiting GPU jobs

    An admin sees: squeue sorted by priority, and the jobs start in that order, also before one
    that had a reservation when it was the first.
    """
    blocker = c.sbatch("-w n5 --gpus=h100:8 -t 60", "sleep 300")
    runs(c, blocker)
    ask = "-w n5 --gpus=h100:8 -t 5"

    def is_reserved(job):
        c.wait(lambda: c.job(job).get("StartTime") != "Unknown", 5, f"a start time of job {job}")

    def raise_to(job, above):
        priority = int(c.ask(f"squeue -h -j {nice} -o %Q")) + above
        c.cmd(f"scontrol update JobId={job} Priority={priority}")
    nice = c.sbatch(f"{ask} --nice=50", "sleep 0.1")
    plain = c.sbatch(ask, "sleep 0.1")
    is_reserved(plain)
    topped, raised, highest = (c.sbatch(ask, "sleep 0.1") for _ in range(3))
    raise_to(highest, 1000)
    is_reserved(highest)
    c.cmd(f"scontrol top {topped}")
    raise_to(raised, 500)
    raise_to(highest, 1000)
    c.cmd("squeue -h -t PD -p main -n scenario -o '%.10Q %.6i %S %r' | sort -rn")
    jobs = {"nice": nice, "plain": plain, "topped": topped, "raised": raised, "highest": highest}
    rank = {name: int(c.ask(f"squeue -h -j {job} -o %Q")) for name, job in jobs.items()}
    wanted = sorted(jobs, key=lambda name: -rank[name])
    check(set(wanted[:3]) == {"highest", "raised", "topped"} and wanted[4] == "nice",
          "those raised first, nice last", rank)
    c.cmd(f"scancel {blocker}")
    for job in jobs.values():
        runs(c, job, 20)
    order = start_order(c, jobs.values())
    seen = sorted(jobs, key=lambda name: order.index(jobs[name]))
    check(seen == wanted, f"starts in the order {wanted}", seen)


@scenario(cluster="authority", needs=["rubato"], negative=STOPPED)
def holds_and_requeues(c):
    """hold, release, requeue and requeuehold hold for GPU jobs

    An admin sees: JobHeldUser or `job requeued in held state` while held, however free the nodes
    are; a requeued job runs again with Restarts=1 after Slurm's own delay.
    """
    held = c.sbatch("--hold --gpus=a100:1 -t 5", "sleep 0.2")
    again = c.sbatch("--gpus=a100:1 -t 5 --requeue", "sleep 900")
    runs(c, again)
    stopped = c.sbatch("--gpus=a100:1 -t 5 --requeue", "sleep 900")
    runs(c, stopped)
    c.cmd(f"scontrol requeue {again}")
    c.cmd(f"scontrol requeuehold {stopped}")
    waits_for(c, held, "JobHeldUser")
    for job in (again, stopped):
        c.wait_state(job, "PENDING", 10)
    waits_for(c, stopped, "requeued in held state")
    stays(c, held, "PENDING", 0.5)
    c.cmd(f"scontrol release {held}")
    runs(c, held)
    c.wait_state(again, "RUNNING", 25)
    check(c.job(again)["Restarts"] == "1", "one restart", c.job(again)["Restarts"])
    check(c.times(again).by == "rubato", f"Rubato to start job {again} again")
    check("PENDING" in reason(c, stopped), f"job {stopped} to be held still")
    c.cmd(f"scontrol release {stopped}")
    c.wait_state(stopped, "RUNNING", 25)


@scenario(cluster="authority", needs=["rubato"], negative=STOPPED)
def begin_times_and_deadlines(c):
    """--begin and --deadline hold for GPU jobs

    An admin sees: BeginTime as the reason until the second named; a job that cannot meet its
    deadline ends in state DEADLINE, one that can gets a time limit that meets it.
    """
    plain = c.sbatch("--gpus=h100:1 -t 5", "sleep 0.1")
    runs(c, plain)
    soon = c.sbatch("--gpus=h100:1 -t 5 --begin=now+1hour", "sleep 0.1")
    waits_for(c, soon, "BeginTime")
    c.cmd(f"scontrol update JobId={soon} StartTime=now+3")
    begin = c.ask(f"squeue -h -t all -j {soon} -O eligibletime:30")
    begin = datetime.datetime.fromisoformat(begin.strip()).timestamp()
    meets = c.sbatch("--gpus=h100:1 --time-min=1 -t 5 --deadline=now+3minutes", "sleep 900")
    misses = c.sbatch("-w n6 --gpus=h100:8 -t 2 --deadline=now+2hours --begin=now+1hour", "sleep 1")
    seen = runs(c, meets)
    check(seen["TimeLimit"] in ("00:01:00", "00:02:00", "00:03:00"), "a time limit that meets the deadline",
          seen["TimeLimit"])
    runs(c, soon, 20)
    check(c.times(soon).start >= begin, f"job {soon} not before its begin time",
          c.times(soon).start - begin)
    c.cmd(f"scontrol update JobId={misses} StartTime=now Deadline=now+61")
    c.wait_state(misses, "DEADLINE", 20)
    c.cmd(f"squeue -t all -j {soon},{meets},{misses} -o '%.6i %.10T %.10l %S %r'")


@scenario(cluster="authority", needs=["rubato", "second-user"], negative=STOPPED)
def two_users(c):
    """Another user's GPU jobs run as that user, and may not touch anyone else's

    An admin sees: UserId of the owner in `scontrol show job`, `Access/permission denied` for
    foreign jobs, which stay as they were.
    """
    other = second_user()
    mine = c.sbatch("--gpus=a100:1 -t 5", "sleep 900")
    theirs = c.sbatch("--gpus=a100:1 -t 5", "id -un; sleep 900", user=other)
    waiting = c.sbatch("--gpus=a100:1 -t 5 --begin=now+1hour", "sleep 1")
    runs(c, mine)
    seen = runs(c, theirs)
    check(seen["UserId"].startswith(other + "("), f"job {theirs} to belong to {other}",
          seen["UserId"])
    for command in (f"scancel {mine}", f"scontrol update JobId={mine} Comment=mine",
                    f"scontrol hold {waiting}", f"scontrol requeue {mine}",
                    f"scontrol update JobId={waiting} StartTime=now",
                    "scontrol update PartitionName=main State=DOWN"):
        answer = c.cmd(command, user=other, check=False)
        check(re.search(r"denied|Invalid user", answer), f"`{command}` to be refused", answer)
    stays(c, mine, "RUNNING", 0.1)
    stays(c, waiting, "PENDING", 0.1)
    c.wait(lambda: other in c.output(theirs), 10, f"the job's own words to name {other}")
    c.cmd(f"scancel {theirs}", user=other)
    c.wait_state(theirs, "CANCELLED", 10)
