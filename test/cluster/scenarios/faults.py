# SPDX-License-Identifier: GPL-2.0-or-later
"""Failures: slurmctld killed or stopped in a cycle, a loop that throws or hangs."""
import json
import os
import pathlib
import time

from cluster import check, records, scenario, shape
from cluster.scenarios import steps

shape("faults")


def _state_saved(c, since):
    """Waits until slurmctld has written its own job state, which it does every 5 seconds."""
    c.wait(lambda: os.path.getmtime(c.path("state/job_state")) > since, 12,
           "slurmctld to save its jobs")


def _memory(c, job):
    """The entry of a job in Rubato's state.json; {} if there is none."""
    try:
        data = json.loads(pathlib.Path(c.path("state/rubato/state.json")).read_text())
    except (OSError, ValueError):
        return {}
    return next((entry for entry in data.get("jobs", []) if entry.get("id") == job), {})


def state_file_is_lost(c):
    """Negative control: the kill also removes state.json."""
    kill = c.kill9_ctld

    def kill_and_lose():
        kill()
        os.unlink(c.path("state/rubato/state.json"))
    steps.replace(c, "kill9_ctld", kill_and_lose)


@scenario(cluster="faults", needs=["rubato"], negative=state_file_is_lost, timeout=90)
def kill_9_loses_no_job(c):
    """kill -9 of slurmctld with running and pending jobs: all jobs are there after it and end

    An admin restarts slurmctld. Running jobs run on, pending ones wait on in their old places,
    and Rubato remembers since when.
    """
    busy = steps.occupy(c, "h100")
    # They see the kill: the end of a job that slurmctld knew of and had not saved shows only when its
    # node registers anew.
    latch = c.latch()
    running = [c.sbatch("--gpus=a100:2 -t 5", latch.wait), c.sbatch("-n2 -t 5", latch.wait)]
    pending = [c.sbatch("--gpus=h100:4 -t 5", "sleep 0.2"),
               c.sbatch("--gpus=h100:2 -t 5", "sleep 0.2"),
               c.sbatch("-n1 -t 5 -d afterok:%d" % running[0], "sleep 0.2")]
    for job in running:
        c.wait_state(job, "RUNNING", 10)
    before = c.wait(lambda: _memory(c, pending[0]), 8, f"job {pending[0]} in state.json")
    _state_saved(c, time.time())
    c.cmd("squeue -p main -t PD,R -n scenario,occupy -o '%i %T %r %N'")
    c.say("$ kill -9 $(cat slurmctld.pid)")
    c.kill9_ctld()
    killed = time.time()
    c.start_ctld()
    c.cmd("squeue -p main -t PD,R,CG,CD -n scenario,occupy -o '%i %T %r %N'")
    seen = steps.states(c, running + pending + busy)
    check(len(seen) == 7, "all seven jobs in the queue", seen)
    for job in pending[:2]:
        steps.check_waiting(c, [job])
    state = c.path("state/rubato/state.json")
    c.wait(lambda: os.path.exists(state) and os.path.getmtime(state) > killed, 15,
           "state.json to be written again")
    after = c.wait(lambda: _memory(c, pending[0]), 8, f"job {pending[0]} in state.json")
    c.say(f"state.json, job {pending[0]}: first seen {before['first_seen']}, after the restart "
          f"{after['first_seen']}")
    check(before["first_seen"] == after["first_seen"], "Rubato's memory of the job to survive")
    c.cmd("scancel -n occupy")
    latch.open()
    for job in running + pending:
        c.wait_state(job, "COMPLETED", 30)


def stop_is_a_kill(c):
    """Negative control: slurmctld is killed instead of stopped."""
    def kill():
        start = time.monotonic()
        c.kill9_ctld()
        return time.monotonic() - start
    steps.replace(c, "stop_ctld", kill)


