# SPDX-License-Identifier: GPL-2.0-or-later
"""A private Slurm cluster of plain processes on loopback.

    with Cluster("demo") as c:
        print(c.cmd("sinfo"))

Works as root and as any user, without systemd. Everything lives in one scratch folder and is
stopped by pid: at the end, after an exception, on Ctrl-C and on SIGTERM. A daemon that dies
raises ClusterError with the end of its log.
"""
import atexit
import dataclasses
import fcntl
import getpass
import json
import math
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import sys
import threading

from . import client, daemons, dbd, plugins, proc, slurmconf
from .proc import ClusterError

_LIVE = []          # clusters that this process must stop
TEST_USER = "rubato-test"
_POWER = """#!/bin/bash
# {what} nodes: started by slurmctld with a host list.
unset LD_PRELOAD
export SLURM_CONF={conf} PATH={path}
for name in $(scontrol show hostnames "$1"); do
  printf '%s {what} %s\\n' "$(date +%s.%N)" "$name" >> {base}/log/power.log
  {action}
done
"""


def scratch_root():
    return plugins.scratch_root()


def version_text():
    """"22.05.8": release of the installed slurmctld."""
    if not os.path.exists(client.sbin("slurmctld")):
        raise ClusterError("slurmctld is not installed: run contrib/quickstart deps")
    text = subprocess.run([client.sbin("slurmctld"), "-V"], capture_output=True, text=True,
                          check=True).stdout
    return re.search(r"\d+\.\d+\.\d+", text)[0]


