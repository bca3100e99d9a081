# SPDX-License-Identifier: GPL-2.0-or-later
"""Mode=elastic: the round changes jobs that run."""
import json
import os
import re

from cluster import Nodes, check, scenario, shape

from . import steps
from .restart import log_of
from .sizes import total
from .steps import conf, published

# Starts that last a second pay soon, so that a scenario sees changes in minutes.
CONF = conf("MessageInterval=0", "WarmUp=0", "RestartCost=1", "TestInject=check-gres",
            "GpuType=v100 Speed=1", "GpuType=h100 Speed=3").replace("Mode=place", "Mode=elastic")
shape("elastic", nodes=(Nodes("n[1-2]", "v100:4"),), load=False, rubato_conf=CONF)
shape("elastic-types", nodes=(Nodes("n1", "v100:4"), Nodes("n2", "h100:4")), load=False,
      rubato_conf=CONF)

LONG = 90  # seconds until a condition must hold, on a slow machine too
WORK = 100000
RATES = {2: 17, 4: 30, 8: 53}  # samples/s by GPUs, as 10 n^0.8

# Saves a count at the signal, and goes on from it in the next run.
TRAINS = """log=$SLURM_SUBMIT_DIR/train.$SLURM_JOB_ID
count=$(cat $log.saved 2>/dev/null || echo 0)
echo "run ${SLURM_RESTART_COUNT:-0} with $RUBATO_GPUS from $count"
echo "restart reason ${RUBATO_RESTART_REASON:-first}, resizes ${RUBATO_RESIZE_COUNT:-unknown}"
trap 'echo $count > $log.saved; echo "saved $count"' USR1
while true; do count=$((count + 1)); sleep 0.2 & wait $!; done"""


# On each node a task that writes its node and its process.
SPREADS = TRAINS.replace("while true", """srun -n$SLURM_NNODES --ntasks-per-node=1 --kill-on-bad-exit=0 sh -c \\
  'echo "task on $SLURMD_NODENAME is $$"; exec sleep 900' &
while true""")


def hints(kind, sizes, work=WORK, consent="restart"):
    said = f"rubato: job-type={kind};gpus={sizes};samples={work}"
    return f"--comment='{said}{f';checkpoint=B:USR1@2;resize={consent}' if consent else ''}'"


def measured(c, rates):
    """A new job type that was measured with these rates: {(GPU type, GPUs): samples/s}."""
    kind = c.fresh_name("net")
    for (gpu, gpus), rate in rates.items():
        job = c.sbatch(f"--gpus={gpu}:{gpus} -n{gpus} -t 60 --comment='rubato:job-type={kind}'",
                       "sleep 600")
        c.wait_state(job, "RUNNING", LONG)
        c.ask(f"scontrol update JobId={job} Comment='rubato!report samples=10;rate={rate};batch=8'")
        c.wait(lambda g=gpus, t=gpu: any(
            cell["job_type"] == kind and cell["gpus"] == g and cell["gpu_type"] == t
            for cell in published(c, "models-fit.json").get("cells", [])), LONG, "the report to be learnt")
        c.ask(f"scancel {job}")
        c.wait_state(job, "CANCELLED", LONG)
    return kind


def gpus_of(c, job):
    """GPUs that a running job holds; 0 while it waits or ends."""
    return total(c, job) if c.job(job)["JobState"] == "RUNNING" else 0


def check_counts(c, job):
    """Each later run of a job went on from the count that the run before it saved."""
    runs = int(c.job(job)["Restarts"]) + 1
    c.wait(lambda: f"\nrun {runs - 1} with " in "\n" + c.output(job), LONG, "the last run to print")
    text = c.output(job)
    c.say(text)
    begins = re.findall(r"^run (\d+) with \d+ from (\d+)$", text, re.MULTILINE)
    check([int(run) for run, _ in begins] == list(range(runs)), f"{runs} runs in the output", begins)
    before = re.split(r"^run .*$", text, flags=re.MULTILINE)[1:]
    for (run, count), said in zip(begins[1:], before):
        saved = re.findall(r"^saved (\d+)$", said, re.MULTILINE)
        check(bool(saved) and saved[-1] == count and int(count) > 0,
              f"run {run} to go on from what the run before it saved", (saved, count))


