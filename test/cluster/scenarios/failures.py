# SPDX-License-Identifier: GPL-2.0-or-later
"""Allocations, threads and file calls of Rubato fail at random in a live slurmctld, or its records have other sizes.

fault_injector.cc is preloaded into slurmctld and makes them fail, as the shared file says.
RUBATO_FAULT_SEED is the seed (1), RUBATO_FAULT_SECONDS the length of a phase (12).
"""
import glob
import mmap
import os
import pathlib
import random
import re
import struct
import time

from cluster import Skip, check, scenario, shape

from . import remember, steps
from .sizes import request, total

SEED = int(os.environ.get("RUBATO_FAULT_SEED", "1"))
SECONDS = float(os.environ.get("RUBATO_FAULT_SECONDS", "12"))
CONF = steps.conf("MessageInterval=0", "TestInject=segment-interval:1,start-size:2")

shape("failures", load=False, rubato_conf=CONF)

KINDS = ("new", "sqlite", "thread", "file", "record")     # fault_injector.cc has the same order
REQUESTS = ("--gpus=1", "--gpus=a100:2", "--gpus=h100:4 -N1", "--gpus=3", "-n2", "--gpus-per-node=2 -N2",
            "--gpus=1 --array=1-3", "--gpus=4 --comment='words rubato:job-type=failing;gpus=1-8;samples=900'",
            "--gpus=4 -n4 --array=1-3 --comment='rubato:job-type=failing;gpus=1-8'")
HINTS = "rubato:job-type=failing;gpus=1-8;samples=100000"

# One of so many calls fails, and after a failure up to `burst` more of the thread.
ALLOCATIONS = ({"new": 30000, "sqlite": 1000}, {"new": 8000, "sqlite": 300}, {"new": 2000, "sqlite": 100, "thread": 2},
               {"new": 1000, "burst": 5, "sqlite": 20}, {"new": 400, "burst": 5, "sqlite": 20},
               {"new": 200, "burst": 50, "sqlite": 5, "thread": 2}, {"new": 1, "sqlite": 1, "thread": 1})
FILES = ({"file": 20}, {"file": 5}, {"file": 2}, {"file": 1})
START_TRIES = 500   # kStartAttempts of plugin/common/guard.h


class Faults:
    """The shared file of fault_injector.cc."""

    STATE = struct.Struct("4Q")     # of a kind: one_in, until, calls, failed
    BEGIN = 16                      # behind seed and burst

    def __init__(self, c, folders=()):
        build = os.environ.get("RUBATO_BUILD_DIR", "build")
        found = glob.glob(os.path.join(build, "test/cluster/.libs/fault_injector.so"))
        if not found:
            raise Skip("fault_injector.so is not built: make test/cluster/fault_injector.la")
        if c.plugins.asan:
            raise Skip("AddressSanitizer has its own operator new")
        path = c.path("out", "faults")
        pathlib.Path(path).write_bytes(bytes(4096))
        with open(path, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), 4096)
        struct.pack_into("2Q", self._map, 0, SEED, 0)
        words = ":".join(folders).encode()
        begin = self.BEGIN + self.STATE.size * len(KINDS)
        self._map[begin:begin + len(words)] = words
        c.extra_env.update(LD_PRELOAD=os.path.abspath(found[0]), RUBATO_FAULTS=path)

        def remove():
            self.set()
            for name in ("LD_PRELOAD", "RUBATO_FAULTS"):
                c.extra_env.pop(name, None)
            c.restart_ctld()
        c.defer(remove)

    def set(self, burst=0, most=0, **one_in):
        """From now on about one of `one_in` calls of a kind fails, `most` in all; other kinds do not fail."""
        struct.pack_into("Q", self._map, 8, burst)
        for number, kind in enumerate(KINDS):
            at = self.BEGIN + self.STATE.size * number
            struct.pack_into("2Q", self._map, at, one_in.get(kind, 0), self.failed()[kind][1] + most if most else 0)

    def failed(self):
        """{kind: (calls, failed calls)} since the beginning."""
        return {kind: self.STATE.unpack_from(self._map, self.BEGIN + self.STATE.size * number)[2:]
                for number, kind in enumerate(KINDS)}


