# SPDX-License-Identifier: GPL-2.0-or-later
"""Running jobs that get another size by a restart: rubato resize."""
import pathlib
import re
import time

from cluster import check, scenario

from .shrink import fill, saved_since
from .sizes import LONG, asks_again, request, runs_with, total
from .steps import conf, published, published_again, replace, submit_many

HINTS = "--comment='rubato: gpus=2,4,8;checkpoint=B:USR1@3;resize=restart'"

# Saves a count at the signal, and goes on from it in the next run.
TRAINS = """log=$SLURM_SUBMIT_DIR/train.$SLURM_JOB_ID
count=$(cat $log.saved 2>/dev/null || echo 0)
echo "from $count"
trap 'echo $count > $log.saved; echo "saved $count"' USR1
env | grep -E '^(RUBATO_(GPUS|GPU_TYPE)|SLURM_(NTASKS|GPUS|NPROCS))=' | sort
srun sh -c 'echo step $SLURM_PROCID of $SLURM_NTASKS on ${CUDA_VISIBLE_DEVICES:-no GPU}' | sort
echo done ${SLURM_RESTART_COUNT:-0}
while true; do count=$((count + 1)); sleep 0.2 & wait $!; done"""


def log_of(c):
    """The log of interruptions."""
    with open(c.path("state/rubato/interruptions.log"), encoding="utf-8") as file:
        return file.read()


def counts(c, job):
    """What each run of a job saved, and from what the next one went on."""
    return re.findall(r"^saved (\d+)$.*?^from (\d+)$", c.output(job), re.MULTILINE | re.DOTALL)


def steps_of(c, job):
    """The steps of a job's restarts in the log."""
    return re.findall(rf"JobId={job} restart=(\w+)", log_of(c))


@scenario(cluster="jobs", needs=["rubato"], negative="restart", timeout=180)
def a_running_job_gets_another_size(c):
    """`rubato resize` restarts a job of 4 GPUs with 2, then with 8, from what it saved at the signal

    Its id, comment and submitted request stay; scontrol requeue gives it 4 again. The output of
    all runs is in its file, unless --open-mode=truncate asks for another. A job that did not
    consent, and one with --no-requeue, run on.
    """
    c.write_rubato_conf(conf())
    job = c.sbatch(f"--gpus=4 -n4 -t 5 {HINTS}", TRAINS)
    runs_with(c, job, 4)
    comment = c.job(job)["Comment"]
    before = request(c, c.sbatch(f"-H --gpus=4 -n4 -t 5 {HINTS}"))
    plain = c.sbatch("--gpus=1 -n1 -t 5 --comment='rubato: gpus=1,2'", "sleep 600")
    stays = c.sbatch("--no-requeue --gpus=1 -n1 -t 5 "
                     "--comment='rubato: gpus=1,2;checkpoint=none'", "sleep 600")
    empties = c.sbatch(f"--open-mode=truncate --gpus=2 -n2 -t 5 {HINTS}",
                       "trap : USR1; echo run ${SLURM_RESTART_COUNT:-0}; while true; do sleep 0.2; done")
    for other in (plain, stays, empties):
        c.wait_state(other, "RUNNING", LONG)
    for other in (plain, stays):
        refused = f"rubato resize {other} --gpus 2"
        c.wait(lambda command=refused: "consent" in c.ask(command, check=False), LONG,
               "the missing consent to be named")
        c.cmd(refused, check=False)
    said = c.cmd(f"rubato resize {job} --gpus 3", check=False)
    check("not one of its sizes, 2,4,8" in said, "its sizes", said)
    said = c.cmd(f"rubato resize {job} --gpus 2 --dry-run")
    check("it starts at once on" in said, "the place", said)
    check(total(c, job) == 4 and c.job(job)["Restarts"] == "0", "nothing changed", c.job(job))

    for gpus, runs in ((2, 1), (8, 2)):
        said = c.cmd(f"rubato resize {job} --gpus {gpus}", timeout=90)
        check(f"runs with {gpus} " in said, f"{gpus} GPUs", said)
        lines = runs_with(c, job, gpus)
        check(c.job(job)["Restarts"] == str(runs), f"{runs} restarts", c.job(job)["Restarts"])
        check(c.job(job)["Comment"] == comment, comment, c.job(job)["Comment"])
        found = counts(c, job)
        check(len(found) == runs and all(saved == went_on and int(saved) > 0
                                         for saved, went_on in found),
              "each run to go on from what the one before it saved", lines)
    for run in range(3):
        check(f"done {run}\n" in c.output(job), f"the output of run {run}", c.output(job))
    c.cmd(f"rubato resize {empties} --gpus 4", timeout=90)
    c.wait(lambda: "run 1\n" in c.output(empties), LONG, "the job to print run 1")
    check("run 0\n" not in c.output(empties), "the output of the last run only", c.output(empties))
    c.say(log_of(c))
    check(steps_of(c, job) == ["saving", "requeued", "done"] * 2, "three steps a restart", log_of(c))
    check({c.job(plain)["Restarts"], c.job(stays)["Restarts"]} == {"0"}, "no other restarts", "")
    c.cmd(f"scontrol requeue {job}")
    asks_again(c, job, before)