def reasons(c, job):
    """What each run of a job read: (RUBATO_RESTART_REASON, RUBATO_RESIZE_COUNT)."""
    return re.findall(r"^restart reason (\w+), resizes (\w+)$", c.output(job), re.MULTILINE)


def tasks_of(c, job):
    """{node: process of the task there}, of the first run of a job that spreads."""
    return dict(re.findall(r"^task on (\w+) is (\d+)$", c.output(job), re.MULTILINE))


def tell_state(c, *jobs):
    c.cmd("squeue -a -o '%i %T %D %N %b %r'")
    for job in jobs:
        c.cmd(f"rubato explain {job}", check=False)
    if os.path.exists(c.path("state/rubato/interruptions.log")):
        c.say(log_of(c))


@scenario(cluster="elastic", needs=["rubato"], negative="trade", timeout=400)
def a_running_job_makes_room_and_grows_again(c):
    """A job on all 8 GPUs goes on with 4 when another one comes, and with 8 when that has ended

    Nobody asks for it. It continues from what it saved at the signal. In mode place, and under stock
    Slurm, the other job waits until the first one ends.
    """
    kind = measured(c, {("v100", gpus): rate for gpus, rate in RATES.items()})
    job = c.sbatch(f"--gpus=8 -n8 -t 600 {hints(kind, '4,8')}", TRAINS)
    c.expect(lambda: gpus_of(c, job), 8, "GPUs of the first job", LONG)
    c.ask(f"scontrol update JobId={job} Comment='rubato!report samples=100;rate=53;batch=8'")
    short = c.sbatch(f"--gpus=4 -n4 -t 30 {hints(kind, '4', 900, consent=None)}", "sleep 600")
    try:
        c.expect(lambda: gpus_of(c, short), 4, "GPUs of the second job", LONG)
        c.expect(lambda: gpus_of(c, job), 4, "GPUs of the first job beside it", LONG)
    finally:
        tell_state(c, job, short)
    c.cmd(f"scancel {short}")
    c.expect(lambda: gpus_of(c, job), 8, "GPUs of the first job again", LONG)
    tell_state(c, job)
    check(c.job(job)["Restarts"] == "2", "two restarts", c.job(job)["Restarts"])
    check_counts(c, job)
    check(reasons(c, job) == [("first", "0"), ("round", "1"), ("round", "2")],
          "what each run read: the round restarted it, with one more change each", reasons(c, job))
    c.cmd(f"scancel {job}")


@scenario(cluster="elastic", needs=["rubato"], negative="trade", timeout=400)
def a_job_that_no_signal_reaches_is_left_alone(c):
    """A job whose signal goes to steps keeps 8 GPUs while none runs; once its step runs, it makes room for another

    Without a step the signal would reach no process, and a restart would lose the job's work.
    """
    kind = measured(c, {("v100", gpus): rate for gpus, rate in RATES.items()})
    latch = c.latch()
    step = "srun -n$SLURM_NNODES --ntasks-per-node=1 sh -c 'trap : USR1; while true; do sleep 0.2; done'"
    job = c.sbatch(f"--gpus=8 -n8 -t 600 {hints(kind, '4,8').replace('B:USR1', 'USR1')}", f"{latch.wait}; {step}")
    c.expect(lambda: gpus_of(c, job), 8, "GPUs of the first job", LONG)
    c.ask(f"scontrol update JobId={job} Comment='rubato!report samples=100;rate=53;batch=8'")
    short = c.sbatch(f"--gpus=4 -n4 -t 30 {hints(kind, '4', 900, consent=None)}", "sleep 600")
    try:
        c.wait(lambda: "its checkpoint signal would reach no process" in
               " ".join(c.ask(f"rubato explain {job}", check=False).split()), LONG,
               "the round to leave it alone for that")
        tell_state(c, job, short)
        check(gpus_of(c, job) == 8 and c.job(job)["Restarts"] == "0", "no restart", c.job(job)["Restarts"])
        latch.open()
        c.expect(lambda: gpus_of(c, short), 4, "GPUs of the second job", LONG)
        c.wait(lambda: c.job(job)["Restarts"] == "1", LONG, "a restart of the first one")
    finally:
        tell_state(c, job, short)
    c.cmd(f"scancel {job} {short}")


