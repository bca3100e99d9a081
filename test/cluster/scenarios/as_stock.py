# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs that stock Slurm starts at once: Rubato must not hold them back."""
import shutil

from cluster import check, scenario, shape
from cluster.slurmconf import Nodes

from . import steps
from .authority import STOPPED
from .limits import cancel_jobs, make_qos, no_preemption
from .saved import start_with_late, unharmed, wait_quiet, waits_in_copy

#: Nodes as sites have them: unequal cores and memory under one feature.
shape("unequal", rubato_conf=steps.conf("HeartbeatTimeout=600"), nodes=(
    Nodes("n[1-4]", "a100:4", cpus=64, memory=256000, features="gpu"),
    Nodes("n[5-6]", "a100:4", cpus=128, memory=1000000, features="gpu,large")))


def runs(c, job, seconds=10):
    """Waits until the job runs, whoever starts it: stock Slurm passes these scenarios too."""
    c.wait_state(job, "RUNNING", seconds)
    return c.job(job)


def _fill_large(c):
    """Occupies the two large nodes."""
    for node in ("n5", "n6"):
        runs(c, c.sbatch(f"-w {node} --exclusive --gpus=4 -t 60", "sleep 900"))


@scenario(cluster="unequal", needs=[], negative=STOPPED)
def feature_class_with_large_jobs(c):
    """A job with a feature starts on a free node, though a larger job of the same feature waits

    The jobs before it ask for more cores, memory or local disk than the free nodes have.
    """
    _fill_large(c)
    large = [c.sbatch("-C gpu --gpus=1 -c 100 -t 5", "sleep 900"),
             c.sbatch("-C gpu --gpus=1 --mem=900000 -t 5", "sleep 900")]
    small = c.sbatch("-C gpu --gpus=1 -c 2 -t 5", "sleep 900")
    seen = runs(c, small, 10)
    check(seen["NodeList"] in ("n1", "n2", "n3", "n4"), "one of the small nodes", seen["NodeList"])
    c.cmd("squeue -o '%.6i %.10T %N %r'")
    for job in large:
        check(c.job(job)["JobState"] == "PENDING", f"job {job} to wait for a large node")


@scenario(cluster="unequal", needs=[], negative=STOPPED)
def preferred_nodes_go_first(c):
    """`--prefer=large` starts on the large nodes while one is free, then on others

    Jobs with and without GPUs.
    """
    jobs = [c.sbatch(f"--prefer=large {options} -t 5", "sleep 900")
            for options in ("-n1", "--gpus=1", "-n1 -c 2", "--gpus=2")]
    for job in jobs:
        runs(c, job, 15)
    c.cmd("squeue -o '%.6i %.10T %N %b %r'")
    for job in jobs:
        check(c.job(job)["NodeList"] in ("n5", "n6"), f"job {job} on a large node",
              c.job(job)["NodeList"])
    c.cmd("scancel " + " ".join(map(str, jobs)))
    _fill_large(c)
    late = c.sbatch("--prefer=large --gpus=4 -t 5", "sleep 900")
    runs(c, late, 15)
    check(c.job(late)["NodeList"] in ("n1", "n2", "n3", "n4"), "another node when these are full",
          c.job(late)["NodeList"])


@scenario(cluster="unequal", needs=["root"], negative=STOPPED)
def flexible_reservations_bind_neither_time_nor_nodes(c):
    """A job in a reservation with Flags=FLEX starts before it begins, and beside its nodes"""
    later, now = c.fresh_name("later"), c.fresh_name("now")
    user = c.site.user
    for name, start in ((later, "now+60minutes"), (now, "now")):
        node = {later: "n1", now: "n2"}[name]
        c.cmd(f"scontrol create reservation ReservationName={name} StartTime={start} Duration=120 "
              f"Users={user} Nodes={node} Flags=FLEX")
        c.defer(f"scontrol delete ReservationName={name}")
    c.defer(lambda: cancel_jobs(c))
    early = c.sbatch(f"--reservation={later} --gpus=1 -t 5", "sleep 900")
    runs(c, early, 15)
    runs(c, c.sbatch(f"--reservation={now} -w n2 --exclusive --gpus=4 -t 60", "sleep 900"), 15)
    beside = c.sbatch(f"--reservation={now} --gpus=4 -t 5", "sleep 900")
    runs(c, beside, 15)
    c.cmd("squeue -o '%.6i %.10T %N %r'")
    check(c.job(beside)["NodeList"] != "n2", "a node outside of the reservation",
          c.job(beside)["NodeList"])


