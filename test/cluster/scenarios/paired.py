# SPDX-License-Identifier: GPL-2.0-or-later
"""Observe against stock Slurm: the same workload, step by step, comparing every field that Slurm shows
of every job.

Nothing depends on the speed of the machine: a job runs until it is released, and one is released at a
time. Fields are compared after both of stock Slurm's schedulers have since gone through the queue twice.
"""
import datetime
import json
import random
import re
import time

from cluster import DEMO_NODES, Nodes, Partition, check, scenario, shape

from .commands import steady

shape("paired", nodes=DEMO_NODES, load=False, rubato_conf="ManagedPartitions=all\n",
      partitions=(Partition("main", "n[1-8]", default=True),
                  Partition("high", "n[5-6]", extra="PriorityTier=10")),
      # A stock Slurm cycle may take any time: on a slow machine, the one second of bf_interval=1 could
      # end its plan anywhere.
      options={"SchedulerParameters": "bf_interval=1,sched_interval=1,bf_continue,bf_window=20160,"
                                      "bf_window_linear=1,bf_max_time=60,max_sched_time=60,"
                                      "batch_sched_delay=0,sched_min_interval=100000"})

SEED = 4
HINTS = "rubato: job-type={}; gpus=1-8; samples=1e6; checkpoint=USR1@60; resize=restart"
# Time limits are multiples of this unit, so that any two jobs end far apart, however long the steps
# take. Two limits almost never add up to a third, where stock Slurm's plan would depend on seconds.
# Every time can be expressed in this unit since the start.
UNIT = 20       # minutes
# (name, options); {name} stands for the id of an earlier job.
FIXED = (
    ("gang", "-N2 --gpus-per-node=a100:4"),
    ("wide", "-N2 --gpus-per-node=h100:8"),
    ("tier", "-p high --gpus=h100:6"),
    ("array", "-a 1-5%2 --gpus=1"),
    ("cpu", "-n48"),
    ("whole", "-w n1 --exclusive --gpus=a100:1"),
    ("after", "--dependency=afterany:{gang} --gpus=a100:4"),
    ("chain", "--dependency=afterok:{after} -N4 --gpus-per-node=a100:2"),
    ("held", "--hold --gpus=2"),
    ("later", "--begin=now+1hour --gpus=1"),
    ("nice", "--nice=500 --gpus=v100:2"),
)
# Shapes of the seeded jobs after the fixed ones; backfill finds gaps for the short ones.
DRAWN = ("--gpus=1", "--gpus=2", "--gpus-per-node=4 -N1",
         "--gpus=a100:8", "--gpus=v100:1", "-n8",
         "-N3 --gpus-per-node=2")
# What ends, in order, and the admin's actions meanwhile.
STEPS = ("gang", "wide", "release held", "cpu", "top", "tier", "after", "drawn1", "drawn0")
# Fields of squeue -O besides the stable ones; scontrol does not print system_comment separately.
MORE = "system_comment schednodes starttime lastschedeval jobarrayid nodelist reasonlist".split()
# Words that differ between any two runs of a job, besides times: also which of stock Slurm's two schedulers started
# it, and AccrueTime, which is set by a look at the queue that falls between the end of a dependency and the start
# (build_job_queue() of slurmctld/job_scheduler.c), and stays unknown where none does.
VARIES = re.compile(r"slurm-\d+(?:_\d+)?\.out|RunTime=\S+|AllocNode:Sid=\S+|Scheduler=\S+|Sid=\d+|"
                    r"AccrueTime=\S+")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
# In squeue: job ids, and values that change by themselves.
UNLIKE = {"accruetime", "jobid", "jobarrayid", "arrayjobid", "allocsid", "command", "priority", "prioritylong",
          "stdout", "hetjobid", "hetjoboffset"}


def workload():
    """[(name, sbatch options)], drawn identically each time."""
    draw = random.Random(SEED)
    jobs = list(FIXED)
    for number in range(10):
        options = draw.choice(DRAWN)
        if draw.random() < 0.5 and "gpus" in options:
            kind = draw.choice(("resnet50", "mpt-1b"))
            hinted = "gpus=" in options and "-N" not in options
            comment = HINTS.format(kind) if hinted else f"rubato: job-type={kind}"
            comment = comment.replace("gpus=1-8", "gpus=" + re.search(r"gpus=(?:\w+:)?(\d)", options)[1]) \
                if hinted else comment
            options += f" --requeue --comment='{comment}'"
        jobs.append((f"drawn{number}", options))
    limits = draw.sample(range(3, 500), len(jobs))
    return [(name, f"{options} -t {UNIT * limit}") for (name, options), limit in zip(jobs, limits)]


