# SPDX-License-Identifier: GPL-2.0-or-later
"""The daemons of a private cluster: munged, slurmctld, slurmd; started and stopped by pid."""
import os
import pathlib
import signal
import time

from . import client, plugins, proc
from .proc import ClusterError


class Daemons:
    """Part of Cluster, which has the folder, the shape and the environment."""

    def daemon_pids(self, *names):
        """Live pids of daemons of this folder by the names of their pid files."""
        found = []
        for name in names:
            for file in pathlib.Path(self.base).glob(name):
                pid = proc.read_pid(file)
                if pid and proc.alive(pid) and proc.belongs(pid, self.base):
                    found.append(pid)
        return found

    def _stop_processes(self):
        slurmds = "run/slurmd.*.pid"
        self.ctld_may_be_down = True
        if self.daemon_pids("run/slurmctld.pid") and self.daemon_pids(slurmds):
            self._cancel_all()
        proc.stop(self.daemon_pids(slurmds), 10)
        proc.stop(self.daemon_pids("run/slurmctld.pid", "run/slurmctld-backup.pid"), 15)
        proc.stop(self.daemon_pids("run/slurmdbd.pid"), 10)
        proc.stop(self.daemon_pids("db/mariadb.pid"), 20)
        proc.stop(self.daemon_pids("munge/munged.pid"), 5)
        for _ in range(5):   # what a leftover started meanwhile is found in the next turn
            left = proc.leftovers(self.base)
            if not left:
                break
            for pid in left:
                proc.send(pid, signal.SIGKILL)
            proc.wait_gone(left, 2)

    def _cancel_all(self):
        """Cancels every job while slurmctld lives.

        A step daemon that is killed directly leaves its batch script running.
        """
        ids = self.ask("squeue -h -o %A", timeout=8, check=False).split()
        if not ids:
            return
        self.ask("scancel -Q " + " ".join(sorted(set(ids))), timeout=8, check=False)
        end = time.monotonic() + 5
        while time.monotonic() < end:
            if not self.ask("squeue -h -t R,CG,S -o %A", timeout=8, check=False).split():
                return
            time.sleep(0.1)

    def _start_munged(self):
        key = self.path("munge/munge.key")
        with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
            file.write(os.urandom(1024))
        part = self.path("munge/munged")
        proc.daemon([client.sbin("munged"), f"--key-file={key}", "--num-threads=2",
                     f"--socket={self.path('munge/munge.sock')}", f"--pid-file={part}.pid",
                     f"--log-file={part}.log", f"--seed-file={part}.seed"],
                    dict(self.client_env()), self.path("log/munged.out"))

    def loaded_plugins(self):
        """Rubato's files that the running slurmctld has loaded: {"sched_backfill.so", ...}."""
        maps = proc.read_proc(self.ctld_pid(), "maps")
        folder = os.path.realpath(self.plugins.path) if self.plugins else "-"
        return {name for name in plugins.FILES if f"{folder}/{name}" in maps}

    def _check_loaded(self):
        if self.flavour != "rubato":
            return
        missing = sorted(set(plugins.FILES) - self.loaded_plugins())
        if missing:
            raise ClusterError(f"slurmctld has not loaded {', '.join(missing)} of "
                               f"{self.plugins.path}; end of its log:\n" + self.log_tail()
                               + "\n" + proc.tail(self.path("log/slurmctld.out")))

    def ctld_env(self):
        env = dict(self.client_env(), SLURM_CONF=self.path("etc/slurm.conf"))
        if self.flavour == "rubato":
            env.update(self.plugins.ctld_env(self.path("log/asan")))
        return {**env, **self.extra_env}

    def ctld_pid(self):
        """Pid of the live slurmctld, 0 if there is none.

        After a reconfigure by a new process the pid file names a process that has ended, or none, for a moment.
        """
        return next(iter(self.daemon_pids("run/slurmctld.pid") or self._controllers()), 0)

    def _controllers(self):
        """Processes of slurmctld for this slurm.conf, by their command lines, without the one that runs its scripts."""
        name = self.path("etc/slurm.conf")
        lines = ((pid, proc.read_proc(pid, "cmdline").split("\n")) for pid in proc.all_pids())
        return [pid for pid, words in lines
                if words[0].endswith("slurmctld") and name in words and proc.alive(pid)]

    def start_ctld(self, wait=True, ready=True):
        """Starts slurmctld and waits until it answers.

        ready: also makes the slurmds register at once; otherwise that takes about 4 seconds.
        """
        proc.daemon(self.uts + [client.sbin("slurmctld"), "-f", self.path("etc/slurm.conf")],
                    self.ctld_env(), self.path("log/slurmctld.out"))
        self.ctld_may_be_down = False
        end = time.monotonic() + 120
        while wait:
            up = self.ctld_pid() and "is UP" in self.ask("scontrol ping", timeout=5, check=False)
            if up:
                return self.wake_nodes() if ready else None
            if time.monotonic() > end or (not self.ctld_pid() and self._log_ended()):
                raise ClusterError("slurmctld did not start; end of its log:\n"
                                   + self.log_tail("slurmctld"))
            time.sleep(0.03)

    def wake_nodes(self):
        """Makes every slurmd read slurm.conf and register; waits until Slurm knows its nodes."""
        for pid in self.daemon_pids("run/slurmd.*.pid"):
            proc.send(pid, signal.SIGHUP)
        end, again = time.monotonic() + 60, time.monotonic() + 10
        while self.daemon_pids("run/slurmd.*.pid") and time.monotonic() < end:
            names = {file.name.split(".")[1]
                     for file in pathlib.Path(self.path("run")).glob("slurmd.*.pid")}
            unknown = [name for name, node in self.nodes().items()
                       if name in names and node.get("State", "").startswith("UNKNOWN")]
            if not unknown:
                return
            if time.monotonic() > again:    # a slurmd that was just reading slurm.conf missed it
                for pid in self.daemon_pids(*(f"run/slurmd.{name}.pid" for name in unknown)):
                    proc.send(pid, signal.SIGHUP)
                again += 10
            time.sleep(0.03)

    def _log_ended(self):
        """True if this folder has no live slurmctld process."""
        time.sleep(0.2)
        name = self.path("etc/slurm.conf")
        return not any("slurmctld" in proc.read_proc(pid, "cmdline")
                       and name in proc.read_proc(pid, "cmdline") for pid in proc.all_pids())

    def stop_ctld(self):
        """SIGTERM to slurmctld; returns the seconds it took."""
        self.ctld_may_be_down = True
        start = time.monotonic()
        proc.stop([self.ctld_pid()], 60)
        return time.monotonic() - start

    def kill9_ctld(self):
        """kill -9 to slurmctld, and waits until it is gone."""
        self.ctld_may_be_down = True
        pid = self.ctld_pid()
        proc.send(pid, signal.SIGKILL)
        proc.wait_gone([pid], 30)

    def restart_ctld(self, ready=True):
        """Stops slurmctld normally (if it runs) and starts it again."""
        self.stop_ctld()
        self.start_ctld(ready=ready)

    def reconfigure_is_a_new_process(self):
        """From Slurm 24.05 on `scontrol reconfigure` starts a new slurmctld, with counters from 0."""
        return self.site.version >= (24, 5)

    def reconfigure(self):
        """`scontrol reconfigure`, then waits until Rubato's loop has read rubato.conf, without a limit:
        a hanging loop reads it afterwards. Waits for the new process, where there is one."""
        mark, before = self.log_mark(), self.ctld_pid()
        self.ask("scontrol reconfigure")
        if self.reconfigure_is_a_new_process():
            self.wait(lambda: self.daemon_pids("run/slurmctld.pid") not in ([], [before]), 60,
                      "the new slurmctld in its pid file")
        end = time.monotonic() + 3
        while (self.flavour == "rubato" and time.monotonic() < end
               and not self.log_has(r"rubato: .*rubato\.conf", mark)):
            time.sleep(0.02)

    def start_slurmd(self, name):
        os.makedirs(self.path("spool", name), exist_ok=True)
        proc.daemon(self.uts + [client.sbin("slurmd"), "-N", name, "-f", self.conf()],
                    self.client_env(), self.path("log", f"slurmd.{name}.out"))

    def stop_slurmd(self, name):
        proc.stop(self.daemon_pids(f"run/slurmd.{name}.pid"), 10)

    def _wait_idle(self):
        wanted = [n for n in self.shape.node_names() if not self.shape.node_spec(n).cloud]
        end, without = time.monotonic() + 120, {}
        while True:
            states = self.nodes()
            bad = [n for n in wanted if states.get(n, {}).get("State", "none").lower() != "idle"]
            if not bad:
                return
            if not self.ctld_pid():
                raise ClusterError("slurmctld ended; end of its log:\n"
                                   + self.log_tail("slurmctld"))
            for name in bad:
                now = time.monotonic()
                # On a slow machine the pid file comes seconds after the daemon is in the background.
                since = now if self.daemon_pids(f"run/slurmd.{name}.pid") else without.get(name, now)
                without[name] = since
                if now > end or now - since > 10:
                    state = states.get(name, {}).get("State", "unknown")
                    raise ClusterError(f"node {name} is {state}, not idle; end of its log:\n"
                                       + self.log_tail(f"slurmd.{name}"))
            time.sleep(0.05)