@scenario(cluster="elastic", needs=["rubato"], negative="hold-size", timeout=400)
def a_job_whose_size_is_held_is_left_alone(c):
    """`rubato hold-size` keeps a job on all 8 GPUs while another one waits; released, it makes room

    rqueue and rubato explain show the hold. Without it the round restarts the job with 4 GPUs.
    """
    kind = measured(c, {("v100", gpus): rate for gpus, rate in RATES.items()})
    job = c.sbatch(f"--gpus=8 -n8 -t 600 {hints(kind, '4,8')}", TRAINS)
    c.expect(lambda: gpus_of(c, job), 8, "GPUs of the first job", LONG)
    said = c.cmd(f"rubato hold-size {job}", timeout=90)
    check(f"keeps its 8 GPUs until rubato hold-size {job} --release" in said, "the hold", said)
    c.ask(f"scontrol update JobId={job} Comment='rubato!report samples=100;rate=53;batch=8'")
    short = c.sbatch(f"--gpus=4 -n4 -t 30 {hints(kind, '4', 900, consent=None)}", "sleep 600")
    try:
        c.wait(lambda: "its size is held" in c.ask(f"rubato explain {job}", check=False), LONG,
               "the round to leave it alone because of the hold")
        c.wait(lambda: "8 held" in c.ask(f"rqueue -h -j {job} -O dlsizes"), LONG, "the hold in rqueue")
        rounds = published(c, "plan.json")["round"]
        c.wait(lambda: published(c, "plan.json").get("round", 0) >= rounds + 5, LONG, "five more rounds")
        check((gpus_of(c, job), gpus_of(c, short)) == (8, 0), "the held job to keep its 8 GPUs",
              (gpus_of(c, job), gpus_of(c, short)))
        check(c.job(job)["Restarts"] == "0", "no restart", c.job(job)["Restarts"])
    finally:
        tell_state(c, job, short)
        c.cmd(f"rqueue -j {job}")
    said = c.cmd(f"rubato hold-size {job} --release", timeout=90)
    check("may change its size again" in said, "the release", said)
    c.expect(lambda: (gpus_of(c, short), gpus_of(c, job)), (4, 4), "GPUs of both jobs", LONG)
    c.cmd(f"scancel {job} {short}")


def without_the_bounds(c):
    """Negative control: rubato.conf has neither MinRunTime nor RestartsPerJob"""
    write = c.write_rubato_conf
    steps.replace(c, "write_rubato_conf", lambda text, **more: write(
        re.sub(r"(?m)^(MinRunTime|RestartsPerJob)=.*\n", "", text), **more))


@scenario(cluster="elastic", needs=["rubato"], negative=without_the_bounds, timeout=400)
def interruptions_keep_to_the_bounds_of_rubato_conf(c):
    """A job on all 8 GPUs stays for MinRunTime while another one waits; with RestartsPerJob=1 it is restarted once

    rubato explain names the option. Without the bounds the job is restarted at once, and a second time when
    the other job has ended.
    """
    kind = measured(c, {("v100", gpus): rate for gpus, rate in RATES.items()})
    job = c.sbatch(f"--gpus=8 -n8 -t 600 {hints(kind, '4,8')}", TRAINS)
    c.expect(lambda: gpus_of(c, job), 8, "GPUs of the first job", LONG)
    c.write_rubato_conf(CONF + "MinRunTime=600\n")
    c.ask(f"scontrol update JobId={job} Comment='rubato!report samples=100;rate=53;batch=8'")
    short = c.sbatch(f"--gpus=4 -n4 -t 30 {hints(kind, '4', 900, consent=None)}", "sleep 600")

    def explains(rule, restarts):
        def told():
            seen = c.job(job)["Restarts"]
            check(seen == restarts, f"{restarts} restarts until explain names {rule}", seen)
            return rule in c.ask(f"rubato explain {job}", check=False)
        c.wait(told, LONG, f"explain to name {rule}")
    try:
        explains("MinRunTime", "0")
        rounds = published(c, "plan.json")["round"]
        c.wait(lambda: published(c, "plan.json").get("round", 0) >= rounds + 5, LONG, "five more rounds")
        check((gpus_of(c, job), gpus_of(c, short)) == (8, 0), "the job to keep its 8 GPUs",
              (gpus_of(c, job), gpus_of(c, short)))
        c.write_rubato_conf(CONF + "RestartsPerJob=1\n")
        c.expect(lambda: (gpus_of(c, short), gpus_of(c, job)), (4, 4), "GPUs of both jobs", LONG)
        c.cmd(f"scancel {short}")
        c.wait_state(short, "CANCELLED", LONG)
        explains("RestartsPerJob", "1")
        rounds = published(c, "plan.json")["round"]
        c.wait(lambda: published(c, "plan.json").get("round", 0) >= rounds + 5, LONG, "five more rounds")
        check((gpus_of(c, job), c.job(job)["Restarts"]) == (4, "1"), "no second restart", c.job(job)["Restarts"])
    finally:
        tell_state(c, job, short)
    c.cmd(f"scancel {job}")


