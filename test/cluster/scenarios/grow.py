# SPDX-License-Identifier: GPL-2.0-or-later
"""Running jobs that get more GPUs while they run, mostly on a quiet cluster without slurmdbd."""
import os
import random
import re
import time

from cluster import check, scenario

from . import steps
from .authority import runs, waits_for
from .limits import limits_are_not_enforced, make_qos
from .shrink import CHECKED, LONG, agrees, fill, indices, saved_since, show, used
from .sizes import total

SIZES = "2,4,6,8,10,12"
LIVE = f"--comment='rubato: gpus={SIZES};resize=live'"
# A step that holds what the job had at its start, and writes a line per 0.2 s until it is told to end.
SCRIPT = """srun -N{nodes} --ntasks-per-node=1 --kill-on-bad-exit=0 sh -c \\
  'echo $$ $CUDA_VISIBLE_DEVICES >{out}.$SLURMD_NODENAME.gpus
   while ! [ -e {out}.end ]; do echo >>{out}.$SLURMD_NODENAME; sleep 0.2; done' &
{wait}; touch {out}.end; wait; echo done"""
# The variables of sbatch describe the request of the submit.
STEP = "env -u SLURM_GPUS -u SLURM_GPUS_PER_NODE -u SLURM_NTASKS -u SLURM_NPROCS"


class Grows:
    """A job of two GPUs on one node, with a step, that may have more while it runs."""

    def __init__(self, c, options="", hints=LIVE, before=""):
        self.c = c
        self.latch = c.latch()
        self.out = c.path("out", c.fresh_name("alive"))
        script = before + SCRIPT.format(nodes=1, out=self.out, wait=self.latch.wait)
        self.job = c.sbatch(f"-n2 --gpus=a100:2 -t 60 {hints} {options}", script, name="grows")
        c.wait_state(self.job, "RUNNING", LONG)
        self.node = c.job(self.job)["NodeList"]
        self.lives()
        self.first = self.said()
        show(c, self.job)

    def said(self):
        with open(f"{self.out}.{self.node}.gpus", encoding="utf-8") as file:
            return file.read().split()

    def lines(self):
        try:
            return os.path.getsize(f"{self.out}.{self.node}")
        except OSError:
            return 0

    def lives(self):
        before = self.lines()
        self.c.wait(lambda: self.lines() > before, LONG, "the first step to go on")

    def grow(self, gpus, options="--live"):
        steps.published_again(self.c)  # the command looks at the published round
        said = self.c.cmd(f"rubato resize {self.job} --gpus {gpus} {options}", timeout=90)
        check(f"runs on with {gpus} GPUs" in said, f"{gpus} GPUs", said)

    def holds(self, wanted):
        self.c.expect(lambda: indices(self.c, self.job), wanted, "the GPUs of the job", LONG)
        show(self.c, self.job)

    def step(self, options):
        """A new step; the GPU indices of its tasks, in order of the node names."""
        said = self.c.cmd(f"{STEP} srun --exact --jobid={self.job} {options} sh -c "
                          "'echo task $SLURMD_NODENAME ${CUDA_VISIBLE_DEVICES:-none}'", timeout=60)
        return sorted(re.findall(r"task (\S+) (\S+)", said))

    def end(self):
        self.latch.open()
        self.c.wait_state(self.job, "COMPLETED", LONG)
        self.c.cmd("scancel -n filler")
        self.c.wait(lambda: set(used(self.c, name) for name in ("n1", "n2", "n3", "n4")) == {"N/A"}, LONG,
                    "all GPUs to be free")


def no_wrong_counts(c, since):
    """slurmctld logged none since that mark; negative controls before may have."""
    wrong = r"underflow|overallocated|wrong node"
    check(not c.log_has(wrong, since), "no wrong count", c.log_lines(wrong, since)[:3])


def cpus(c, *names):
    return [int(c.nodes()[name]["CPUAlloc"]) for name in names]