class Play:
    """One run of the workload. like: an earlier one, from which each look must not differ; what: the
    two, in words."""

    def __init__(self, c, like=None, what=""):
        self.c, self.ids, self.looks, self.like, self.what = c, {}, [], like, what
        self.begin = datetime.datetime.now()
        self.folder = c.path(f"out/paired-{self.begin.timestamp():.0f}")
        c.ask(f"mkdir -p {self.folder}")

    def run(self):
        c = self.c
        self.partitions("DOWN", "main", "high")
        self.touched = c.sbatch("--hold -n1 -t 60", "true", name="touched")
        for name, options in workload():
            wait = f"while [ ! -e {self.folder}/{name} ]; do sleep 0.2; done; env | grep -c ^RUBATO_"
            self.ids[name] = c.sbatch(options.format(**self.ids), wait + "; exit 0", name=name)
        c.cmd(f"scontrol update JobId={self.ids['drawn5']} Nice=-100")
        self.look("submitted")
        for name in ("high", "main"):
            self.partitions("UP", name)
            self.look(f"partition {name}")
        c.cmd("squeue -o '%.6i %.10j %.9T %.8N %.5D %r'")
        for step in STEPS:
            self.step(step)
            self.look(step)
        self.finish()
        return self

    def partitions(self, state, *names):
        for name in names:
            self.c.cmd(f"scontrol update PartitionName={name} State={state}")

    def step(self, step):
        if step == "release held":
            self.c.cmd(f"scontrol release {self.ids['held']}")
        elif step == "top":
            self.c.cmd(f"scontrol update JobId={self.ids['nice']} Nice=-5000")
        else:
            self.c.say(f"-- {step} ends")
            self.c.ask(f"touch {self.folder}/{step}")
            if self.c.job(self.ids[step]).get("JobState") == "RUNNING":
                self.c.wait_state(self.ids[step], "COMPLETED", 60)

    def settle(self):
        """Both schedulers have been through the queue twice, and no job completes. They rest while nothing
        changes: each look at their counts also touches a job, one that is not compared."""
        c = self.c
        c.wait(lambda: not c.jobs("COMPLETING"), 60, "no job to be completing")
        before = cycles(c)

        def twice():
            c.ask(f"scontrol update JobId={self.touched} Comment=mine")
            main, backfill, length = cycles(c)
            return main >= before[0] + 3 and (length == 0 or backfill >= before[1] + 3)
        c.wait(twice, 120, "both schedulers to go through the queue", every=0.3)

    def look(self, step):
        self.settle()
        self.note(step)

    def note(self, step):
        """Records everything, and compares it immediately with the earlier run."""
        self.looks.append((step, self.records()))
        if self.like:
            same_look(self.like.looks[len(self.looks) - 1], self.looks[-1], self.what)

    def records(self):
        """{(name, what): value} of everything that Slurm shows of the jobs."""
        seen = {}
        for text in self.c.ask("scontrol -d show job").split("\n\n"):
            found = re.search(r"JobId=(\d+)(?: ArrayJobId=(\d+) ArrayTaskId=(\S+))? JobName=(\S+)", text)
            if not found or int(found[2] or found[1]) not in self.ids.values():
                continue
            name = found[4] + (f"_{found[3]}" if found[3] else "")
            for number, line in enumerate(self.plain(text).split("\n")):
                seen[(name, f"scontrol line {number}")] = line.strip()
        names = [*dict.fromkeys(steady(self.c) + MORE)]
        end = "\x1f"            # a value may hold blanks, bars and line ends
        values = self.c.ask("squeue -a -r -h -t all -O '" + ",".join(f"{name}:0{end}" for name in names)
                            + "'").split(end)
        for first in range(0, len(values) - len(names) + 1, len(names)):
            row = dict(zip(names, values[first:first + len(names)]))
            row[names[0]] = row[names[0]].removeprefix("\n")
            if int(row["arrayjobid"]) not in self.ids.values():
                continue
            task, name = row["arraytaskid"], row["name"]
            name += f"_{task}" if task != "N/A" else ""
            for field, value in row.items():
                if field not in UNLIKE:
                    seen[(name, f"squeue {field}")] = self.plain(value)
        return seen

    def plain(self, text):
        """Values that are equal in every run: times in units since the start, names instead of ids."""
        text = TIME.sub(self.units, VARIES.sub("~", text))
        names = {str(job): name for name, job in self.ids.items()}
        text = re.sub(r"(JobId=|after\w+:|paired-)(\d+)", lambda m: m[1] + names.get(m[2], "~"), text)
        text = re.sub(r"\bPriority=\d+", "Priority=~", text)
        # Of several partitions, the one that Slurm tried last is listed first.
        return re.sub(r"Partition=(\S+)", lambda m: " ".join(sorted(m[1].split(","))), text)

    def units(self, found):
        since = datetime.datetime.fromisoformat(found[0]) - self.begin
        return f"+{round(since.total_seconds() / 60 / UNIT)}"

    def finish(self):
        """Cancels pending jobs, so that nothing starts any more, and releases the others. Finally
        records each job."""
        c = self.c
        c.ask("scancel -t PENDING", check=False)
        c.wait(lambda: not c.jobs("PENDING"), 60, "the waiting jobs to be gone")
        c.ask(f"cd {self.folder} && touch {' '.join(self.ids)}")
        c.wait(lambda: not c.jobs("RUNNING,COMPLETING"), 300, "every job to end")
        self.note("end")
        self.order = self.starts()
        times = c.all_times()
        labels = [f"{self.ids['array']}_{task}" for task in range(1, 6)] + list(self.ids.values())
        self.by = {label: times[label].by for label in labels if label in times and times[label].start}
        self.output = {name: c.output(job) for name, job in self.ids.items()}

    def starts(self):
        """[(step, jobs that started in it)]. Which of two that started in one step was the first is not the
        same twice: it depends on which of stock Slurm's schedulers came first."""
        started, order = set(), []
        for step, records in self.looks:
            state = {name: value for (name, what), value in records.items() if what == "squeue state"}
            order.append((step, sorted(name for name in state
                                       if state[name] != "PENDING" and name not in started)))
            started.update(order[-1][1])
        return order[:-1]   # the last began none