def changes(c):
    """(restarts, measured changes, their cost) of all days in stats.json."""
    days = [day.get("changes", {}) for day in published(c, "stats.json").get("report", {}).get("days", [])]
    return tuple(sum(day.get(name, 0) for day in days) for name in ("restarted", "measured", "cost_s"))


@scenario(cluster="jobs", needs=["rubato"], negative="job-env", timeout=180)
def a_restarted_job_reads_why(c):
    """A restarted job finds in its environment who restarted it, and how often its size has changed

    After `rubato resize`: resize. After `scontrol requeue`: requeue, with the submitted size.
    """
    c.write_rubato_conf(conf())
    job = c.sbatch(f"--gpus=4 -n4 -t 5 {HINTS}", """why="${RUBATO_RESTART_REASON:-first} ${RUBATO_RESIZE_COUNT:-none}"
echo "run ${SLURM_RESTART_COUNT:-0} with $RUBATO_GPUS: $why"
""" + TRAINS)

    def says(line):
        try:
            c.wait(lambda: f"{line}\n" in c.output(job), LONG, f"the job to print: {line}")
        finally:
            c.say(*re.findall(r"^run .*: .*$", c.output(job), re.MULTILINE))
    says("run 0 with 4: first 0")
    for gpus, line in ((2, "run 1 with 2: resize 1"), (8, "run 2 with 8: resize 2")):
        c.cmd(f"rubato resize {job} --gpus {gpus}", timeout=90)
        says(line)
    c.cmd(f"scontrol requeue {job}")
    says("run 3 with 4: requeue 3")


@scenario(cluster="jobs", needs=["rubato"], negative="change-costs", timeout=180)
def what_a_restart_costs_is_measured(c):
    """The reports before and after a restart show what it cost; the log and `rubato explain` name it

    Between them the job did nothing, so the cost is all the time. `rubato stats` counts it.
    """
    c.write_rubato_conf(conf("MessageInterval=0"))
    counted = changes(c)
    job = c.sbatch("--gpus=4 -n4 -t 5 --comment='rubato: job-type=resnet50;gpus=2,4,8;checkpoint=B:USR1@3;"
                   "resize=restart'", TRAINS)
    runs_with(c, job, 4)
    before = time.time()
    c.cmd(f"rubato report --job {job} --samples 1000 --rate 10 --batch 64")
    c.wait(lambda: "samples=1000" in c.job(job).get("SystemComment", ""), LONG, "the first report")
    c.cmd(f"rubato resize {job} --gpus 2", timeout=90)
    runs_with(c, job, 2)
    time.sleep(2)  # a report of the second of the start does not count
    c.cmd(f"rubato report --job {job} --samples 1000 --rate 5 --batch 64")
    passed = time.time() - before
    c.wait(lambda: "measured" in steps_of(c, job), LONG, "the cost in the log")
    c.say(log_of(c))
    cost = int(re.search(r"restart=measured .* cost=(\d+)", log_of(c))[1])
    # Both reports count in whole seconds, and the first was sent up to a round before it was taken.
    check(passed - 3 <= cost <= passed + 2, f"{passed - 3:.0f} to {passed + 2:.0f} s", cost)
    c.wait(lambda: "a restart" in c.ask(f"rubato explain {job} | grep -A1 Costs", check=False), LONG,
           "the cost in rubato explain")
    said = c.cmd(f"rubato explain {job} | grep -A1 Costs")
    check("(measured once)" in said, "one measured restart", said)
    wanted = (counted[0] + 1, counted[1] + 1)
    found = c.expect(lambda: changes(c), lambda now: now[:2] == wanted, "the restart in stats.json", LONG)
    check(abs(found[2] - counted[2] - cost) < 1, f"its cost of {cost} s there", found)
    c.cmd("rubato stats | head -12")


