# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports decide where the next job of their type starts, and explain shows it."""
import json
import pathlib
import re
import sqlite3

from cluster import check, scenario, shape

from . import steps
from .steps import published

# rubato.conf says that h100 is three times as fast as v100. The reports here say otherwise.
CONF = steps.conf("MessageInterval=0", "WarmUp=0", "GpuType=h100 Speed=3",
                  "GpuType=a100 Speed=2", "GpuType=v100 Speed=1")
PLACES = {"h100": ("n5", 20), "a100": ("n1", 30), "v100": ("n7", 200)}

shape("learn", rubato_conf=CONF)


def learnt_cells(c, kind):
    """Number of configurations of a type in the last round's models. If rounds use none, those of all
    learnt types, of which each scenario starts without any."""
    if c.test_switch == "TestOff=learning":
        return steps.stats(c).get("learning", {}).get("cells", 0)
    return sum(cell["job_type"] == kind for cell in
               published(c, "models-fit.json").get("cells", []))


def measure(c, kind):
    """Jobs of type `kind` run on each GPU type and report that v100 is the fastest."""
    jobs = []
    for gpu, (node, rate) in PLACES.items():
        job = c.sbatch(f"-w {node} --gpus={gpu}:1 -t 60 --comment='rubato:job-type={kind}'",
                       "sleep 600")
        c.wait_state(job, "RUNNING", 60)
        c.cmd(f"scontrol update JobId={job} Comment='rubato!report samples=10;rate={rate};batch=8'")
        jobs.append(job)
    c.expect(lambda: learnt_cells(c, kind), len(PLACES), f"the reports of {kind} to be learnt", 60)
    return jobs


def measured_type(c):
    """A new job type, measured on each GPU type; no job of it runs any more."""
    kind = c.fresh_name("odd")
    for job in measure(c, kind):
        c.cmd(f"scancel {job}")
        c.wait_state(job, "CANCELLED", 60)
    return kind


def next_job(c, kind):
    """Another job of that type, which takes any GPU; returns (id, {node: {type: count}})."""
    job = c.sbatch(f"--gpus=1 -t 60 --comment='rubato:job-type={kind}'", "sleep 600")
    c.wait_state(job, "RUNNING", 60)
    c.cmd(f"scontrol show job -d {job} | grep -E 'JobState|TRES|GRES'")
    return job, c.gpus(job)


def type_of(where):
    return [kind for gpus in where.values() for kind in gpus]


def next_starts_on_v100(c, kind):
    """The next job of that type starts on v100; if not, the output says what Rubato knew."""
    job, where = next_job(c, kind)
    if type_of(where) != ["v100"]:
        for command in (f"sleep 1; rubato explain {job}", f"rubato models --type {kind}",
                        "sinfo -N -o '%N %T %G'", "squeue -a -o '%i %P %j %T %b %N'"):
            c.cmd(command, check=False)
    check(type_of(where) == ["v100"], "the type that was measured to be fastest, v100", where)


@scenario(cluster="learn", needs=["rubato"], negative="learning", timeout=180)
def next_job_starts_on_the_type_that_was_fastest(c):
    """A job type that reports more on the "slow" GPU type gets that type next, against the prior

    A user sees with scontrol that the fourth job holds a v100, while h100 and a100 are free.
    """
    kind = c.fresh_name("odd")
    measure(c, kind)
    next_starts_on_v100(c, kind)


@scenario(cluster="learn", needs=["rubato"], negative="learning", timeout=180)
def a_node_that_ends_a_job_counts_for_its_type(c):
    """A node that is completing still counts: the next job starts on the fastest type meanwhile

    Half of all v100 are on that node, and other jobs wait for v100.
    """
    kind = c.fresh_name("odd")
    measure(c, kind)
    ends = c.sbatch("-p bg -w b2 --mem=1G -t 5 --priority=9999",
                    "trap '' TERM; echo deaf; sleep 600 & wait; wait")
    out = pathlib.Path(c.path("out", f"slurm-{ends}.out"))
    c.wait(lambda: out.exists() and out.read_text(), 60, "the job to ignore SIGTERM")
    c.cmd(f"scancel {ends}")
    c.wait(lambda: "completing" in c.cmd("sinfo -h -n b2 -o %T"), 10, "b2 to be completing")
    next_starts_on_v100(c, kind)


@scenario(cluster="learn", needs=["rubato"], negative="store", timeout=240)
def what_was_learnt_survives_a_restart(c):
    """After a restart of slurmctld the first job of the type starts where it was fastest

    The new slurmctld has what the store has; no job reports any more.
    """
    kind = c.fresh_name("odd")
    jobs = measure(c, kind)
    for job in jobs:
        c.cmd(f"scancel {job}")
        c.wait_state(job, "CANCELLED", 60)
    # The store writes within a second; slurmctld also waits for it at its end.
    c.restart_ctld()
    next_starts_on_v100(c, kind)


