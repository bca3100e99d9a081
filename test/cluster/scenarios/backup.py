# SPDX-License-Identifier: GPL-2.0-or-later
"""Two controllers: the backup takes over and returns control, with the pair in both."""
import pathlib
import re

from cluster import check, client, proc, scenario, shape
from cluster.scenarios import steps

HOST, ADDRESS = "rubato-backup", "127.0.0.77"
PRIMARY, BACKUP = "primary", "backup"

shape("backup", lines=(f"SlurmctldHost={HOST}({ADDRESS})",), load=False,
      options={"SlurmctldTimeout": 10})


def _start_backup(c):
    """A slurmctld in name spaces of its own, where the machine has the name of the backup.

    slurm.conf is that of the primary but for the pid file: the two write one slurmctld.log.
    """
    etc = pathlib.Path(c.path("etc-backup"))
    etc.mkdir(exist_ok=True)
    for file in pathlib.Path(c.path("etc")).iterdir():
        text = file.read_text(encoding="utf-8")
        if file.name == "slurm.conf":
            text = text.replace("/run/slurmctld.pid", "/run/slurmctld-backup.pid")
        (etc / file.name).write_text(text, encoding="utf-8")
    conf, hosts = str(etc / "slurm.conf"), etc / "hosts"
    hosts.write_text(f"127.0.0.1 localhost {c.site.host}\n{ADDRESS} {HOST}\n", encoding="utf-8")
    proc.daemon(["unshare", "--uts", "--mount", "sh", "-ec",
                 f'echo {HOST} > /proc/sys/kernel/hostname; mount --bind "{hosts}" /etc/hosts; '
                 'exec "$@"', "sh", client.sbin("slurmctld"), "-f", conf],
                {**c.ctld_env(), "SLURM_CONF": conf}, c.path("log/backup.out"))
    c.defer(lambda: proc.stop(_backups(c), 20))
    c.wait(lambda: "(backup) at" in c.ask("scontrol ping")
           and "DOWN" not in c.ask("scontrol ping"), 60, "the backup to answer")
    return _backups(c)[0]


def _backups(c):
    """Its processes, by their command line: they outlive their pid file."""
    return [pid for pid in proc.all_pids()
            if c.path("etc-backup/slurm.conf") in proc.read_proc(pid, "cmdline")]


def _in_control(c):
    """Which controller answers requests: primary, backup or none."""
    for line in c.ask("scontrol ping", check=False).splitlines():
        found = re.match(r"Slurmctld\((primary|backup)\) at \S+ is UP", line)
        if found:  # a standby controller is up too, and refuses
            return found[1] if "JOBID" in c.ask("squeue", check=False) else None
    return None


def _rubato_decides(c, pid):
    """The controller in control has the pair, and Rubato's loop there starts a job."""
    maps = proc.read_proc(pid, "maps")
    check("/sched_backfill.so" in maps and c.plugins.path in maps,
          f"the pair in the slurmctld in control (pid {pid})")
    job = c.sbatch("--gpus=2 -t 5", "sleep 0.2")
    steps.started_by(c, job, "rubato", 60)
    c.wait_state(job, "COMPLETED", 60)


def backup_without_rubato(c):
    """Negative control: the backup's slurm.conf has no PluginDir of Rubato."""
    start = globals()["_start_backup"]

    def stock(cluster):
        conf, text = pathlib.Path(cluster.path("etc/slurm.conf")), None
        text = conf.read_text(encoding="utf-8")
        conf.write_text(text.replace(f"PluginDir={cluster.plugins.path}:", "PluginDir="),
                        encoding="utf-8")
        try:
            return start(cluster)
        finally:
            conf.write_text(text, encoding="utf-8")
    globals()["_start_backup"] = stock
    c.defer(lambda: globals().__setitem__("_start_backup", start))


@scenario(cluster="backup", needs=["rubato", "root"], negative=backup_without_rubato, timeout=240)
def a_backup_takes_over_twice(c):
    """A backup controller takes over, gives back and takes over again; Rubato decides in each

    The plugins of the backup are loaded once and begin and end with every change of control.
    """
    backup = _start_backup(c)
    waiting = c.sbatch("--gpus=h100:16 -t 5 -b now+1hour", "true")
    busy = c.sbatch("--gpus=a100:1 -t 5", "sleep 900")
    c.wait_state(busy, "RUNNING", 30)
    _rubato_decides(c, c.ctld_pid())
    for turn in (1, 2):
        primary = c.ctld_pid()
        c.ctld_may_be_down = True
        c.cmd("scontrol takeover 1", timeout=60)
        c.wait(lambda: not proc.alive(primary), 60, "the primary to end")
        c.wait(lambda: _in_control(c) == BACKUP, 60, "the backup to be in control", every=0.3)
        c.cmd("scontrol ping")
        check(_backups(c) == [backup], "the same process as before", _backups(c))
        _rubato_decides(c, backup)
        c.say(f"turn {turn}: the primary comes back")
        proc.daemon(c.uts + [client.sbin("slurmctld"), "-f", c.path("etc/slurm.conf")],
                    c.ctld_env(), c.path("log/slurmctld.out"))
        c.wait(lambda: _in_control(c) == PRIMARY, 60, "the primary to be in control", every=0.3)
        c.ctld_may_be_down = False
        c.cmd("scontrol ping")
        _rubato_decides(c, c.ctld_pid())
    seen = steps.states(c, [waiting, busy])
    check(seen[busy][0] == "RUNNING" and seen[waiting][0] == "PENDING",
          "the job that ran to run and the one that waits to wait", seen)
    store = "rubato.db is in use by another slurmctld"
    check(not c.log_has(store), "each controller to have the store", c.log_lines(store))
    c.cmd(f"scancel {waiting} {busy}")
