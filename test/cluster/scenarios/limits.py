# SPDX-License-Identifier: GPL-2.0-or-later
"""Accounting: association and QOS limits, preemption by QOS, fair-share."""
import json
import re

from cluster import check, scenario

from . import share, steps
from .authority import CONF, reason, runs, stays, start_order, waits_for


def sacctmgr(c, words, undo=None):
    """Changes the accounting database; undoes it after the scenario."""
    c.cmd(f"sacctmgr -i {words}")
    if undo:
        c.defer(f"sacctmgr -i {undo}")


def make_qos(c, stem, words):
    """Makes a QOS that this user may use, until the end of the scenario; its name."""
    name = c.fresh_name(stem)
    sacctmgr(c, f"add qos {name} {words}", f"delete qos {name}")
    sacctmgr(c, f"modify account test set qos+={name}")
    c.wait(lambda: name in c.ask("scontrol -o show assoc_mgr flags=qos", check=False)
           and name in c.ask(f"sacctmgr -nP show assoc user={c.site.user} format=qos"),
           10, f"slurmctld to know QOS {name}")
    return name


def cancel_jobs(c):
    c.ask("scancel -n scenario", check=False)
    c.wait(lambda: not c.jobs("PENDING,RUNNING,COMPLETING"), 15, "the jobs to be gone")


def limits_are_not_enforced(c):
    """Negative control: slurmctld enforces associations, but no limits."""
    c.change(options={"AccountingStorageEnforce": "associations"})


def no_preemption(c):
    """Negative control: no job preempts another."""
    c.change(options={"PreemptType": "preempt/none", "PreemptMode": "OFF"})


def no_weight_for_fair_share(c):
    """Negative control: fair-share has no weight, so the order is that of submission."""
    c.change(options={"PriorityWeightFairshare": 0}, restart=False)


@scenario(cluster="accounts", needs=["rubato", "dbd"], negative="gate")
def one_qos_is_managed(c):
    """ManagedQOS: with the loop stopped, a job of that QOS waits, and one of another QOS starts

    So a site can begin with one group.
    """
    trial = make_qos(c, "trial", "Priority=1")
    c.write_rubato_conf(CONF + f"TestInject=stop-loop\nManagedQOS={trial}\n")
    other = c.sbatch("--gpus=a100:1 -t 5", "sleep 900")
    c.wait_state(other, "RUNNING", 15)
    job = c.sbatch(f"--qos={trial} --gpus=a100:1 -t 5", "sleep 900")
    stays(c, job, "PENDING")
    c.write_rubato_conf(CONF + f"ManagedQOS={trial}\n")
    runs(c, job)


@scenario(cluster="accounts", needs=["rubato", "dbd"], negative=limits_are_not_enforced)
def qos_limits_hold(c):
    """GPU jobs over a QOS limit wait with Slurm's reason, hold up nobody, and start when it allows

    GrpTRES=gres/gpu, MaxTRESPerUser=gres/gpu and MaxJobsPerUser. An admin sees: QOSGrpGRES,
    QOSMaxGRESPerUser, QOSMaxJobsPerUserLimit in squeue.
    """
    group = make_qos(c, "group", "GrpTRES=gres/gpu=8")
    user = make_qos(c, "user", "MaxTRESPerUser=gres/gpu=2")
    jobs = make_qos(c, "jobs", "MaxJobsPerUser=1")
    first = {"group": c.sbatch(f"--qos={group} --gpus=h100:8 -t 60", "sleep 900"),
             "user": c.sbatch(f"--qos={user} --gpus=a100:2 -t 60", "sleep 900"),
             "jobs": c.sbatch(f"--qos={jobs} --gpus=a100:1 -t 60", "sleep 900")}
    for job in first.values():
        runs(c, job)
    second = {"group": c.sbatch(f"--qos={group} --gpus=h100:8 -t 5", "sleep 0.2"),
              "user": c.sbatch(f"--qos={user} --gpus=a100:1 -t 5", "sleep 0.2"),
              "jobs": c.sbatch(f"--qos={jobs} --gpus=a100:1 -t 5", "sleep 0.2")}
    waits_for(c, second["group"], "QOSGrpGRES")
    waits_for(c, second["user"], "QOSMaxGRESPerUser")
    waits_for(c, second["jobs"], "QOSMaxJobsPerUserLimit")
    # The first job needs a whole h100 node, and one is free: nothing is reserved for it.
    below = [c.sbatch("--gpus=h100:8 -t 120 --nice=50", "sleep 0.2"),
             c.sbatch("--gpus=2 -N1 -t 120 --nice=50", "sleep 0.2"),
             c.sbatch("-n2 -t 120 --nice=50", "sleep 0.2")]
    for job in below[:2]:
        runs(c, job)
    c.wait_state(below[2], "RUNNING,COMPLETING,COMPLETED", 10)
    for job in second.values():
        check("PENDING QOS" in reason(c, job), f"job {job} to wait still", reason(c, job))
    c.cmd("scancel " + " ".join(map(str, first.values())))
    for job in second.values():
        runs(c, job)


