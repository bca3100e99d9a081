# SPDX-License-Identifier: GPL-2.0-or-later
"""Slurm reservations: nodes, cores, magnetic ones, and a maintenance window."""
from cluster import check, scenario, second_user

from .authority import STOPPED, runs, stays, waits_for


def reserve(c, name, words):
    """Creates a reservation that ends with the scenario."""
    c.cmd(f"scontrol create reservation ReservationName={name} {words}")
    c.defer(f"scontrol delete ReservationName={name}")


def reservations_start_later(c):
    """Negative control: the reservations begin in an hour, so they exclude no job yet."""
    original = c.cmd
    c.cmd = lambda command, **options: original(
        command.replace("StartTime=now ", "StartTime=now+1hour "), **options)
    c.defer(lambda: delattr(c, "cmd"))


@scenario(cluster="authority", needs=["rubato", "second-user"],
          negative=reservations_start_later)
def reserved_nodes_and_cores(c):
    """GPU jobs run in reservations of nodes and of cores; others are kept off those nodes

    An admin sees: jobs with `--reservation` start at once on the reserved nodes; another user's
    job that names such a node waits with Slurm's words about reserved nodes.
    """
    me = c.site.user
    reserve(c, "by-node", f"Nodes=n[5-6] StartTime=now Duration=60 Users={me} Flags=IGNORE_JOBS")
    reserve(c, "by-core", f"Nodes=n2 CoreCnt=8 StartTime=now Duration=60 Users={me} ")
    outside = c.sbatch("-w n5 --gpus=h100:1 -t 5", "sleep 1", user=second_user())
    waits_for(c, outside, "eserv")
    whole = c.sbatch("--reservation=by-node --gpus=h100:8 -t 5", "sleep 900")
    two = c.sbatch("--reservation=by-node --gpus-per-node=2 -N1 -t 5", "sleep 900")
    cores = c.sbatch("--reservation=by-core --gpus=a100:1 -n4 -t 5", "sleep 900")
    big = c.sbatch("--gpus=h100:9 -t 5", "sleep 1", user=second_user())
    free = c.sbatch("--gpus=2 -t 5 -x n[1-4]", "sleep 900", user=second_user())
    beside = c.sbatch("-w n2 --gpus=a100:1 -n56 -t 5", "sleep 0.2", user=second_user())
    for job, nodes in ((whole, "n5 n6"), (two, "n5 n6"), (cores, "n2"), (free, "n7 n8"),
                       (beside, "n2")):
        seen = runs(c, job)["NodeList"]
        check(seen in nodes.split(), f"job {job} on {nodes}", seen)
    stays(c, big, "PENDING", 1)
    c.cmd("scontrol delete ReservationName=by-node", check=False)
    check("by-node" in c.cmd("scontrol show reservation"), "a reservation in use to stay")
    c.cmd(f"scancel {whole} {two}")
    c.wait(lambda: c.ask("scontrol delete ReservationName=by-node", check=False).rc == 0, 10,
           "the reservation to be deleted")
    runs(c, outside)


@scenario(cluster="authority", needs=["rubato"], negative=STOPPED)
def magnetic_reservation_attracts(c):
    """A GPU job that names no reservation starts inside a magnetic one

    An admin sees: the job runs on the reserved node n3 and `scontrol show job` names the
    reservation; a job of the same user that may not use the node runs elsewhere.
    """
    reserve(c, "magnet", f"Nodes=n3 StartTime=now Duration=60 Users={c.site.user} Flags=MAGNETIC")
    inside = c.sbatch("-w n3 --gpus=a100:2 -t 5", "sleep 0.5")
    array = c.sbatch("-w n3 --gpus=a100:1 -t 5 --array=1-2", "sleep 0.2")
    elsewhere = c.sbatch("-x n3 --gpus=a100:4 -t 5", "sleep 0.2")
    seen = runs(c, inside)
    check(seen["NodeList"] == "n3", f"job {inside} on n3", seen["NodeList"])
    check(seen.get("Reservation") == "magnet", "the reservation's name in the job",
          seen.get("Reservation"))
    check(runs(c, elsewhere)["NodeList"] != "n3", f"job {elsewhere} to run elsewhere")
    c.wait(lambda: c.cmd(f"squeue -h -r -t CD -j {array} -o '%T %N'").count("COMPLETED n3") == 2,
           20, "both array tasks to run on n3", every=0.5)


@scenario(cluster="authority", needs=["rubato"], negative=STOPPED)
def maintenance_window(c):
    """Before a maintenance window a long GPU job waits, a short one runs; afterwards the long runs

    An admin sees: squeue says `ReqNodeNotAvail, Reserved for maintenance` of the job that would
    run into the window.
    """
    reserve(c, "window", "Nodes=n[1-8] StartTime=now+3minutes Duration=60 Flags=MAINT "
            f"Users={c.site.user}")
    long = c.sbatch("--gpus=h100:2 -t 10", "sleep 0.2")
    many = [c.sbatch(f"--gpus={n} -t 10", "sleep 0.2") for n in (1, 2, 4)]
    short = c.sbatch("--gpus=h100:2 -t 1", "sleep 0.2")
    runs(c, short)
    waits_for(c, long, "Reserved for maintenance")
    c.wait_state(short, "COMPLETED", 10)
    for job in (long, *many):
        stays(c, job, "PENDING", 0.2)
    c.cmd("scontrol delete ReservationName=window")
    for job in (long, *many):
        runs(c, job)
