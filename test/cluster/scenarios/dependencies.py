# SPDX-License-Identifier: GPL-2.0-or-later
"""Dependencies and licences: jobs that Slurm starts only after another event."""
import re

from cluster import check, scenario

from .authority import SCHEDULER, STOPPED, runs, start_order, waits_for


def three_licences(c):
    """Negative control: the cluster has one more licence, so no job waits for one."""
    c.change(lines=("Licenses=matlab:3",), restart=False)


def expansion_not_permitted(c):
    """Negative control: Slurm does not permit job expansion."""
    c.change(options={"SchedulerParameters": SCHEDULER.replace(",permit_job_expansion", "")},
             restart=False)


@scenario(cluster="authority", needs=["rubato"], negative=STOPPED)
def dependencies_of_gpu_jobs(c):
    """afterok, afternotok, afterany and singleton hold for GPU jobs that Rubato starts

    An admin sees: `squeue` says Dependency until the other job has ended as wished, and
    DependencyNeverSatisfied where it has ended otherwise.
    """
    latch = c.latch()
    good = c.sbatch("--gpus=a100:1 -t 5", latch.wait)
    bad = c.sbatch("--gpus=v100:1 -t 5", "exit 1")
    after_good = c.sbatch(f"--gpus=a100:2 -t 5 -d afterok:{good}", "sleep 0.1")
    never = c.sbatch(f"--gpus=a100:2 -t 5 -d afternotok:{good}", "sleep 0.1")
    after_bad = c.sbatch(f"--gpus=h100:1 -t 5 -d afternotok:{bad}", "sleep 0.1")
    after_all = c.sbatch(f"--gpus=h100:1 -t 5 -d afterany:{good}:{bad}", "sleep 0.1")
    single = [c.sbatch("--gpus=h100:1 -t 5 -d singleton", "sleep 0.5", name="one-by-one")
              for _ in range(3)]
    waits_for(c, after_good, "Dependency")
    runs(c, good)
    latch.open()
    for job in (after_good, after_bad, after_all, *single):
        runs(c, job, 20)
    waits_for(c, never, "DependencyNeverSatisfied")
    c.wait_state(bad, "FAILED", 10)
    for job in single:
        c.wait_state(job, "COMPLETED", 10)
    end = c.times(good).end
    for job in (after_good, after_all):
        check(c.times(job).start >= end, f"job {job} to start after the end of job {good}")
    order = start_order(c, single)
    for first, second in zip(order, order[1:]):
        check(c.times(second).start >= c.times(first).end, f"job {second} to start after job "
              f"{first} of the same name")


@scenario(cluster="authority", needs=["rubato"], negative=expansion_not_permitted)
def job_expansion_works(c):
    """--dependency=expand merges one CPU job into another while GPU jobs come and go

    An admin sees: NumCPUs and NodeList of the first job grow, and CPUAlloc of each node counts its CPUs;
    stock Slurm books them all on the first node (common/job_resources.c).
    """
    def helper(options):
        answer = c.cmd(f"salloc --no-shell -J scenario {options}")
        return int(re.search(r"Granted job allocation (\d+)", answer)[1])
    base = helper("-w n1 -n2 -t 5")
    gpu = c.sbatch("--gpus=a100:1 -w n1 -t 5", "sleep 0.5")
    more = helper(f"-w n2 -n3 -t 5 -d expand:{base}")
    runs(c, gpu)
    c.cmd(f"scontrol update JobId={more} NumNodes=0")
    c.expect(lambda: (c.job(base).get("NumCPUs"), c.job(base).get("NodeList")), ("5", "n[1-2]"),
             f"5 CPUs of job {base} on both nodes", 5)
    c.wait_state(gpu, "COMPLETED", 10)
    taken = [int(c.nodes()[name]["CPUAlloc"]) for name in ("n1", "n2")]
    check(taken == [2, 3], "2 CPUs of n1 and 3 of n2", taken)


@scenario(cluster="authority", needs=["rubato"], negative=three_licences)
def licences_are_counted(c):
    """Of three GPU jobs with a licence two run; the third waits for Licenses, and then starts

    An admin sees: reason Licenses in squeue, 2 of 2 used in `scontrol show licenses`.
    """
    jobs = [c.sbatch("--gpus=a100:1 -L matlab:1 -t 5", "sleep 900") for _ in range(2)]
    for job in jobs:
        runs(c, job)
    third = c.sbatch("--gpus=a100:1 -L matlab:1 -t 5", "sleep 0.2")
    other = c.sbatch("--gpus=a100:1 -t 5", "sleep 0.2")
    runs(c, other)
    waits_for(c, third, "Licenses")
    check("Used=2" in c.cmd("scontrol show licenses"), "both licences to be in use")
    c.cmd(f"scancel {jobs[0]}")
    runs(c, third)
    check(c.times(third).start >= c.times(other).start, "the third job to start last")
    c.wait_state(third, "COMPLETED", 10)