@scenario(cluster="elastic", needs=["rubato"], negative="elasticity", timeout=400, tier=2)
def min_scaling_bounds_what_more_gpus_must_gain(c):
    """A job that scales with the power .8 keeps 2 GPUs with MinScaling=0.95 while 6 are free; without that line it grows

    Its sizes were all measured. Without the mechanism it grows at once.
    """
    c.write_rubato_conf(CONF + "MinScaling=0.95\n")
    kind = measured(c, {("v100", gpus): rate for gpus, rate in RATES.items()})
    job = c.sbatch(f"--gpus=2 -n2 -t 600 {hints(kind, '2,4,8')}", TRAINS)
    c.expect(lambda: gpus_of(c, job), 2, "GPUs of the job", LONG)
    try:
        rounds = published(c, "plan.json")["round"]
        c.wait(lambda: published(c, "plan.json").get("round", 0) >= rounds + 8, LONG, "eight more rounds")
        check((gpus_of(c, job), c.job(job)["Restarts"]) == (2, "0"), "2 GPUs and no restart",
              (gpus_of(c, job), c.job(job)["Restarts"]))
        c.write_rubato_conf(CONF)
        c.expect(lambda: gpus_of(c, job), 8, "GPUs of the job without that line", LONG)
    finally:
        tell_state(c, job)
    c.cmd(f"scancel {job}")


@scenario(cluster="elastic-types", needs=["rubato"], negative="exploration", timeout=400, tier=2)
def one_of_several_jobs_measures_their_type_on_other_gpus(c):
    """Of four jobs whose type was measured on h100 alone one starts on v100; its report draws the others there

    All four had room on h100, which counts as faster. Without the mechanism v100 stays idle, and unknown.
    """
    c.write_rubato_conf(CONF.replace("Speed=3", "Speed=1.2"))
    kind = measured(c, {("h100", 1): 12})
    jobs = [c.sbatch(f"--gpus=1 -n1 -t 600 --begin=now+6 {hints(kind, '1', 60000)}", TRAINS) for _ in range(4)]

    def on(gpu):
        return [job for job in jobs if any(gpu in held for held in c.gpus(job).values())]
    c.wait(lambda: len(on("h100")) + len(on("v100")) == 4, LONG, "four jobs to run")
    c.cmd("squeue -a -o '%i %T %N %b'")
    check((len(on("v100")), len(on("h100"))) == (1, 3), "one of the four jobs on v100", (on("v100"), on("h100")))
    job = on("v100")[0]
    try:
        c.wait(lambda: "Explores" in c.ask(f"rubato explain {job}", check=False), LONG, "explain to say it")
        c.ask(f"scontrol update JobId={job} Comment='rubato!report samples=10;rate=60;batch=8'")
        c.wait(lambda: any(cell["job_type"] == kind and cell["gpu_type"] == "v100"
                           for cell in published(c, "models-fit.json").get("cells", [])), LONG, "v100 to be learnt")
        c.expect(lambda: on("v100"), jobs, "jobs on v100", LONG)
    finally:
        tell_state(c, *jobs)
    c.cmd(f"scancel {' '.join(map(str, jobs))}")


