# SPDX-License-Identifier: GPL-2.0-or-later
"""The pair in slurmctld: it loads and gates; everything else is as under stock Slurm."""
import os
import re
import statistics

from cluster import check, records, scenario
from cluster.scenarios import steps

FILES = ("sched_backfill.so", "select_cons_tres.so", "job_submit_logging.so")


def stock_slurm(c):
    """Negative control: the PluginDir line names only the stock plugins."""
    c.use_plugins("stock")


def h100_nodes_are_down(c):
    """Negative control: the nodes that the answers name are down."""
    c.ask("scontrol update NodeName=n[5-6] State=DOWN Reason=test")


@scenario(needs=["rubato"], negative=stock_slurm)
def pair_loads_and_clients_work(c):
    """The pair is loaded by slurmctld, and clients with an empty first PluginDir part work

    An admin sees two directories in `scontrol show config`, Rubato's three files and the stock
    ones behind them in slurmctld's memory map, and on login nodes, where Rubato's directory is
    empty, nothing at all.
    """
    shown = c.cmd("scontrol show config | grep -E '^(PluginDir|SchedulerType|SelectType|"
                  "JobSubmitPlugins) '")
    first, _, stock = re.search(r"PluginDir\s*= (\S+)", shown)[1].partition(":")
    check(os.path.realpath(first) == os.path.realpath(c.base_plugins.path) and stock,
          "Rubato's directory first in PluginDir, the stock one second", shown)
    check("sched/backfill" in shown and "select/cons_tres" in shown,
          "SchedulerType and SelectType as in stock Slurm", shown)
    maps = c.cmd(f"grep -oE '/[^ ]+/({'|'.join(FILES)})' /proc/{c.ctld_pid()}/maps | sort -u")
    for name in FILES:
        check(f"{os.path.realpath(first)}/{name}" in maps, f"slurmctld to have loaded {name}", maps)
    for name in FILES[:2]:
        check(f"{os.path.realpath(stock)}/{name}" in maps, f"the stock {name} to be hosted", maps)
    c.wait(lambda: c.log_has(r"rubato: the gate is closed"), 10, "the gate's line in the log")
    c.cmd(f"grep -E 'rubato: ' {c.path('log/slurmctld.log')} | head -4")

    os.makedirs(c.path("client-of-login/empty"), exist_ok=True)
    with open(c.path("etc/slurm.conf"), encoding="utf-8") as file:
        text = file.read()
    with open(c.path("client-of-login/slurm.conf"), "w", encoding="utf-8") as file:
        file.write(re.sub(r"(?m)^PluginDir=.*$",
                          f"PluginDir={c.path('client-of-login/empty')}:{stock}", text))
    env = {"SLURM_CONF": c.path("client-of-login/slurm.conf")}
    c.cmd("cp -f ../etc/gres.conf ../client-of-login/")
    job = int(re.search(r"\d+", c.cmd("sbatch -J scenario --gpus=1 -t 5 --wrap 'sleep 60'",
                                      env=env))[0])
    for command, wanted in (
            ("sinfo -h -p main -o '%P %D'", "main"), (f"squeue -h -j {job} -o '%i %j'", str(job)),
            (f"scontrol -o show job {job} | grep -o 'JobId=[0-9]*'", f"JobId={job}"),
            ("sdiag | grep 'Jobs submitted'", "submitted"),
            ("scontrol ping", "UP"), ("sprio 2>&1 || true", "priority"),
            ("srun -J scenario --gpus=a100:4 -t 5 printenv CUDA_VISIBLE_DEVICES", "0,1,2,3"),
            ("salloc -J scenario --gpus=h100:8 -t 5 srun printenv CUDA_VISIBLE_DEVICES", "6,7")):
        answer = c.cmd(command, env=env)
        check(wanted in answer and "error:" not in answer, f"`{command}` to work", answer)
    c.cmd(f"scancel {job}", env=env)
    c.wait_state(job, "CANCELLED", 15)


@scenario(needs=["rubato"], negative="gate")
def jobs_wait_while_the_loop_is_stopped(c):
    """Managed jobs pend, not held and not rejected, while the loop is stopped, and start after it

    An admin sees PENDING with reason Resources or Priority, a priority that is not 0, and a job
    that starts as soon as the loop is back. GPUs are free all the time.
    """
    c.write_rubato_conf(steps.conf("TestInject=stop-loop", "HeartbeatTimeout=600"))
    jobs = [c.sbatch("--gpus=a100:1 -t 5", "sleep 0.2"),
            c.sbatch("--gpus=1 --gres-flags=enforce-binding -t 5", "sleep 0.2"),
            c.sbatch("-N2 --gpus-per-node=h100:2 -t 5", "sleep 0.2")]
    c.cmd("squeue -n scenario -o '%.7i %.9T %.10Q %.20r'")
    steps.stock_looks(c)    # and has its chance
    steps.check_waiting(c, jobs)
    c.cmd("scontrol -o show job %d | grep -oE '(JobState|Priority|Reason)=[^ ]*'" % jobs[0])
    c.write_rubato_conf(steps.conf())
    for job in jobs:
        steps.started_by(c, job, "rubato")
        c.wait_state(job, "COMPLETED", 20)


