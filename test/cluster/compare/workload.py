# SPDX-License-Identifier: GPL-2.0-or-later
"""The workload of a comparison: the jobs, their submission times and their true run times. It is drawn
from a seed before any run, does not depend on Rubato, and is written to a file that `--workload` reads.
README.md explains the source of its parameters."""
import dataclasses
import functools
import importlib.machinery
import importlib.util
import math
import pathlib
import random

TREE = pathlib.Path(__file__).resolve().parents[3]
TRAINER = TREE / "contrib/trainer/rubato-trainer"

#: Nodes of each GPU type, GPUs_OF_A_NODE each.
NODES = {"v100": 3, "p100": 3, "k80": 2}
GPUS_OF_A_NODE = 4
GPUS = GPUS_OF_A_NODE * sum(NODES.values())
CLASSES = ("hinted", "unhinted_gpu", "cpu")
#: A second stands for a minute: the trainer makes in it what takes a minute.
TIME_SCALE = 60
#: Job types that are fastest on V100, and those that are fastest on P100.
ON_V100 = ("transformer", "lm", "cyclegan")
ON_P100 = ("recommendation", "recommendation-small")
ONE_GPU = ("cyclegan",)
#: GPUs a job asks for, with shares.
SIZES = {1: 0.50, 2: 0.20, 4: 0.22, 8: 0.08}
CORES = (4, 8, 16)
#: Seconds on GPUs of mean speed, log-uniform: four fifths of the jobs from the first to the second,
#: the others from the second to the third.
SECONDS = (5.0, 15.0, 45.0)
LONG_SHARE = 0.2
#: GPU-seconds that arrive per GPU and second, on GPUs of mean speed.
LOAD = 2.0
LIMIT_FACTOR = 1.5
JOBS, LEAST_JOBS, MOST_JOBS = 120, 6, 400
#: A workload for mode elastic has fewer jobs, each so much longer that a restart costs it what it costs
#: real jobs.
ELASTIC_JOBS = 72
ELASTIC_LENGTH = 3
#: How the hinted jobs of such a workload may change while they run, a third each.
RESIZES = ("restart", "live", "both")
#: Seconds that they load before they train, and save at a checkpoint signal.
START_SECONDS, SAVE_SECONDS = 0.8, 0.2


