# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs that Rubato has resized, under Slurm's other features: a quiet cluster without slurmdbd."""
import os
import pathlib
import signal
import time

from cluster import Partition, check, proc, scenario

from . import steps
from .grow import Grows, no_wrong_counts
from .reservations import reserve
from .shrink import LONG, agrees, fill, indices, saved_since, show, used
from .sizes import total

A100 = ("n1", "n2", "n3", "n4")
# slurmctld takes a node for dead after so many seconds; a slow machine answers within them.
NODE_TIMEOUT = 20


def grown(c, options, gpus=8, hints=None):
    """A job of 2 GPUs with a step on one node that grew to `gpus` of several nodes."""
    more = {"hints": hints} if hints else {}
    job = Grows(c, options, **more)
    job.grow(4)
    if gpus > 4:
        job.grow(gpus)
    show(c, job.job)
    return job


def others(c, job):
    """Names of the nodes that came by growth."""
    return sorted(set(indices(c, job.job)) - {job.node})


def runs_again(c, job, asked):
    """The job was requeued and runs with the request that it was submitted with."""
    c.expect(lambda: (c.job(job.job).get("Restarts"), c.job(job.job).get("JobState"), total(c, job.job)),
             ("1", "RUNNING", 2), "restarts, state and GPUs", 2 * LONG)
    seen = {key: c.job(job.job)[key] for key in asked}
    check(seen == asked, f"the submitted request {asked}", seen)
    c.cmd(f"scontrol show job -d {job.job} | grep -E 'JobState|NumNodes|TresPer|GRES='")


def request_of(c, job):
    return {key: c.job(job.job)[key] for key in ("TresPerJob", "NumTasks")}


def all_is_free(c, *jobs):
    """All jobs end, and no GPU, core or memory of a node stays allocated."""
    for job in jobs:
        job.latch.open()
    c.cmd("scancel -u root")
    c.wait(lambda: not c.jobs("PENDING,RUNNING,SUSPENDED,COMPLETING"), 2 * LONG, "the jobs to be gone")
    c.expect(lambda: {name: (used(c, name), c.nodes()[name]["CPUAlloc"], c.nodes()[name]["AllocMem"])
                      for name in A100}, {name: ("N/A", "0", "0") for name in A100},
             "GPUs, CPUs and memory in use", LONG)
    c.cmd("scontrol show node -d n[1-4] | grep -E 'NodeName|GresUsed|CPUAlloc|AllocMem'")
    agrees(c)


def up_again(c, *names):
    for name in names:
        c.cmd(f"scontrol update NodeName={name} State=RESUME", check=False)
    c.expect(lambda: {name for name in names if c.nodes()[name]["State"] not in ("IDLE", "MIXED", "ALLOCATED")},
             set(), "nodes that are not up", LONG)


def all_saved(c):
    """slurmctld has saved its jobs as they are now: a new job makes it save again."""
    moment = time.time()
    c.ask("sbatch -H -J filler -t 1 --wrap true")
    saved_since(c, moment)


@scenario(cluster="shrink", needs=["rubato"], negative="restore", timeout=300, tier=2)
def a_grown_job_whose_node_fails_starts_at_its_submitted_size(c):
    """A node that came by growth fails: the job is requeued with 2 GPUs, or ends with NODE_FAIL, or runs on

    Requeue=1 of stock Slurm, --no-requeue whose batch node fails, and --no-kill. Nothing of the lost
    nodes stays allocated, and each node works again afterwards.
    """
    since = c.log_mark()
    again, ends = grown(c, "--requeue"), grown(c, "--no-requeue")
    asked = request_of(c, again)
    lost = others(c, again)[0]
    c.cmd(f"scontrol update NodeName={lost} State=DOWN Reason=test")
    runs_again(c, again, asked)
    agrees(c)
    home, rest = ends.node, others(c, ends)
    c.cmd(f"scontrol update NodeName={home} State=DOWN Reason=test")
    c.wait_state(ends.job, "NODE_FAIL", LONG)
    c.expect(lambda: {name: used(c, name) for name in rest if name not in indices(c, again.job)},
             {name: "N/A" for name in rest if name not in indices(c, again.job)}, "GPUs in use on its other nodes",
             LONG)
    agrees(c)
    up_again(c, lost, home)
    c.cmd(f"scancel {again.job}")
    c.wait(lambda: not c.jobs("RUNNING,COMPLETING"), LONG, "the job to end")

    stays = grown(c, "--no-kill")
    lost = others(c, stays)[0]
    c.cmd(f"scontrol update NodeName={lost} State=DOWN Reason=test")
    stays.holds({stays.node: "0-3"})
    stays.lives()
    check(stays.step("-N1 -n1 --gpus=2") == [(stays.node, "2,3")], "GPUs for a new step", "")
    agrees(c)
    up_again(c, lost)
    stays.grow(8)
    stays.lives()
    agrees(c)
    all_is_free(c, again, ends, stays)
    no_wrong_counts(c, since)