@scenario(cluster="accounts", needs=["dbd"], negative=STOPPED)
def limits_that_need_the_nodes(c):
    """MaxTRESPerNode and MinTRES of a QOS count what the job gets, not what it asks for

    8 GPUs on two nodes are 4 per node; a whole node has more CPUs than the minimum.
    """
    per_node = make_qos(c, "pernode", "MaxTRESPerNode=gres/gpu=4")
    least = make_qos(c, "least", "MinTRES=cpu=8")
    wide = c.sbatch(f"--qos={per_node} --gpus=a100:8 -t 5", "sleep 900")
    whole = c.sbatch(f"--qos={least} --exclusive --gpus=1 -t 5", "sleep 900")
    for job in (wide, whole):
        runs(c, job, 15)
    c.cmd(f"squeue -j {wide},{whole} -o '%.6i %.10q %.10T %N %r'")
    check(c.job(wide)["NumNodes"] == "2", "two nodes", c.job(wide)["NumNodes"])


@scenario(cluster="accounts", needs=["dbd"], negative=no_preemption, timeout=150)
def preempted_gpus_go_to_the_preemptor(c):
    """GPUs freed by preemption are kept for the preemptor while its other victims end

    Eight victims end one after the other. Jobs of a lower QOS wait for any GPU of that node.
    """
    victim = [make_qos(c, f"grace{seconds}", f"PreemptMode=CANCEL GraceTime={seconds}")
              for seconds in (1, 3, 5, 7)]
    urgent = make_qos(c, "urgent", f"Preempt={','.join(victim)} Priority=1000")
    victims = [c.sbatch(f"-N1 -w n5 --qos={victim[i % 4]} --gpus=h100:1 -t 60",
                        "trap '' TERM; sleep 900 & wait; wait") for i in range(8)]
    for job in victims:
        runs(c, job)
    first = c.sbatch(f"-N1 -w n5 --qos={urgent} --gpus=h100:8 -t 60", "sleep 900")
    stream = c.sbatch("--array=1-40 -N1 -w n5 --gpus=h100:1 -t 1 -o /dev/null", "sleep 2", name="below")
    runs(c, first, 40)
    c.cmd(f"squeue -t all -j {first},{','.join(map(str, victims))} -o '%.6i %.10q %.10T %S %r'")
    passed = c.ask(f"squeue -h -r -j {stream} -t R,CG,CD -o %T").split()
    check(not passed, "no job of the lower QOS to start before the preemptor", passed)


@scenario(cluster="accounts", needs=["rubato", "dbd"], negative="reserve", timeout=150, tier=2)
def preempting_gang_in_stream(c):
    """A gang of a QOS that may preempt keeps its reservation, however often preemption fails

    The one job that it may preempt runs on another node. A stream of 1-GPU jobs takes what is free.
    """
    low = make_qos(c, "low", "PreemptMode=CANCEL")
    urgent = make_qos(c, "urgent", f"Preempt={low}")
    runs(c, c.sbatch(f"--qos={low} -w n5 --gpus=h100:1 -t 60", "sleep 900"))
    first = steps.fill(c, 16, "--gpus=a100:1 -t 1")
    gang = c.sbatch(f"--qos={urgent} -N4 --gpus-per-node=a100:4 -t 5", "sleep 900", name="gang")
    stream = c.sbatch("--array=1-2000 --gpus=a100:1 -t 1 -o /dev/null", steps.SOME_SECONDS,
                      name="stream")
    first.open()
    runs(c, gang, 100)
    c.say(f"waited {c.wait_seconds(gang):.1f} s")
    c.cmd(f"squeue -j {gang} -o '%.6i %.10q %.10T %N %r'; scancel {stream}")


@scenario(cluster="quiet", needs=[], negative="settle", timeout=240)
def node_that_reports_late(c):
    """A job whose first start is in no state file is not started again before its node reports

    The slurmds register by themselves, some seconds after slurmctld is up. A second start would be
    a duplicate: node drained, job held.
    """
    wait_quiet(c)
    old = c.path("out", "job_state.late")
    job = waits_in_copy(c, old)
    c.wait_state(job, "RUNNING", 100)
    c.kill9_ctld()
    shutil.copy2(old, c.path("state/job_state"))
    start_with_late(c, "run/slurmd.*.pid", 6)
    c.wait_state(job, "RUNNING", 40)
    c.wait(lambda: c.job(job).get("JobState") == "RUNNING" and
           int(c.ask(f"squeue -h -j {job} -O TimeUsed:20").split(":")[-1]) >= 5, 60,
           "the job to run for 5 s")
    unharmed(c, job)
