# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmctld killed at random instants, reconfigured again and again, and under work for a long time.

RUBATO_KILLS sets the number of kills (50), RUBATO_RECONFIGURES that of reconfigures (100), RUBATO_SOAK the seconds of
work (7200), RUBATO_SOAK_PACE the seconds from one step of it to the next (0.5), RUBATO_ENDURE_SEED the seed (1).
All run under stock Slurm too.
"""
import collections
import glob
import os
import pathlib
import random
import re
import statistics
import time

from cluster import check, node_tables, proc, records, scenario, shape

from . import remember, steps
from .saved import written

KILLS = int(os.environ.get("RUBATO_KILLS", "50"))
RECONFIGURES = int(os.environ.get("RUBATO_RECONFIGURES", "100"))
IDLE = 5
MET = 0.03      # of the launches: docs/results/releases.md has what stock Slurm shows
SOAK = int(os.environ.get("RUBATO_SOAK", "7200"))
PACE = float(os.environ.get("RUBATO_SOAK_PACE", "0.5"))
SEED = int(os.environ.get("RUBATO_ENDURE_SEED", "1"))

# Ended jobs leave slurmctld within about a minute, so that its memory does not grow by them.
shape("reconfigured", load=False, rubato_conf=remember.CONF, options={"MinJobAge": 5})
shape("soak", load=False, rubato_conf=steps.conf("MessageInterval=1"), options={"MinJobAge": 5})
REQUESTS = ("--gpus=1", "--gpus=a100:2", "--gpus=h100:4 -N1", "--gpus=3", "-n2",
            "--gpus-per-node=2 -N2", "--gpus=1 --comment='rubato:job-type=endure;gpus=1-2'")


def submit(c, rng, ran, seconds):
    """A job that notes its runs in `ran`; its name. slurmctld gives the id of a lost job again."""
    name = c.fresh_name("endure")
    c.sbatch(f"{rng.choice(REQUESTS)} -t 5 --requeue -o /dev/null",
             f"echo $SLURM_JOB_NAME >> {ran}; sleep {seconds:.1f}", name=name)
    return name


def resume_drained(c):
    """Returns drained nodes to service, as an admin would; their number.

    slurmd refuses a job whose id it still has from a lost one, and slurmctld then drains the node.
    """
    drained = [name for name, node in c.nodes().items() if "DRAIN" in node.get("State", "")]
    for name in drained:
        c.ask(f"scontrol update NodeName={name} State=RESUME")
    return len(drained)


FORGET = []     # not empty: the state is deleted after each kill


def forget_state(c):
    """Negative control: slurmctld starts without its saved jobs."""
    FORGET.append(True)
    c.defer(FORGET.clear)


@scenario(cluster="quiet", negative=forget_state, timeout=KILLS * 30 + 300,
          tier=2)
def random_kills_lose_no_job(c):
    """kill -9 of slurmctld at random instants: no saved job is lost, node tables agree with jobs

    A job that slurmctld had not saved is lost, and its id is given to the next job. slurmd may then
    refuse that one as a duplicate, and Slurm holds it. So the end of the jobs is not awaited.
    """
    rng = random.Random(SEED)
    ran = pathlib.Path(c.path("out", c.fresh_name("ran")))
    submitted = {}
    drained = 0
    begin = time.time()
    for number in range(KILLS):
        for _ in range(rng.randint(1, 4)):
            submitted[submit(c, rng, ran, rng.uniform(0.1, 4))] = time.time()
        waiting = c.fresh_name("later")     # it never runs, so only slurmctld knows it
        c.sbatch("--gpus=1 -t 5 --begin=now+1day", "true", name=waiting)
        submitted[waiting] = time.time()
        time.sleep(rng.uniform(0, 7))     # slurmctld saves within 5 s
        c.kill9_ctld()
        # slurmctld saves within 5 s; what it had not saved is lost under stock Slurm too.
        saved = [job for job, at in submitted.items() if at < written(c) - 1]
        for path in glob.glob(c.path("state", "job_state*")) if FORGET else ():
            os.unlink(path)
        c.start_ctld()
        known = set(c.ask("squeue -h -t all -o %j").split())
        done = set(ran.read_text(encoding="ascii").split()) if ran.exists() else set()
        lost = [job for job in saved if job not in known | done]
        check(not lost, f"all saved jobs after kill {number + 1}", lost)
        for job in [job for job in submitted if job not in known | done]:
            del submitted[job]
        wrong = node_tables.still_wrong(c, 60)
        check(not wrong, f"node tables that agree with the jobs after kill {number + 1}", wrong)
        drained += resume_drained(c)
        c.say(f"    kill {number + 1}: {len(saved)} saved jobs known, {time.time() - begin:.0f} s")
    held = c.ask("squeue -h -t PENDING -o %r").count("launch failed requeued held")
    c.say(f"    {KILLS} kills, {len(saved)} saved jobs, none lost; {drained} nodes drained, {held} jobs held")


def reconfigure_is_a_kill(c):
    """Negative control: slurmctld is killed instead, and so loses what it has not saved."""
    def killed():
        c.kill9_ctld()
        c.start_ctld()
    steps.replace(c, "reconfigure", killed)


def controllers(c):
    """Processes of slurmctld and of its script runner for this cluster."""
    return [pid for pid in proc.all_pids() if re.match("slurm(ctld|scriptd)", proc.read_proc(pid, "comm"))
            and (proc.cwd_of(pid) + "/").startswith(c.base + "/")]


def one_arena(c):
    """Restarts slurmctld with one arena for all threads: else their number shows in its memory."""
    c.extra_env["MALLOC_ARENA_MAX"] = "1"
    c.defer(lambda: c.extra_env.pop("MALLOC_ARENA_MAX", None))
    c.restart_ctld()


def use_of_renewed(c, pids):
    """What slurmctld uses once it was reconfigured, the median of five times: memory half a second later, and the
    least descriptors and threads until then, since at first all nodes talk to it."""
    seen = []
    for _ in range(IDLE):
        c.reconfigure()
        pids.add(c.ctld_pid())
        looks = []
        for _ in range(5):
            time.sleep(0.1)
            looks.append(use(c))
        seen.append((looks[-1][0], *(min(look[column] for look in looks) for column in (1, 2))))
    return [statistics.median(column) for column in zip(*seen)]


def check_runs(c, ran, ended):
    """Each job ran once, except for the few whose launch met a reconfigure and that Slurm requeued itself.

    While slurmctld 22.05 reads slurm.conf anew, its time limit for messages is 0 (read_config.c,
    _destroy_slurm_conf()), so it takes a node whose answer to a launch comes then for one that does not respond
    (agent.c, _notify_slurmctld_nodes()). On 24.11 launches are lost with the process. Both happen to stock Slurm too.
    """
    jobs = {name for name, _ in ended}
    requeued = collections.Counter(name for name, state in ended if state == "NODE_FAIL")
    others = [(name, state) for name, state in ended if state not in ("COMPLETED", "NODE_FAIL")]
    check(not others, "no other end of a job", others)
    runs = collections.Counter(ran.read_text(encoding="ascii").split())
    wrong = {name: runs[name] for name in jobs if not 1 <= runs[name] <= 1 + requeued[name]}
    check(not wrong, "each job to have run once, and once more at most for each requeue", wrong)
    c.say(f"    launches that met a reconfigure: {requeued.total()} of {len(jobs)} jobs")
    most = max(1, len(jobs) * MET)
    check(requeued.total() <= most, f"at most {MET:.0%} of the launches to meet a reconfigure", requeued)


@scenario(cluster="reconfigured", negative=reconfigure_is_a_kill, timeout=RECONFIGURES * 30 + 300, tier=2)
def reconfigures_under_load_lose_and_leak_nothing(c):
    """100 times `scontrol reconfigure` while jobs come, report, run and wait: nothing is lost, nothing leaks

    Each job ends once, as slurmctld's record of it says, and runs once by its own note (check_runs() has what Slurm
    requeues itself); those that wait keep their places, the one that runs is not touched. Each report is stored once.
    Descriptors, threads and processes of slurmctld are what they were before, once it has forgotten the jobs, and its
    memory is what it was at half. Before Slurm 24.05 it is one process, whose memory grows over the first reconfigures
    under stock too. Since then each reconfigure is a new process, which loads the models of the reports so far.
    """
    rng = random.Random(SEED)
    rubato = c.flavour == "rubato"
    ran = pathlib.Path(c.path("out", c.fresh_name("ran")))
    one_arena(c)
    hints = remember.HINTS.format(c.fresh_name())
    runs = c.sbatch(f"-w n1 --gpus=a100:2 -t 60 --comment='{hints}'", "sleep 3000", name="runs")
    c.wait_state(runs, "RUNNING")
    # Where these are, nothing else runs: the jobs that wait for these nodes wait to the end.
    busy = steps.occupy(c, "h100")
    waits = [c.sbatch("--gpus=h100:8 -N1 -t 5 --requeue", "sleep 0.2", name="waits") for _ in range(3)]
    processes, pids, ids, on_gpus, reports = len(controllers(c)), {c.ctld_pid()}, {}, [], []

    def ended():
        """(name, state) of each record of slurmctld about a job of the load."""
        return [(one["Name"], one["JobState"]) for one in records.jobcomp_lines(c.path("log/jobcomp.log"))
                if one["Name"] in ids]
    before = use_of_renewed(c, pids)
    mark, begin = c.log_mark(), time.time()
    for number in range(1, RECONFIGURES + 1):
        for _ in range(rng.randint(1, 3)):
            name = c.fresh_name("endure")
            options = rng.choice(("--gpus=1", "--gpus=a100:2", "-n2", "--gpus=a100:4 -N1"))
            # Slurm 22.05 gives the ids of jobs that it has forgotten again.
            ids[name] = c.sbatch(f"{options} -t 5 --requeue -o /dev/null",
                                 f"echo $SLURM_JOB_NAME >> {ran}; sleep {rng.uniform(0.1, 3):.1f}", name=name)
            if "gpus" in options:   # jobs without may be started by stock backfill too
                on_gpus.append(ids[name])
        if rubato and number % 5 == 0:
            reports.append(number * 20)
            remember.report(c, runs, number * 20, 50)
        c.reconfigure()
        pids.add(c.ctld_pid())
        known = set(c.ask("squeue -h -t all -o %j").split()) | {name for name, _ in ended()}
        check(ids.keys() <= known, f"slurmctld to know every job after reconfigure {number}", set(ids) - known)
        if number == (RECONFIGURES + 1) // 2:
            before = [use_of_renewed(c, pids)[0], *before[1:]]
        if number % 10 == 0:
            memory, descriptors, threads = use(c)
            c.say(f"    {number}: {time.time() - begin:.0f} s, {memory / 1024:.1f} MiB, {descriptors} descriptors, "
                  f"{threads} threads, {len(controllers(c))} processes")
    c.say(f"$ scontrol reconfigure    # {RECONFIGURES} times, {len(ids)} jobs, {len(pids)} processes")
    c.expect(lambda: sorted(name for name, state in ended() if state == "COMPLETED"), sorted(ids),
             f"each of {len(ids)} jobs to be COMPLETED once in slurmctld's records", 300)
    check_runs(c, ran, ended())
    now = steps.states(c, [runs] + busy + waits)
    c.cmd("squeue -p main -n runs,occupy,waits -o '%i %j %T %r %N'")
    check([now[job][0] for job in [runs] + busy] == ["RUNNING"] * (1 + len(busy)), "the same jobs to run", now)
    check(c.job(runs).get("Restarts") == "0", f"job {runs} to run since its first start", c.job(runs).get("Restarts"))
    steps.check_waiting(c, waits)
    if c.reconfigure_is_a_new_process():
        wanted = RECONFIGURES + 2 * IDLE + 1
        check(len(pids) == wanted, f"{wanted} processes one after the other", len(pids))
    else:
        check(len(pids) == 1, "the same slurmctld", pids)
    c.expect(lambda: len(controllers(c)), processes, "as many processes of slurmctld as before", 60)
    if rubato:
        stored = c.expect(lambda: [row[0] for row in remember.samples(c, runs)], reports, "each report once, in order")
        c.say(f"    {len(stored)} reports in rubato.db")
        times = c.all_times()
        others = {job: times[job].by for job in on_gpus if times[job].by != "rubato"}
        c.say(f"    started by Rubato: {len(on_gpus) - len(others)} of {len(on_gpus)} jobs with GPUs")
        check(not others, "each job with GPUs to be started by Rubato", others)
        check(not c.log_has(r"error: rubato", mark), "no error of Rubato", c.log_lines(r"error: rubato", mark))
    # slurmctld takes ended jobs out of its table once a minute, if it is not reconfigured meanwhile.
    c.expect(lambda: {int(word) for word in c.ask("squeue -h -t all -o %A").split()}, {runs, *busy, *waits},
             "slurmctld to forget the jobs that ended", 240)
    after = use_of_renewed(c, pids)
    for column, (name, unit, spare) in enumerate((("memory", 1024, 0), ("descriptors", 1, 5), ("threads", 1, 10))):
        then, last = before[column] / unit, after[column] / unit
        c.say(f"    {name}: {then:.1f} before, {last:.1f} after")
        check(last <= then * 1.1 + spare, f"{name} as before", (then, last))
    c.cmd("scancel -n occupy")
    c.wait(lambda: all(c.times(job).start for job in waits), 60, "those that waited to start")
    starts = [c.times(job).start for job in waits]
    check(starts == sorted(starts), "those that waited to start in the order of before", starts)


def keep_ended_jobs(c):
    """Negative control: slurmctld keeps its ended jobs, so its memory grows."""
    path = pathlib.Path(c.path("etc/slurm.conf"))
    path.write_text(re.sub(r"MinJobAge=\d+", "MinJobAge=86400", path.read_text()))
    c.restart_ctld()


def use(c):
    """(resident memory in KiB, file descriptors, threads) of slurmctld."""
    pid = c.ctld_pid()
    status = proc.read_proc(pid, "status")

    def number(key):
        return int(re.search(rf"^{key}:\s+(\d+)", status, re.M)[1])
    return number("VmRSS"), len(os.listdir(f"/proc/{pid}/fd")), number("Threads")


def work(c, rng):
    """Some submissions, and messages, changes and cancellations of jobs that are there."""
    for _ in range(rng.randint(1, 3)):
        options = rng.choice(REQUESTS + ("--gpus=1 --array=1-4", "--gpus=2 --nice=100"))
        c.ask(f"sbatch {options} -t 5 -o /dev/null --wrap 'sleep {rng.uniform(0.2, 4):.1f}'")
    jobs = c.ask("squeue -h -o '%A %T'", check=False).split("\n")
    job, _, state = rng.choice(jobs).partition(" ")
    if state == "RUNNING":
        c.ask(f"scontrol update JobId={job} Comment='rubato!report samples={rng.randint(1, 1000)};rate=5;batch=8'",
              check=False)
    elif state == "PENDING":
        c.ask(rng.choice((f"scancel {job}", f"scontrol update JobId={job} Nice={rng.randint(0, 50)}")), check=False)


@scenario(cluster="soak", negative=keep_ended_jobs, timeout=SOAK * 2 + 300, tier=2)
def memory_and_descriptors_stay_flat(c):
    """Jobs come, report, change and end for a long time: memory, descriptors and threads of slurmctld do not grow

    The last quarter of the time is compared with the second one. Rubato keeps what it knows of an ended job for 15
    minutes, so an hour is the least that says something.
    """
    rng = random.Random(SEED)
    begin = time.time()
    samples = []
    while time.time() - begin < SOAK:
        time.sleep(max(0, begin + len(samples) * PACE - time.time()))
        work(c, rng)
        samples.append((time.time() - begin, *use(c)))
        if len(samples) % 100 == 0:
            c.say(f"    {samples[-1][0]:.0f} s: {samples[-1][1] / 1024:.1f} MiB, {samples[-1][2]} descriptors, "
                  f"{samples[-1][3]} threads")

    def quarter(number, column):
        return [row[column] for row in samples if (number - 1) * SOAK / 4 <= row[0] < number * SOAK / 4]
    for column, name, unit, spare in ((1, "memory", 1024, 0.03), (2, "descriptors", 1, 0.1), (3, "threads", 1, 0.1)):
        then, now = (statistics.median(quarter(number, column)) / unit for number in (2, 4))
        c.say(f"    {name}: {then:.1f} in the second quarter, {now:.1f} in the last")
        check(now <= then * (1 + spare), f"{name} as before", (then, now))
    ids = c.ask("squeue -h -t all -o %A").split()
    c.say(f"    {max(map(int, ids), default=0)} jobs in {SOAK} s")