class Work:
    """Jobs of all sorts, and what users do with them."""

    def __init__(self, c):
        self.c = c
        self.rng = random.Random(SEED)
        self.jobs = {}      # id -> (number of tasks, comment)

    def submit(self):
        options = self.rng.choice(REQUESTS)
        answer = self.c.ask(f"sbatch --parsable {options} --requeue -t 5 -o /dev/null "
                            f"--wrap 'sleep {self.rng.uniform(0.2, 3):.1f}'")
        comment = options.partition("--comment='")[2].rstrip("'")
        self.jobs[int(answer)] = (3 if "--array" in options else 1, comment)

    def step(self):
        """A submission, and a message to a job, a change of a job or a reconfiguration."""
        c, rng = self.c, self.rng
        self.submit()
        job = rng.choice(list(self.jobs)[-20:])
        c.ask(rng.choice((
            f"scontrol update JobId={job} Comment='rubato!report samples={rng.randint(1, 900)};rate=50;batch=8'",
            f"scontrol update JobId={job} Comment='rubato!report samples={rng.randint(1, 900)};rate=50;batch=8'",
            f"scontrol update JobId={job} Comment='rubato!bad words'",
            f"scontrol update JobId={job} Nice={rng.randint(0, 50)}",
            f"scontrol update JobId={job} NumTasks=3",
            f"scontrol requeue {job}",
            "scontrol reconfigure")), check=False)

    def phase(self, faults, setting):
        before = faults.failed()
        faults.set(**setting)
        end = time.time() + SECONDS
        while time.time() < end:
            self.step()
            time.sleep(0.2)
        after = faults.failed()
        faults.set()
        counts = {kind: (after[kind][0] - before[kind][0], after[kind][1] - before[kind][1]) for kind in KINDS}
        self.c.say(f"    {setting}: " + ", ".join(f"{failed} of {calls} {kind}" for kind, (calls, failed) in
                                                  counts.items() if calls))

    def tasks(self):
        """{job id of the submission: [(state, comment) of each of its tasks]}."""
        found = {job: [] for job in self.jobs}
        for line in self.c.ask("squeue -h -r -t all -o '%F|%T|%k'").splitlines():
            job, state, comment = line.split("|", 2)
            if int(job) in found:
                found[int(job)].append((state, comment.replace("(null)", "")))
        return found

    def check_ended(self):
        """Every task of every job ends well, and none has another comment than the user's."""
        def not_ended():
            found = self.tasks()
            return {job: found[job] for job, (count, _) in self.jobs.items()
                    if [state for state, _ in found[job]] != ["COMPLETED"] * count}
        self.c.expect(not_ended, {}, f"{len(self.jobs)} jobs to be COMPLETED", 300)
        wrong = {job: tasks for job, tasks in self.tasks().items()
                 if any(comment != self.jobs[job][1] for _, comment in tasks)}
        check(not wrong, "the comment of each job as it was", wrong)
        self.c.say(f"    {len(self.jobs)} jobs, {sum(count for count, _ in self.jobs.values())} tasks: "
                   "all COMPLETED, each with its own comment")


def resized(c):
    """A job that asks for 4 GPUs and runs with 2; its id and its request."""
    job = c.sbatch(f"--gpus=4 -n4 --requeue -t 60 --comment='{HINTS}' --hold", "sleep 900")
    asked = request(c, job)
    c.cmd(f"scontrol release {job}")
    c.wait_state(job, "RUNNING")
    check(total(c, job) == 2, "2 GPUs instead of 4", c.gpus(job))
    return job, asked


def check_lives(c, pid, mark):
    """slurmctld is the process that it was, or each one since was asked for by a reconfigure."""
    if c.reconfigure_is_a_new_process():
        began, asked = (len(c.log_lines(line, mark))
                        for line in (r"slurmctld version \S+ started on", r"Attempting to reconfigure"))
        check(began <= asked, f"at most {asked} new processes, one for each reconfigure", began)
    else:
        check(c.ctld_pid() == pid, f"the same slurmctld, {pid}", c.ctld_pid())


def works_again(c, work, faults, lives, job, asked, renewed=False):
    """What must hold when nothing fails any more."""
    for kind, (calls, failed) in faults.failed().items():
        c.say(f"    {kind}: {failed} of {calls} calls failed")
    check_lives(c, *lives)
    if renewed and c.reconfigure_is_a_new_process():
        c.reconfigure()     # a process that began while too much failed has left Rubato out; the next one has it
    check(max(failed for _, failed in faults.failed().values()) > START_TRIES + 100, "hundreds of failures",
          faults.failed())
    steps.published_again(c)
    c.expect(lambda: (steps.stats(c).get("gate_open"), remember.store_stats(c).get("state")), (False, "ready"),
             "a closed gate and a store that is ready", 60)
    c.expect(lambda: (c.cmd(f"scontrol requeuehold {job}", check=False), c.job(job).get("JobState"))[1], "PENDING",
             f"job {job} to wait", 60)
    c.expect(lambda: request(c, job), asked, f"the request that job {job} was submitted with")
    check(c.job(job).get("Comment") == HINTS, f"the hints of job {job}", c.job(job).get("Comment"))
    c.cmd(f"scancel {job}")
    work.check_ended()
    last = c.sbatch("--gpus=1 -t 5 --comment='rubato:job-type=after;gpus=1-8;samples=900'", "sleep 5")
    steps.started_by(c, last, "rubato")
    remember.report(c, last, 40, 50)
    c.wait(lambda: remember.samples(c, last), 30, "its report in rubato.db")
    c.wait(lambda: remember.profile(c, "after"), 30, "its job type in models.json")
    c.wait_state(last, "COMPLETED")


