# SPDX-License-Identifier: GPL-2.0-or-later
"""Resized jobs with slurmdbd: preemption by QOS, limits, and what sacct says of them."""
import re

from cluster import check, scenario

from . import steps
from .authority import CONF, runs
from .limits import cancel_jobs, limits_are_not_enforced, make_qos, no_preemption, sacctmgr
from .shrink import LONG, agrees, indices
from .sizes import total

CHECKED = CONF + "TestInject=check-gres\n"
LIVE = "--comment='rubato: gpus=1,2,4,6,8;resize=live'"


def resize(c, job, gpus, words=""):
    """Asks for another size; `words`: part of the reason of the refusal, "" if the job must get it."""
    steps.published_again(c)
    before = total(c, job)

    def asked():
        said = c.cmd(f"rubato resize {job} --gpus {gpus} --live", check=False, timeout=90)
        return "" if "has not stored its last resize yet" in said else said
    said = c.wait(asked, LONG, "slurmdbd to store the start or the last resize of the job")
    if words:
        check(said.rc != 0 and words in said, f"a refusal: {words}", said)
        check(total(c, job) == before, f"{before} GPUs still", total(c, job))
    else:
        check(f"runs on with {gpus} GPU" in said, f"{gpus} GPUs", said)


def in_use(c, what, names):
    """GPUs in use of GrpTRES as scontrol show assoc_mgr tells, of a QOS or an account."""
    shown = c.ask(f"scontrol -o show assoc_mgr flags={what} {names}", check=False)
    lines = [line for line in shown.splitlines() if "GrpTRES=" in line]
    found = [re.search(r"GrpTRES=\S*gres/gpu=\w+\((\d+)\)", line) for line in lines]
    return [int(one[1]) for one in found if one]


def qos_use(c, qos):
    return in_use(c, "qos", f"qos={qos}")[:1]


def account_use(c, account):
    return in_use(c, "assoc", f"accounts={account}")[:1]


def rows(c, job):
    """What sacct -D tells of a job: [{State, Start, End, ElapsedRaw, GPUs, Nodes}], a row for each size."""
    keys = "state,start,end,elapsedraw,alloctres,nodelist"
    text = c.ask(f"sacct -nPXD -j {job} -o {keys}")
    found = []
    for line in text.splitlines():
        row = dict(zip(keys.split(","), line.split("|")))
        gpus = re.search(r"gres/gpu=(\d+)", row["alloctres"])
        row["gpus"] = int(gpus[1]) if gpus else 0
        found.append(row)
    return found


def rows_follow(c, job, sizes, last):
    """sacct has a row for each of these sizes, one after the other; the last one has this state."""
    c.expect(lambda: ([row["gpus"] for row in rows(c, job)], rows(c, job)[-1]["state"].split()[0]), (sizes, last),
             "GPUs of the rows of sacct, and the last state", LONG)
    c.cmd(f"sacct -PXD -j {job} -o jobid,state,start,end,elapsedraw,alloctres,nodelist")
    found = rows(c, job)
    for before, after in zip(found, found[1:]):
        # Under Slurm 24.11, with Rubato and without, the row after a shrink begins at the start of the job.
        if c.site.version >= (23, 11) and after["gpus"] < before["gpus"] and after["start"] == found[0]["start"]:
            check(before["end"] <= after["end"], "each row to end after the one before", (before, after))
            continue
        check(before["end"] <= after["start"], "each row to end before the next one begins", (before, after))


def no_runaway(c):
    c.expect(lambda: "No runaway jobs found" in c.ask("sacctmgr -i show runawayjobs 2>&1", check=False), True,
             "no runaway job", 30)


def free_again(c):
    """No job of a scenario holds a GPU, a core or memory of n1 to n8."""
    cancel_jobs(c)
    names = [f"n{number}" for number in range(1, 9)]

    def taken():
        nodes = c.nodes()
        return {name: nodes[name]["CPUAlloc"] for name in names
                if nodes[name]["CPUAlloc"] != "0" or "IDX:N/A" not in nodes[name]["GresUsed"]}
    c.expect(taken, {}, "nodes in use", LONG)
    agrees(c)