def kill9_slurmd(c, name):
    pids = c.daemon_pids(f"run/slurmd.{name}.pid")
    c.say(f"kill -9 of slurmd on {name}: {pids}")
    for pid in pids:
        proc.send(pid, signal.SIGKILL)
    proc.wait_gone(pids, 30)


@scenario(cluster="shrink", needs=["rubato"], negative="restore", timeout=420, tier=2)
def a_grown_job_whose_slurmd_is_killed_starts_at_its_submitted_size(c):
    """kill -9 of slurmd on a node that came by growth, and on that of a batch script

    slurmctld finds the nodes dead. One job is requeued, the other one ends with NODE_FAIL. Tasks that
    outlived their slurmd end when it is started again.
    """
    since = c.log_mark()
    c.change(options={"SlurmdTimeout": NODE_TIMEOUT})
    up_again(c, *A100)
    again, ends = grown(c, "--requeue"), grown(c, "--no-requeue")
    asked = request_of(c, again)
    dead = [others(c, again)[0], ends.node]
    for name in dead:
        kill9_slurmd(c, name)
    again.lives()
    ends.lives()
    c.wait_state(ends.job, "NODE_FAIL", 3 * NODE_TIMEOUT + LONG)
    runs_again(c, again, asked)
    check(not set(indices(c, again.job)) & set(dead), f"a start on other nodes than {dead}", indices(c, again.job))
    c.cmd("scontrol show node n[1-4] | grep -E 'NodeName|State='")
    agrees(c)
    for name in dead:
        c.start_slurmd(name)
    up_again(c, *dead)

    def still():
        before = ends.lines()
        time.sleep(1)
        return ends.lines() == before
    c.wait(still, LONG, f"the task of job {ends.job} to end")
    fill(c, dead[0], 4)
    agrees(c)
    all_is_free(c, again, ends)
    no_wrong_counts(c, since)


def lose_the_last_save(c, saved):
    """kill -9 of slurmctld, which then starts from an earlier state of its jobs."""
    c.kill9_ctld()
    for name in ("job_state", "job_state.old"):
        pathlib.Path(c.path("state", name)).write_bytes(saved)
    c.start_ctld()


