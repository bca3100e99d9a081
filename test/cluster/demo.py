# SPDX-License-Identifier: GPL-2.0-or-later
"""The demo of contrib/quickstart: real batch jobs on a private cluster, and a table of their results
from slurmctld's own records."""
import dataclasses
import importlib.machinery
import importlib.util
import json
import pathlib
import random
import re
import sys
import time

from . import cluster, slurmconf
from .client import Failed

SCHEMA = "rubato.demo/1"
TRAINER = pathlib.Path(__file__).resolve().parents[2] / "contrib/trainer/rubato-trainer"
REPORTS = 2     # seconds between the reports of a job; a minute, where jobs last longer
# (class, job type, GPU type, GPUs, sbatch options, shares of the mix): training jobs with hints
TRAINING = (
    ("resnet50", "resnet50", "a100", 2, "--gpus=a100:2 --dl-batch=512 --dl-gpus=1,2,4", 3),
    ("resnet50", "resnet50", "a100", 4, "--gpus-per-node=a100:4 -N1 --dl-batch=1024", 2),
    ("resnet50", "resnet50", "v100", 2, "--gpus=v100:2 --dl-batch=512", 2),
    ("mpt-1b", "mpt-1b", "h100", 8, "--gpus-per-node=h100:8 -N1 --dl-checkpoint=USR1@30", 2),
    ("mpt-1b", "mpt-1b", "h100", 4, "--gpus=h100:4", 2),
    ("recommender", "recommendation", "v100", 1, "--gpus=v100:1", 2),
    ("recommender", "recommendation", "p100", 1, "--gpus=p100:1", 2),
)
# (class, sbatch options, shares of the mix): jobs without hints
CLASSES = (
    ("a100 x1", "--gpus=a100:1", 4), ("cpu 8", "-n8", 4), ("a100 x2", "--gpus=a100:2", 3),
    ("a100 x4", "--gpus-per-node=a100:4 -N1", 2), ("a100 2x4", "--gpus-per-node=a100:4 -N2", 1),
    ("h100 x1", "--gpus=h100:1", 3), ("h100 x4", "--gpus=h100:4", 2),
    ("h100 x8", "--gpus-per-node=h100:8 -N1", 1), ("v100 x1", "--gpus=v100:1", 2),
    ("any x1", "--gpus=1", 8), ("any x2", "--gpus-per-node=2 -N1", 5),
    ("any x4", "--gpus-per-node=4 -N1", 3), ("any x8", "--gpus-per-node=8 -N1", 1),
    ("cpu 32", "-n32", 1),
)


@dataclasses.dataclass
class Job:
    """One job of the demo; times are seconds since the epoch."""
    number: int
    kind: str
    options: str
    seconds: float
    id: int = 0
    state: str = ""
    script: str = ""
    gpus: dict = dataclasses.field(default_factory=dict)
    nodes: str = ""
    submit: float = 0.0
    start: float = 0.0
    end: float = 0.0
    by: str = ""

    @property
    def gpu_count(self):
        return sum(self.gpus.values())


def trainer_rate(job_type, gpu_type, gpus):
    """Samples/s that contrib/trainer will make."""
    loader = importlib.machinery.SourceFileLoader("rubato_trainer", str(TRAINER))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("rubato_trainer",
                                                                             loader))
    loader.exec_module(module)
    return module.rate_of(job_type, gpu_type, gpus)


def training_jobs(draw, count):
    """`count` training jobs: every kind at least once if count allows."""
    kinds = list(TRAINING)[:count]
    kinds += draw.choices(TRAINING, weights=[kind[5] for kind in TRAINING], k=count - len(kinds))
    jobs = []
    for kind, job_type, gpu_type, gpus, options, _ in kinds:
        seconds = draw.randrange(120, 220) / 10
        samples = int(trainer_rate(job_type, gpu_type, gpus) * seconds)
        jobs.append(Job(0, kind, f"{options} --dl-job-type={job_type} --dl-samples={samples}",
                        seconds, script=f"export RUBATO_REPORT_INTERVAL={REPORTS}\n"
                        f"exec {TRAINER} --job-type {job_type} --samples {samples}"))
    return jobs