@scenario(cluster="accounts", needs=["rubato", "dbd"], negative=limits_are_not_enforced)
def association_limits_hold(c):
    """GrpTRES=gres/gpu of an account and MaxJobs of a user hold for GPU jobs

    An admin sees: AssocGrpGRES and AssocMaxJobsLimit in squeue; raising the limit with sacctmgr
    lets the job start.
    """
    me = c.site.user
    sacctmgr(c, "modify account test set GrpTRES=gres/gpu=4",
             "modify account test set GrpTRES=gres/gpu=-1")
    c.wait(lambda: "gres/gpu=4(0)" in c.ask(
        "scontrol -o show assoc_mgr flags=assoc accounts=test", check=False), 10,
        "slurmctld to know the limit")
    four = c.sbatch("--gpus=a100:4 -t 60", "sleep 900")
    runs(c, four)
    more = c.sbatch("--gpus=1 -t 5", "sleep 0.2")
    waits_for(c, more, "AssocGrpGRES")
    other = c.sbatch("-A load --gpus=1 -t 5", "sleep 0.2")
    runs(c, other)
    sacctmgr(c, "modify account test set GrpTRES=gres/gpu=5")
    runs(c, more)
    c.wait_state(more, "COMPLETED", 10)

    sacctmgr(c, f"modify user {me} where account=test set MaxJobs=1",
             f"modify user {me} where account=test set MaxJobs=-1")
    c.wait(lambda: re.search(r"(?m)^ *MaxJobs=1\(", c.ask(
        f"scontrol show assoc_mgr flags=assoc accounts=test users={me}", check=False)), 10,
        "slurmctld to know MaxJobs")
    many = c.sbatch("--gpus=1 -t 5", "sleep 0.2")
    waits_for(c, many, "AssocMaxJobsLimit")
    stays(c, many, "PENDING", 0.5)
    c.cmd(f"scancel {four}")
    runs(c, many)


@scenario(cluster="accounts", needs=["rubato", "dbd"], negative=no_preemption)
def preemption_by_qos(c):
    """A GPU job of a higher QOS takes the GPUs of lower ones: one is requeued, one cancelled

    An admin sees: the preemptor running, started by Rubato; PREEMPTED for the job of the QOS with
    PreemptMode=CANCEL, Restarts=1 for the other, which runs again afterwards.
    """
    again = make_qos(c, "again", "PreemptMode=REQUEUE")
    gone = make_qos(c, "gone", "PreemptMode=CANCEL")
    urgent = make_qos(c, "urgent", f"Preempt={again},{gone} Priority=100")
    requeued = c.sbatch(f"-w n5 --qos={again} --gpus=h100:8 -t 60 --requeue", "sleep 900")
    cancelled = c.sbatch(f"-w n6 --qos={gone} --gpus=h100:8 -t 60", "sleep 900")
    normal = c.sbatch("-w n1 --gpus=a100:4 -t 60", "sleep 900")
    for job in (requeued, cancelled, normal):
        runs(c, job)
    first = c.sbatch(f"-w n5 --qos={urgent} --gpus=h100:4 -t 60", "sleep 900")
    second = c.sbatch(f"-w n6 --qos={urgent} --gpus=8 -t 60", "sleep 900")
    third = c.sbatch(f"-w n1 --qos={urgent} --gpus=a100:4 -t 5", "sleep 0.2")
    for job in (first, second):
        runs(c, job, 12)
    c.wait_state(cancelled, "PREEMPTED", 10)
    c.wait_state(requeued, "PENDING", 10)
    check(c.job(requeued)["Restarts"] == "1", "one restart", c.job(requeued)["Restarts"])
    stays(c, third, "PENDING", 0.5)
    check(c.job(normal)["JobState"] == "RUNNING", f"job {normal} of QOS normal to run on")
    c.cmd(f"squeue -t all -j {requeued},{cancelled},{normal},{first},{second} "
          "-o '%.6i %.10q %.10T %N %r'")
    c.cmd(f"scancel {first}")
    c.wait_state(requeued, "RUNNING", 25)


