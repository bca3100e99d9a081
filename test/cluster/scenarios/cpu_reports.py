# SPDX-License-Identifier: GPL-2.0-or-later
"""Reports of jobs without GPUs: they are kept, and the model of parameter servers learns from them."""
import json

from cluster import check, scenario, shape

from . import steps

shape("cpu-reports", rubato_conf=steps.conf("MessageInterval=0", "WarmUp=0"))

#: Workers of a job, and its samples/s.
WORKERS = {1: 100, 2: 180, 3: 245, 4: 300}


def asked(c, words):
    """The output of `rubato models WORDS --json`; {} while it fails."""
    try:
        return json.loads(c.ask(f"rubato models {words} --json 2>/dev/null", check=False))
    except ValueError:
        return {}


def rows_of(c, kind):
    """(GPUs, GPU type, reports, minimum and maximum samples/s) of the listed rows of a type."""
    return [(row["gpus"], row["gpu_type"], row["samples"], row["rate_min"], row["rate_max"])
            for row in asked(c, f"-t {kind}").get("models", [])]


@scenario(cluster="cpu-reports", needs=["rubato"], negative="store", timeout=300)
def jobs_on_cpus_teach_the_model_of_servers(c):
    """Jobs without GPUs report how fast they are with one server and one to four workers

    `rubato models` lists what they measured, `rubato models show` the model of steps that is fitted to it; neither says
    anything of a GPU.
    """
    kind = c.fresh_name("servers")
    for workers, rate in WORKERS.items():
        job = c.sbatch(f"-n{workers + 1} -t 60 --comment='rubato:job-type={kind}'", "sleep 600")
        c.wait_state(job, "RUNNING", 60)
        c.cmd(f"scontrol update JobId={job} Comment='rubato!report samples={rate};rate={rate};"
              f"batch=64;workers={workers};servers=1;server-cores=1'")
    wanted = [(0, "", len(WORKERS), min(WORKERS.values()), max(WORKERS.values()))]
    c.expect(lambda: rows_of(c, kind), wanted, "what the jobs measured, on no GPU", 60)
    c.cmd(f"rubato models -t {kind}")
    c.cmd(f"rubato models show {kind}")
    fits = asked(c, f"show {kind}").get("fits", [])
    told = [(fit["model"], fit["gpu_type"], fit["configurations"]) for fit in fits]
    check(told == [("step-time", "", len(WORKERS))], "one model of steps, of four configurations",
          told)
    c.expect(lambda: steps.stats(c).get("store", {}).get("reports_without_gpu", 0),
             lambda seen: seen >= len(WORKERS), "the reports to be counted in stats.json", 60)
