# SPDX-License-Identifier: GPL-2.0-or-later
"""A private MariaDB (unix socket only) and slurmdbd for one cluster."""
import os
import pathlib
import shutil
import subprocess
import time

from . import client, proc
from .proc import ClusterError

NEEDED = ("mariadbd", "mariadb-install-db", "slurmdbd", "sacctmgr")


def missing():
    """Programs that are not installed."""
    return [name for name in NEEDED if not shutil.which(name, path=client.PATH)]


class Database:
    """Owned by a Cluster whose shape has dbd=True."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.socket = cluster.path("db/sock")

    def up(self):
        if missing():
            raise ClusterError(f"not installed: {', '.join(missing())}: "
                               "run contrib/quickstart deps")
        os.makedirs(self.cluster.path("db"), mode=0o700, exist_ok=True)
        self._start_mariadb()
        self.start_slurmdbd()

    def _env(self):
        return dict(self.cluster.client_env(), MYSQL_UNIX_PORT=self.socket,
                    SLURM_CONF=self.cluster.path("etc/slurm.conf"))

    def _start_mariadb(self):
        me, data = self.cluster.site.user, self.cluster.path("db/data")
        log = self.cluster.path("log/mariadb.log")
        with open(log, "ab") as out:
            code = subprocess.run(
                ["mariadb-install-db", "--no-defaults", f"--datadir={data}", f"--user={me}",
                 "--auth-root-authentication-method=normal", "--skip-test-db",
                 "--skip-name-resolve", "--innodb-log-file-size=8M"],
                stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=self._env(),
                check=False).returncode
        if code != 0:
            raise ClusterError("mariadb-install-db failed:\n" + proc.tail(log))
        with open(log, "ab") as out:
            child = subprocess.Popen(
                [client.sbin("mariadbd"), "--no-defaults", f"--datadir={data}", f"--user={me}",
                 f"--socket={self.socket}", "--skip-networking", "--skip-name-resolve",
                 f"--pid-file={self.cluster.path('db/mariadb.pid')}",
                 "--innodb-buffer-pool-size=64M", "--innodb-log-file-size=8M",
                 "--innodb-lock-wait-timeout=900", "--innodb-flush-log-at-trx-commit=2"],
                stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=self._env(),
                start_new_session=True)
        end = time.monotonic() + 30
        while self._sql("SELECT 1") != 0:
            if child.poll() is not None or time.monotonic() > end:
                raise ClusterError("mariadbd did not start; end of its log:\n" + proc.tail(log))
            time.sleep(0.1)
        if self._sql("CREATE DATABASE IF NOT EXISTS slurm_acct_db; "
                     "CREATE USER IF NOT EXISTS slurm@localhost IDENTIFIED BY 'slurm'; "
                     "GRANT ALL ON slurm_acct_db.* TO slurm@localhost") != 0:
            raise ClusterError("mariadbd refuses to make the database; end of its log:\n"
                               + proc.tail(log))

    def _sql(self, statement):
        return subprocess.run(
            ["mariadb", "--no-defaults", f"--socket={self.socket}", "-u", "root", "-e", statement],
            stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode

    def start_slurmdbd(self):
        c = self.cluster
        conf = pathlib.Path(c.path("etc/slurmdbd.conf"))
        conf.touch(mode=0o600)
        conf.write_text(
            f"AuthType=auth/munge\nAuthInfo=socket={c.path('munge/munge.sock')}\n"
            f"DbdHost={c.site.host}\nDbdAddr={c.site.addr}\nDbdPort={c.site.dbd_port}\n"
            f"SlurmUser={c.site.user}\nDebugLevel=info\nLogFile={c.path('log/slurmdbd.log')}\n"
            f"PidFile={c.path('run/slurmdbd.pid')}\nStorageType=accounting_storage/mysql\n"
            "CommunicationParameters=NoInAddrAny\n"
            "StorageHost=localhost\nStorageUser=slurm\nStoragePass=slurm\n"
            "StorageLoc=slurm_acct_db\n", encoding="utf-8")
        conf.chmod(0o600)
        proc.daemon(c.uts + [client.sbin("slurmdbd")], self._env(), c.path("log/slurmdbd.out"))
        end = time.monotonic() + 120
        while c.ask("sacctmgr -n list cluster", check=False, timeout=10).rc != 0:
            if time.monotonic() > end:
                raise ClusterError("slurmdbd does not answer; end of its log:\n"
                                   + c.log_tail("slurmdbd"))
            time.sleep(0.2)
        c.ask("sacctmgr -i add cluster rubato", check=False)

    def stop_slurmdbd(self):
        """For scenarios without a database."""
        proc.stop([proc.read_pid(self.cluster.path("run/slurmdbd.pid"))])

    def add_associations(self):
        """Accounts `test` (default) and `load`, for this user and the second user of the tests."""
        from .cluster import second_user
        c = self.cluster
        c.ask("sacctmgr -i add account test,load")
        for name in (c.site.user, second_user()):
            if name:
                c.ask(f"sacctmgr -i add user {name} account=test,load defaultaccount=test",
                      check=False)
        for name in (c.site.user, second_user()):
            if name:
                c.wait(lambda who=name: "test" in c.ask(
                    f"scontrol -o show assoc_mgr flags=assoc users={who}", check=False), 120,
                    f"slurmctld to learn of user {name}")