@scenario(cluster="elastic", needs=["rubato"], negative="trade", timeout=400, tier=2)
def whatif_tells_in_observe_what_mode_elastic_then_does(c):
    """`rubato whatif --mode elastic` says that a job of 2 GPUs would restart with 8; with Mode=elastic it does

    Before, in mode observe, it keeps its GPUs.
    """
    c.write_rubato_conf(CONF.replace("Mode=elastic", "Mode=observe"))
    kind = measured(c, {("v100", gpus): rate for gpus, rate in RATES.items()})
    job = c.sbatch(f"--gpus=2 -n2 -t 600 {hints(kind, '2,4,8')}", TRAINS)
    c.expect(lambda: gpus_of(c, job), 2, "GPUs of the job", LONG)

    def told():
        answer = json.loads(c.ask("rubato whatif --mode elastic --json 2>/dev/null", check=False) or "{}")
        return {change["id"]: (change["action"], change["gpus_now"], change["gpus"])
                for change in answer.get("changes", [])}
    c.wait(lambda: job in told(), LONG, "the job in rubato whatif")
    c.cmd("rubato whatif --mode elastic")
    check(told() == {job: ("restart", 2, 8)}, "a restart with 8 instead of 2 GPUs", told())
    check((gpus_of(c, job), c.job(job)["Restarts"]) == (2, "0"), "2 GPUs and no restart in mode observe",
          (gpus_of(c, job), c.job(job)["Restarts"]))
    c.write_rubato_conf(CONF)
    try:
        c.expect(lambda: gpus_of(c, job), 8, "GPUs of the job in mode elastic", LONG)
    finally:
        tell_state(c, job)
    c.cmd(f"scancel {job}")


@scenario(cluster="elastic", needs=["rubato"], negative="trade", timeout=400)
def a_long_job_is_stopped_for_a_short_one(c):
    """A job of half an hour that needs all GPUs stops for one of seconds, and goes on after it

    It keeps its id and continues from what it saved. One that did not consent is left alone.
    """
    kind = measured(c, {("v100", 8): 53})
    job = c.sbatch(f"--gpus=8 -n8 -t 600 {hints(kind, '8')}", TRAINS)
    c.expect(lambda: gpus_of(c, job), 8, "GPUs of the long job", LONG)
    short = c.sbatch(f"--gpus=8 -n8 -t 30 {hints(kind, '8', 530, consent=None)}", "sleep 600")
    try:
        c.expect(lambda: gpus_of(c, short), 8, "GPUs of the short job", 2 * LONG)
    finally:
        tell_state(c, job, short)
    check(c.job(job)["JobState"] == "PENDING", "the long job waits", c.job(job)["JobState"])
    urgent = c.sbatch(f"--gpus=8 -n8 -t 30 {hints(kind, '8', 53, consent=None)}", "sleep 1")
    c.ask(f"sleep 5; squeue -h -j {short} -o %T")
    check(gpus_of(c, short) == 8, "the job without consent runs on", c.job(short))
    c.cmd(f"scancel {short}")
    c.wait_state(urgent, "COMPLETED", LONG)
    c.expect(lambda: gpus_of(c, job), 8, "GPUs of the long job again", LONG)
    check(c.job(job)["Restarts"] == "1", "one restart", c.job(job)["Restarts"])
    check_counts(c, job)
    check(reasons(c, job) == [("first", "0"), ("round", "0")],
          "the second run to read that the round had stopped it", reasons(c, job))
    tell_state(c, job)
    check(f"JobId={job} stop=done by=round gpus=8->0" in log_of(c), "the stop in the log", log_of(c))
    c.cmd(f"scancel {job}")


@scenario(cluster="elastic-types", needs=["rubato"], negative="trade", timeout=400)
def a_running_job_moves_to_a_faster_type(c):
    """A job that had to start on v100 moves to h100 once a job there has ended

    The submitted request names no type. After `scontrol requeue` the job asks for the same again.
    """
    kind = measured(c, {("v100", 4): 30, ("h100", 4): 120})
    holds = c.sbatch("--gpus=h100:4 -n4 -t 60", "sleep 600")
    c.wait_state(holds, "RUNNING", LONG)
    job = c.sbatch(f"--gpus=4 -n4 -t 600 {hints(kind, '4')}", TRAINS)
    c.expect(lambda: c.gpus(job), {"n1": {"v100": 4}}, "GPUs of the job", LONG)
    asked = c.job(job)["TresPerJob"]
    c.cmd(f"scancel {holds}")
    try:
        c.expect(lambda: c.gpus(job), {"n2": {"h100": 4}}, "GPUs of the job", LONG)
    finally:
        tell_state(c, job)
    check(c.job(job)["TresPerJob"] == asked, "the submitted request", c.job(job)["TresPerJob"])
    check_counts(c, job)
    c.cmd(f"scancel {job}")


