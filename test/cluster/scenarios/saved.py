# SPDX-License-Identifier: GPL-2.0-or-later
"""State of running jobs after slurmctld is killed and restarted, on a quiet cluster."""
import os
import shutil
import signal
import time

from cluster import check, proc, scenario, shape

from . import steps

# Without background load nothing else causes a save.
shape("quiet", load=False, rubato_conf=steps.conf())


def written(c):
    """Time of slurmctld's last save of job records; 0 before the first."""
    try:
        return os.stat(c.path("state/job_state")).st_mtime
    except OSError:
        return 0.0


def wait_quiet(c):
    """Waits for pending saves: slurmctld saves within 5 s of a change."""
    c.wait_state(c.sbatch("-n1 -t 5", "true"), "COMPLETED", 60)
    c.wait(lambda: written(c) and time.time() - written(c) > 8, 60, "slurmctld to save no more")


def started_and_saved(c, options, script):
    """Submits a job and waits until its start is saved; its id.

    After 5 s without a save slurmctld saves at once. A save at the submit of a job that starts at once may hold
    its start, or may not, so the job starts later.
    """
    before = time.time()
    job = c.sbatch(f"{options} --begin=now+8", script)
    c.wait(lambda: written(c) > before, 20, "job_state to be written after the submit")
    c.wait_state(job, "RUNNING", 30)
    # The time of a file may be some milliseconds early.
    c.wait(lambda: written(c) > c.times(job).start - 0.1, 20, "job_state to be written after the start")
    return job


def unharmed(c, job):
    """The job runs, and its start drained no node."""
    c.cmd(f"squeue -j {job} -o '%i %T %N %r'")
    shown = c.cmd("sinfo -R -h -o '%N %E'", check=False).strip()
    check(shown == "", "no node with a reason", shown)
    seen = c.job(job)
    check(seen.get("JobState") == "RUNNING", f"job {job} to run", seen.get("JobState"))
    return seen


@scenario(cluster="quiet", needs=["rubato"], negative="save", timeout=180)
def running_job_survives_a_kill_in_the_quiet(c):
    """A job goes on when slurmctld is killed, though nothing has happened since it started"""
    wait_quiet(c)
    job = started_and_saved(c, "--gpus=a100:1 -t 5", "sleep 600")
    c.kill9_ctld()
    c.start_ctld()
    c.wait(lambda: not c.ask("sinfo -h -t unknown,no_respond -o %N").strip(), 60,
           "the nodes to have registered")
    seen = unharmed(c, job)
    check(seen.get("Restarts") == "0", "its first run", seen.get("Restarts"))


def waits_in_copy(c, copy):
    """Submits a job that starts on n1 soon, and copies a job_state in which it still waits; its id.

    On one node: on another one, nothing would show that the job already runs.
    """
    for delay in (8, 30, 90):       # slurmctld saves within 5 s; a slow machine takes longer
        before = time.time()
        job = c.sbatch(f"-w n1 --gpus=a100:1 -t 5 --begin=now+{delay} --requeue", "sleep 600")
        c.wait(lambda since=before: written(c) > since, 60, "job_state with the waiting job")
        shutil.copy2(c.path("state/job_state"), copy)
        if c.job(job).get("JobState") == "PENDING":
            break
        c.cmd(f"scancel {job}")
    return job


def start_with_late(c, pid_files, seconds):
    """Starts slurmctld; the slurmds of these files answer nothing until some seconds later."""
    slurmds = c.daemon_pids(pid_files)
    check(slurmds, f"slurmds at {pid_files}", slurmds)
    c.defer(lambda: [proc.send(pid, signal.SIGCONT) for pid in slurmds])
    for pid in slurmds:
        proc.send(pid, signal.SIGSTOP)
    c.start_ctld(ready=False)
    time.sleep(seconds)
    for pid in slurmds:
        proc.send(pid, signal.SIGCONT)


