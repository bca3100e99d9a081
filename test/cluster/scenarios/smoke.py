# SPDX-License-Identifier: GPL-2.0-or-later
"""Basic checks: Slurm's clients and an ordinary batch job work."""
from cluster import check, scenario


def slurmctld_is_stopped(c):
    """Negative control: no controller."""
    c.stop_ctld()


def slurmds_are_stopped(c):
    """Negative control: nothing can run on the scenario's nodes."""
    for name in c.shape.node_names():
        if name.startswith("n"):
            c.stop_slurmd(name)
            c.ask(f"scontrol update NodeName={name} State=DOWN Reason=test")


@scenario(negative=slurmctld_is_stopped)
def clients_work(c):
    """sinfo, squeue, sbatch, srun, salloc, scontrol, sdiag, sprio and scancel answer"""
    check("idle" in c.cmd("sinfo -h -p main -o '%D %T'", timeout=10), "idle nodes in main")
    job = c.sbatch("-p main", "sleep 900")
    check(str(job) in c.cmd(f"squeue -h -j {job} -o '%i %T'"), f"squeue to list job {job}")
    check(f"JobId={job}" in c.cmd(f"scontrol -o show job {job}"), f"scontrol to show job {job}")
    check("Main schedule" in c.cmd("sdiag | head -30"), "sdiag to print statistics")
    answer = c.cmd("sprio -l", check=False)
    check("priority" in answer.lower(), "sprio to answer", answer)
    check(c.cmd("srun -p main -N2 -n2 echo hello").split().count("hello") == 2,
          "two tasks to say hello")
    answer = c.cmd("salloc -p main --gpus=a100:1 srun printenv CUDA_VISIBLE_DEVICES")
    check("\n0" in "\n" + answer, "salloc's step to see GPU 0", answer)
    c.cmd(f"scancel {job}")
    c.wait_state(job, "CANCELLED", 15)


@scenario(negative=slurmds_are_stopped)
def batch_job_runs(c):
    """A GPU batch job runs to its end; scontrol, the log and the completion record agree"""
    latch = c.latch()
    job = c.sbatch("-p main --gpus=h100:2 -t 5",
                   f"{latch.wait}; echo devices=$CUDA_VISIBLE_DEVICES")
    c.wait_state(job, "RUNNING", 15)
    gpus = c.gpus(job)
    check(list(gpus.values()) == [{"h100": 2}], "two h100 on one node", gpus)
    latch.open()
    c.wait_state(job, "COMPLETED", 15)
    c.cmd(f"scontrol show job -d {job} | grep -E 'JobState|NodeList|JOB_GRES'")
    check("devices=0,1\n" in c.output(job), "the job to see two devices", c.output(job))
    c.wait(lambda: c.finished().get(job, {}).get("JobState") == "COMPLETED", 5,
           "the completion record")
    times = c.times(job)
    check(0 < times.submit <= times.start < times.end, "submit, start and end in the log", times)
    c.say(f"started by {times.by} {c.wait_seconds(job):.3f} s after submit")