@scenario(cluster="shrink", needs=["rubato"], negative="grow", timeout=420, tier=2)
def a_resized_job_outlives_reconfigure_restart_and_kill(c):
    """scontrol reconfigure, a restart and kill -9 of slurmctld, each twice in a row, while a job is grown

    Then slurmctld is killed before it has saved a growth: the job has its earlier size, and the GPUs
    are free. Then it is reconfigured and killed in the lead time of a shrink, which it carries out.
    """
    since = c.log_mark()
    hints = "--comment='rubato: gpus=2,4,6,8,10,12;resize=live;checkpoint=B:USR2@15'"
    job = Grows(c, "--requeue", hints=hints, before="trap : USR2\n")
    job.grow(4)
    job.grow(8)
    held = indices(c, job.job)
    all_saved(c)

    def same(what):
        job.holds(held)
        check(c.job(job.job)["BatchHost"] == job.node, "the batch host", c.job(job.job)["BatchHost"])
        job.lives()
        agrees(c)
        c.say(f"-- as before after {what}")
    for what in (c.reconfigure, c.restart_ctld, lambda: (c.kill9_ctld(), c.start_ctld())):
        for _ in range(2):
            what()
        same(getattr(what, "__name__", "kill -9"))
    check(len(job.step("-N2 -n6 --gpus-per-task=1")) == 6, "a step on each GPU that is free", "")
    no_wrong_counts(c, since)

    steps.published_again(c)
    all_saved(c)
    saved = pathlib.Path(c.path("state/job_state")).read_bytes()
    job.grow(12)
    last = (set(indices(c, job.job)) - set(held)).pop()
    task = c.popen(f"srun --exact --overlap --jobid={job.job} -w {last} -N1 -n1 --gres=none sleep 600")
    lose_the_last_save(c, saved)
    same("a kill before the growth was saved")
    fill(c, last, 4)
    agrees(c)
    proc.stop_session(task)
    c.cmd("scancel -n filler")
    c.expect(lambda: used(c, last), "N/A", f"GPUs of {last} in use", LONG)
    since = c.log_mark()  # before, slurmctld has ended the task on what is the wrong node again
    job.grow(12)
    agrees(c)

    steps.published_again(c)
    c.cmd(f"rubato resize {job.job} --gpus 4 --live --no-wait")
    c.wait(lambda: "saving" in interruptions(c, job.job), LONG, "the lead time")
    state = pathlib.Path(c.path("state/rubato/state.json"))
    c.wait(lambda: '"step":"saving"' in state.read_text(encoding="utf-8").replace(" ", ""), LONG,
           "the request on the disk")
    c.reconfigure()
    c.kill9_ctld()
    c.start_ctld()
    job.holds({job.node: "0-3"})
    c.wait(lambda: "done" in interruptions(c, job.job).rpartition("shrink=")[2], LONG, "the end of the shrink")
    job.lives()
    agrees(c)
    for _ in range(2):
        c.reconfigure()
    c.kill9_ctld()
    c.start_ctld()
    job.holds({job.node: "0-3"})
    agrees(c)
    all_is_free(c, job)
    no_wrong_counts(c, since)


def interruptions(c, job):
    """The lines of a job in interruptions.log."""
    path = pathlib.Path(c.path("state/rubato/interruptions.log"))
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return "\n".join(line for line in text.splitlines() if f"JobId={job} " in line)


@scenario(cluster="shrink", needs=["rubato"], negative="grow", timeout=300, tier=2)
def a_suspended_job_keeps_its_size(c):
    """A grown job is suspended: a resize is refused with the reason; resumed, it shrinks and grows again

    A shrunk job is suspended as well, and slurmctld is killed meanwhile.
    """
    since = c.log_mark()
    job = grown(c, "--requeue")
    held = indices(c, job.job)

    def refused(*sizes):
        steps.published_again(c)
        for gpus in sizes:
            said = c.cmd(f"rubato resize {job.job} --gpus {gpus} --live", check=False, timeout=90)
            check(said.rc != 0 and "suspended" in said, "a refusal: it is suspended", said)

    def resumed():
        c.cmd(f"scontrol resume {job.job}")
        c.wait_state(job.job, "RUNNING", LONG)
        job.lives()
        agrees(c)
    c.cmd(f"scontrol suspend {job.job}")
    c.wait_state(job.job, "SUSPENDED", LONG)
    refused(4, 12)
    job.holds(held)
    agrees(c)
    resumed()
    job.grow(12)
    c.cmd(f"rubato resize {job.job} --gpus 4 --live", timeout=90)
    job.holds({job.node: "0-3"})
    c.cmd(f"scontrol suspend {job.job}")
    c.wait_state(job.job, "SUSPENDED", LONG)
    refused(8)
    all_saved(c)
    c.kill9_ctld()
    c.start_ctld()
    check(c.job(job.job)["JobState"] == "SUSPENDED", "a suspended job", c.job(job.job)["JobState"])
    job.holds({job.node: "0-3"})
    agrees(c)
    resumed()
    job.grow(8)
    agrees(c)
    all_is_free(c, job)
    no_wrong_counts(c, since)