@scenario(cluster="accounts", needs=["rubato", "dbd"], negative=no_weight_for_fair_share)
def fair_share_orders_gpu_jobs(c):
    """GPU jobs start in the order that sprio shows: the account that used less comes first

    An admin sees: sprio and sshare; the jobs of the account without usage, submitted last, start
    before those of the account that has used the cluster.
    """
    me = c.site.user
    heavy, light = c.fresh_name("heavy"), c.fresh_name("light")
    for account in (heavy, light):
        sacctmgr(c, f"add account {account} fairshare=10", f"delete account {account}")
        sacctmgr(c, f"add user {me} account={account} fairshare=10")
        c.defer(f"sacctmgr -i delete user {me} where account={account}")
    c.defer(lambda: cancel_jobs(c))     # no account is deleted while jobs of it run
    c.wait(lambda: light in c.ask(f"scontrol -o show assoc_mgr flags=assoc users={me}"), 10,
           "slurmctld to know the accounts")
    used = c.sbatch(f"-A {heavy} --gpus=a100:4 -N1 -n32 -t 60", "sleep 900")
    blocker = c.sbatch("-A test -w n5 --gpus=h100:8 -t 60", "sleep 300")
    runs(c, used)
    runs(c, blocker)
    c.wait(lambda: c.job(used).get("RunTime", "") >= "00:00:02", 10, "two seconds of usage")
    c.restart_ctld()    # slurmctld reckons up usage when it starts, then once a minute
    c.wait(lambda: float(c.ask(f"sshare -nP -A {heavy} -u {me} -o RawUsage").split()[-1]) > 0, 15,
           f"usage of account {heavy}")
    ask = "-w n5 --gpus=h100:8 -t 5"
    jobs = [c.sbatch(f"-A {account} {ask}", "sleep 0.1")
            for account in (heavy, heavy, light, light)]
    def order():
        rows = c.ask(f"squeue -h -t PD -j {','.join(map(str, jobs))} -o '%Q %i'").splitlines()
        rows = [tuple(map(int, row.split())) for row in rows]
        return [job for _, job in sorted(rows, key=lambda row: (-row[0], row[1]))]
    c.wait(lambda: order()[:2] == jobs[2:], 5, "the account without usage to come first")
    for job in jobs:        # Slurm 24.11 refuses a list of jobs
        c.cmd(f"sprio -h -j {job} -o '%.7i %.10Y %.10F'")
    c.cmd(f"sshare -A {heavy},{light} -u {me} -o Account,User,RawUsage,FairShare")
    wanted = order()
    c.cmd(f"scancel {blocker}")
    for job in jobs:
        runs(c, job, 20)
    check(start_order(c, jobs) == wanted, f"starts in the order {wanted}", start_order(c, jobs))


@scenario(cluster="accounts", needs=["rubato", "dbd"], negative="guarantee", timeout=240)
def a_guaranteed_job_waits_rather_than_be_slower(c):
    """GuaranteedQOS: where another job starts on one GPU, one of that QOS waits for the four that it requests

    Both could run on 1 or 4 GPUs. On 1 they are slower; explain says so.
    """
    high = make_qos(c, "high", "Priority=0")
    c.write_rubato_conf(CONF + f"GuaranteedQOS={high}\n")
    kind = c.fresh_name("promised")
    # Four GPUs gain less than the wait for them takes at any load, so the other job never waits.
    rows = [("a100", 1, 64, 300), ("a100", 2, 64, 350), ("a100", 4, 64, 400)]
    c.cmd(f"rubato models import --account test {share.profile_file(c, 'promised.csv', kind, rows)}", timeout=180)
    c.wait(lambda: len(share.fitted_rows(c, kind)) == len(rows), 60, "the profile in a round")
    held = [c.sbatch(f"-w n{node} --gpus=a100:{gpus} -t 60", "sleep 900")
            for node, gpus in ((1, 4), (2, 4), (3, 4), (4, 2))]
    for job in held:
        runs(c, job)
    wants = f"--gpus=a100:4 -t 60 --comment='rubato:job-type={kind};gpus=1,4;batch=64;samples=30000'"
    plain = c.sbatch(wants, "sleep 900")
    runs(c, plain, 30)
    check(list(c.gpus(plain).values()) == [{"a100": 1}], "one GPU for the other job", c.gpus(plain))
    job = c.sbatch(f"--qos={high} {wants}", "sleep 900")

    def outcomes():
        text = c.ask(f"rubato explain {job} --json 2>/dev/null", check=False)
        said = (json.loads(text or "{}").get("jobs") or [{}])[0]
        return {size["gpus"]: size["outcome"] for size in said.get("sizes", [])}
    c.expect(outcomes, {1: "guarantee", 4: "no-room"}, "why not 1 and 4", 60)
    c.cmd(f"rubato explain {job}")
    stays(c, job, "PENDING")
    c.cmd(f"squeue -h -j {job} -o '%i %T %r'")
    c.cmd(f"scancel {held[0]}")
    runs(c, job, 30)
    check(list(c.gpus(job).values()) == [{"a100": 4}], "the four that it requests", c.gpus(job))


@scenario(cluster="accounts", needs=["rubato", "dbd"], negative=no_weight_for_fair_share)
def the_round_sees_the_fair_share_that_sprio_prints(c):
    """The snapshot has the fair-share factor of a waiting job, as `sprio -n` prints it"""
    held = c.sbatch("-w n5 --exclusive --gpus=h100:8 -t 60", "sleep 900")
    runs(c, held)
    job = c.sbatch("-w n5 --exclusive --gpus=h100:8 -t 60", "sleep 900")

    def factors():
        jobs = steps.published(c, "snapshot.json").get("jobs", [])
        seen = [one.get("fair_share") for one in jobs if str(one["id"]) == str(job)]
        printed = c.ask(f"sprio -h -n -j {job} -o %f", check=False).split()
        return [float(printed[0]), seen[0]] if printed and seen and seen[0] is not None else []
    c.expect(factors, lambda both: both and abs(both[0] - both[1]) < 1e-5, "the factor of sprio", 30)
    c.cmd(f"sprio -h -n -j {job} -o '%i %f'")
    c.say("the snapshot has both:", str(factors()))