@scenario(cluster="jobs", needs=["rubato"], negative="keep-place", timeout=180)
def a_restarted_job_keeps_its_place(c):
    """While a job of 8 GPUs is restarted with 4, a job that waits for 4 does not take its place

    The waiting job starts on what is left.
    """
    c.write_rubato_conf(conf())
    job = c.sbatch("--gpus=8 -n8 -t 5 --comment='rubato: gpus=4,8;checkpoint=B:USR1@3;resize=restart'", TRAINS)
    runs_with(c, job, 8)
    submit_many(c, 80, "--gpus=1 -n1 -t 5", "sleep 600")
    c.wait(lambda: len(c.jobs("PENDING")) >= 8, LONG, "jobs to wait")
    started = len(c.jobs("RUNNING"))
    c.cmd(f"rubato resize {job} --gpus 4 --no-wait")
    c.expect(lambda: c.job(job)["Restarts"], "1", "restarts", LONG)
    c.expect(lambda: (c.job(job)["JobState"], total(c, job)), ("RUNNING", 4), "state and GPUs", LONG)
    c.cmd(f"scontrol show job -d {job} | grep -E 'JobState|NumNodes|GRES|TresPer'")
    c.expect(lambda: len(c.jobs("RUNNING")), started + 4, "running jobs, four more", LONG)


@scenario(cluster="jobs", needs=["rubato"], negative="restart", timeout=240)
def a_rehearsal_shows_whether_a_job_saves_its_state(c):
    """`rubato rehearse` restarts a job that saves at its signal; one that no signal reaches is left alone

    The first job answers and goes on from what it saved. The second one starts python3 from the batch
    script, and its hint has no B:, so that the signal goes to steps only. The third one does not save.
    """
    c.write_rubato_conf(conf("MessageInterval=0"))
    report = "rubato report --samples $((100 * count + 100)) --rate 10 --batch 64"
    saves = TRAINS.replace("trap 'echo $count > $log.saved; echo \"saved $count\"' USR1",
                           f"""trap 'echo $count > $log.saved; echo "saved $count"; {report}; rubato report --ack 0' USR1
{report}""").replace("B:USR1@3", "B:USR1@40")
    options = "--gpus=4 -n4 -t 5 --comment='rubato: gpus=2,4;checkpoint={};resize=restart'"
    works = c.sbatch(options.format("B:USR1@40"), saves)
    python = c.path(f"{c.fresh_name('train')}.py")
    with open(python, "w", encoding="ascii") as file:
        file.write("import signal, time\nsignal.signal(signal.SIGUSR1, lambda *_: print('saved', flush=True))\n"
                   "print('begins', flush=True)\nwhile True:\n    time.sleep(0.2)\n")
    deaf = c.sbatch(options.format("USR1@60"), f"exec python3 {python}")
    forgets = c.sbatch(options.format("B:USR1@2"), "trap : USR1\nrubato report --samples $((500 - 400 * "
                       "${SLURM_RESTART_COUNT:-0})) --rate 10 --batch 64\nwhile true; do sleep 0.2; done")
    for job in (works, deaf, forgets):
        c.wait_state(job, "RUNNING", LONG)
    runs_with(c, works, 4)
    c.wait(lambda: "begins" in c.output(deaf), LONG, "the second job to begin")
    for job in (works, forgets):
        c.wait(lambda j=job: "samples=" in c.job(j).get("SystemComment", ""), LONG, "a report of each")

    said = c.cmd(f"rubato rehearse {works} --dry-run")
    check("B:USR1@40 to its batch script, 40 s to save" in said, "what would happen", said)
    said = c.cmd(f"rubato rehearse {works}", timeout=120)
    check(re.search(r"B:USR1@40 sent to its batch script; it has 40 s to save\.\nIt answered after \d+ s\.\n"
                    r"It runs again with 4 \w+ after a stop of \d+ s\.\nFirst report after \d+ s: \d+ samples, \d+ before; "
                    rf"it goes on from there\.\nJob {works} can be restarted\.", said), "what was seen", said)
    check(counts(c, works) and len(set(counts(c, works)[0])) == 1, "a run that goes on", c.output(works))

    said = c.cmd(f"rubato rehearse {deaf}", check=False, timeout=120)
    check(said.rc == 1 and "no step of it runs" in said and "checkpoint=B:USR1@60" in said,
          "why its signal reaches no process, and what to write", said)
    check(c.job(deaf)["Restarts"] == "0" and "saved" not in c.output(deaf), "no restart", c.job(deaf)["Restarts"])

    said = c.cmd(f"rubato rehearse {forgets}", check=False, timeout=120)
    check(said.rc == 1 and "It did not answer" in said and "100 samples, 500 before; 400 are lost" in said,
          "lost work", said)
    check(re.findall(rf"JobId={works} rehearsal=(\w+)", log_of(c))[:3] == ["saving", "requeued", "done"],
          "three steps in the log", log_of(c))