def cycles(c):
    """How often stock Slurm's main scheduler and its backfill went through the queue, and how many jobs were in
    it the last time: backfill has nothing to count while there are none."""
    text = c.ask("sdiag")
    main = re.search(r"Main schedule statistics.*?Total cycles: (\d+).*?Last queue length: (\d+)", text, re.DOTALL)
    backfill = re.search(r"Backfilling stats.*?Total cycles: (\d+)", text, re.DOTALL)
    return int(main[1]), int(backfill[1]), int(main[2])


def same_look(one, two, what):
    """Fails at the first difference between two looks."""
    (step, left), (_, right) = one, two
    differ = [key for key in sorted({*left, *right}) if left.get(key) != right.get(key)]
    if differ:
        key = differ[0]
        check(False, f"{what}, after `{step}`: {key[0]}, {key[1]}: {left.get(key)!r} "
              f"(and {len(differ) - 1} more)", repr(right.get(key)))


def same(one, two, what):
    """The looks were compared during the run."""
    check(len(one.looks) == len(two.looks), f"{what}: {len(one.looks)} looks", len(two.looks))
    check(one.order == two.order, f"{what}: the same jobs to start in each step: {one.order}", two.order)
    check(one.output == two.output, f"{what}: the jobs print {one.output}", two.output)


def fresh(c, flavour):
    c.use_plugins(flavour)
    # A node stays `planned`, which is idle, where the last cycle of backfill left it so: there is none
    # without jobs.
    c.wait(lambda: set(c.ask("sinfo -h -o %T").split()) <= {"idle", "planned"}, 60, "idle nodes")