@scenario(needs=["rubato"], negative="heartbeat")
def stock_takes_over_after_heartbeat_timeout(c):
    """A stopped loop: jobs wait for HeartbeatTimeout, then stock Slurm starts them

    An admin sees the line `the gate is open` in slurmctld.log, and jobs started by backfill or by
    the main scheduler as on any Slurm; later, when the loop is back, `the gate is closed`.
    """
    timeout = 4.0
    mark = c.log_mark()
    c.write_rubato_conf(steps.conf("TestInject=stop-loop", f"HeartbeatTimeout={timeout:g}"))
    stopped = c.log_lines(r"rubato: .*rubato\.conf.*Mode=place", mark)
    jobs = [c.sbatch("--gpus=a100:1 -t 5", "sleep 0.2"), c.sbatch("--gpus=h100:1 -t 5", "true")]
    c.wait(lambda: steps.states(c, jobs)[jobs[0]][0] != "PENDING", timeout + 6,
           "stock Slurm to start a job")
    opened = c.log_lines(r"rubato: the gate is open", mark)
    check(len(opened) == 1, "one line that says the gate is open", opened)
    c.say("    " + opened[0])
    silent = float(re.search(r"heartbeat (\d+\.\d+) s ago", opened[0])[1])
    for job in jobs:
        steps.started_by(c, job, "stock")
        check(c.times(job).start >= records.stamp(opened[0]), f"job {job} to wait for the gate",
              f"{c.times(job)}, {opened[0]}")
    c.say(f"the loop was silent for {silent:.1f} s when the gate opened (HeartbeatTimeout "
          f"{timeout:g} s); {stopped[-1:]}")
    check(silent >= timeout, "the gate to open after HeartbeatTimeout", silent)

    c.write_rubato_conf(steps.conf())
    c.wait(lambda: c.log_has(r"rubato: the gate is closed", mark), 15, "the gate to close again")
    steps.started_by(c, c.sbatch("--gpus=a100:1 -t 5", "true"), "rubato")


def _waits(c, count):
    """Seconds from submit to start of `count` CPU batch jobs and of 3 srun calls; by whom the
    batch jobs were started."""
    jobs = []
    for _ in range(count):
        jobs.append(int(c.ask("sbatch --parsable -J cpu -n1 -t 5 -o /dev/null --wrap true")))
    for job in jobs:
        c.wait(lambda: c.job(job).get("JobState") == "COMPLETED", 30, f"CPU job {job} to end")
    sruns = [c.ask("srun -J cpu -n1 -t 5 true").seconds for _ in range(3)]
    times = c.all_times()
    return ([times[job].start - times[job].submit for job in jobs], sruns,
            [times[job].by for job in jobs])


def _print_waits(c, title, batch, sruns):
    """The seconds are informative only: the test asserts who started the jobs."""
    c.say(f"{title}: {len(batch)} CPU sbatch, submit to start: median "
          f"{statistics.median(batch):.3f} s, longest {max(batch):.3f} s; srun, whole: "
          f"median {statistics.median(sruns):.3f} s")