@scenario(cluster="accounts", needs=["rubato", "dbd"], negative=no_preemption, timeout=400, tier=2)
def a_grown_job_is_preempted_as_a_whole(c):
    """A job of a higher QOS takes GPUs that came by growth: one job is requeued at its submitted size, one cancelled

    Rubato starts the first job of the higher QOS. The second one is of a QOS that Rubato does not manage.
    The GPUs of the jobs are no longer charged, and sacct has a row for each of their sizes.
    """
    c.write_rubato_conf(CHECKED)
    again = make_qos(c, "again", "PreemptMode=REQUEUE")
    gone = make_qos(c, "gone", "PreemptMode=CANCEL")
    urgent = make_qos(c, "urgent", f"Preempt={again},{gone} Priority=100")
    requeued = c.sbatch(f"--qos={again} --gpus=a100:2 -n2 -t 60 --requeue {LIVE}", "sleep 900")
    runs(c, requeued)
    resize(c, requeued, 4)
    cancelled = c.sbatch(f"--qos={gone} --gpus=a100:2 -n2 -t 60 {LIVE}", "sleep 900")
    runs(c, cancelled)
    resize(c, cancelled, 4)
    home = {job: sorted(indices(c, job)) for job in (requeued, cancelled)}
    resize(c, requeued, 8)
    resize(c, cancelled, 8)
    check((qos_use(c, again), qos_use(c, gone)) == ([8], [8]), "8 GPUs charged to each QOS",
          (qos_use(c, again), qos_use(c, gone)))
    agrees(c)
    came = {job: sorted(set(indices(c, job)) - set(home[job])) for job in home}
    first = c.sbatch(f"-w {came[requeued][0]} --qos={urgent} --gpus=a100:4 -t 60", "sleep 900")
    runs(c, first, 30)
    c.expect(lambda: (c.job(requeued)["Restarts"], c.job(requeued)["JobState"], total(c, requeued)),
             ("1", "RUNNING", 2), "restarts, state and GPUs of the requeued job", LONG)
    c.expect(lambda: qos_use(c, again), [2], "GPUs charged to its QOS", LONG)
    agrees(c)
    c.write_rubato_conf(CHECKED + f"ManagedQOS={again},{gone}\n")
    second = c.sbatch(f"-w {came[cancelled][0]} --qos={urgent} --gpus=a100:4 -t 60", "sleep 900")
    c.wait_state(cancelled, "PREEMPTED", LONG)
    c.wait_state(second, "RUNNING", LONG)
    c.expect(lambda: qos_use(c, gone), [0], "GPUs charged to its QOS", LONG)
    c.cmd(f"squeue -t all -j {requeued},{cancelled},{first},{second} -o '%.6i %.10q %.10T %N %b %r'")
    agrees(c)
    rows_follow(c, cancelled, [2, 4, 8], "PREEMPTED")
    rows_follow(c, requeued, [2, 4, 8, 2], "RUNNING")
    free_again(c)
    rows_follow(c, requeued, [2, 4, 8, 2], "CANCELLED")
    no_runaway(c)