@scenario(cluster="paired", needs=["rubato"], negative="Mode=place", timeout=900)
def observe_and_stock_are_the_same_step_by_step(c):
    """Gangs, arrays, dependencies, hints, holds and priorities: no start, node or field differs from stock's

    Stock Slurm runs it twice: where two runs of stock Slurm differ, nothing would be shown.
    """
    plays = []
    for flavour in ("stock", "rubato", "stock"):
        c.say(f"== {flavour}" + (", Mode=observe" if flavour == "rubato" else ""))
        fresh(c, flavour)
        like, what = (plays[0], f"stock and {flavour}") if plays else (None, "")
        plays.append(Play(c, like, what).run())
    stock, observe, again = plays
    fields = sum(len(records) for _, records in stock.looks)
    jobs = {name for _, records in stock.looks for name, _ in records}
    check(fields > 10000 and len(jobs) > 20, "all jobs to be looked at", f"{fields} of {len(jobs)}")
    same(stock, again, "stock and stock")
    same(stock, observe, "stock and rubato")
    check("rubato" not in observe.by.values(), "every job to be started by stock Slurm", observe.by)
    c.say(f"{len(stock.looks)} looks at {len(jobs)} jobs, {fields} fields and lines, three times the same",
          *(f"started after `{step}`: {' '.join(names)}" for step, names in stock.order if names))


# Stock Slurm uses node weights, place the speed of GPUs.
shape("weights", load=False,
      nodes=(Nodes("n1", "a100:4", extra="Weight=10"), Nodes("n2", "h100:8", extra="Weight=1")),
      rubato_conf="ManagedPartitions=all\nPublishInterval=0.2\nGpuType=a100 Speed=2\nGpuType=h100 Speed=1\n")


def gain_of(c):
    """What the report counts so far, and the sums of what its means are of."""
    gain = json.loads(c.ask("rubato report --json")).get("gain", {})
    jobs = gain.get("compared", 0)
    found = {key: gain.get(key, 0) for key in ("compared", "beside", "moved")}
    for side in ("observed", "place", "elastic"):
        found[side] = jobs * gain.get(side, {}).get("mean_wait_s", 0)
    found["left out"] = len(gain.get("left_out", []))
    return found


@scenario(cluster="weights", needs=["rubato"], negative="store", timeout=300)
def observe_says_what_place_would_have_gained(c):
    """In mode observe `rubato report` sets what jobs waited beside what they would have waited in place

    A job that could run anywhere takes a part of the only node that the next one can use, by the weights of
    slurm.conf; place would have put it elsewhere. Stock Slurm's side is what slurmctld's own records say.
    """
    before = gain_of(c)
    go = c.path(f"out/go-{time.time():.0f}")
    small = c.sbatch("--gpus=4 -t 10", f"while [ ! -e {go} ]; do sleep 0.2; done", name="anywhere")
    c.wait_state(small, "RUNNING", 60)
    check(c.job(small)["NodeList"] == "n2", "stock Slurm to choose the node of less weight", c.job(small))
    big = c.sbatch("--gpus=h100:8 -t 10", "sleep 1", name="whole-node")
    cpu = c.sbatch("-n4 -t 10", "sleep 1", name="cpu")
    c.wait_state(cpu, "COMPLETED", 60)
    time.sleep(8)           # what it waits for nothing
    c.cmd("squeue -o '%.6i %.10j %.9T %.8N %r'")
    check(c.job(big)["JobState"] == "PENDING", "the other job to wait", c.job(big))
    c.ask(f"touch {go}")
    for job in (small, big):
        c.wait_state(job, "COMPLETED", 60)
        check(c.times(job).by != "rubato", f"stock Slurm to start job {job}", c.times(job).by)
    c.wait(lambda: gain_of(c)["compared"] == before["compared"] + 2, 60, "both GPU jobs in the report")
    c.cmd("rubato report --days 1")
    gain = {key: value - before[key] for key, value in gain_of(c).items()}
    check((gain["beside"], gain["moved"], gain["left out"]) == (1, 1, 0),
          "the CPU job beside, one job elsewhere and nothing left out", gain)
    waits = [c.finished()[job]["StartTime"] - c.finished()[job]["SubmitTime"] for job in (small, big)]
    check(abs(gain["observed"] - sum(waits)) <= 4 and sum(waits) >= 8,
          f"the waits that Slurm recorded: {waits}", gain)
    check(abs(gain["place"]) < 0.1, "no wait in place: there was room for both", gain)
    c.say(f"they waited {gain['observed']:.0f} s under stock Slurm, {gain['place']:.0f} s in place")
