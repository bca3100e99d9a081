# SPDX-License-Identifier: GPL-2.0-or-later
"""The multi-level queue: pending jobs with a small need go first."""
import pathlib

from cluster import check, scenario

from . import learn, steps


@scenario(cluster="learn", needs=["rubato"], negative="levels", timeout=240)
def short_work_goes_before_long_work(c):
    """A job with much work to do waits for four with little, though it was submitted first

    squeue shows which of them runs when the node comes free.
    """
    kind = learn.measured_type(c)
    node = learn.PLACES["v100"][0]
    whole = f"-w {node} --exclusive --gpus=v100:1 -t 60"
    blocker = c.sbatch(whole, "sleep 600")
    c.wait_state(blocker, "RUNNING", 60)
    hints = f"rubato:job-type={kind};samples="
    long = c.sbatch(f"{whole} --comment='{hints}100000000'", "sleep 600")
    short = [c.sbatch(f"{whole} --comment='{hints}10000'", "sleep 600") for _ in range(4)]
    c.wait(lambda: "in level 1 of the queue" in " ".join(c.ask(f"rubato explain {long}").split()),
           60, "the job with much work to be in level 1")
    c.cmd(f"rubato explain {long}")
    c.cmd(f"squeue -j {blocker},{long},{short[0]} -O JobID,State,PriorityLong")
    c.cmd(f"scancel {blocker}")
    c.wait(lambda: c.ask(f"squeue -h -t R -w {node}").strip(), 60, "the next job to start")
    first = c.cmd(f"squeue -h -t R -w {node} -o %i").split()
    check(first == [str(short[0])], f"job {short[0]}, the first of those with little work", first)
    c.cmd(f"squeue -h -j {long} -o '%i %T'")


def without_state(c):
    """Negative control: no state file is there when slurmctld comes back."""
    def forgetful():
        c.stop_ctld()
        pathlib.Path(c.path("state/rubato/state.json")).unlink()
        c.start_ctld()
    steps.replace(c, "restart_ctld", forgetful)


def service(c, job):
    """Attained service of the job at its last start, from explain, in GPU-seconds."""
    found = learn.explained(c, job).get("facts", {}).get("service", "")
    return float(found.split()[0]) if found else 0.0


@scenario(cluster="learn", needs=["rubato"], negative=without_state, timeout=240)
def attained_service_survives_requeue_and_restart(c):
    """What a job had of the GPUs counts on when the job is requeued and slurmctld restarts

    explain of the second run tells the GPU-seconds of the first.
    """
    node = learn.PLACES["h100"][0]
    job = c.sbatch(f"-w {node} --gpus=h100:8 -t 60 --requeue", "sleep 600")
    c.wait_state(job, "RUNNING", 60)
    c.wait(lambda: float(c.ask(f"squeue -h -j {job} -O TimeUsed:20").split(":")[-1]) >= 8, 60,
           "the job to run for 8 s")
    c.cmd(f"scontrol requeue {job}")
    c.wait_state(job, "PENDING", 60)
    c.restart_ctld()
    c.wait(lambda: c.job(job).get("Restarts") == "1" and c.job(job).get("JobState") == "RUNNING",
           60, "the job to run again")
    c.wait(lambda: learn.explained(c, job), 60, "the decision of the second run")
    c.cmd(f"rubato explain {job} --json | grep -o '\"service\": *\"[^\"]*\"'", check=False)
    c.cmd(f"scontrol show job {job} | grep -E 'Restarts|RunTime'")
    had = service(c, job)
    check(had >= 8 * 4, "most of the 64 GPU-seconds of the first run", had)