@scenario(cluster="shrink", needs=["rubato"], negative="grow", timeout=300)
def a_running_job_gets_more_gpus(c):
    """`rubato resize` gives a job of 2 GPUs two more of its node, then four on a lower node

    Its first step goes on, a new step gets the new GPUs, and other jobs get none of them. slurmctld is
    killed and started; the job keeps its GPUs, ends as usual, and nothing stays taken.
    """
    since = c.log_mark()
    fillers = [fill(c, "n1", 4), fill(c, "n3", 4), fill(c, "n4", 4)]
    grows = Grows(c)
    job = grows.job
    grows.holds({"n2": "0-1"})
    for gpus, words in ((5, f"not one of its sizes, {SIZES}"), (8, "GPUs")):
        said = c.cmd(f"rubato resize {job} --gpus {gpus} --live", check=False)
        check(words in said and "runs on" not in said, words or "no room", said)
    said = c.cmd(f"rubato resize {job} --gpus 4 --dry-run")
    check("While it runs it gets 2 more on n2." in said, "the place", said)
    grows.grow(4, "")
    grows.holds({"n2": "0-3"})
    grows.lives()
    check(grows.step("-N1 -n1 --gpus=2") == [("n2", "2,3")], "the new GPUs for a new step", "")
    agrees(c)
    waits = c.sbatch("-w n2 -N1 -n1 --gpus=a100:1 -t 60", "sleep 900", name="filler")
    c.cmd(f"scancel {fillers[0]}")
    c.expect(lambda: used(c, "n1"), "N/A", "GPUs of n1 in use", LONG)
    grows.grow(8)
    changed = time.time()
    grows.holds({"n1": "0-3", "n2": "0-3"})
    check(cpus(c, "n1", "n2") == [4, 4], "four CPUs of each node", cpus(c, "n1", "n2"))
    check(c.job(waits)["JobState"] == "PENDING", "no other job on its GPUs", indices(c, waits))
    check(grows.step("-N2 -n6 --gpus-per-task=1") ==
          [("n1", "0"), ("n1", "1"), ("n1", "2"), ("n1", "3"), ("n2", "2"), ("n2", "3")],
          "a task on each new GPU", "")
    agrees(c)
    saved_since(c, changed)
    c.kill9_ctld()
    c.start_ctld()
    grows.holds({"n1": "0-3", "n2": "0-3"})
    check(c.job(job)["BatchHost"] == "n2", "the batch host", c.job(job)["BatchHost"])
    grows.lives()
    agrees(c)
    grows.end()
    agrees(c)
    no_wrong_counts(c, since)


@scenario(cluster="shrink", needs=["rubato"], negative="grow", timeout=300)
def a_grown_job_shrinks_and_is_requeued(c):
    """A job that grew over three nodes gives nodes back, and after a requeue asks for its submitted size"""
    grows = Grows(c, "--requeue")
    job = grows.job
    asked = {key: c.job(job)[key] for key in ("TresPerJob", "NumTasks")}
    home = grows.node
    grows.grow(4)
    grows.grow(12)
    held = indices(c, job)
    check(len(held) == 3 and held[home] == "0-3", "three whole nodes", held)
    grows.lives()
    agrees(c)
    said = c.cmd(f"rubato resize {job} --gpus 4 --live", timeout=90)
    check("runs on with 4 GPUs" in said, "4 GPUs", said)
    grows.holds({home: "0-3"})
    grows.lives()
    agrees(c)
    grows.grow(8)
    agrees(c)
    c.cmd(f"scontrol requeue {job}")
    c.expect(lambda: c.job(job).get("Restarts"), "1", "restarts", LONG)
    c.expect(lambda: (c.job(job)["JobState"], sum(len(expanded(at)) for at in indices(c, job).values())),
             ("RUNNING", 2), "its submitted size", LONG * 2)
    check({key: c.job(job)[key] for key in asked} == asked, "the submitted request", asked)
    agrees(c)
    grows.end()
    agrees(c)


def expanded(text):
    """"0-1,3": the indices."""
    found = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


class Random:
    """Random changes of two jobs, with others that come and go."""

    def __init__(self, c, seed):
        self.c = c
        self.random = random.Random(seed)

    def start(self):
        job = self.c.sbatch(f"-n2 --gpus=a100:2 -t 60 --requeue {LIVE}", "srun -n1 sleep 900 & sleep 900",
                            name="grows")
        self.c.wait(lambda: self.c.job(job)["JobState"] in ("RUNNING", "PENDING"), LONG, "a job")
        return job

    def running(self, name, states="RUNNING"):
        return [int(job["id"]) for job in self.c.jobs(states) if job["name"] == name]

    def there(self, name):
        """Jobs that run or wait. Few of them, so that GPUs are free for growth."""
        return len(self.running(name, "PENDING,RUNNING"))

    def resize(self):
        jobs = self.running("grows")
        if not jobs:
            return
        job = self.random.choice(jobs)
        held = sum(len(expanded(at)) for at in indices(self.c, job).values())
        gpus = self.random.choice([size for size in (2, 4, 6, 8, 10, 12) if size != held])
        self.c.cmd(f"rubato resize {job} --gpus {gpus} --live", check=False, timeout=90)

    def other(self):
        if self.there("filler") > 1:
            return self.cancel("filler")
        gpus = self.random.randint(1, 4)
        self.c.sbatch(f"-N1 -n{gpus} --gpus=a100:{gpus} -t 60", "sleep 900", name="filler")

    def step(self):
        jobs = self.running("grows")
        if jobs:
            self.c.ask(f"{STEP} timeout 5 srun --jobid={self.random.choice(jobs)} --overlap -N1 -n1 true",
                       check=False)

    def cancel(self, name=""):
        jobs = self.running(name or self.random.choice(["grows", "filler", "filler"]))
        if jobs:
            self.c.cmd(f"scancel {self.random.choice(jobs)}")

    def requeue(self):
        jobs = self.running("grows")
        if jobs:
            self.c.cmd(f"scontrol requeue {self.random.choice(jobs)}")

    def kill(self):
        self.c.kill9_ctld()
        self.c.start_ctld()

    def change(self, kill):
        """One change, with at least two jobs that may grow."""
        if self.there("grows") < 2:
            self.start()
        what = self.random.choices([self.resize, self.other, self.step, self.cancel, self.requeue],
                                   [56, 12, 8, 18, 6])[0]
        if kill:
            what = self.kill
        self.c.say(f"-- {what.__name__}")
        what()