TASKS = "--comment='rubato: gpus=2,4,8;checkpoint=B:USR1@2;resize=restart'"


@scenario(cluster="shrink", needs=["rubato"], negative="restart", timeout=300, tier=2)
def one_task_of_an_array_is_resized(c):
    """`rubato resize ID_1` restarts one array task with 4 GPUs; the others run on at their size

    scontrol requeue gives the task its submitted size again, scancel of the array ends all tasks. A
    hint resize=live is refused for arrays.
    """
    said = c.cmd("sbatch --array=1-3 --gpus=a100:2 -n2 -t 60 --comment='rubato: gpus=2,4;resize=live' --wrap true",
                 check=False)
    check(said.rc != 0 and "array" in said, "resize=live refused for an array", said)
    array = c.sbatch(f"--array=1-3 --gpus=a100:2 -n2 -t 60 --requeue {TASKS}",
                     "trap : USR1; while true; do sleep 0.2 & wait $!; done")

    def tasks():
        return {number: (c.job(f"{array}_{number}").get("JobState"), total(c, f"{array}_{number}"),
                         c.job(f"{array}_{number}").get("Restarts")) for number in (1, 2, 3)}
    rest = {number: ("RUNNING", 2, "0") for number in (1, 2, 3)}
    c.expect(tasks, rest, "state, GPUs and restarts of each task", LONG)
    steps.published_again(c)
    said = c.cmd(f"rubato resize {array} --gpus 4", check=False)
    check(said.rc != 0 and f"{array}_1" in said, "to be asked for one task", said)
    said = c.cmd(f"rubato resize {array}_1 --gpus 4", timeout=90)
    check("runs with 4 " in said, "4 GPUs", said)
    c.expect(tasks, {**rest, 1: ("RUNNING", 4, "1")}, "state, GPUs and restarts of each task", LONG)
    c.cmd(f"squeue -a -j {array} -o '%i %T %D %N %b'")
    agrees(c)
    c.cmd(f"scontrol requeue {array}_1")
    c.expect(tasks, {**rest, 1: ("RUNNING", 2, "2")}, "state, GPUs and restarts of each task", LONG)
    agrees(c)
    steps.published_again(c)
    c.cmd(f"rubato resize {array}_2 --gpus 8", timeout=90)
    c.expect(tasks, {**rest, 1: ("RUNNING", 2, "2"), 2: ("RUNNING", 8, "1")},
             "state, GPUs and restarts of each task", LONG)
    c.cmd(f"scancel {array}")
    c.wait(lambda: not c.jobs("PENDING,RUNNING,COMPLETING"), LONG, "the array to end")
    all_is_free(c)


@scenario(cluster="shrink", needs=["rubato"], negative="grow", timeout=420, tier=2)
def growth_keeps_to_reservations_and_partitions(c):
    """A job gets no GPUs of reserved nodes and no more nodes than MaxNodes of its partition

    A job in the reservation grows on its nodes alone, and ends with it.
    """
    since = c.log_mark()
    c.change(partitions=(Partition("main", "n[1-8]", default=True),
                         Partition("small", "n[1-8]", extra="MaxNodes=2")))
    reserve(c, "kept", "Nodes=n[2-3] StartTime=now Duration=120 Users=root")
    outside = Grows(c)
    outside.grow(4)
    outside.grow(8)
    check(set(indices(c, outside.job)) == {"n1", "n4"}, "the nodes that are not reserved", indices(c, outside.job))

    def refused(job, gpus, words, *options):
        steps.published_again(c)
        for option in options:
            said = c.cmd(f"rubato resize {job.job} --gpus {gpus} {option}", check=False, timeout=90)
            check(said.rc != 0 and words in said, f"a refusal: {words}", said)
    refused(outside, 12, "GPUs", "--dry-run", "--live")
    inside = Grows(c, "--reservation=kept")
    inside.grow(4)
    inside.grow(8)
    check(set(indices(c, inside.job)) == {"n2", "n3"}, "the reserved nodes", indices(c, inside.job))
    agrees(c)
    outside.latch.open()
    c.wait_state(outside.job, "COMPLETED", LONG)
    refused(inside, 12, "GPUs", "--dry-run", "--live")
    c.cmd("scontrol update ReservationName=kept EndTime=now+1minute")
    c.wait_state(inside.job, "TIMEOUT", 180)
    c.cmd(f"scontrol show job {inside.job} | grep -E 'JobState|EndTime|Resv'", check=False)
    c.cmd("scontrol delete ReservationName=kept", check=False)
    agrees(c)

    small = Grows(c, "-p small")
    small.grow(4)
    small.grow(8)
    refused(small, 12, "its partition has MaxNodes=2", "--live")
    check(len(indices(c, small.job)) == 2, "two nodes", indices(c, small.job))
    agrees(c)
    all_is_free(c, small)
    no_wrong_counts(c, since)


