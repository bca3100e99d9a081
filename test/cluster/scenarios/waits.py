# SPDX-License-Identifier: GPL-2.0-or-later
"""A mixed load without hints, in mode place and under stock Slurm: how long each class of jobs waits."""
import dataclasses
import random
import time

from cluster import Nodes, check, scenario, shape

from . import steps

shape("classes", load=False, rubato_conf=steps.conf(),
      nodes=(Nodes("n[1-4]", "a100:4"), Nodes("n[5-6]", "h100:8")))

SEED = 11
JOBS = 120
SECONDS = 75        # in which they arrive
#: Class: share of the jobs, sbatch options, seconds that a job runs. About 1.2 times what the nodes can do.
CLASSES = {
    "cpu": (0.35, "-n4 --mem=1000", (2, 12)),
    "one GPU": (0.35, "--gpus=1", (4, 30)),
    "four GPUs": (0.2, "-N1 --gpus=4", (5, 30)),
    "gang": (0.1, "-N2 --gpus-per-node=4", (5, 20)),
}
#: DESIGN P4, at the scale of this load: 1.2 times stock's wait, or 10 minutes where jobs run for hours.
FACTOR, SLACK = 1.2, 10.0


@dataclasses.dataclass(frozen=True)
class Planned:
    at: float
    kind: str
    options: str
    runs: float


def workload():
    """The jobs, drawn the same each time, by their time."""
    draw = random.Random(SEED)
    kinds = list(CLASSES)
    jobs = []
    for _ in range(JOBS):
        kind = draw.choices(kinds, [CLASSES[one][0] for one in kinds])[0]
        _, options, (least, most) = CLASSES[kind]
        runs = round(draw.uniform(least, most), 1)
        jobs.append(Planned(round(draw.uniform(0, SECONDS), 2), kind, f"{options} -t {draw.choice((1, 2, 5))}", runs))
    return sorted(jobs, key=lambda job: job.at)


def waits(c, flavour):
    """{class: sorted waits in seconds} of the workload."""
    c.use_plugins(flavour)
    c.expect(lambda: set(c.ask("sinfo -h -o %T").split()), lambda found: found <= {"idle", "planned"},
             "idle nodes", 60)
    begin, ids = time.monotonic(), {}
    for job in workload():
        time.sleep(max(0.0, begin + job.at - time.monotonic()))
        text = c.ask(f"sbatch --parsable -o /dev/null -J {job.kind.replace(' ', '-')} {job.options} "
                     f"--wrap 'sleep {job.runs}'")
        ids[int(text.split(";")[0])] = job
    c.wait(lambda: not c.jobs("PENDING,RUNNING"), 300, "every job to end", every=1)
    times = c.all_times()
    found = {kind: [] for kind in CLASSES}
    for number, job in ids.items():
        seen = times[str(number)] if str(number) in times else times[number]
        check(seen.start and seen.submit, f"submit and start of job {number} in slurmctld.log", seen)
        found[job.kind].append(seen.start - seen.submit)
    return {kind: sorted(values) for kind, values in found.items()}


def slow_rounds(c):
    """Negative control: each round takes 15 s longer, and the gate stays closed meanwhile."""
    c.write_rubato_conf(steps.conf("TestInject=slow-round:15000", "RoundDeadline=300", "HeartbeatTimeout=600"))


def part(values, share):
    return values[min(len(values) - 1, int(share * len(values)))]


@scenario(cluster="classes", needs=["rubato"], negative=slow_rounds, timeout=900, tier=2)
def each_class_waits_as_under_stock(c):
    """120 jobs without hints: no class waits longer than 1.2 times as under stock Slurm, and 10 s

    Stock Slurm plays it twice, for how far two runs of it are apart.
    """
    plays = [(flavour, waits(c, flavour)) for flavour in ("stock", "rubato", "stock")]
    for kind in CLASSES:
        for flavour, found in plays:
            values = found[kind]
            c.say(f"{kind:10} {flavour:7} {len(values):3} jobs, mean {sum(values) / len(values):6.1f} s, "
                  f"p50 {part(values, 0.5):6.1f} s, p95 {part(values, 0.95):6.1f} s")
    for kind in CLASSES:
        stock = max(part(found[kind], 0.95) for flavour, found in plays if flavour == "stock")
        rubato = part(plays[1][1][kind], 0.95)
        check(rubato <= max(FACTOR * stock, stock + SLACK),
              f"p95 of the wait of class {kind}: at most {FACTOR} times {stock:.1f} s, or {SLACK:.0f} s more",
              f"{rubato:.1f} s")
    everyone = [sum(sum(found[kind]) for kind in CLASSES) / JOBS for _, found in plays]
    c.say("mean of all: " + ", ".join(f"{flavour} {mean:.1f} s" for (flavour, _), mean in zip(plays, everyone)))