@scenario(cluster="accounts", needs=["rubato", "dbd"], negative=limits_are_not_enforced, timeout=300)
def a_grown_job_keeps_to_the_limits_of_a_job_and_an_account(c):
    """GrpTRES of an account and MaxTRESPerJob of a QOS bound the growth of a job; a shrink gives back

    An admin sees what is charged in scontrol show assoc_mgr, and another job waits or starts by it.
    """
    c.write_rubato_conf(CHECKED)
    sacctmgr(c, "modify account test set GrpTRES=gres/gpu=6", "modify account test set GrpTRES=gres/gpu=-1")
    c.wait(lambda: account_use(c, "test") == [0], 10, "slurmctld to know the limit")
    job = c.sbatch(f"--gpus=a100:4 -n4 -t 60 {LIVE}", "sleep 900")
    runs(c, job)
    resize(c, job, 8, "violates accounting/QOS policy")
    resize(c, job, 6)
    check(account_use(c, "test") == [6], "6 GPUs charged to the account", account_use(c, "test"))
    agrees(c)
    waits = c.sbatch("--gpus=a100:1 -n1 -t 60", "sleep 900")
    c.wait(lambda: "AssocGrpGRES" in c.ask(f"squeue -h -j {waits} -o %r"), LONG, "the reason AssocGrpGRES")
    resize(c, job, 4)
    runs(c, waits, 30)
    check(account_use(c, "test") == [5], "5 GPUs charged to the account", account_use(c, "test"))
    c.cmd(f"scancel {waits}")
    c.expect(lambda: account_use(c, "test"), [4], "GPUs charged to the account", LONG)
    c.cmd(f"scancel {job}")
    c.expect(lambda: account_use(c, "test"), [0], "GPUs charged to the account", LONG)

    small = make_qos(c, "small", "MaxTRESPerJob=gres/gpu=4")
    nodes = make_qos(c, "nodes", "MaxTRESPerJob=node=1")
    sacctmgr(c, "modify account test set GrpTRES=gres/gpu=-1")
    bound = c.sbatch(f"--qos={small} --gpus=a100:2 -n2 -t 60 {LIVE}", "sleep 900")
    runs(c, bound)
    resize(c, bound, 4)
    resize(c, bound, 6, "MaxTRESPerJob is gres/gpu=4")
    near = c.sbatch(f"--qos={nodes} --gpus=a100:2 -n2 -t 60 {LIVE}", "sleep 900")
    runs(c, near)
    resize(c, near, 4)
    resize(c, near, 6, "MaxTRESPerJob is node=1")
    agrees(c)
    free_again(c)


def step_rows(c, job):
    """{step: [(state, GPUs, nodes)]} of sacct."""
    found = {}
    for line in c.ask(f"sacct -nPD -j {job} -o jobid,state,alloctres,nnodes").splitlines():
        name, state, tres, nodes = line.split("|")
        if "." not in name:
            continue
        gpus = re.search(r"gres/gpu=(\d+)", tres)
        found.setdefault(name.partition(".")[2], []).append((state.split()[0], int(gpus[1]) if gpus else 0,
                                                             int(nodes)))
    return found


@scenario(cluster="accounts", needs=["rubato", "dbd"], negative="restore", timeout=300, tier=2)
def sacct_tells_each_size_of_a_job(c):
    """sacct of a job that grows, shrinks, grows and is requeued: a row for each size, each step once

    The rows follow each other, so that no second counts twice; the sum of GPU seconds is that of the
    sizes. A growth that was refused leaves nothing of the job.
    """
    c.write_rubato_conf(CHECKED)
    job = c.sbatch(f"--gpus=a100:4 -n4 -t 60 --requeue {LIVE}", "srun -N1 -n1 --gpus=4 sleep 900 & sleep 900")
    runs(c, job)
    c.wait(lambda: "0" in step_rows(c, job), LONG, "the first step in sacct")
    step = "env -u SLURM_GPUS -u SLURM_NTASKS -u SLURM_NPROCS srun --exact --overlap --jobid={} {}"
    resize(c, job, 6)
    c.cmd(step.format(job, "-N2 -n2 --gpus-per-task=1 sleep 1"), timeout=60)
    resize(c, job, 4)
    resize(c, job, 8)
    c.cmd(step.format(job, "-N2 -n8 --gpus-per-task=1 sleep 1"), timeout=60)
    rows_follow(c, job, [4, 6, 4, 8], "RUNNING")
    c.cmd(f"scontrol requeue {job}")
    c.expect(lambda: (c.job(job)["Restarts"], c.job(job)["JobState"], total(c, job)), ("1", "RUNNING", 4),
             "restarts, state and GPUs", LONG)
    rows_follow(c, job, [4, 6, 4, 8, 4], "RUNNING")
    free_again(c)
    rows_follow(c, job, [4, 6, 4, 8, 4], "CANCELLED")
    c.cmd(f"sacct -PD -j {job} -o jobid,state,start,end,elapsedraw,alloctres,nnodes")
    found = step_rows(c, job)
    check((found["1"], found["2"]) == ([("COMPLETED", 2, 2)], [("COMPLETED", 8, 2)]), "each step once, with its GPUs",
          found)
    check({name: [gpus for _, gpus, _ in found[name]] for name in ("batch", "0")} == {"batch": [4, 4], "0": [4, 4]},
          "the batch script and the first step once in each run", found)
    no_runaway(c)