def starts_as_stock(c, faults):
    """init() of select/cons_tres fails for good, and that of sched/backfill does not: neither may work alone."""
    mark = c.log_mark()
    faults.set(new=1, most=START_TRIES)
    c.restart_ctld()
    faults.set()
    c.say(f"    a start without the gate: {faults.failed()}", *c.log_lines("rubato: ", mark))
    check(c.log_has("rubato: .*stock Slurm schedules", mark), "a loop that does not run without its gate")
    job = c.sbatch("--gpus=1 -t 5", "sleep 0.2")
    steps.started_by(c, job, "stock")
    c.wait_state(job, "COMPLETED")


FIRST_ENDS = []     # not empty: slurmctld is killed after the first phase


def first_failure_ends_slurmctld(c):
    """Negative control: slurmctld is killed after the first phase and started again, and the end is noticed."""
    FIRST_ENDS.append(True)
    c.defer(FIRST_ENDS.clear)


@scenario(cluster="failures", needs=["rubato"], negative=first_failure_ends_slurmctld, timeout=900, tier=2)
def failing_allocations_lose_no_job(c):
    """Allocations of Rubato and of SQLite fail, and threads: slurmctld lives, no job is lost, all is as before after it

    slurmctld is also started while they fail. Slurm's own memory never fails: it ends slurmctld then by itself.
    """
    faults = Faults(c)
    starts_as_stock(c, faults)
    faults.set(new=200, sqlite=50, thread=2)
    c.restart_ctld()
    faults.set()
    c.say(f"    a start with some failures: {faults.failed()}")
    lives = c.ctld_pid(), c.log_mark()
    steps.published_again(c)
    work = Work(c)
    job, asked = resized(c)
    for setting in ALLOCATIONS:
        work.phase(faults, setting)
        if FIRST_ENDS:
            c.kill9_ctld()
            c.start_ctld()
            break
    works_again(c, work, faults, lives, job, asked, renewed=True)


DISK_STAYS = []     # not empty: the failures do not end


def disk_stays_full(c):
    """Negative control: the file calls still fail when they should not."""
    DISK_STAYS.append(True)
    c.defer(DISK_STAYS.clear)


@scenario(cluster="failures", needs=["rubato"], negative=disk_stays_full, timeout=900, tier=2)
def failing_file_calls_lose_no_job(c):
    """Calls that write files below StoreDir and PublishDir fail: no job is lost, and both are written again after it"""
    faults = Faults(c, [c.path("state/rubato")])
    c.restart_ctld()
    lives = c.ctld_pid(), c.log_mark()
    steps.published_again(c)
    work = Work(c)
    job, asked = resized(c)
    for setting in FILES:
        work.phase(faults, setting)
    if DISK_STAYS:
        faults.set(file=1)
    works_again(c, work, faults, lives, job, asked)


AS_BUILT = []       # not empty: slurmctld's records have the sizes of the build


def records_are_as_built(c):
    """Negative control: slurmctld's records have the sizes of the build."""
    AS_BUILT.append(True)
    c.defer(AS_BUILT.clear)


@scenario(cluster="failures", needs=["rubato"], negative=records_are_as_built, timeout=120, tier=2)
def records_of_another_size_leave_all_to_stock(c):
    """slurmctld has other records than the build expects: stock Slurm does everything, and doctor says why"""
    faults = Faults(c)
    mark = c.log_mark()
    faults.set(record=0 if AS_BUILT else 1)
    c.restart_ctld()
    lines = c.wait(lambda: c.log_lines(r"rubato: .*slurmctld's \w+ record has \d+ bytes", mark), 30,
                   "the sizes of the records in slurmctld.log")
    c.say(*("    " + line for line in lines))
    jobs = [c.sbatch("--gpus=1 -t 5", "sleep 0.2"), c.sbatch("--gpus-per-node=2 -N2 -t 5", "sleep 0.2"),
            c.sbatch("-n2 -t 5", "sleep 0.2")]
    for job in jobs:
        steps.started_by(c, job, "stock")
        c.wait_state(job, "COMPLETED")
    check(steps.stats(c).get("gate_open") is True, "an open gate", steps.stats(c).get("gate_open"))
    said = c.cmd("rubato doctor", check=False)
    words = " ".join(said.split())      # doctor wraps its lines
    check(said.rc != 0 and "slurmctld's records differ from Slurm" in words, "doctor to say that they differ", said)
    check(re.search(r"record has \d+ bytes and magic", words) is not None, "the sizes in doctor", said)