@scenario(needs=["rubato"], negative="walk", timeout=90)
def cpu_jobs_start_as_under_stock(c):
    """CPU jobs behind 50 gated GPU jobs start when they are submitted, as on a cluster without those

    A user who asks for no GPU cannot tell that Rubato is there, although 50 GPU jobs wait at the
    head of the queue. (Stock Slurm itself would make CPU jobs behind 50 waiting ones wait for
    backfill.)
    """
    steps.occupy(c, "h100")
    gated = steps.submit_many(c, 50, "--gpus=h100:8 -t 10")
    batch, sruns, starters = _waits(c, 12)
    steps.check_waiting(c, gated[:1] + gated[-1:])
    _print_waits(c, "Rubato, behind 50 gated jobs", batch, sruns)
    c.cmd("scancel -n scenario")
    c.use_plugins("stock")
    c.cmd("srun -N8 -p main true")      # all nodes have registered
    _print_waits(c, "stock, nobody waits", *_waits(c, 12)[:2])
    # A backfill cycle may run between a submission and the scheduling pass of Rubato's loop.
    late = starters.count("backfill")
    check(late <= len(starters) // 2, "backfill to start half of them at most", starters)


def _at_once(c, command):
    """The answer to salloc -I or srun -I on its merits.

    Slurm refuses it for "insufficient priority" in each instant in which any job that could start
    has a higher one (job_mgr.c, _top_priority), as a task of the background's array may.
    """
    def answer():
        said = c.cmd(command, check=False)
        if "insufficient priority" not in said:
            return (said,)
        c.cmd("squeue -t PD -S -p -o '%i %P %Q %r %j' | head -3")
        return None
    return c.wait(answer, 30, "an answer to an immediate request", every=0.2)[0]


@scenario(needs=["rubato"], negative="immediate")
def immediate_requests_are_answered(c):
    """`salloc -I` and `srun -I` with GPUs get free ones at once and are refused when none are

    A user sees what stock Slurm answers: a grant, or "Requested nodes are busy".
    """
    # slurmctld may have just started: it grants nothing before it has processed its queue.
    c.wait_state(c.sbatch("--gpus=h100:1 -t 5", "true"), "COMPLETED", 15)
    before = steps.stats(c).get("gate_immediate", 0)
    answer = _at_once(
        c, "salloc -I -J scenario --gpus=h100:1 -t 5 srun printenv CUDA_VISIBLE_DEVICES")
    check("Granted" in answer and "queued" not in answer, "an immediate grant", answer)
    answer = _at_once(c, "srun -I -J scenario --gpus=a100:1 -t 5 printenv CUDA_VISIBLE_DEVICES")
    check(answer.strip().endswith("0"), "srun -I to run on GPU 0", answer)
    steps.occupy(c, "h100")
    answer = _at_once(c, "salloc -I -J scenario --gpus=h100:1 -t 5 true")
    check(answer.rc != 0 and "busy" in answer, "a refusal when no h100 is free", answer)
    c.wait(lambda: steps.stats(c).get("gate_immediate", 0) >= before + 2, 10,
           "two grants counted by the gate")


@scenario(needs=["rubato"], negative="TestInject=stop-loop")
def srun_and_salloc_get_gpus(c):
    """srun and salloc with GPUs, without -I, are started by the loop while the client waits

    A user sees "queued and waiting for resources" for an instant, then the allocation.
    """
    mark = c.log_mark()
    answer = c.cmd("srun -J scenario --gpus=h100:2 -t 5 printenv CUDA_VISIBLE_DEVICES", timeout=8)
    check(answer.splitlines()[-1] == "0,1", "srun to see two GPUs", answer)
    answer = c.cmd("salloc -J scenario -N2 --gpus-per-node=a100:1 -t 5 srun hostname", timeout=8)
    check("Granted" in answer, "salloc to be granted two nodes", answer)
    starts = c.log_lines(r"rubato: started JobId=", mark)
    c.say(*("    " + line for line in starts))
    check(len(starts) >= 2, "both to be started by Rubato", starts)


@scenario(needs=["rubato"], negative=h100_nodes_are_down)
def test_only_answers(c):
    """`sbatch --test-only` says when and where a GPU job would start, and starts nothing

    A user sees the same answers as from stock Slurm: now on a free node; later on one whose jobs
    have time limits; a refusal of what no node has.
    """
    answer = c.cmd("sbatch --test-only --gpus=h100:8 -N1 -t 5 --wrap true")
    check(re.search(r"Job \d+ to start at .* on nodes n[56] ", answer), "a start on n5 or n6",
          answer)
    steps.occupy(c, "h100", minutes=7)
    answer = c.cmd("sbatch --test-only --gpus=h100:8 -N1 -t 5 --wrap true")
    check(re.search(r"Job \d+ to start at .* on nodes n[56] ", answer), "a later start", answer)
    check("Requested node configuration" in
          c.cmd("sbatch --test-only --gpus=a100:64 --wrap true", check=False),
          "a refusal of 64 a100 GPUs")
    check(not [row for row in c.jobs() if row["name"] != "occupy"], "no job of it in the queue")


def arrays_without_limit(c):
    """Negative control: the arrays are submitted without their %N."""
    sbatch = c.sbatch
    steps.replace(c, "sbatch", lambda options, *rest, **more:
                  sbatch(re.sub(r"%\d+", "", options), *rest, **more))


@scenario(needs=["rubato"], negative=arrays_without_limit)
def array_limit_holds(c):
    """An array of GPU tasks with %2 never has more than two tasks running, and all of them run

    A user sees JobArrayTaskLimit for the waiting tasks.
    """
    array = c.sbatch("--array=1-6%2 --gpus=a100:1 -t 5 -o array-%A_%a.out",
                     "date +'start %s.%N'; sleep 0.7; date +'end %s.%N'")
    most, reasons = 0, set()

    def ended():
        nonlocal most
        rows = c.ask(f"squeue -h -r -j {array} -t all -o '%T|%r'").splitlines()
        most = max(most, sum(row.startswith("RUNNING") for row in rows))
        reasons.update(row.partition("|")[2] for row in rows if row.startswith("PENDING"))
        return sum(row.startswith("COMPLETED") for row in rows) == 6
    c.wait(ended, 40, "the six tasks to complete")
    moments = []
    for task in range(1, 7):
        with open(c.path("out", f"array-{array}_{task}.out"), encoding="utf-8") as file:
            words = file.read().split()
        moments += [(float(words[1]), 1), (float(words[3]), -1)]
    running = overlap = 0
    for _, step in sorted(moments):
        running += step
        overlap = max(overlap, running)
    c.say(f"at most {overlap} of 6 tasks at a time (squeue saw {most}), reasons {sorted(reasons)}")
    check(overlap <= 2 and most <= 2, "at most two tasks at a time", max(overlap, most))
    starts = c.log_lines(rf"rubato: started JobId={array}_")
    check(len(starts) == 6, "all six to be started by Rubato", len(starts))
