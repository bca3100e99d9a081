# SPDX-License-Identifier: GPL-2.0-or-later
"""What slurm.conf and a job's options say of waiting jobs has the meaning that it has under stock."""
from cluster import check, scenario, shape
from cluster.slurmconf import Nodes

from . import steps
from .authority import CONF, SCHEDULER, STOPPED, stays
from .limits import make_qos
from .share import fitted_rows, profile_file

#: Four whole nodes of one type; reservations are fixed early.
shape("gap", rubato_conf=steps.conf("ReserveAfter=5", "HeartbeatTimeout=600"),
      nodes=(Nodes("n[1-4]", "a100:4"),))

#: Accounts without background load, whose reservations would go first.
shape("rules", dbd=True, load=False, rubato_conf=CONF + "ReserveAfter=1\n",
      nodes=(Nodes("n[1-2]", "h100:8"),),
      options={"PriorityType": "priority/multifactor", "PriorityCalcPeriod": "1",
               "PriorityWeightQOS": 1000000})

WHOLE = "--exclusive --gpus-per-node=4"


def _gang_that_waits(c, options, minutes, script="sleep 900"):
    """n1 is busy for `minutes`, n2 is free, the others are busy for an hour; a job waits for two."""
    for node, limit in (("n1", minutes), ("n3", 60), ("n4", 60)):
        c.wait_state(c.sbatch(f"-w {node} {WHOLE} -t {limit}", "sleep 900", name="fill"),
                     "RUNNING", 20)
    return c.sbatch(f"-N2 {WHOLE} -t 5 {options}", script, name="gang")


@scenario(cluster="gap", needs=[], negative="time-min", timeout=150)
def time_min_fits_before_a_reservation(c):
    """`--time-min=1 -t 60` starts beside a reservation, with the limit that ends before it

    An admin sees: `scontrol show job` with the shorter TimeLimit, and the reserved start kept.
    """
    gang = _gang_that_waits(c, "", 4)
    c.wait(lambda: c.job(gang).get("StartTime") not in (None, "Unknown"), 60,
           "a start of the gang in the plan")
    before = c.job(gang)["StartTime"]
    # Priority puts it behind the gang, whose start it may not delay.
    job = c.sbatch(f"-N1 {WHOLE} -t 60 --time-min=1 --nice=50", "sleep 900")
    seen = c.wait_state(job, "RUNNING", 60)
    c.cmd(f"squeue -t all -j {gang},{job} -o '%.6i %.10T %.10l %S %N'")
    check("00:01:00" <= seen["TimeLimit"] <= "00:04:00", "a limit of 1 to 4 minutes",
          seen["TimeLimit"])
    check(seen["EndTime"] <= before, f"its end before the gang's start {before}", seen["EndTime"])
    c.say(f"waited {c.wait_seconds(job):.1f} s")


def _later_job_starts_on_n2(c):
    job = c.sbatch(f"-N1 {WHOLE} -t 60 --nice=50", "sleep 900")
    c.wait_state(job, "RUNNING", 60)
    c.cmd(f"squeue -t all -n gang,scenario -o '%.6i %.10T %.10l %S %N %r'")
    c.say(f"waited {c.wait_seconds(job):.1f} s")


@scenario(cluster="gap", needs=["root"], negative="reserve-from", timeout=150)
def young_jobs_get_no_reservation(c):
    """bf_min_age_reserve: until a gang has waited so long, a later job starts on its free node"""
    c.change(options={"SchedulerParameters": SCHEDULER + ",bf_min_age_reserve=900"}, restart=False)
    gang = _gang_that_waits(c, "", 4)
    _later_job_starts_on_n2(c)
    check(c.job(gang)["JobState"] == "PENDING", "the gang to wait", c.job(gang)["JobState"])


def lend(c):
    """Since Slurm 23.02 `--signal=R:` needs a PreemptMode."""
    if c.site.version >= (23, 2):
        c.change(options={"PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE"})


@scenario(cluster="gap", needs=["root"], negative=STOPPED, timeout=150)
def jobs_with_a_warning_run_on_nodes_of_a_reservation(c):
    """MaxStartDelay: `--signal=R:USR1@60` starts on a reserved node, though a job without it waits"""
    lend(c)
    for node in ("n1", "n3", "n4"):
        c.wait_state(c.sbatch(f"-w {node} {WHOLE} -t 60", "sleep 900", name="fill"), "RUNNING", 20)
    c.cmd("scontrol create reservation ReservationName=lent users=root starttime=now+60minutes "
          "duration=60 nodes=n2 MaxStartDelay=120")
    plain = c.sbatch(f"-N1 {WHOLE} -t 90", "sleep 900")
    stays(c, plain, "PENDING", 2)
    borrower = c.sbatch(f"-N1 {WHOLE} -t 90 --signal=R:USR1@60", "sleep 900")
    seen = c.wait_state(borrower, "RUNNING", 60)
    c.cmd(f"squeue -j {plain},{borrower} -o '%.6i %.10T %N %r'")
    check(seen["NodeList"] == "n2", "the reserved node", seen["NodeList"])
    check(c.job(plain)["JobState"] == "PENDING", "the plain job to wait", c.job(plain)["JobState"])
    c.say(f"waited {c.wait_seconds(borrower):.1f} s")


def the_lender_is_held(c):
    """Negative control: the job of the reservation does not wait for nodes, so another job borrows one."""
    submit = c.sbatch
    steps.replace(c, "sbatch", lambda options="", script="sleep 1", user=None, name="scenario":
                  submit(options + (" --hold" if name == "lender" else ""), script, user, name))