def loses_the_record(c):
    """Negative control: slurmctld ends without restarts.json."""
    kill = c.kill9_ctld

    def kill_and_remove():
        kill()
        pathlib.Path(c.path("state/rubato/restarts.json")).unlink(missing_ok=True)
    replace(c, "kill9_ctld", kill_and_remove)


@scenario(cluster="shrink", needs=["rubato"], negative=loses_the_record, timeout=240)
def a_kill_after_the_requeue_keeps_size_and_place(c):
    """slurmctld is killed after the requeue of a restart and before state.json: the job starts with 4 GPUs

    An epilog holds its node meanwhile. A job that waits for these GPUs does not get them.
    """
    epilog, latch = pathlib.Path(c.path("bin", c.fresh_name("epilog"))), c.latch()
    c.defer(latch.open)
    epilog.write_text(f"#!/bin/sh\n{latch.wait}\n", encoding="ascii")
    epilog.chmod(0o755)
    c.change(options={"Epilog": str(epilog)})
    held = [fill(c, f"n{number}", 4) for number in (2, 3, 4)]
    hints = "--comment='rubato: gpus=2,4;checkpoint=B:USR1@1;resize=restart'"
    job = c.sbatch(f"--gpus=a100:2 -n2 -t 60 {hints}", TRAINS)
    c.wait_state(job, "RUNNING", LONG)
    published_again(c)
    state = pathlib.Path(c.path("state/rubato/state.json"))
    before = state.read_bytes()
    c.cmd(f"rubato resize {job} --gpus 4 --no-wait")
    c.expect(lambda: c.job(job)["Restarts"], "1", "restarts", LONG)
    requeued = time.time()
    waits = c.sbatch("--gpus=a100:4 -n4 -t 60", "sleep 900", name="filler")  # slurmctld saves its jobs after that
    saved_since(c, requeued)
    c.kill9_ctld()
    state.write_bytes(before)
    c.say("slurmctld is killed, and state.json is that of before the request")
    c.start_ctld()
    latch.open()
    c.expect(lambda: (c.job(job)["JobState"], total(c, job), c.job(job)["Restarts"]), ("RUNNING", 4, "1"),
             "state, GPUs and restarts", LONG)
    c.cmd(f"scontrol show job -d {job} | grep -E 'JobState|NumNodes|GRES|TresPer'")
    check(c.job(waits)["JobState"] == "PENDING", "the other job to wait", c.job(waits)["JobState"])
    c.say(log_of(c))
    c.cmd(f"scancel {job} {waits} " + " ".join(map(str, held)))
    c.wait(lambda: not c.jobs("PENDING,RUNNING,COMPLETING"), LONG, "the jobs to end")


def keeps_the_job(c):
    """Negative control: the requeued job is not cancelled, and its place is kept."""
    run = c.cmd
    replace(c, "cmd", lambda line, **how: run(f": {line}" if line.startswith("scancel") else line, **how))


@scenario(cluster="shrink", needs=["rubato"], negative=keeps_the_job, timeout=240, tier=2)
def the_place_of_a_cancelled_restart_is_free_at_once(c):
    """A requeued job is cancelled before it starts: a job that waits for its GPUs starts within LONG seconds

    An epilog holds the node of the first run until then. The place would be kept for 120 s.
    """
    epilog, latch = pathlib.Path(c.path("bin", c.fresh_name("epilog"))), c.latch()
    c.defer(latch.open)
    epilog.write_text(f"#!/bin/sh\n{latch.wait}\n", encoding="ascii")
    epilog.chmod(0o755)
    c.change(options={"Epilog": str(epilog)})
    for number in (2, 3, 4):
        fill(c, f"n{number}", 4)
    job = c.sbatch("--gpus=a100:2 -n2 -t 60 --comment='rubato: gpus=2,4;checkpoint=B:USR1@1;resize=restart'", TRAINS)
    c.wait_state(job, "RUNNING", LONG)
    published_again(c)
    c.cmd(f"rubato resize {job} --gpus 4 --no-wait")
    c.expect(lambda: c.job(job)["Restarts"], "1", "restarts", LONG)
    waits = c.sbatch("--gpus=a100:4 -n4 -t 60", "sleep 900", name="filler")
    c.cmd(f"scancel {job}")
    latch.open()
    c.expect(lambda: c.job(waits)["JobState"], "RUNNING", "state of the job that waits for these GPUs", LONG)
    c.cmd(f"scontrol show job -d {waits} | grep -E 'JobState|StartTime|GRES'")
    check(steps_of(c, job) == ["saving", "requeued", "failed"], "the last step in the log", log_of(c))
