# SPDX-License-Identifier: GPL-2.0-or-later
"""`rubato pause`."""
from cluster import check, scenario

from . import steps


@scenario(cluster="main", needs=["rubato"], negative="TestInject=stop-loop", timeout=90)
def pause_hands_over_and_resumes(c):
    """In a pause stock Slurm starts all jobs, also after a restart; then Rubato starts them again"""
    mark = c.log_mark()
    c.defer("rubato pause --resume")
    c.cmd("rubato pause")
    c.wait(lambda: c.log_has("paused by rubato pause: stock Slurm starts all jobs", mark), 10,
           "the pause in the log")
    c.wait(lambda: steps.stats(c).get("mode") == "observe", 10, "mode observe in stats.json")
    job = c.sbatch("--gpus=1 -t 5", "true")
    c.wait_state(job, "COMPLETED", 30)
    check(c.times(job).by != "rubato", "stock Slurm to start it", c.times(job).by)
    check("rubato pause --resume" in c.cmd("rubato doctor", check=False), "doctor to name the pause")
    mark = c.log_mark()
    c.restart_ctld()
    c.wait(lambda: c.log_has("paused by rubato pause", mark), 20, "the pause after a restart")
    c.cmd("rubato pause --resume")
    c.wait(lambda: c.log_has("the pause has ended", mark), 10, "the end in the log")
    c.wait(lambda: steps.stats(c).get("mode") == "place", 10, "mode place in stats.json")
    job = c.sbatch("--gpus=1 -t 5", "true")
    c.wait_state(job, "COMPLETED", 30)
    check(c.times(job).by == "rubato", "Rubato to start it", c.times(job).by)