@scenario(cluster="elastic", needs=["rubato"], negative="keep-nodes", timeout=400)
def a_running_job_gives_back_a_node_and_runs_on(c):
    """A job with resize=live on two nodes keeps the first when another one comes, without a restart

    It holds 3000 MiB on each node, of which a start with 4 GPUs would ask for half. The task on the
    first node goes on. The other job gets the second node; when it ends, the first job gets GPUs
    again, also without a restart.
    """
    kind = measured(c, {("v100", gpus): rate for gpus, rate in RATES.items()})
    job = c.sbatch(f"--gpus=8 -n8 --mem=3000 -t 600 {hints(kind, '4,8', consent='live')}", SPREADS)
    c.expect(lambda: gpus_of(c, job), 8, "GPUs of the first job", LONG)
    c.wait(lambda: len(tasks_of(c, job)) == 2, LONG, "a task on each node")
    tasks = tasks_of(c, job)
    c.say(str(tasks))
    c.ask(f"scontrol update JobId={job} Comment='rubato!report samples=100;rate=53;batch=8'")
    short = c.sbatch(f"--gpus=4 -n4 -t 30 {hints(kind, '4', 900, consent=None)}", "sleep 600")
    try:
        c.expect(lambda: c.gpus(job), {"n1": {"v100": 4}}, "GPUs of the first job", LONG)
        c.expect(lambda: c.gpus(short), {"n2": {"v100": 4}}, "GPUs of the second job", LONG)
    finally:
        tell_state(c, job, short)
    check(c.job(job)["Restarts"] == "0", "no restart", c.job(job)["Restarts"])
    check(f"JobId={job} shrink=done by=round gpus=8->4" in log_of(c), "the change in the log", log_of(c))
    check_counts(c, job)
    told = c.cmd(f"scontrol show job {job} | grep SystemComment")
    check("step=done how=live from=8 gpus=4 leave=n2}" in told, "the node that went in its notice", told)
    check("\nsaved " in c.output(job), "the signal before it", c.output(job))
    check(tasks_of(c, job) == tasks and os.path.exists(f"/proc/{tasks['n1']}"),
          "the task on n1 to go on", tasks)
    c.wait(lambda: not os.path.exists(f"/proc/{tasks['n2']}"), LONG, "the task on n2 to end")
    c.cmd(f"scancel {short}")
    try:
        c.expect(lambda: gpus_of(c, job), 8, "GPUs of the first job again", LONG)
    finally:
        tell_state(c, job)
    check(c.job(job)["Restarts"] == "0", "no restart", c.job(job)["Restarts"])
    check(f"JobId={job} grow=done by=round gpus=4->8" in log_of(c), "the growth in the log", log_of(c))
    check(os.path.exists(f"/proc/{tasks['n1']}"), "the task on n1 to go on", tasks)
    c.cmd(f"scancel {job}")


@scenario(cluster="elastic-types", needs=["rubato"], negative="trade", timeout=400)
def two_running_jobs_exchange_their_nodes(c):
    """A job that gains much from h100 and one that gains little, on the wrong types, change places

    The first one consents to a restart only when both run: else the other one would have waited for its
    GPUs. Both get their signal at once, and each starts where the other was.
    """
    little = measured(c, {("v100", 4): 30, ("h100", 4): 33})
    much = measured(c, {("v100", 4): 30, ("h100", 4): 120})
    first = c.sbatch(f"--gpus=4 -n4 -t 600 {hints(little, '4', consent=None)}", TRAINS)
    c.expect(lambda: c.gpus(first), {"n2": {"h100": 4}}, "GPUs of the first job", LONG)
    second = c.sbatch(f"--gpus=4 -n4 -t 600 {hints(much, '4')}", TRAINS)
    c.expect(lambda: c.gpus(second), {"n1": {"v100": 4}}, "GPUs of the second job", LONG)
    c.cmd(f"scontrol update JobId={first} {hints(little, '4').replace('--comment=', 'Comment=')}")
    try:
        c.expect(lambda: (c.gpus(first), c.gpus(second)), ({"n1": {"v100": 4}}, {"n2": {"h100": 4}}),
                 "GPUs of both jobs", 2 * LONG)
    finally:
        tell_state(c, first, second)
    check(c.job(first)["Restarts"] == c.job(second)["Restarts"] == "1", "a restart of each",
          (c.job(first)["Restarts"], c.job(second)["Restarts"]))
    check_counts(c, first)
    check_counts(c, second)
    c.cmd(f"scancel {first} {second}")