def make_jobs(count, seed):
    """`count` jobs, two fifths of them training jobs: every class at least once if count allows, the
    rest by its share."""
    draw = random.Random(seed)
    jobs = training_jobs(draw, count * 2 // 5)
    kinds = list(CLASSES)[:count - len(jobs)]
    kinds += draw.choices(CLASSES, weights=[c[2] for c in CLASSES],
                          k=count - len(jobs) - len(kinds))
    for kind, options, _ in kinds:
        seconds = draw.randrange(30, 90) / 10
        jobs.append(Job(0, kind, options, seconds, script=f"sleep {seconds}"))
    draw.shuffle(jobs)
    for number, job in enumerate(jobs, 1):
        job.number = number
    return jobs


def demo_shape(quick_reports=False):
    """Nine nodes with a100, h100, v100 and p100 GPUs, Rubato in mode place for every GPU job.

    quick_reports: what jobs report is taken and shown every few seconds instead of every minute.
    """
    conf = slurmconf.DEMO_RUBATO_CONF
    if quick_reports:
        conf += f"MessageInterval={REPORTS - 1}\nTestInject=segment-interval:{REPORTS}\n"
    return slurmconf.Shape(nodes=slurmconf.DEMO_NODES + (slurmconf.Nodes("n9", "p100:4"),),
                           load=False, rubato_conf=conf,
                           spank=f"interval={REPORTS}" if quick_reports else "")


def submit(c, jobs):
    for job in jobs:
        job.id = c.sbatch(f"{job.options} --mem-per-cpu=500 -t 5 -o /dev/null", job.script,
                          name=f"demo{job.number:02d}")


def show(c, command):
    """Runs and prints a command, as a user would. RUBATO_TESTING is needed for the line of this
    cluster's rubato.conf that makes reports frequent."""
    answer = c._run(command, env={"RUBATO_TESTING": "1"})
    print(f"$ {command}\n" + "\n".join("    " + line for line in answer.splitlines()), flush=True)


def look(c, jobs, rows):
    """The jobs as a user sees them while they run. False: nothing to show yet."""
    state = {int(row["id"]): row["state"] for row in rows if row["id"].isdigit()}
    hinted = [job for job in jobs if "--dl-" in job.options]
    running = [job for job in hinted if state.get(job.id) == "RUNNING"]
    told = [job for job in running if "rate=" in c.job(job.id).get("SystemComment", "")]
    if not told or len(told) < min(3, len(running)):
        return False
    show(c, "rqueue")
    waiting = [job for job in hinted if state.get(job.id) == "PENDING"]
    show(c, f"rubato explain {(waiting or told)[0].id}")
    return True


def follow(c, jobs, limit):
    """Shows progress until every job has ended."""
    wanted = {str(job.id) for job in jobs}
    total = sum(spec.gpu_count() * len(slurmconf.expand(spec.names)) for spec in c.shape.nodes)
    begin, shown, tty = time.monotonic(), -10.0, sys.stdout.isatty()
    looked = c.flavour != "rubato" or not c.has_spank()
    while True:
        rows = [row for row in c.jobs("PENDING,RUNNING,COMPLETING,CONFIGURING")
                if row["id"] in wanted]
        running = [row for row in rows if row["state"] == "RUNNING"]
        passed = time.monotonic() - begin
        if tty or passed - shown >= 3 or not rows:
            busy = busy_gpus(c)
            print(f"{chr(13) if tty else ''}  {passed:4.0f} s: "
                  f"{sum(r['state'] == 'PENDING' for r in rows):3} pending, "
                  f"{len(running):3} running, {len(wanted) - len(rows):3} ended, "
                  f"{busy:3} of {total} GPUs busy",
                  end="" if tty else "\n", flush=True)
            shown = passed
        if not looked and passed > 2 * REPORTS:
            if tty:
                print()
            looked = look(c, jobs, rows)
        if not rows:
            print(end="\n" if tty else "")
            return
        if passed > limit:
            raise Failed(f"{len(rows)} jobs have not ended after {limit} s: "
                         + ", ".join(f"{r['id']} {r['state']} {r['reason']}" for r in rows[:8]))
        time.sleep(0.5)


def busy_gpus(c):
    """Allocated GPUs, from `scontrol show node -d` (GresUsed=gpu:a100:2(IDX:0-1))."""
    return sum(int(n) for node in c.nodes().values()
               for n in re.findall(r"gpu:\w+:(\d+)", node.get("GresUsed", "")))


def read_records(c, jobs):
    """Adds Slurm's record of each job."""
    c.wait(lambda: all(job.id in c.finished() for job in jobs), 20,
           "slurmctld to write the record of every job")
    finished, times = c.finished(), c.all_times()
    for job in jobs:
        record = finished[job.id]
        job.state = record["JobState"]
        job.submit, job.start, job.end = (record[key] for key in
                                          ("SubmitTime", "StartTime", "EndTime"))
        job.nodes = record["NodeList"]
        job.by = times[job.id].by if job.id in times else ""
        granted = c.job(job.id).get("JOB_GRES", "")
        for kind, number in re.findall(r"gpu:([a-z]\w*):(\d+)", granted):
            job.gpus[kind] = job.gpus.get(kind, 0) + int(number)


def summary(jobs, total_gpus):
    """The figures of the JSON file."""
    done = [job for job in jobs if job.state == "COMPLETED"]
    makespan = max(job.end for job in jobs) - min(job.submit for job in jobs)
    used = sum(job.gpu_count * (job.end - job.start) for job in jobs if job.start)
    turnaround = [job.end - job.submit for job in done]
    return {"jobs": len(jobs), "completed": len(done), "failed": len(jobs) - len(done),
            "avg_jct_s": round(sum(turnaround) / len(done), 3) if done else None,
            "makespan_s": round(makespan, 3),
            "gpu_utilisation": round(used / (total_gpus * makespan), 4) if makespan > 0 else None}


def document(version, flavour, figures):
    """The JSON file; docs/schema/rubato.demo.1.json describes it."""
    return json.dumps({"schema": SCHEMA, "slurm_version": version, flavour: figures}, indent=1) + "\n"


BY = {"rubato": "Rubato's loop", "backfill": "stock backfill", "schedule": "stock schedule()",
      "submit": "Slurm at submit", "": "not in the log"}


def table(jobs):
    lines = ["   id name    class       GPUs  got        nodes       wait   run  started by"
             "       state"]
    for job in jobs:
        got = ",".join(f"{kind}:{number}" for kind, number in sorted(job.gpus.items())) or "-"
        lines.append(f"{job.id:5} demo{job.number:02d}  {job.kind:11} {job.gpu_count:4}  {got:10} "
                     f"{job.nodes:10} "
                     f"{job.start - job.submit:3.0f} s {job.end - job.start:3.0f} s  "
                     f"{BY[job.by]:16} {job.state}")
    return "\n".join(lines)


def run(count=40, seed=1, json_file=None, flavour="rubato", plugin_dir=None, name="demo"):
    """Runs the demo; 0 if every job completed."""
    jobs = make_jobs(count, seed)
    begin = time.monotonic()
    c = cluster.Cluster(name, demo_shape(quick_reports=True), flavour=flavour,
                        plugin_dir=plugin_dir)
    if flavour != "rubato" or not c.has_spank():
        jobs = plain(jobs)
    c.echo = False
    with c:
        version = cluster.version_text()
        print(f"Slurm {version}: {len(c.shape.node_names())} nodes up in "
              f"{time.monotonic() - begin:.1f} s ({c.base})")
        print(c.ask("sinfo -o '%10N %8T %14G %c CPUs'"))
        submit(c, jobs)
        hinted = sum("--dl-" in job.options for job in jobs)
        print(f"{len(jobs)} batch jobs submitted, {hinted} of them training jobs with hints; they "
              f"report every {REPORTS} s, and not every minute")
        follow(c, jobs, limit=120 + 6 * count)
        read_records(c, jobs)
        print(table(jobs))
        if hinted:
            models(c)
    total = sum(spec.gpu_count() * len(slurmconf.expand(spec.names)) for spec in c.shape.nodes)
    figures = summary(jobs, total)
    counts = {who: sum(job.by == who for job in jobs) for who in BY}
    print("started by: " + ", ".join(f"{BY[who]} {n}" for who, n in counts.items() if n))
    print(f"{figures['completed']} of {figures['jobs']} jobs completed; "
          "mean time from submit to end "
          f"{figures['avg_jct_s']} s, makespan {figures['makespan_s']:.0f} s, "
          f"GPU utilisation {figures['gpu_utilisation']:.0%}")
    if json_file:
        pathlib.Path(json_file).write_text(document(version, flavour, figures), encoding="utf-8")
    others = [job for job in jobs if job.gpus and job.by != flavour]
    if flavour == "rubato" and others:
        print(f"{len(others)} GPU jobs were not started by Rubato's loop: "
              + ", ".join(str(job.id) for job in others[:10]))
        return 1
    return 0 if figures["failed"] == 0 else 1


def plain(jobs):
    """The same jobs without hints, for a Slurm that does not know the options."""
    return [dataclasses.replace(job, options=re.sub(r" ?--dl-\S+", "", job.options))
            for job in jobs]


def models(c):
    """The learnt models, once they include the last report."""
    deadline = time.monotonic() + 5
    text = ""
    while time.monotonic() < deadline:
        last, text = text, c.ask("rubato models", check=False)
        if text == last:
            break
        time.sleep(1)
    show(c, "rubato models")