@scenario(cluster="gap", needs=["root"], negative=the_lender_is_held, timeout=240, tier=2)
def no_job_borrows_while_one_of_the_reservation_waits(c):
    """MaxStartDelay: while a job of the reservation waits, a job borrows a node only if it ends before

    That is, before the planned start of the waiting job. When that job is cancelled, the other one starts.
    """
    lend(c)
    c.cmd("scontrol create reservation ReservationName=lent users=root starttime=now duration=120 "
          "nodes=n[1-2] MaxStartDelay=120")
    for node, own in (("n1", "--reservation=lent"), ("n3", ""), ("n4", "")):
        c.wait_state(c.sbatch(f"-w {node} {WHOLE} -t 60 {own}", "sleep 900", name="fill"), "RUNNING", 20)
    latch = c.latch()
    lender = c.sbatch(f"--reservation=lent -N2 {WHOLE} -t 30", "sleep 900", name="lender")
    stays(c, lender, "PENDING", 2)
    borrower = c.sbatch(f"-N1 {WHOLE} -t 90 --signal=R:USR1@60", "sleep 900")
    stays(c, borrower, "PENDING", 10)
    c.cmd(f"squeue -t all -j {lender},{borrower} -o '%.6i %.10T %S %N %r'")
    # It ends before the planned start of the lender, in an hour.
    short = c.sbatch(f"-N1 {WHOLE} -t 5 --signal=R:USR1@60", latch.wait, name="short")
    seen = c.wait_state(short, "RUNNING", 60)
    c.say(f"the short one waited {c.wait_seconds(short):.1f} s")
    check(seen["NodeList"] == "n2", "the node of the reservation", seen["NodeList"])
    latch.open()
    c.wait_state(short, "COMPLETED", 30)
    stays(c, borrower, "PENDING", 4)
    c.cmd(f"scancel {lender}")
    seen = c.wait_state(borrower, "RUNNING", 60)
    check(seen["NodeList"] == "n2", "the node of the reservation", seen["NodeList"])
    c.cmd(f"squeue -j {borrower} -o '%.6i %.10T %N'")


@scenario(cluster="rules", needs=["dbd"], negative="reserve-from", timeout=150)
def jobs_below_a_threshold_get_no_reservation(c):
    """MinPrioThreshold of a QOS: its jobs below that priority hold no nodes"""
    low = make_qos(c, "low", "MinPrioThresh=2000000000")
    first = c.sbatch("-w n1 --gpus=h100:8 -t 4", "sleep 900")
    c.wait_state(first, "RUNNING", 20)
    gang = c.sbatch(f"--qos={low} -N2 --gpus=h100:16 -t 5", "sleep 900", name="gang")
    stays(c, gang, "PENDING", 4)
    later = c.sbatch("-w n2 --gpus=h100:8 -t 60 --nice=50", "sleep 900")
    c.wait_state(later, "RUNNING", 60)
    c.cmd(f"squeue -t all -j {first},{gang},{later} -o '%.6i %.10q %.10T %S %N %r'")
    check(c.job(gang)["JobState"] == "PENDING", "the gang to wait", c.job(gang)["JobState"])
    c.say(f"waited {c.wait_seconds(later):.1f} s")


def known_type(c, gpu_type, counts, kind=None, options="--account test"):
    """A job type with imported speeds of 100 samples/s a GPU, known to the rounds; its name."""
    kind = kind or c.fresh_name("known")
    table = profile_file(c, f"{kind}.csv", kind, [(gpu_type, count, 32, 100 * count) for count in counts])
    c.cmd(f"rubato models import {options} {table}", timeout=180)
    c.wait(lambda: len(fitted_rows(c, kind)) == len(counts), 60, "the import in a round")
    return kind


def one_band(c):
    """Negative control: all priorities are one band, as a job with a huge nice value once made them."""
    c.write_rubato_conf(CONF + "PriorityBand=4000000000\n")


@scenario(cluster="rules", needs=["rubato", "dbd"], negative=one_band, timeout=120)
def a_nice_value_changes_no_other_place(c):
    """Jobs keep the order of their QOS, whatever nice value another job has

    Inside a band of priorities short jobs go first; the nice value must not make all one band.
    """
    top, upper, lower = (make_qos(c, name, f"Priority={priority}")
                         for name, priority in (("top", 1000), ("upper", 950), ("lower", 900)))
    latch = c.latch()
    blocker = c.sbatch("-w n1 --gpus=h100:8 -t 60", latch.wait)
    c.wait_state(blocker, "RUNNING", 20)
    c.sbatch(f"--qos={top} -w n1 --gpus=h100:8 --begin=now+1hour -t 60", "true")
    kind = known_type(c, "h100", (1, 8))
    upper_job, lower_job = (
        c.sbatch(f"--qos={qos} -w n1 --gpus=h100:8 -t 60 --comment='rubato:job-type={kind};samples={samples}'",
                 "sleep 1") for qos, samples in ((upper, 10**6), (lower, 100)))
    c.sbatch("--begin=now+10days --nice=2000000000 -n1", "true")
    c.sbatch("-w n1 --gpus=h100:1 --nice=2000000000 -t 60", "true")
    c.wait(lambda: int(c.ask(f"squeue -h -j {lower_job} -o %Q"))
           < int(c.ask(f"squeue -h -j {upper_job} -o %Q")), 20, "priorities by QOS")
    c.cmd("squeue -t PD -o '%.6i %.10q %.12Q %S %r'")
    latch.open()
    c.wait_state(lower_job, "RUNNING,COMPLETING,COMPLETED", 60)
    c.cmd(f"squeue -t all -j {upper_job},{lower_job} -o '%.6i %.10q %.12Q %S %r'")
    check(c.job(upper_job)["StartTime"] < c.job(lower_job)["StartTime"],
          "the job with the higher priority to start first")
