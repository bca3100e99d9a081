# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports of a job in warm-up count only until better ones exist."""
import json

from cluster import check, scenario, shape

from . import steps

# Longer than any run of the scenario: a report counts only if the throughput has settled.
CONF = steps.conf("MessageInterval=0", "WarmUp=3600")

shape("warm-up", rubato_conf=CONF)


def report(c, job, number, rate):
    """The `number`-th report of `job`. The large batch keeps samples and clock consistent."""
    c.cmd(f"scontrol update JobId={job} "
          f"Comment='rubato!report samples={number};rate={rate};batch=100000'")


def forecast(c, kind):
    """The forecast for one v100, samples/s; 0 if there is none."""
    text = c.ask(f"rubato models -t {kind} --json 2>/dev/null", check=False)
    try:
        rows = json.loads(text).get("forecasts", [])
    except ValueError:
        return 0
    return next((row["rate"] for row in rows
                 if row["gpu_type"] == "v100" and row["gpus"] == 1), 0)


@scenario(cluster="warm-up", needs=["rubato"], negative="warm-up", timeout=240)
def what_a_warming_job_reports_gives_way_to_what_it_settles_at(c):
    """The first, slow report of a job is all that is known; what it settles at takes its place

    The forecast of `rubato models` is near the first report while there is no other, and the rate of
    three reports that agree afterwards, with no trace of the slow ones.
    """
    kind = c.fresh_name("warm")
    job = c.sbatch(f"-w n7 --gpus=v100:1 -t 300 --comment='rubato:job-type={kind}'", "sleep 3600")
    c.wait_state(job, "RUNNING", 60)
    report(c, job, 1, 25)
    early = c.expect(lambda: forecast(c, kind), lambda rate: 15 < rate < 40,
                     "a forecast near the only report, 25 samples/s", 60)
    # More slow reports than others: the majority must not decide.
    for number, rate in enumerate((40, 60, 75, 100, 101, 99), 2):
        report(c, job, number, rate)
    settled = c.expect(lambda: forecast(c, kind), lambda rate: 96 < rate < 104,
                       "a forecast of what it settled at, 100 samples/s", 60)
    c.cmd(f"rubato models -t {kind}")
    check(settled > 2 * early, "the early report to be forgotten", f"{early:.1f}, {settled:.1f}")
