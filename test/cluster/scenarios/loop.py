# SPDX-License-Identifier: GPL-2.0-or-later
"""Rubato's loop and stock backfill: neither starves the other's jobs."""
import datetime
import re

from cluster import check, scenario, shape
from cluster.scenarios import steps

shape("queue")

SCHEDULER = "bf_interval=3,bf_continue,batch_sched_delay=0,sched_min_interval=100000"
STOPPED = ("TestInject=stop-loop", "HeartbeatTimeout=600")


@scenario(cluster="queue", needs=["rubato"], negative="willrun")
def backfill_thread_is_recognised(c):
    """Stock backfill's questions about gated jobs are refused, in its own thread only

    An admin sees two more threads in slurmctld, and that backfill plans no nodes for GPU jobs
    that Rubato holds back. A user's `--test-only` question is answered meanwhile.
    """
    c.cmd(f"cat /proc/{c.ctld_pid()}/task/*/comm 2> /dev/null | grep -xE 'bckfl|rubato' | sort")
    steps.occupy(c, "h100")
    gated = steps.submit_many(c, 3, "--gpus=h100:8 -t 10")
    steps.published_again(c)    # with what was refused before this
    before = steps.stats(c)["gate_refused_will_run"]
    c.wait(lambda: steps.stats(c)["gate_refused_will_run"] >= before + 2 * len(gated), 12,
           "refused questions of stock backfill in stats.json")
    c.say(f"gate_refused_will_run: {before}, then {steps.stats(c)['gate_refused_will_run']}")
    steps.check_waiting(c, gated)
    answer = c.cmd("sbatch --test-only --gpus=h100:8 -t 5 --wrap true")
    check("to start at" in answer, "an answer to --test-only", answer)


@scenario(cluster="queue", needs=["rubato"], negative="willrun")
def cpu_node_job_passes_gated_jobs(c):
    """A whole-node CPU job starts although a gated GPU job waits for every node

    The loop is stopped, so the eight GPU jobs stay gated and only stock backfill can start the
    CPU job. A user sees it start within two cycles of backfill.
    """
    c.write_rubato_conf(steps.conf(*STOPPED))
    gated = [c.sbatch(f"-w n{i} --gpus=1 -t 10") for i in range(1, 9)]
    job = c.sbatch("-N1 --exclusive -t 5", "true")
    waited = steps.started_by(c, job, "stock", 12)
    c.say(f"bf_interval of this cluster: 3 s; waited {waited:.1f} s")
    steps.check_waiting(c, gated)


@scenario(cluster="queue", needs=["rubato"], negative="stock-plan", timeout=240)
def cpu_node_job_in_stream_of_gpu_jobs(c):
    """A whole-node CPU job gets its node in an endless stream of 1-GPU jobs with time limits

    The CPU job is what stock Slurm plans: an admin sees its StartTime and SchedNodeList, and that
    Rubato lets that node run empty while the stream goes on elsewhere. The eight GPUs of a node
    are never free at the same time by chance.
    """
    first = steps.fill(c, 16, "--gpus=h100:1 -t 1")
    job = c.sbatch("-N1 -n1 -C h100 --exclusive -t 5", "true", name="whole")
    c.sbatch("--array=1-2000 --gpus=h100:1 -t 1 -o /dev/null", steps.SOME_SECONDS, name="stream")
    first.open()
    planned = []

    def started():
        seen = c.job(job)
        plan = (seen.get("SchedNodeList"), seen.get("StartTime"))
        if seen.get("JobState") == "PENDING" and plan != (planned or [None])[-1]:
            planned.append(plan)
            c.say(f"planned: {plan[0]} at {plan[1]}")
        return seen.get("JobState") not in ("PENDING", None) and seen
    seen = c.wait(started, 90, "the CPU job to start")
    going_on = c.wait(lambda: [row for row in c.jobs("RUNNING") if row["name"] == "stream"], 10,
                      "the stream to go on")
    c.cmd(f"scontrol -o show job {job} | grep -oE ' (JobState|NodeList|StartTime|NumCPUs)=[^ ]*'")
    c.say(f"waited {c.wait_seconds(job):.1f} s, started by {c.times(job).by}; "
          f"{len(going_on)} jobs of the stream run beside it")
    check(int(seen["NumCPUs"]) == 64, "a whole node", seen["NumCPUs"])


def gated_jobs_count(c):
    """Negative control: gated jobs count in bf_max_job_test, which is 500."""
    if counts_gated_jobs(c):
        steps.replace(c, "change", lambda *_, **__: None)
    c.test_switch = "TestOff=depth"
    c.write_rubato_conf(c.shape.rubato_conf)


def counts_gated_jobs(c):
    """Stock backfill counts tries in a variable of its own, so the site raises bf_max_job_test."""
    return c.site.version >= (23, 11)