@scenario(cluster="quiet", needs=["rubato"], negative="settle", timeout=240)
def start_that_nobody_saved_is_made_again(c):
    """A start that is in no state file when slurmctld dies is made again, once the first has ended

    Started at once, slurmd would take it for a duplicate: node drained, job held. Its node registers
    after the first cycle.
    """
    old = c.path("out", "job_state.old")
    job = waits_in_copy(c, old)
    c.wait_state(job, "RUNNING", 60)
    c.kill9_ctld()
    shutil.copy2(old, c.path("state/job_state"))
    start_with_late(c, "run/slurmd.n1.pid", 3)
    c.wait_state(job, "RUNNING", 20)
    # The node reports the first run when it registers; effects appear within seconds.
    c.wait(lambda: c.job(job).get("JobState") == "RUNNING" and
           int(c.ask(f"squeue -h -j {job} -O TimeUsed:20").split(":")[-1]) >= 5, 20,
           "the job to run for 5 s")
    unharmed(c, job)


@scenario(cluster="quiet", needs=["rubato"], negative="launch", timeout=600, tier=2)
def launch_that_was_lost_is_made_again(c):
    """slurmctld and slurmd die before a job was launched: Slurm shows it as running, and it is requeued within a minute

    Without Rubato's question slurmctld notices when it asks the node to register, up to half an hour later.
    """
    wait_quiet(c)
    out = c.path("out", c.fresh_name("launched"))
    slurmd = c.daemon_pids("run/slurmd.n3.pid")[0]
    proc.send(slurmd, signal.SIGSTOP)
    job = started_and_saved(c, f"-w n3 --gpus=1 -t 10 --requeue -o {out}", "echo it ran; sleep 2")
    c.kill9_ctld()
    proc.send(slurmd, signal.SIGKILL)
    c.start_slurmd("n3")
    mark = c.log_mark()
    c.start_ctld()
    c.cmd(f"squeue -j {job} -o '%i %T %M %N'")
    check(c.job(job).get("JobState") == "RUNNING", f"job {job} to run for Slurm", c.job(job).get("JobState"))
    check(not os.path.exists(out), "a job that runs nowhere", out)
    # BatchStartTimeout is 10 s, and of MessageTimeout 10 s count.
    c.expect(lambda: c.job(job).get("Restarts"), "1", f"job {job} to be requeued", 60)
    c.say(*c.log_lines(r"rubato: asked 1 node |missing from batch node n3", mark))
    c.wait_state(job, "COMPLETED", 240)
    check(not c.log_lines("ping_count", mark), "no error of slurmctld about its pings", c.log_lines("ping_count", mark))
    with open(out, encoding="utf-8") as file:
        check(file.read() == "it ran\n", "its output", out)


def kill_script(c, job):
    """Kills the batch script of a job with its slurmstepd, which slurmd does not notice."""
    found = [pid for pid in proc.all_pids() if proc.read_proc(pid, "cmdline").startswith(f"slurmstepd: [{job}.batch]")
             and proc.cwd_of(pid).startswith(c.base)]
    check(len(found) == 1, f"one slurmstepd of job {job}", found)
    proc.send(found[0], signal.SIGKILL)


@scenario(cluster="quiet", needs=["rubato"], negative="launch", timeout=300, tier=2)
def launch_that_met_a_reconfigure_is_made_again(c):
    """A job whose launch a reconfigure prevents is shown as running, and is requeued within a minute

    slurmd that is told to reconfigure while it starts a script may lose it. Here the script is killed with its
    slurmstepd instead. Before Slurm 24.05 slurmctld goes on; since then it is a new process.
    """
    wait_quiet(c)
    out = c.path("out", c.fresh_name("met"))
    job = c.sbatch(f"-w n3 --gpus=1 -t 10 --requeue --open-mode=append -o {out}",
                   "echo run ${SLURM_RESTART_COUNT:=0}; [ $SLURM_RESTART_COUNT = 1 ] || sleep 600")
    c.wait(lambda: os.path.exists(out) and os.path.getsize(out), 30, f"the script of job {job} to run")
    mark = c.log_mark()
    kill_script(c, job)
    c.reconfigure()
    c.cmd(f"squeue -j {job} -o '%i %T %M %N'")
    check(c.job(job).get("JobState") == "RUNNING", f"job {job} to run for Slurm", c.job(job).get("JobState"))
    c.expect(lambda: c.job(job).get("Restarts"), "1", f"job {job} to be requeued", 60)
    c.say(*c.log_lines(r"rubato: asked 1 node |missing from batch node n3", mark))
    c.wait_state(job, "COMPLETED", 240)
    with open(out, encoding="utf-8") as file:
        ran = file.read()
    check(ran == "run 0\nrun 1\n", "its output", ran)