def random_changes(c, seed, count):
    cycle = Random(c, seed)
    grown = 0
    since = c.log_mark()
    for number in range(count):
        c.say(f"change {number + 1} of {count}, seed {seed}")
        mark = c.log_mark()
        cycle.change(kill=number % 12 == 8)
        grown += len(c.log_lines(r"grew to", mark))
        agrees(c)
    c.say(f"{grown} of {count} changes were growth")
    check(grown * 8 >= count, "jobs that grew", grown)
    c.cmd("scancel -u root")
    c.wait(lambda: set(used(c, name) for name in ("n1", "n2", "n3", "n4")) == {"N/A"}, LONG, "all GPUs to be free")
    check(cpus(c, "n1", "n2", "n3", "n4") == [0] * 4, "all CPUs free", cpus(c, "n1", "n2", "n3", "n4"))
    agrees(c)
    no_wrong_counts(c, since)


@scenario(cluster="shrink", needs=["rubato"], negative="grow", timeout=400)
def thirty_random_changes_leave_the_records_right(c):
    """30 random changes: growth, shrink, requeue, cancel, new steps, other jobs, kill -9 of slurmctld"""
    random_changes(c, 1, 30)


@scenario(cluster="shrink", needs=["rubato"], negative="grow", tier=2, timeout=1800)
def two_hundred_random_changes_leave_the_records_right(c):
    """200 random changes of the same"""
    random_changes(c, 2, 200)


def ran_on(c, job):
    """What sacct tells of a job: [(state, AllocTRES)], a row for each of its sizes."""
    rows = c.cmd(f"sacct -nPXD -j {job} -o state,alloctres,submit,start,end")
    return [line.split("|")[:2] for line in rows.splitlines() if "gres/gpu=" in line]


@scenario(cluster="accounts", needs=["rubato", "dbd"], negative=limits_are_not_enforced, timeout=240)
def growth_keeps_to_the_limits(c):
    """A running job gets GPUs only within the GrpTRES limit of its QOS, and all of them count

    An admin sees: sacct has a row for each size of the job, scontrol show assoc_mgr counts what it
    has, and sacctmgr finds no runaway job.
    """
    qos = make_qos(c, "grows", "GrpTRES=gres/gpu=3")
    options = f"--qos={qos} -n2 -t 5 --requeue --comment='rubato: gpus=1,2,3,4;resize=live'"
    job = c.sbatch(f"--gpus=a100:2 {options}", "sleep 600")
    runs(c, job)
    steps.published_again(c)
    said = c.cmd(f"rubato resize {job} --gpus 4 --live", check=False)
    check("Slurm gives it no more: Job violates accounting/QOS policy" in said, "the limit", said)
    check(total(c, job) == 2, "2 GPUs", total(c, job))
    steps.published_again(c)
    said = c.cmd(f"rubato resize {job} --gpus 3 --live")
    check("runs on with 3 GPUs" in said, "3 GPUs", said)
    other = c.sbatch(f"--gpus=a100:1 {options}", "sleep 600")
    waits_for(c, other, "QOSGrpGRES")
    used = c.cmd(f"scontrol -o show assoc_mgr flags=qos qos={qos} | grep -o 'GrpTRES=[^ ]*'")
    check("gres/gpu=3(3)" in used, "3 of 3 GPUs in use", used)
    c.wait(lambda: len(ran_on(c, job)) > 1, 30, "a row for each size")
    rows = ran_on(c, job)
    check(["gres/gpu=2" in rows[0][1], "gres/gpu=3" in rows[-1][1]] == [True, True], "2 and 3 GPUs", rows)
    c.cmd(f"scancel {job}")
    runs(c, other)
    c.cmd(f"scancel {other}")
    c.expect(lambda: "No runaway jobs found" in c.ask("sacctmgr -i show runawayjobs 2>&1", check=False), True,
             "no runaway job", 30)
    c.cmd("sacctmgr -i show runawayjobs", check=False)