@scenario(cluster="queue", needs=["rubato"], negative=gated_jobs_count, timeout=120)
def het_job_behind_600_gated_jobs(c):
    """A heterogeneous job starts behind 600 gated GPU jobs, more than bf_max_job_test (500)

    On Slurm 24.11, where gated jobs count, bf_max_job_test is 2000, as rubato doctor asks for.

    Only stock backfill starts heterogeneous jobs. An admin sees in `sdiag` that it looked at all
    of the queue (depth above 600) and tried few of it.
    """
    steps.occupy(c, "h100")
    gated = steps.submit_many(c, 600, "--gpus=h100:8 -t 10")
    if counts_gated_jobs(c):
        c.expect(lambda: c.ask("rubato doctor", check=False), lambda said: "bf_max_job_test=2000" in said,
                 "rubato doctor to ask for more", 20)
        c.change(options={"SchedulerParameters": SCHEDULER + ",bf_max_job_test=2000"})
    job = c.sbatch("-n1 -t 5 : -n1 --gpus=a100:2 -t 5", "srun --het-group=0,1 true; sleep 0.3",
                   name="het")
    c.cmd(f"squeue -j {job} -o '%i %T %r'")
    c.wait(lambda: c.job(job).get("JobState") in ("RUNNING", "COMPLETED"), 20,
           "the heterogeneous job to start")
    check(c.times(job).by == "backfill", "backfill to start it", c.times(job).by)
    c.cmd(f"scontrol -o show job {job} | grep -oE ' (JobState|SubmitTime|StartTime)=[^ ]*'")
    c.cmd("sdiag | grep -A30 'Backfilling stats' | grep -E 'Last depth|queue length'")
    steps.check_waiting(c, gated[:1] + gated[-1:])
    c.wait_state(job, "COMPLETED", 15)


def places_are_not_named(c):
    """Negative control: the jobs name no node."""
    sbatch = c.sbatch
    steps.replace(c, "sbatch", lambda options, *rest, **more:
                  sbatch(options.replace("-w n6", ""), *rest, **more))


@scenario(cluster="queue", needs=["rubato"], negative=places_are_not_named)
def named_nodes_keep_their_order(c):
    """Jobs that name a node with -w run on it, one after the other in the order of submission

    A user who names n6 waits for n6; nothing is kept free elsewhere for the job.
    """
    latch = c.latch()
    chain = [c.sbatch("--gpus=h100:8 -N1 -w n6 -t 5", f"{latch.wait}; sleep 0.5")
             for _ in range(4)]
    other = c.sbatch("--gpus=h100:8 -N1 -t 5", "sleep 0.2")
    c.wait_state(other, "COMPLETED", 15)
    latch.open()
    for job in chain:
        c.wait_state(job, "COMPLETED", 20)
    starts = [c.times(job).start for job in chain]
    c.say("starts: " + ", ".join(f"{job} +{start - starts[0]:.2f} s"
                                 for job, start in zip(chain, starts))
          + f"; {other} on {c.job(other)['NodeList']} +{c.times(other).start - starts[0]:.2f} s")
    check(all(c.job(job)["NodeList"] == "n6" for job in chain), "all four on n6")
    check(starts == sorted(starts), "starts in the order of submission", starts)
    check(c.times(other).start < starts[1], "the job that names no node not to wait for n6")


@scenario(cluster="queue", needs=["rubato"], negative="wake")
def submit_and_free_gpus_wake_the_loop(c):
    """Each submit and each end of a job wakes the loop, so that jobs do not wait for its period

    A user sees jobs start some milliseconds after sbatch, or after the end of the job before.
    """
    before = c.wait(lambda: steps.stats(c), 10, "stats.json")["wakes"]
    waits = []
    for _ in range(5):
        job = c.sbatch("--gpus=h100:16 -N2 -t 5", "sleep 0.3")
        waits.append(c.wait(lambda: c.times(job).start, 10, f"job {job} to start")
                     - c.times(job).submit)
        c.wait_state(job, "COMPLETED", 15)
    chain = [c.sbatch("--gpus=h100:16 -N2 -t 5", "sleep 0.3") for _ in range(4)]
    for job in chain:
        c.wait_state(job, "COMPLETED", 30)
    gaps = [c.times(after).start - c.times(first).end for first, after in zip(chain, chain[1:])]
    c.say("submit to start: " + ", ".join(f"{1000 * wait:.0f} ms" for wait in waits)
          + "; end of a job to start of the next: "
          + ", ".join(f"{1000 * gap:.0f} ms" for gap in gaps))
    c.wait(lambda: steps.stats(c)["wakes"] >= before + 9, 5, "nine wakes in stats.json")


@scenario(cluster="queue", needs=["rubato"], negative="reserve")
def squeue_start_shows_reservations(c):
    """`squeue --start` shows when and where a job that Rubato reserves for will start

    A user sees the moment at which the running jobs' time limits end, and the nodes.
    """
    running = steps.occupy(c, "h100", minutes=13)
    ends = {c.job(job)["NodeList"]: c.job(job)["EndTime"] for job in running}
    job = c.sbatch("-N1 --gpus=h100:8 -t 5", "true")
    row = c.wait(lambda: re.search(
        r"\d{4}-\S+ n[56]$", c.ask(f"squeue -h --start -j {job} -o '%S %Y'")), 12,
        "start and node of the waiting job")[0]
    c.cmd(f"squeue --start -j {job} -o '%.8i %.9T %.20S %Y %r'")
    start, node = row.split()
    c.say(f"the limits of the running jobs end at {ends}")
    slack = (datetime.datetime.fromisoformat(start)
             - datetime.datetime.fromisoformat(ends[node])).total_seconds()
    check(0 <= slack <= 120, f"a start when the time limit on {node} ends", f"{slack:g} s after")
    check(c.job(job).get("SchedNodeList") == node, "the node in scontrol too", c.job(job))
