# SPDX-License-Identifier: GPL-2.0-or-later
"""What one user says that is not so: reports that no other job confirms, and work that a job exceeds."""
import json

from cluster import check, scenario, second_user

from . import learn
from .share import rows_of


def told(c, job):
    """What `rubato explain --json` says of a job; {} if nothing yet."""
    text = c.ask(f"rubato explain {job} --json 2>/dev/null", check=False)
    return (json.loads(text or "{}").get("jobs") or [{}])[0]


@scenario(cluster="share", needs=["rubato"], negative="prove", timeout=300)
def a_single_false_report_moves_no_plan(c):
    """One job reports a thousand times the speed on a slow GPU type; the next job goes where two jobs were fastest

    The false profile is marked unproven in `rubato models` and in explain, and bounded by the others.
    """
    c.write_rubato_conf(learn.CONF.replace("GpuType=h100 Speed=3", "GpuType=h100 Speed=0.2"))
    c.restart_ctld()
    kind = c.fresh_name("plain")

    def report(node, gpu, rate):
        job = c.sbatch(f"-w {node} --gpus={gpu}:1 -t 60 --comment='rubato:job-type={kind}'", "sleep 600")
        c.wait_state(job, "RUNNING", 60)
        c.cmd(f"scontrol update JobId={job} Comment='rubato!report samples=10;rate={rate};batch=8'")
    for node in ("n1", "n2"):
        report(node, "a100", 200)
    for _ in range(2):
        report("n7", "v100", 60)
    report("n5", "h100", 200000)
    c.expect(lambda: learn.learnt_cells(c, kind), 3, "three configurations to be learnt", 60)
    c.wait(lambda: any(row.get("jobs") == 1 and row["gpu_type"] == "h100" for row in rows_of(c, kind)), 60,
           "the false report in rubato models")
    job, where = learn.next_job(c, kind)
    text = c.cmd(f"rubato models -t {kind}")
    check(learn.type_of(where) == ["a100"], "a100, which two jobs measured", where)
    check("Unproven" in text and f"{kind} on 1 h100" in text, "h100 marked as unproven", text)
    decision = c.wait(lambda: learn.explained(c, job), 60, "the decision in rubato explain")
    rate = decision["facts"].get("rate.h100", "")
    check("unproven" in rate and float(rate.split()[0]) < 200, "a bounded rate, unproven", rate)


@scenario(cluster="share", needs=["rubato", "root"], negative="overrun", timeout=300)
def a_user_gains_once_by_understated_work(c):
    """A job reports far more samples than it stated: the next job of its user counts with its time limit

    Two jobs wait for a node. The one of that user states little work, the one before it more, but less than an hour.
    squeue shows that the honest one starts first.
    """
    c.restart_ctld()
    user = second_user()
    kind = learn.measured_type(c)
    node = learn.PLACES["v100"][0]
    whole = f"-w {node} --exclusive --gpus=v100:1 -t 60"
    hints = f"rubato:job-type={kind};samples="
    past = c.sbatch(f"--gpus=a100:1 -t 60 --comment='{hints}100'", "sleep 600", user=user)
    blocker = c.sbatch(whole, "sleep 600")
    for job in (past, blocker):
        c.wait_state(job, "RUNNING", 60)
    c.cmd(f"scontrol update JobId={past} Comment='rubato!report samples=100000;rate=30;batch=8'", user=user)
    c.expect(lambda: told(c, past).get("samples"), 100000, "the report in a round", 60)
    honest = c.sbatch(f"{whole} --comment='{hints}20000'", "sleep 600")
    small = c.sbatch(f"{whole} --comment='{hints}100'", "sleep 600", user=user)

    def need(job):
        return told(c, job).get("facts", {}).get("need", "")
    said = c.wait(lambda: need(small), 60, "the need of the small job")
    c.cmd(f"rubato explain {honest}")
    c.cmd(f"rubato explain {small}")
    c.cmd(f"scancel {blocker}")
    c.wait(lambda: c.ask(f"squeue -h -t R -w {node}").strip(), 60, "the next job to start")
    first = c.cmd(f"squeue -h -t R -w {node} -o %i").split()
    check(first == [str(honest)], f"job {honest}, whose user kept its word", first)
    check(f"job {past} of its user ran past its stated work" in said, "the reason in explain", said)


@scenario(cluster="share", needs=["rubato"], negative="statements", timeout=400, tier=2)
def stated_work_passes_another_account_once_three_jobs_held_theirs(c):
    """A job that states little work waits for a job of another account until three jobs of its own kept their word

    Two accounts, one node. squeue shows which of two waiting jobs starts: first the one that was submitted first, then,
    when three jobs of the other account have done what they stated, the one that states less.
    """
    kind = c.fresh_name("plain")
    c.write_rubato_conf(learn.CONF + f"JobType={kind} Shared=yes\n")
    c.restart_ctld()
    for job in learn.measure(c, kind):
        c.cmd(f"scancel {job}")
        c.wait_state(job, "CANCELLED", 60)
    node = learn.PLACES["v100"][0]
    whole = f"-w {node} --exclusive --gpus=v100:1 -t 60"

    def submit(account, samples, options, script="sleep 600"):
        return c.sbatch(f"{options} -A {account} --comment='rubato:job-type={kind};samples={samples}'", script)

    def three_keep_their_word(account):
        jobs = [submit(account, 100, "--gpus=a100:1 -t 60", "sleep 15") for _ in range(3)]
        for job in jobs:
            c.wait_state(job, "RUNNING", 60)
            c.cmd(f"scontrol update JobId={job} Comment='rubato!report samples=100;rate=30;batch=8'")
        for job in jobs:
            c.wait_state(job, "COMPLETED", 60)

    def starts_first():
        """Of a job of `lab` and a later one of `ai` that states less."""
        blocker = c.sbatch(whole, "sleep 600")
        c.wait_state(blocker, "RUNNING", 60)
        jobs = {"lab": submit("lab", 40000, whole), "ai": submit("ai", 100, whole)}
        said = c.wait(lambda: told(c, jobs["ai"]).get("facts", {}).get("need", ""), 60, "the need of the job of ai")
        c.cmd(f"rubato explain {jobs['lab']}; rubato explain {jobs['ai']}", check=False)
        c.cmd(f"scancel {blocker}")
        c.wait(lambda: c.ask(f"squeue -h -t R -w {node}").strip(), 60, "the next job to start")
        first = c.cmd(f"squeue -h -t R -w {node} -o %i").split()
        for job in jobs.values():
            c.cmd(f"scancel {job}")
            c.wait_state(job, "CANCELLED", 60)
        return [account for account, job in jobs.items() if first == [str(job)]], said

    three_keep_their_word("lab")
    first, said = starts_first()
    check(first == ["lab"], "the job of lab, which came first", first)
    check("once 3 jobs of its account have ended" in said, "the reason in explain", said)
    three_keep_their_word("ai")
    first, said = starts_first()
    check(first == ["ai"], "the job of ai, which states less", first)
    check("by its own work and speed" in said, "that its work counts", said)