def logging_script(c, name, words):
    """A Prolog or Epilog that writes "words JOB NODE" to a log, whose path and own path it returns."""
    log, path = c.path("out", f"{name}.log"), pathlib.Path(c.path("bin", name))
    pathlib.Path(log).touch()
    os.chmod(log, 0o666)
    path.write_text(f"#!/bin/sh\necho {name} $SLURM_JOB_ID $SLURMD_NODENAME >>{log}\n{words}\nexit 0\n",
                    encoding="ascii")
    path.chmod(0o755)
    return log, str(path)


@scenario(cluster="shrink", needs=["rubato"], negative="grow", timeout=420, tier=2)
def prolog_and_epilog_run_for_a_resized_job(c):
    """Prolog runs on a node that came before the first step there, Epilog on a node that went

    Another job on the shared node goes on. With PrologFlags=Alloc growth is refused with the reason.
    """
    since = c.log_mark()
    prolog_log, prolog = logging_script(c, "prolog", "")
    epilog_log, epilog = logging_script(c, "epilog", "sleep 3")
    c.change(options={"Prolog": prolog, "Epilog": epilog})

    def ran(log, job):
        """The nodes on which a script ran for a job."""
        lines = pathlib.Path(log).read_text(encoding="ascii").split("\n")
        return sorted(line.split()[2] for line in lines if line.split()[1:2] == [str(job)])
    job = Grows(c)
    job.grow(4)
    beside = {name: fill(c, name, 2) for name in A100 if name != job.node}
    job.grow(6)
    other = others(c, job)[0]
    agrees(c)
    check(ran(prolog_log, job.job) == [job.node], "no Prolog yet where no step ran", ran(prolog_log, job.job))
    check(len(job.step(f"-w {other} -N1 -n1 --gpus=2")) == 1, "a step on the new node", "")
    c.expect(lambda: ran(prolog_log, job.job), sorted([job.node, other]), "nodes where Prolog ran", LONG)
    c.say(pathlib.Path(prolog_log).read_text(encoding="ascii"), pathlib.Path(epilog_log).read_text(encoding="ascii"))
    check(ran(epilog_log, job.job) == [], "no Epilog for the job that runs", ran(epilog_log, job.job))
    steps.published_again(c)
    c.cmd(f"rubato resize {job.job} --gpus 4 --live", timeout=90)
    job.holds({job.node: "0-3"})
    c.expect(lambda: ran(epilog_log, job.job), [other], "nodes where Epilog ran", LONG)
    job.lives()
    check(c.job(beside[other])["JobState"] == "RUNNING", "the other job on the node to run on", c.job(beside[other]))
    agrees(c)
    c.cmd("scancel -n filler")
    c.wait(lambda: not any("COMPLETING" in node["State"] for node in c.nodes().values()), LONG, "no epilog to run")

    c.change(options={"PrologFlags": "Alloc"})
    job.lives()
    steps.published_again(c)
    said = c.cmd(f"rubato resize {job.job} --gpus 8 --live", check=False, timeout=90)
    check("grows only by a restart: PrologFlags=Alloc" in said, "the reason", said)
    job.holds({job.node: "0-3"})
    agrees(c)
    all_is_free(c, job)
    no_wrong_counts(c, since)
