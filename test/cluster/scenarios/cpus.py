# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs with device=any: on CPUs while GPUs are busy, and on GPUs once these are free."""
import json
import re

from cluster import Nodes, check, scenario, shape

from .elastic import CONF, LONG, TRAINS, gpus_of, measured, tell_state

shape("cpus", nodes=(Nodes("n1", "v100:4"), Nodes("n2")), load=False, rubato_conf=CONF)


def measured_on_cpus(c, kind, rate):
    """A job of this type without GPUs reports its speed on four cores."""
    job = c.sbatch(f"-n4 -t 60 --comment='rubato:job-type={kind}'", "sleep 600")
    c.wait_state(job, "RUNNING", LONG)
    c.ask(f"scontrol update JobId={job} Comment='rubato!report samples=10;rate={rate};batch=8'")

    def fits():
        try:
            shown = json.loads(c.ask(f"rubato models show {kind} --json 2>/dev/null", check=False))
        except ValueError:
            return []
        return [fit["model"] for fit in shown.get("fits", []) if fit["gpu_type"] == ""]
    c.expect(fits, ["step-time"], "a model of its steps on CPUs", LONG)
    c.ask(f"scancel {job}")
    c.wait_state(job, "CANCELLED", LONG)


@scenario(cluster="cpus", needs=["rubato"], negative="cpus", timeout=400, tier=2)
def a_job_runs_on_cpus_until_gpus_are_free(c):
    """A job with device=any starts on CPUs, since it ends earlier so, and goes on with a GPU once one is free

    The GPUs are held for a minute or longer, as far as Rubato can tell. A job that can use GPUs alone waits for
    them. The job on CPUs saves at its signal, is restarted, and has its GPU. Under stock Slurm both jobs wait.
    """
    kind = measured(c, {("v100", 1): 100})
    measured_on_cpus(c, kind, 50)
    holder = c.sbatch("--gpus=4 -n4 -t 60", "sleep 900")
    c.wait_state(holder, "RUNNING", LONG)
    hints = f"rubato: job-type={kind};gpus=1;samples=2000"
    waits = c.sbatch(f"--gpus=1 -n4 -t 30 --comment='{hints}'", "sleep 900")
    job = c.sbatch(f"--gpus=1 -n4 -t 30 --comment='{hints};device=any;checkpoint=B:USR1@2;resize=restart'", TRAINS)
    c.wait_state(job, "RUNNING", 30)
    c.cmd("squeue -a -o '%i %T %D %N %C %b %r'")
    tell_state(c, job)
    shown = c.job(job)
    check(shown.get("NodeList") == "n2" and "gres/gpu" not in shown.get("TRES", ""), "the job on n2 without GPUs",
          (shown.get("NodeList"), shown.get("TRES")))
    check(c.job(waits)["JobState"] == "PENDING", "the job that needs a GPU to wait", c.job(waits)["JobState"])
    why = "instead of GPUs, on which it would end later"
    c.wait(lambda: why in " ".join(c.ask(f"rubato explain {job}").split()), LONG, "its reason in rubato explain")
    c.cmd(f"scancel {waits} {holder}")
    c.ask(f"scontrol update JobId={job} Comment='rubato!report samples=10;rate=50;batch=8'")
    try:
        c.expect(lambda: gpus_of(c, job), 1, "a GPU of the job", LONG)
    finally:
        tell_state(c, job)
    check(c.job(job)["Restarts"] == "1", "one restart", c.job(job)["Restarts"])
    c.wait(lambda: "run 1 with 1" in c.output(job), LONG, "its second run to print")
    c.say(c.output(job))
    saved = re.findall(r"^saved (\d+)$", c.output(job), re.MULTILINE)
    check(bool(saved) and f"run 1 with 1 from {saved[-1]}" in c.output(job), "it to go on from what it saved", saved)
    c.cmd(f"scancel {job}")