class Cluster(client.Client, daemons.Daemons):
    """One cluster. See README.md for the calls that scenarios use.

    name:     folder below the scratch root (${RUBATO_SCRATCH:-/var/tmp/rubato-<uid>})
    shape:    slurmconf.Shape
    flavour:  "rubato" (PluginDir=<plugins>:<stock>) or "stock"
    plugins:  Rubato's plugin directory; None finds build/stage (plugins.py)
    ctld_env: further environment of slurmctld; RUBATO_TESTING=1 unless testing=False
    ports:    first port of the block; None finds a free one
    """

    def __init__(self, name="demo", shape=None, flavour="rubato", plugin_dir=None, ctld_env=None,
                 testing=True, ports=None):
        self.base = os.path.join(scratch_root(), name)
        self.shape = self.base_shape = shape or slurmconf.Shape()
        self.flavour = flavour
        self.plugins = plugins.Plugins(plugin_dir) if flavour == "rubato" else None
        self.base_flavour, self.base_plugins = self.flavour, self.plugins
        self.extra_env = {"RUBATO_TESTING": "1"} if testing else {}
        self.extra_env.update(ctld_env or {})
        self.test_switch = ""           # a TestOff= or TestInject= line the runner adds
        self.patience = 0.0             # least seconds of a wait
        self.limit = math.inf           # most seconds of a wait
        self.longest_wait = 0.0         # seconds of the longest wait that ended as awaited
        self.ctld_may_be_down = True    # not started yet, or a scenario stops it on purpose
        self._ports = ports
        self._lock = None
        self._owner = os.getpid()
        self.site = None
        self.database = None
        self.uts = []
        super().__init__()

    # -- folders and files ---------------------------------------------------------------------

    def path(self, *parts):
        return os.path.join(self.base, *parts)

    def _make_folders(self):
        if len(self.base) > 60:
            raise ClusterError(f"{self.base}: longer than 60 characters, too long for Slurm's "
                               "sockets; set RUBATO_SCRATCH to a shorter folder")
        os.makedirs(self.base, mode=0o755, exist_ok=True)
        for folder in [self.base] + [str(p) for p in pathlib.Path(self.base).parents]:
            if not os.stat(folder).st_mode & 0o001:
                if os.stat(folder).st_uid != os.getuid() or not folder.startswith(scratch_root()):
                    raise ClusterError(f"{folder}: others may not enter it, munge needs that; "
                                       "set RUBATO_SCRATCH to a folder below /var/tmp")
                os.chmod(folder, 0o755)
        for sub in ("etc", "log", "run", "state", "spool", "munge", "dev", "out", "bin"):
            os.makedirs(self.path(sub), exist_ok=True)
            os.chmod(self.path(sub), 0o1777 if sub == "out" else 0o755)

    def _own(self):
        """Takes the folder for this process; removes what a killed owner left in it."""
        os.makedirs(self.base, mode=0o755, exist_ok=True)
        self._lock = open(self.path("lock"), "a+", encoding="ascii")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.seek(0)
            holder = self._lock.read().strip() or "another process"
            self._lock.close()
            self._lock = None
            raise ClusterError(f"{self.base} is in use by process {holder}") from None
        self._lock.truncate(0)
        self._lock.write(str(os.getpid()))
        self._lock.flush()
        self._stop_processes()
        for name in os.listdir(self.base):
            if name != "lock":
                full = self.path(name)
                shutil.rmtree(full) if os.path.isdir(full) else os.unlink(full)

    def _is_anothers(self):
        """Another process runs a cluster in this folder: do not stop it."""
        if self._lock:
            return False
        try:
            with open(self.path("lock"), encoding="ascii") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def _find_site(self):
        host = os.uname().nodename.split(".")[0]
        addr = proc.loopback_address(host)
        if os.environ.get("RUBATO_UTS") == "1" or addr is None:
            if os.getuid() != 0:
                raise ClusterError(
                    f"the name of this machine, {host}, does not lead to a loopback address, and "
                    f"Slurm binds to it; add a line '127.0.0.1 {host}' to /etc/hosts")
            if proc.loopback_address("localhost") is None:
                raise ClusterError("the name localhost does not lead to a loopback address; add a "
                                   "line '127.0.0.1 localhost' to /etc/hosts")
            # A name space in which the machine is called localhost.
            self.uts = ["unshare", "--uts", "sh", "-c",
                        'echo localhost > /proc/sys/kernel/hostname; exec "$@"', "sh"]
            host, addr = "localhost", "127.0.0.1"
        first = self._ports or proc.free_ports(addr, self.shape.ports(), self._ports_of_others())
        self.site = slurmconf.Site(
            base=self.base, user=getpass.getuser(), host=host, addr=addr, ctld_port=first,
            dbd_port=first + 1, node_port=first + 2, plugin_dir="", job_submit="",
            version=tuple(map(int, version_text().split("."))))
        self._set_plugin_dir()

    def _ports_of_others(self):
        """Ports of the other clusters of this user: nodes that are powered down bind none."""
        taken = set()
        for other in pathlib.Path(scratch_root()).glob("*/cluster.json"):
            try:
                data = json.loads(other.read_text())
                if proc.alive(proc.read_pid(other.parent / "run/slurmctld.pid")):
                    taken.update(range(data["first_port"], data["first_port"] + data["ports"]))
            except (OSError, ValueError, KeyError):
                continue
        return taken

    def _set_plugin_dir(self):
        stock = plugins.stock_dir()
        rubato = self.flavour == "rubato"
        self.site.plugin_dir = f"{self.plugins.path}:{stock}" if rubato else stock
        self.site.job_submit = "logging" if rubato else ""

    def write_conf(self):
        """Writes slurm.conf, gres.conf (and cgroup.conf) of the current shape."""
        files = slurmconf.render(self.shape, self.site)
        if self.shape.spank is not None and self.has_spank():
            files["plugstack.conf"] = self.plugstack_line() + "\n"
        else:
            pathlib.Path(self.path("etc", "plugstack.conf")).unlink(missing_ok=True)
        if self.separate_clients():
            files["slurm.conf"] += "DebugFlags=NO_CONF_HASH\n"
        for name, text in files.items():
            pathlib.Path(self.path("etc", name)).write_text(text, encoding="utf-8")
        if self.separate_clients():
            # ASan-built plugins load only into a process started with the ASan runtime: slurmds
            # and clients get the stock plugins, as on hosts where Rubato's directory is empty.
            os.makedirs(self.path("client"), exist_ok=True)
            for name, text in files.items():
                text = text.replace(f"PluginDir={self.site.plugin_dir}",
                                    f"PluginDir={plugins.stock_dir()}")
                pathlib.Path(self.path("client", name)).write_text(text, encoding="utf-8")
            link = self.path("client", "rubato.conf")
            if not os.path.islink(link):
                os.symlink("../etc/rubato.conf", link)

    def has_spank(self):
        """True if there is a SPANK plugin that Slurm's clients can load: not one with ASan."""
        return bool(self.plugins and self.plugins.spank())

    def plugstack_line(self):
        return (f"optional {self.plugins.path}/{plugins.SPANK} "
                f"report_dir={self.path('run/report')} {self.shape.spank or ''}".rstrip())

    def separate_clients(self):
        """True if slurmds and clients have a separate slurm.conf (ASan-built plugins)."""
        return bool(self.base_plugins and self.base_plugins.asan
                    or self.plugins and self.plugins.asan
                    or os.path.exists(self.path("client", "slurm.conf")))

    def conf(self):
        """slurm.conf of the clients and the slurmds."""
        return self.path("client" if self.separate_clients() else "etc", "slurm.conf")

    def write_rubato_conf(self, text, reconfigure=True):
        """Replaces rubato.conf (None removes it); by default slurmctld reads it at once."""
        path = pathlib.Path(self.path("etc", "rubato.conf"))
        text = slurmconf.in_mode(text)
        if text is None:
            path.unlink(missing_ok=True)
        else:
            path.write_text(text + ("" if text.endswith("\n") or not text else "\n")
                            + (self.test_switch + "\n" if self.test_switch else ""),
                            encoding="utf-8")
        if reconfigure:
            self.reconfigure()

    def change(self, restart=True, **fields):
        """Replaces fields of the Shape (options are added to the current ones) and applies it.

        restart=False uses `scontrol reconfigure`. The runner restores the old shape afterwards.
        """
        if "options" in fields:
            fields["options"] = {**self.shape.options, **fields["options"]}
        self.shape = dataclasses.replace(self.shape, **fields)
        self.write_conf()
        self.restart_ctld() if restart else self.reconfigure()

    def use_plugins(self, flavour, path=None, restart=True):
        """Removes the PluginDir line ("stock") or restores it ("rubato", from `path`)."""
        self.flavour = flavour
        if flavour == "rubato" and (path or self.plugins is None):
            self.plugins = plugins.Plugins(path)
        self._set_plugin_dir()
        self.write_conf()
        if restart:
            self.restart_ctld()

    # -- up and down ---------------------------------------------------------------------------

    def __enter__(self):
        return self.up()

    def __exit__(self, *_):
        self.down()

    def up(self):
        """Starts everything and waits until every node that is not CLOUD is idle (< 1 s)."""
        self._own()
        _LIVE.append(self)
        try:
            self._make_folders()
            self._find_site()
            self._write_scripts()
            self.write_conf()
            self.write_rubato_conf(self.shape.rubato_conf, reconfigure=False)
            pathlib.Path(self.path("cluster.json")).write_text(json.dumps({
                "first_port": self.site.ctld_port, "ports": self.shape.ports(),
                "flavour": self.flavour, "plugin_dir": self.site.plugin_dir}), encoding="utf-8")
            self._start_munged()
            if self.shape.dbd:
                self.database = dbd.Database(self)
                self.database.up()
            self.start_ctld()
            self._check_loaded()
            for name in self.shape.node_names():
                if not self.shape.node_spec(name).cloud:
                    self.start_slurmd(name)
            self._wait_idle()
            if self.database:
                self.database.add_associations()
        except BaseException:
            self.down()
            raise
        return self

    def detach(self):
        """Leaves the cluster running when this process ends (`quickstart up`)."""
        if self in _LIVE:
            _LIVE.remove(self)
        if self._lock:
            self._lock.close()
            self._lock = None

    def down(self, wipe=False):
        """Stops all processes of this folder by pid. Safe to repeat, also on a half-started cluster."""
        quiet = threading.current_thread() is threading.main_thread()
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        old = {n: signal.signal(n, signal.SIG_IGN) for n in numbers} if quiet else {}
        try:
            if self._is_anothers():
                return
            self._stop_processes()
            if self in _LIVE:
                _LIVE.remove(self)
            if self._lock:
                self._lock.close()
                self._lock = None
            if wipe:
                shutil.rmtree(self.base, ignore_errors=True)
        finally:
            for number, handler in old.items():
                signal.signal(number, handler)

    def _write_scripts(self):
        for index in range(max((spec.gpu_count() for spec in self.shape.nodes), default=0)):
            os.symlink("/dev/null", self.path("dev", f"nvidia{index}"))
        # slurmctld blocks signals in its scripts; slurmd would inherit that and ignore SIGTERM.
        unblock = (f"{sys.executable} -c 'import os, signal, sys; "
                   "signal.pthread_sigmask(signal.SIG_SETMASK, []); "
                   "os.execv(sys.argv[1], sys.argv[1:])'")
        run, log = self.path("run"), self.path("log")
        start = (f"mkdir -p {self.path('spool')}/$name; {unblock} {client.sbin('slurmd')} "
                 f"-b -N \"$name\" -f {self.conf()} >> {log}/power.log 2>&1 < /dev/null")
        stop = f"kill \"$(cat {run}/slurmd.\"$name\".pid)\" 2>> {log}/power.log"
        for what, action in (("resume", start), ("suspend", stop)):
            file = pathlib.Path(self.path("bin", what))
            file.write_text(_POWER.format(what=what, conf=self.conf(), base=self.base,
                                          path=client.PATH, action=action), encoding="utf-8")
            file.chmod(0o755)

def second_user():
    """Name of a second user for tests; made with useradd as root, else None."""
    try:
        pwd.getpwnam(TEST_USER)
        return TEST_USER if os.getuid() == 0 else None
    except KeyError:
        pass
    useradd = shutil.which("useradd", path=client.PATH)
    if os.getuid() != 0 or not useradd:
        return None
    subprocess.run([useradd, "--system", "--no-create-home", "--shell", "/bin/bash", TEST_USER],
                   check=True)
    return TEST_USER


def stop_all():
    """Stops every cluster this process started (atexit)."""
    for cluster in list(_LIVE):
        if cluster._owner == os.getpid():
            cluster.down()


def handle_signals():
    """Makes SIGINT, SIGTERM and SIGHUP exit normally, so that clusters are stopped.

    A shell makes its background jobs ignore SIGINT, and Python keeps that.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda n, _: sys.exit(128 + n))


atexit.register(stop_all)