def stored_decision(c, job):
    """The explanation of the last decision to start `job` in rubato.db; {} without one."""
    try:
        with sqlite3.connect(f"file:{c.path('state/rubato/rubato.db')}?mode=ro", uri=True,
                             timeout=30) as base:
            rows = base.execute("SELECT text FROM decisions WHERE job_id = ? AND kind = 'start' "
                                "ORDER BY id", (job,)).fetchall()
    except sqlite3.OperationalError:
        return {}
    return json.loads(rows[-1][0]) if rows else {}


def explained(c, job):
    """`rubato explain JOB --json`: the decision that the run began with; {} while there is none."""
    text = c.ask(f"rubato explain {job} --json 2>/dev/null", check=False)
    found = json.loads(text or "{}").get("jobs", [])
    return found[0].get("decision", {}) if found else {}


@scenario(cluster="learn", needs=["rubato"], negative="learning", timeout=240)
def explain_names_the_rates_that_decided(c):
    """explain of a running job prints the forecasts that decided when it started

    Each number stands in the decision record of the database; after the job has ended explain still
    tells it.
    """
    kind = c.fresh_name("odd")
    measure(c, kind)
    job, _ = next_job(c, kind)
    decision = c.wait(lambda: explained(c, job), 60, "the decision of the running job")
    text = c.cmd(f"rubato explain {job}")
    rates = {name: value for name, value in decision["facts"].items() if name.startswith("rate.")}
    check({"rate.h100", "rate.a100", "rate.v100"} <= set(rates), "a rate of each type", rates)
    for value in rates.values():
        check(value in re.sub(r"\s+", " ", text), f"'{value}' in the text", text)
    record = c.wait(lambda: stored_decision(c, job), 60, "its decision in rubato.db")
    check(dict(record["facts"]) == decision["facts"], "the facts of the decision record",
          record["facts"])
    said = {kind: float(value.split()[0]) for kind, value in rates.items()}
    check(max(said, key=said.get) == "rate.v100", "v100 to be the fastest", said)
    c.cmd(f"scancel {job}")
    c.wait_state(job, "CANCELLED", 60)
    c.wait(lambda: "cancelled" in c.ask(f"rubato explain {job}", check=False), 60,
           "explain to tell it of the ended job")
    c.cmd(f"rubato explain {job}")
    check(explained(c, job) == decision, "the same decision", explained(c, job))


def without_models(c):
    """Negative control: the learnt models are not published."""
    ask = c.ask
    steps.replace(c, "ask", lambda command, **more: ask(
        command.replace("cp models-fit.json", "true"), **more))


@scenario(cluster="learn", needs=["rubato"], negative=without_models, timeout=240)
def a_round_that_learnt_is_replayed(c):
    """snapshot.json with models-fit.json beside it gives plan.json again, byte for byte"""
    kind = c.fresh_name("odd")
    measure(c, kind)
    # A pending job gives the plan forecasts: it needs all a100 or all h100.
    waits = c.sbatch(f"--gpus=16 -t 60 --comment='rubato:job-type={kind}'", "sleep 1")
    c.wait(lambda: any(told["id"] == waits and
                       any(name.startswith("rate.") for name, _ in told.get("facts", []))
                       for told in published(c, "plan.json").get("explanations", [])), 60,
           "the forecasts in the plan")
    folder = c.path("replay")

    def replayed():
        # The three files are replaced one by one: retry until all are from one round.
        c.ask(f"rm -rf {folder}; mkdir {folder}; cd {c.path('state/rubato/publish')} && "
              f"cp plan.json snapshot.json {folder}; cp models-fit.json {folder}", check=False)
        again = c.ask(f"cd {folder} && rubato snapshot --replay snapshot.json", check=False)
        plan = pathlib.Path(folder, "plan.json")    # cp leaves out a file that is replaced meanwhile
        return plan.exists() and again.strip() == plan.read_text().strip()
    c.wait(replayed, 60, "the same plan")
    plan = json.loads(pathlib.Path(folder, "plan.json").read_text())
    c.cmd(f"cd {folder} && rubato snapshot --replay snapshot.json | cmp - plan.json; ls -l", check=False)
    check(plan.get("models_fingerprint"), "the plan to name its models", plan.get("models_fingerprint"))


@scenario(cluster="learn", needs=["rubato"], negative="hints-read", timeout=120)
def hinted_gpu_types_are_taken_in_their_order(c):
    """`gpu-types=v100/a100` starts on v100 while one is free, then on a100, and not on h100, which is faster

    A user sees the type with scontrol. The job without the hint takes h100.
    """
    options = "--gpus=2 -N1 -t 60"
    found = {}
    for name, hint in (("no hint", ""), ("first", "v100/a100"), ("second", "v100/a100"), ("third", "v100/a100")):
        job = c.sbatch(options + (f" --comment='rubato: gpu-types={hint}'" if hint else ""), "sleep 600")
        c.wait_state(job, "RUNNING", 60)
        c.cmd(f"scontrol show job -d {job} | grep -E 'TresPerJob|GRES'")
        found[name] = type_of(c.gpus(job))
    wanted = {"no hint": ["h100"], "first": ["v100"], "second": ["v100"], "third": ["a100"]}
    check(found == wanted, f"the types {wanted}", found)


