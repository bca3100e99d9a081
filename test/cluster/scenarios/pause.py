# SPDX-License-Identifier: GPL-2.0-or-later
"""`rubato pause`."""
from cluster import check, scenario

from . import steps


@scenario(cluster="main", needs=["rubato"], negative="TestInject=stop-loop", timeout=90)
def pause_hands_over_and_resumes(c):
    """In a pause stock Slurm starts all jobs, also after a restart; then Rubato starts them again"""
    mark = c.log_mark()
    c.defer("rubato pause --resume")
    c.cmd("SUDO_USER=ann rubato pause")
    c.wait(lambda: c.log_has("paused by rubato pause: stock Slurm starts all jobs", mark), 10,
           "the pause in the log")
    c.wait(lambda: steps.stats(c).get("mode") == "observe", 10, "mode observe in stats.json")
    job = c.sbatch("--gpus=1 -t 5", "true")
    c.wait_state(job, "COMPLETED", 30)
    check(c.times(job).by != "rubato", "stock Slurm to start it", c.times(job).by)
    check(steps.stats(c).get("paused") is True, "paused in stats.json")
    metrics = c.cmd("rubato metrics")
    check("\nrubato_paused 1\n" in metrics, "the metric rubato_paused", metrics)
    later = c.sbatch("--gpus=1 -t 5 --begin=now+1hour", "true")
    c.wait(lambda: "Scheduled by" in c.ask(f"rubato explain {later}"), 20, "the job in the plan")
    told = " ".join(c.cmd(f"rubato explain {later}").split())
    check("stock Slurm: scheduling is paused by ann since 20" in told,
          "explain to say who paused and since when", told)
    c.cmd(f"scancel {later}")
    check("rubato pause --resume" in c.cmd("rubato doctor", check=False), "doctor to name the pause")
    mark = c.log_mark()
    c.restart_ctld()
    c.wait(lambda: c.log_has("paused by rubato pause", mark), 20, "the pause after a restart")
    c.cmd("rubato pause --resume")
    c.wait(lambda: c.log_has("the pause has ended", mark), 10, "the end in the log")
    c.wait(lambda: steps.stats(c).get("mode") in ("place", "elastic"), 10, "its mode in stats.json")
    job = c.sbatch("--gpus=1 -t 5", "true")
    c.wait_state(job, "COMPLETED", 30)
    check(c.times(job).by == "rubato", "Rubato to start it", c.times(job).by)
