# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmctld killed at random instants. RUBATO_KILLS sets how often: 50 by default, 1000 on demand."""
import glob
import os
import pathlib
import random
import time

from cluster import check, node_tables, scenario

from .saved import written

KILLS = int(os.environ.get("RUBATO_KILLS", "50"))
REQUESTS = ("--gpus=1", "--gpus=a100:2", "--gpus=h100:4 -N1", "--gpus=3", "-n2",
            "--gpus-per-node=2 -N2", "--gpus=1 --comment='rubato:job-type=endure;gpus=1-2'")


def submit(c, rng, ran, seconds):
    """A job that notes its runs in `ran`; its name. slurmctld gives the id of a lost job again."""
    name = c.fresh_name("endure")
    c.sbatch(f"{rng.choice(REQUESTS)} -t 5 --requeue -o /dev/null",
             f"echo $SLURM_JOB_NAME >> {ran}; sleep {seconds:.1f}", name=name)
    return name


FORGET = []     # not empty: the state is deleted after each kill


def forget_state(c):
    """Negative control: slurmctld starts without its saved jobs."""
    FORGET.append(True)
    c.defer(FORGET.clear)


@scenario(cluster="quiet", needs=["rubato"], negative=forget_state, timeout=KILLS * 30 + 300,
          tier=2)
def random_kills_lose_no_job(c):
    """kill -9 of slurmctld at random instants: no saved job is lost, node tables agree with jobs

    A job that slurmctld had not saved is lost, and its id is given to the next job. slurmd may then
    refuse that one as a duplicate, and Slurm holds it. So the end of the jobs is not awaited.
    """
    rng = random.Random(int(os.environ.get("RUBATO_ENDURE_SEED", "1")))
    ran = pathlib.Path(c.path("out", c.fresh_name("ran")))
    submitted = {}
    begin = time.time()
    for number in range(KILLS):
        for _ in range(rng.randint(1, 4)):
            submitted[submit(c, rng, ran, rng.uniform(0.1, 4))] = time.time()
        waiting = c.fresh_name("later")     # it never runs, so only slurmctld knows it
        c.sbatch("--gpus=1 -t 5 --begin=now+1day", "true", name=waiting)
        submitted[waiting] = time.time()
        time.sleep(rng.uniform(0, 7))     # slurmctld saves within 5 s
        c.kill9_ctld()
        # slurmctld saves within 5 s; what it had not saved is lost under stock Slurm too.
        saved = [job for job, at in submitted.items() if at < written(c) - 1]
        for path in glob.glob(c.path("state", "job_state*")) if FORGET else ():
            os.unlink(path)
        c.start_ctld()
        known = set(c.ask("squeue -h -t all -o %j").split())
        done = set(ran.read_text(encoding="ascii").split()) if ran.exists() else set()
        lost = [job for job in saved if job not in known | done]
        check(not lost, f"all saved jobs after kill {number + 1}", lost)
        for job in [job for job in submitted if job not in known | done]:
            del submitted[job]
        wrong = node_tables.still_wrong(c, 60)
        check(not wrong, f"node tables that agree with the jobs after kill {number + 1}", wrong)
        c.say(f"    kill {number + 1}: {len(saved)} saved jobs known, {time.time() - begin:.0f} s")
    c.say(f"    {KILLS} kills, {len(saved)} saved jobs, none lost")
