# SPDX-License-Identifier: GPL-2.0-or-later
"""Two clusters in one federation: its jobs belong to stock Slurm."""
import os
import pathlib
import signal

from cluster import check, client, plugins, proc, scenario, shape
from cluster.scenarios import steps

from .authority import STOPPED

SISTER = "sister"

#: The gate never opens by itself, so stock Slurm starts only what Rubato does not manage.
shape("federation", dbd=True, load=False, rubato_conf=steps.conf("HeartbeatTimeout=600"),
      options={"AccountingStorageEnforce": None})


def _sister_conf(c, port):
    """slurm.conf of a cluster of its own under the same slurmdbd. Its nodes never answer, so a job of the
    federation cannot start there."""
    base = c.path(SISTER)
    mine = {"ClusterName": SISTER, "SlurmctldPort": port, "StateSaveLocation": f"{base}/state",
            "SlurmctldPidFile": f"{base}/slurmctld.pid", "SlurmctldLogFile": f"{base}/slurmctld.log",
            "PluginDir": plugins.stock_dir(), "JobCompLoc": f"{base}/jobcomp.log"}
    lines = []
    for line in pathlib.Path(c.path("etc/slurm.conf")).read_text(encoding="utf-8").splitlines():
        key = line.partition("=")[0]
        if key in mine or key in ("NodeName", "PartitionName", "JobSubmitPlugins", "GresTypes"):
            continue
        lines.append(line)
    lines += [f"{key}={value}" for key, value in mine.items()]
    lines += ["GresTypes=gpu", f"NodeName=far[1-2] NodeAddr={c.site.addr} Port=1 CPUs=64 Gres=gpu:a100:4 State=DOWN",
              "PartitionName=main Nodes=far[1-2] Default=YES State=UP"]
    return "\n".join(lines) + "\n"


def _start_sister(c):
    """The slurmctld of the second cluster; its pid."""
    for folder in (SISTER, f"{SISTER}/state"):
        os.makedirs(c.path(folder), exist_ok=True)
    conf = pathlib.Path(c.path(SISTER, "slurm.conf"))
    conf.write_text(_sister_conf(c, proc.free_ports(c.site.addr, 1)), encoding="utf-8")
    conf.with_name("cgroup.conf").write_text(pathlib.Path(c.path("etc/cgroup.conf")).read_text(encoding="utf-8"),
                                             encoding="utf-8")
    c.cmd(f"sacctmgr -i add cluster {SISTER}")
    proc.daemon(c.uts + [client.sbin("slurmctld"), "-f", str(conf)],
                {**c.client_env(), "SLURM_CONF": str(conf)}, c.path("log/sister.out"))
    c.defer(lambda: proc.stop([proc.read_pid(c.path(SISTER, "slurmctld.pid"))], 20))
    c.wait(lambda: "is UP" in c.ask(f"SLURM_CONF={conf} scontrol ping", check=False), 60, "the second slurmctld")
    return proc.read_pid(c.path(SISTER, "slurmctld.pid"))


def _leave(c):
    c.ask("sacctmgr -i delete federation both", check=False)
    c.wait(lambda: "Federation" not in c.ask("scontrol show federation"), 60, "slurmctld to be in no federation")


def _ours(c, job):
    if c.flavour == "rubato":
        steps.started_by(c, job, "rubato", 60)
    c.wait_state(job, "COMPLETED", 60)


@scenario(cluster="federation", needs=["root", "dbd"], negative=STOPPED, timeout=240, tier=2)
def stock_slurm_starts_the_jobs_of_a_federation(c):
    """Stock Slurm starts a job that has siblings in a second cluster; Rubato starts its own beside it and after

    A sibling that hangs holds up neither requests nor Rubato's starts.
    """
    _ours(c, c.sbatch("--gpus=1 -t 5", "true"))
    own = c.sbatch("--gpus=1 -t 5 --hold", "true")
    sister = _start_sister(c)
    c.defer(lambda: _leave(c))
    c.cmd(f"sacctmgr -i add federation both clusters=rubato,{SISTER}")
    c.wait(lambda: c.ask("scontrol show federation").count("ACTIVE") >= 1
           and SISTER in c.ask("scontrol show federation"), 60, "the federation in slurmctld")
    c.cmd("scontrol show federation")
    latch = c.latch()
    jobs = [c.sbatch(f"--gpus=a100:{gpus} -t 5", latch.wait) for gpus in (1, 4)]
    for job in jobs:
        seen = c.wait_state(job, "RUNNING", 60)
        siblings = c.ask(f"squeue -h -j {job} -O origin,siblingsviable,siblingsactive")
        c.say(f"job {job}: {' '.join(siblings.split())}, {seen['NodeList']}")
        check("rubato" in siblings.split()[0] and SISTER in siblings, "a job of the federation", siblings)
        steps.started_by(c, job, "stock", 60)
    if c.flavour == "rubato":
        words = "stock Slurm: it has siblings in a federation"
        c.wait(lambda: words in " ".join(c.ask(f"rubato explain {jobs[0]}").split()), 30, "explain to say who starts it")
        c.cmd(f"rubato explain {jobs[0]}")

    c.say(f"SIGSTOP to the slurmctld of {SISTER}")
    os.kill(sister, signal.SIGSTOP)
    c.defer(lambda: proc.send(sister, signal.SIGCONT))
    late = c.sbatch("--gpus=a100:1 -t 5", latch.wait)
    c.cmd(f"scontrol release {own}")
    _ours(c, own)
    worst = max(c.ask("squeue").seconds for _ in range(20))
    c.say(f"longest of 20 squeue: {worst:.2f} s")
    os.kill(sister, signal.SIGCONT)
    c.wait_state(late, "RUNNING", 120)
    steps.started_by(c, late, "stock", 60)

    latch.open()
    for job in jobs + [late]:
        c.wait_state(job, "COMPLETED", 60)
    _leave(c)
    _ours(c, c.sbatch("--gpus=1 -t 5", "true"))