@scenario(cluster="elastic", needs=["rubato"], negative="usual-work", timeout=200)
def the_work_of_completed_jobs_is_remembered(c):
    """What a job did until it completed counts for its type; that of a cancelled and a failed one does not"""
    kind = c.fresh_name("work")
    ends = c.path(f"{kind}.ends")
    waits = f"while [ ! -e {ends} ]; do sleep 0.2; done"
    jobs = [c.sbatch(f"--gpus=1 -n1 -t 60 --comment='rubato:job-type={kind}'", script)
            for script in (waits, waits + "; exit 3", "sleep 600")]
    for number, job in enumerate(jobs):
        c.wait_state(job, "RUNNING", LONG)
        c.ask(f"scontrol update JobId={job} Comment='rubato!report samples={700 + number};rate=10;batch=8'")

    def reported():
        progress = published(c, "plan.json")["memory"].get("progress", [])
        return {one["samples"] for one in progress if one["id"] in jobs}

    def works():
        return [[one["samples"] for one in profile["ended"]]
                for profile in published(c, "plan.json")["memory"].get("works", []) if profile["job_type"] == kind]
    c.expect(reported, {700, 701, 702}, "reports", LONG)
    check(works() == [], "no work of a running job", works())
    c.ask(f"scancel {jobs[2]}")
    c.wait_state(jobs[2], "CANCELLED", LONG)
    c.ask(f"touch {ends}")
    for job, state in zip(jobs[:2], ("COMPLETED", "FAILED")):
        c.wait_state(job, state, LONG)
    # The next jobs end after all of them were counted.
    last = c.sbatch(f"--gpus=1 -n1 -t 60 --comment='rubato:job-type={kind}'", "sleep 1")
    c.wait_state(last, "COMPLETED", LONG)
    c.expect(works, [[700]], "samples of completed jobs", LONG)


# What `rubato wait-resize` says, each time with the code that it ends with.
FOLLOWS = """echo "starts with batch ${RUBATO_BATCH:-unknown}"
while true; do rubato wait-resize --timeout 600; echo "code $?"; done"""


@scenario(cluster="elastic", needs=["rubato"], negative="notice", timeout=400, tier=2)
def a_running_job_is_told_a_faster_batch(c):
    """A job whose batch is a range runs at its least; once larger ones were measured it is told one, on the same GPUs

    It is told once, although it goes on as before: what it does with it is its own.
    """
    kind = c.fresh_name("batch")
    said = f"rubato: job-type={kind};gpus=2,4;batch=32-256;samples={WORK};resize=live"
    job = c.sbatch(f"--gpus=2 -n2 -t 600 --comment='{said}'", FOLLOWS)
    c.wait_state(job, "RUNNING", LONG)

    def reports(batch, rate, of=job):
        c.ask(f"scontrol update JobId={of} Comment='rubato!report samples=10;rate={rate};batch={batch}'")
    reports(32, 100)
    others = [c.sbatch(f"--gpus=2 -n2 -t 60 --comment='rubato:job-type={kind};batch={batch}'", "sleep 600")
              for batch in (64, 128, 256)]
    for other, batch, rate in zip(others, (64, 128, 256), (160, 250, 340)):
        c.wait_state(other, "RUNNING", LONG)
        reports(batch, rate, other)

    def told():
        reports(32, 100)
        return re.findall(r"^Notice (\d+): batch (\d+) from now on; the job keeps its GPUs\.\ncode 13$", c.output(job),
                          re.MULTILINE)
    try:
        c.expect(told, lambda seen: len(seen) > 0, "the job to print a batch", LONG)
    finally:
        c.say(c.output(job))
        c.cmd(f"squeue -j {job} -O 'jobid:8,state:10,system_comment:250'")
    batch = int(told()[0][1])
    check(batch >= 128, "a batch of at least 128", batch)
    # It goes on to report the batch of before.
    rounds = published(c, "plan.json")["round"]
    c.wait(lambda: told() and published(c, "plan.json").get("round", 0) >= rounds + 5, LONG, "five more rounds")
    check(len(told()) == 1, "one notice", told())
    check("step=done how=live from=2 gpus=2 batch=" in c.job(job)["SystemComment"], "it in scontrol show job",
          c.job(job)["SystemComment"])
    c.cmd(f"scancel {job}")