def module(name, path):
    """Loads a Python file outside any package as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    made = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(made)
    return made


@functools.lru_cache
def trainer():
    """contrib/trainer as a module: its throughputs are the truth for the jobs."""
    return module("rubato_trainer", TRAINER)


def rate(job_type, gpu_type, gpus):
    """Samples/s of a job, TIME_SCALE included; None: it cannot run there."""
    found = trainer().rate_of(job_type, gpu_type, gpus, -(-gpus // GPUS_OF_A_NODE))
    return found and found * TIME_SCALE


def mean(values):
    """Geometric mean."""
    values = list(values)
    return math.exp(sum(math.log(value) for value in values) / len(values))


@dataclasses.dataclass
class Job:
    """One job. What a class does not use is empty.

    name:    "j001", in the order of submission
    kind:    one of CLASSES
    submit:  seconds after the first job
    limit:   time limit, minutes
    gpus:    GPUs it asks for, 0 for a CPU job; cpus: cores of a CPU job
    seconds: true run time: of an unhinted GPU job by GPU type, of a CPU job {"cpu": s}
    job_type, samples: what a hinted job trains, and how much
    sizes:   sizes its hints allow beside the one it asks for
    tells_samples: its hints say how much work it has
    resize:  how it may change while it runs, one of RESIZES; "": in no way
    """
    name: str
    kind: str
    submit: float
    limit: int
    gpus: int = 0
    cpus: int = 0
    seconds: dict = dataclasses.field(default_factory=dict)
    job_type: str = ""
    samples: int = 0
    sizes: list = dataclasses.field(default_factory=list)
    tells_samples: bool = False
    resize: str = ""

    def true_seconds(self, gpu_type):
        """Run time on the requested GPUs, of one type."""
        if self.job_type:
            return self.samples / rate(self.job_type, gpu_type, self.gpus)
        return self.seconds[gpu_type if self.gpus else "cpu"]

    def best_type(self):
        """GPU type on which it ends soonest."""
        return min(NODES, key=self.true_seconds)

    def gpu_seconds(self):
        """Run time on GPUs of mean speed."""
        return self.gpus * mean(self.true_seconds(t) for t in NODES) if self.gpus else 0.0


@dataclasses.dataclass
class Workload:
    """speeds: mean speed of each GPU type over the hinted jobs, 1 = mean of the types. It gives the
    weights of the nodes, the configured speeds of Rubato, and the run time of unhinted jobs."""
    seed: int
    speeds: dict
    jobs: list


def _draw_seconds(draw, length):
    low, middle, high = SECONDS
    if draw.random() < LONG_SHARE:
        low, middle = middle, high
    return length * low * (middle / low) ** draw.random()


def _draw_size(draw, most):
    sizes = {size: share for size, share in SIZES.items() if size <= most}
    return draw.choices(list(sizes), weights=list(sizes.values()))[0]


def limit_of(seconds):
    """Slurm counts time limits in whole minutes."""
    return max(1, math.ceil(LIMIT_FACTOR * seconds / 60))


def _hinted(draw, count, length):
    """Half of them are fastest on V100, half on P100; the job types alternate."""
    jobs = []
    for number in range(count):
        kinds = ON_P100 if number % 2 else ON_V100
        job_type = kinds[number // 2 % len(kinds)]
        gpus = _draw_size(draw, 1 if job_type in ONE_GPU else max(SIZES))
        seconds = _draw_seconds(draw, length)
        samples = math.ceil(seconds * mean(rate(job_type, t, gpus) for t in NODES))
        job = Job("", "hinted", 0.0, 0, gpus, job_type=job_type, samples=samples,
                  tells_samples=draw.random() < 0.75)
        if draw.random() < 0.5 and job_type not in ONE_GPU:
            job.sizes = _sizes(gpus)
        job.limit = limit_of(max(job.true_seconds(t) for t in NODES))
        jobs.append(job)
    return jobs


def mean_speeds(hinted):
    """Speed of each GPU type, by the throughputs of these jobs at their requested sizes."""
    return {t: round(mean(mean(j.true_seconds(u) for u in NODES) / j.true_seconds(t)
                          for j in hinted), 3) for t in NODES}


def _unhinted(draw, count, speeds, length):
    """Training jobs without hints: a faster GPU type speeds them up by the mean factor. If the run time
    were the same everywhere, slow types would have no cost."""
    jobs = []
    for _ in range(count):
        gpus, seconds = _draw_size(draw, GPUS_OF_A_NODE), _draw_seconds(draw, length)
        on = {t: round(seconds / speeds[t], 2) for t in NODES}
        jobs.append(Job("", "unhinted_gpu", 0.0, limit_of(max(on.values())), gpus, seconds=on))
    return jobs


def _cpu(draw, count, length):
    jobs = []
    for _ in range(count):
        seconds = round(_draw_seconds(draw, length), 2)
        jobs.append(Job("", "cpu", 0.0, limit_of(seconds), cpus=draw.choice(CORES),
                        seconds={"cpu": seconds}))
    return jobs


def _sizes(gpus):
    """The sizes that a job's hints allow, if they allow several."""
    return [4, 8] if gpus > GPUS_OF_A_NODE else [1, 2, 4]


def _may_change(seed, jobs):
    """Draws how jobs may change; from a draw of its own, so that nothing else changes with it. Jobs that
    change live name their sizes. Those that can only have one GPU restart, on another type."""
    ways = [RESIZES[number % len(RESIZES)] for number in range(len(jobs))]
    for job in jobs:
        if job.job_type in ONE_GPU:
            ways.remove(RESIZES[0] if RESIZES[0] in ways else ways[0])
            job.resize = RESIZES[0]
    random.Random(f"rubato compare elastic {seed}").shuffle(ways)
    for job, way in zip((job for job in jobs if not job.resize), ways):
        job.resize = way
        if way != RESIZES[0]:
            job.sizes = job.sizes or _sizes(job.gpus)


def generate(seed, count, elastic=False):
    """`count` jobs: two thirds hinted, the others unhinted GPU jobs and CPU jobs.

    elastic: the same jobs, ELASTIC_LENGTH times as long, and the hinted ones may change while they run
    """
    draw = random.Random(f"rubato compare {seed}")
    length = ELASTIC_LENGTH if elastic else 1
    hinted = _hinted(draw, max(2, 2 * round(count / 3)), length)
    if elastic:
        _may_change(seed, hinted)
    speeds = mean_speeds(hinted)
    rest = count - len(hinted)
    jobs = (hinted + _unhinted(draw, rest // 2, speeds, length)
            + _cpu(draw, rest - rest // 2, length))
    draw.shuffle(jobs)
    # Poisson arrivals, stretched so that each seed offers the same load.
    times = [0.0]
    for _ in jobs[1:]:
        times.append(times[-1] + draw.expovariate(1.0))
    window = sum(job.gpu_seconds() for job in jobs) / GPUS / LOAD
    for number, (job, time) in enumerate(zip(jobs, times), 1):
        job.name, job.submit = f"j{number:03d}", round(time * window / times[-1], 2)
    return Workload(seed, speeds, jobs)