@scenario(cluster="faults", needs=["rubato"], negative=stop_is_a_kill)
def sigterm_in_a_cycle_saves_state(c):
    """SIGTERM while Rubato's cycle is slow, or hangs: the state is saved and slurmctld ends, long
    before the cycle would

    An admin runs `systemctl stop slurmctld`; the log has no line "Semaphores still set". A job
    submitted just before is there afterwards.
    """
    for inject in ("slow-round:1500", "hang-round:3000"):
        c.write_rubato_conf(steps.conf("RoundDeadline=5", f"TestInject={inject}"))
        mark, rounds = c.log_mark(), steps.stats(c).get("rounds", 0)
        job = c.sbatch("-n1 -t 5 --begin=now+600")
        c.sbatch("--gpus=a100:1 -t 5")              # wakes the loop, which is in its cycle then
        time.sleep(0.3)
        asked = time.time()
        seconds = c.stop_ctld()     # a slurmctld that does not end is killed, and saves nothing
        saved = os.path.getmtime(c.path("state/job_state")) - asked
        c.say(f"TestInject={inject}: rounds before {rounds}; slurmctld stopped in {seconds:.2f} s, "
              f"job_state written {saved:.2f} s after SIGTERM")
        c.cmd(f"tail -c +{mark + 1} {c.path('log/slurmctld.log')} | "
              "grep -iE 'terminate|saving|semaphore|rubato'", check=False)
        check(c.log_has(r"Saving all slurm state", mark), "slurmctld to save its state")
        check(not c.log_has(r"Semaphores still set", mark), "no semaphore to be left set")
        check(saved > -1, "job_state to be written at the stop", f"{saved:.1f} s")
        c.write_rubato_conf(steps.conf(), reconfigure=False)
        c.start_ctld()
        check(c.job(job).get("JobState") == "PENDING", f"job {job} to be there", c.job(job))
        c.cmd("scancel -n scenario")


def nothing_is_injected(c):
    """Negative control: the injected failure does not happen."""
    write = c.write_rubato_conf
    steps.replace(c, "write_rubato_conf", lambda text, *rest, **more: write(
        "\n".join(line for line in text.splitlines() if "TestInject" not in line), *rest, **more))


def _injected_throw(c, inject, said, stock):
    """Jobs before, during and after an injected exception; slurmctld stays the same process."""
    pid = c.ctld_pid()
    renews = c.reconfigure_is_a_new_process()

    def reconfigured(text):
        """The process that reads the new file."""
        check(c.ctld_pid() == pid, "the same slurmctld all the time", c.ctld_pid())
        c.write_rubato_conf(text)
        return c.ctld_pid() if renews else pid
    steps.started_by(c, c.sbatch("--gpus=a100:1 -t 5", "true"), "rubato")
    mark = c.log_mark()
    pid = reconfigured(steps.conf(f"TestInject={inject}"))
    jobs = [c.sbatch("--gpus=a100:1 -t 5", "true"), c.sbatch("-n1 -t 5", "true"),
            c.sbatch("-N2 --gpus-per-node=h100:1 -t 5", "true")]
    for job in jobs:
        c.wait_state(job, "COMPLETED", 15)
        c.say(f"job {job}: started by {c.times(job).by}, {c.wait_seconds(job):.3f} s after submit")
        check(not stock or c.times(job).by != "rubato", "stock Slurm to start it", c.times(job))
    lines = c.wait(lambda: c.log_lines(said, mark), 5, f"a line like /{said}/ in slurmctld.log")
    c.say(*("    " + line for line in lines[:3]))
    pid = reconfigured(steps.conf())
    c.wait_state(c.sbatch("-n1 -t 5", "true"), "COMPLETED", 15)
    if stock and not renews:        # a new loop has nothing to recover from
        c.wait(lambda: c.log_has(r"rubato: scheduling loop recovered", mark), 15,
               "a line that the loop has recovered")
    steps.started_by(c, c.sbatch("--gpus=a100:1 -t 5", "true"), "rubato")
    check(c.ctld_pid() == pid, "the same slurmctld all the time", c.ctld_pid())


@scenario(cluster="faults", needs=["rubato"], negative=nothing_is_injected)
def throw_in_a_round_leaves_jobs_to_stock(c):
    """An exception in each round: stock Slurm starts all jobs meanwhile, Rubato the later ones

    An admin sees one error line, jobs that go on starting, and "scheduling loop recovered".
    """
    _injected_throw(c, "throw-round", r"rubato: scheduling cycle failed", stock=True)


