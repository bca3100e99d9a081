# SPDX-License-Identifier: GPL-2.0-or-later
"""A job forecasts its own end; only one whose forecasts come true is predictable."""
import json
import random
import time

from cluster import check, scenario, shape

from . import steps

CONF = steps.conf("MessageInterval=0", "RoundInterval=1", "TestInject=segment-interval:1")
RATE = 100
WORK = 60000   # ten minutes

shape("predictable", rubato_conf=CONF)


def trainer(c, name):
    """A running job with a work hint and a new job type."""
    kind = c.fresh_name(name)
    job = c.sbatch(f"--gpus=1 -t 300 --comment='rubato:job-type={kind};samples={WORK}'",
                   "sleep 3600")
    c.wait_state(job, "RUNNING", 60)
    return job


def report(c, job, samples, rate):
    """Sends the report of a training loop for `job`."""
    text = f"rubato!report samples={int(samples)};rate={rate};batch=10"
    c.ask(f"scontrol update JobId={job} Comment='{text}'")


def shown(c, job):
    """The class, remaining time and interval in rqueue."""
    text = c.ask(f"rqueue -h -j {job} -O 'dlclass:0|,dlremaining:0|,dlinterval:0' 2>/dev/null")
    return [word.strip() for word in text.split("|")]


def judged(c, job):
    """The number of scored forecasts of the job, and its class in explain."""
    text = c.ask(f"rubato explain {job} --json 2>/dev/null", check=False)
    try:
        facts = json.loads(text)["jobs"][0]
    except (ValueError, KeyError, IndexError):
        return 0, ""
    return facts.get("forecasts_judged", 0), facts.get("class", "")


def saved(c, job):
    """The forecasts of the job in the state file."""
    with open(c.path("state/rubato/state.json"), encoding="utf-8") as file:
        courses = json.load(file).get("courses", [])
    return next((course for course in courses if course["id"] == job), {})


def seconds(text):
    """squeue's [D-][H:]M:S in seconds."""
    days, _, rest = text.rpartition("-")
    total = 0
    for part in rest.split(":"):
        total = total * 60 + int(part)
    return int(days or 0) * 86400 + total


@scenario(cluster="predictable", needs=["rubato"], negative="predictability", timeout=600)
def a_job_whose_forecasts_come_true_is_predictable(c):
    """A steady job becomes predictable, one that reports nonsense does not; rqueue shows both

    The steady job does what the clock says, so its forecasts hold on a slow machine too.
    """
    steady = trainer(c, "steady")
    erratic = trainer(c, "erratic")
    began = time.time()
    noise = random.Random(5)

    def step():
        report(c, steady, RATE * (time.time() - began), RATE)
        report(c, erratic, noise.randrange(1, WORK), noise.choice((1, 40, 9000)))
        time.sleep(1)
        if judged(c, steady)[0] < 3 or judged(c, erratic)[0] < 3:
            return False
        return shown(c, steady)[0] == "P" and shown(c, erratic)[0] == "U"

    c.wait(step, 240, "the steady job to be predictable and the other not, by their own forecasts")
    c.cmd(f"rqueue -j {steady},{erratic} -O "
          "'jobid:10,statecompact:4,dlclass:8,dlremaining:14,dlinterval:30'")
    c.cmd(f"squeue -h -j {steady},{erratic} -O 'jobid:10,system_comment:250'")
    # The forecast made before the work was done: at most all of it, at least what is left now.
    _, left, interval = shown(c, steady)[:3]
    least = WORK / RATE - 1.5 * (time.time() - began) - 30
    check(least <= seconds(left) <= 1.5 * WORK / RATE, f"a remaining time above {least:.0f} s", left)
    low, high = (seconds(end) for end in interval.split(".."))
    check(low <= seconds(left) <= high, "an interval around it", interval)
    # explain reads published files, which the next round replaces.
    c.wait(lambda: "yes: quality" in c.ask(f"rubato explain {steady}"), 60, "explain to know it")
    text = c.cmd(f"rubato explain {steady}")
    check("Predictable" in text and "yes: quality" in text, "explain to say why", text)


@scenario(cluster="predictable", needs=["rubato"], negative="predictability", timeout=600)
def the_class_survives_a_restart_of_slurmctld(c):
    """A predictable job is so at once after slurmctld was killed and started again"""
    job = trainer(c, "kept")
    began = time.time()

    def step():
        report(c, job, RATE * (time.time() - began), RATE)
        time.sleep(1)
        count, known_as = judged(c, job)
        return count >= 3 and known_as == "P"

    c.wait(step, 240, "the job to become predictable")
    c.wait(lambda: saved(c, job).get("predictable") and saved(c, job).get("judged", 0) >= 3, 60,
           "the state file to have it, and the forecasts that it rests on")
    c.kill9_ctld()
    c.start_ctld()
    text = c.wait(lambda: next((told for told in [c.ask(f"rubato explain {job}", check=False)]
                                if "yes: quality" in told), ""),
                  60, "explain to call it predictable without another report")
    c.say(text)