@scenario(cluster="learn", needs=["rubato"], negative="learning", timeout=180)
def a_type_in_the_request_leaves_the_size_open(c):
    """`--gpus=a100:1` with sizes 1, 2, 4 starts larger on a100 while GPUs are idle"""
    kind = c.fresh_name("wide")
    measure(c, kind)
    job = c.sbatch(f"--gpus=a100:1 -t 60 --comment='rubato:job-type={kind};gpus=1,2,4;samples=100000'",
                   "sleep 600")
    c.wait_state(job, "RUNNING", 60)
    c.cmd(f"scontrol show job -d {job} | grep -E 'JobState|TRES|GRES'")
    held = c.gpus(job)
    check(type_of(held) == ["a100"], "GPUs of the type that it names", held)
    check(sum(sum(kinds.values()) for kinds in held.values()) > 1, "more than one GPU", held)


@scenario(cluster="learn", needs=["rubato"], negative="TestInject=stop-loop", timeout=240, tier=2)
def a_plain_gang_gets_one_gpu_type(c):
    """`--gpus=12 -N3` starts on three a100 nodes, though a job of a learnt type waits before it

    The waiting job may take v100 only, and one of these is busy.
    """
    kind = c.fresh_name("odd")
    measure(c, kind)
    waiting = c.sbatch(f"--gpus=4 -t 60 --comment='rubato:job-type={kind};gpu-types=v100;"
                       "samples=1000000'", "sleep 600")
    c.wait(lambda: c.ask(f"squeue -h -j {waiting} -o %r").startswith("Rubato"), 60,
           "the hinted job to wait")
    gang = c.sbatch("--gpus=12 -N3 -t 60", "sleep 600")
    c.wait_state(gang, "RUNNING", 60)
    c.cmd(f"squeue -j {waiting},{gang} -o '%.6i %.10T %N %b %r'")
    check(set(type_of(c.gpus(gang))) == {"a100"}, "one GPU type", c.gpus(gang))


@scenario(cluster="learn", needs=["rubato"], negative="mix", timeout=240, tier=2)
def a_job_on_two_gpu_types_reads_its_batch_shares(c):
    """`--dl-mix-types` starts a job on what is free of two types, and splits its batch by their measured speeds

    Two h100 and four v100 are free. Its job type was measured to be faster on v100, against rubato.conf; what one job
    measured counts for a factor of two. The job without the hint waits.
    """
    kind = measured_type(c)
    for words in ("-N4 -w n[1-4] --gpus=a100:16", "-w n5 --gpus=h100:8", "-w n6 --gpus=h100:6"):
        c.wait_state(c.sbatch(f"{words} -t 60", "sleep 600"), "RUNNING", 60)
    hints = f"rubato:job-type={kind};batch=240"
    waits = c.sbatch(f"--gpus=6 -n6 -t 60 --comment='{hints}'", "sleep 600")
    out = c.path("out", "shares")
    job = c.sbatch(f"--gpus=6 -n6 -t 60 -o {out} --comment='{hints};mix-types=yes'",
                   "env | grep ^RUBATO_ | sort; sleep 600")
    c.wait_state(job, "RUNNING", 60)
    c.cmd(f"squeue -j {waits},{job} -o '%.6i %.10T %N %b %r'")
    c.cmd(f"scontrol show job -d {job} | grep -E 'JobState|TRES|GRES'")
    check(c.job(waits).get("JobState") == "PENDING", "the job without the hint to wait", c.job(waits).get("JobState"))
    held = c.gpus(job)
    check(held == {"n6": {"h100": 2}, "n7": {"v100": 2}, "n8": {"v100": 2}}, "GPUs of two types", held)
    text = c.wait(lambda: pathlib.Path(out).exists() and pathlib.Path(out).read_text(encoding="utf-8"), 30, "its output")
    c.say(text)
    shares = [int(word) for word in re.search(r"^RUBATO_BATCH_SHARES=(.*)$", text, re.M)[1].split(",")]
    check(len(shares) == 6 and sum(shares) == 240, "a share of its batch of 240 for each GPU", shares)
    slow, fast = shares[:2], shares[2:]
    check(min(fast) > 1.5 * max(slow), "larger shares for the v100 of n7 and n8", shares)
    check("RUBATO_GPU_TYPE=h100+v100" in text and "RUBATO_BATCH=240" in text, "its types and its batch", text)