@scenario(cluster="faults", needs=["rubato"], negative=nothing_is_injected)
def throw_at_the_gate_passes_jobs(c):
    """An exception at the gate: the question goes to stock select, and jobs start

    An admin sees error lines at a falling rate, and jobs that start as ever.
    """
    _injected_throw(c, "throw-gate", r"rubato: select_p_job_test.*injected at the gate",
                    stock=False)


@scenario(cluster="faults", needs=["rubato"], negative=nothing_is_injected)
def throw_at_submit_accepts_jobs(c):
    """An exception in the submit hook: the job is accepted as stock Slurm would, and runs

    A user notices nothing.
    """
    _injected_throw(c, "throw-submit", r"rubato: job_submit.*injected at submit", stock=False)


@scenario(cluster="faults", needs=["rubato"], negative="heartbeat")
def hanging_loop_leaves_jobs_to_stock(c):
    """A round that hangs: after HeartbeatTimeout stock Slurm starts the jobs; Rubato comes back

    An admin sees "the gate is open", later "the gate is closed".
    """
    c.defer(lambda: steps.loop_is_back(c))
    c.write_rubato_conf(steps.conf("TestInject=hang-round:20", "HeartbeatTimeout=2",
                                   "RoundDeadline=1"))
    mark = c.log_mark()
    jobs = [c.sbatch("--gpus=a100:1 -t 5", "true"), c.sbatch("--gpus=h100:2 -t 5", "true")]
    c.write_rubato_conf(steps.conf(), reconfigure=False)
    for job in jobs:
        steps.started_by(c, job, "stock", 9)
    lines = c.log_lines(r"rubato: the gate is open", mark)
    c.say(*("    " + line for line in lines))
    opened = records.stamp(lines[0]) if lines else 0
    starts = [c.times(job).start for job in jobs]
    check(opened and min(starts) >= opened, "both starts after the gate opened", (opened, starts))
    # Before the reconfigure, which may be a new process: what hangs ends with the one before.
    ended = records.stamp(c.wait(lambda: c.log_lines(r"rubato: .*longer than RoundDeadline", mark), 30,
                                 "the end of the round that hung in slurmctld.log")[0])
    steps.loop_is_back(c)
    check(max(starts) < ended, "both starts while the round hung", (starts, ended))
    c.wait(lambda: c.log_has(r"rubato: the gate is closed", mark), 10, "the gate to close again")
    steps.started_by(c, c.sbatch("--gpus=a100:1 -t 5", "true"), "rubato")


@scenario(cluster="faults", needs=["rubato"], negative="round-size", timeout=90)
def late_rounds_consider_the_head_of_the_queue(c):
    """Rounds that pass RoundDeadline: the next ones consider the first jobs of the queue

    Each pending job costs the round 0.1 s, so a round with all of them is late and its plan is dropped.
    A user's job at the head of the queue starts, started by Rubato; `explain` tells the last job why
    it was left out. When rounds are quick again, they consider all jobs.
    """
    c.defer(lambda: steps.loop_is_back(c))
    steps.occupy(c, "h100")
    waiting = steps.submit_many(c, 40, "--gpus=h100:8 -t 5 --nice=100")
    mark = c.log_mark()
    c.write_rubato_conf(steps.conf("RoundDeadline=2", "TestInject=slow-job:100"))
    c.wait(lambda: c.log_has(r"rubato: rounds pass RoundDeadline; considering the first", mark), 30,
           "the loop to consider fewer jobs")
    c.wait(lambda: c.log_has(r"rubato: scheduling loop recovered", mark), 30, "a round in time")
    # Since 24.11 priority/basic counts on from the least priority after a reconfigure, with the nice value in it.
    first = c.sbatch("--gpus=a100:1 -t 5 --nice=-1000", "true")
    steps.started_by(c, first, "rubato", 30)
    c.wait(lambda: "was left out of this round" in c.ask(f"rubato explain {waiting[-1]}", check=False),
           30, "explain to tell the last job that it was left out")
    c.write_rubato_conf(steps.conf("RoundDeadline=2"))
    if not c.reconfigure_is_a_new_process():    # which begins with all jobs and says nothing of it
        c.wait(lambda: c.log_has(r"rubato: rounds consider all pending jobs again", mark), 30,
               "rounds with all jobs")
    c.expect(lambda: "was left out" in c.ask(f"rubato explain {waiting[-1]}"), False,
             "explain to tell the last job what it waits for", 30)
