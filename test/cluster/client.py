# SPDX-License-Identifier: GPL-2.0-or-later
"""A scenario's actions on a cluster: run Slurm's commands, poll, read jobs, nodes and logs."""
import functools
import os
import pathlib
import pwd
import re
import signal
import subprocess
import sys
import time

from . import proc, records
from .proc import ClusterError

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
LOAD_PREFIX = "bg-"     # job names of the background load (loaded.py)
_SCRUB = re.compile(r"^(SLURM|SBATCH|SALLOC|SRUN|SQUEUE|SINFO|SCONTROL|SPRIO|SACCT|SCANCEL)")
# Keys of `scontrol show job` whose value is the rest of the line.
_WHOLE = {"JobName", "Comment", "AdminComment", "SystemComment", "Command", "WorkDir", "StdErr",
          "StdIn", "StdOut", "Reason", "OS", "Extra", "Features", "Dependency"}


class Failed(Exception):
    """A scenario's expectation was not met. The text gives the expected and the actual result."""


class Answer(str):
    """Output of a command; .rc is its exit code, .seconds its duration."""
    rc = 0
    seconds = 0.0


def check(condition, expected, seen=""):
    """Raises Failed unless the condition holds."""
    if not condition:
        raise Failed(f"expected {expected}" + (f"; seen: {seen}" if str(seen) else ""))


@functools.lru_cache
def sbin(name):
    """Full path of a daemon in the folders that distributions use."""
    for folder in os.environ.get("RUBATO_SBIN", PATH).split(":"):
        if os.access(os.path.join(folder, name), os.X_OK):
            return os.path.join(folder, name)
    return f"/usr/sbin/{name}"


def fields(text):
    """One record of scontrol as a dict. For a repeated key the first value counts."""
    found = {}
    for line in text.splitlines():
        words = re.split(r"\s+(?=[A-Za-z][\w/:%]*=)", line.strip())
        for index, word in enumerate(words):
            key, equals, value = word.partition("=")
            if not equals:
                continue
            if key in _WHOLE and key != "JobName" and index == 0:
                value = line.strip().partition("=")[2]
                found.setdefault(key, value)
                break
            found.setdefault(key, value)
    return found


class Latch:
    """A file that jobs wait for. wait: shell text that blocks until the latch is opened."""

    def __init__(self, path):
        self.path = path
        self.wait = f"while [ ! -e {path} ]; do sleep 0.1; done"

    def open(self):
        pathlib.Path(self.path).touch()


class Client:
    """Base of Cluster. Needs .base, .uts, .plugins, .conf(), .ctld_pid()."""

    def __init__(self):
        self._log = records.Log(self.path("log/slurmctld.log"))
        self.echo = True
        self._deferred = []
        self._children = []
        self._names = 0

    # -- commands ------------------------------------------------------------------------------

    def client_env(self, user=None):
        """Environment of clients: this slurm.conf and none of the caller's Slurm settings."""
        env = {k: v for k, v in os.environ.items() if not _SCRUB.match(k)}
        tools = self.plugins.bin_dir() if self.plugins else ""
        env.update(SLURM_CONF=self.conf(), LC_ALL="C.UTF-8",
                   PATH=(tools + ":" if tools else "") + PATH)
        env.pop("LD_PRELOAD", None)
        if user:
            env.update(USER=user, LOGNAME=user, HOME=self.path("out"))
        return env

    def _run(self, command, user=None, timeout=30, env=None, stdin=None):
        argv = ["/bin/bash", "-c", command]
        if user and pwd.getpwnam(user).pw_uid != os.getuid():
            account = pwd.getpwnam(user)
            argv = ["setpriv", "--reuid", str(account.pw_uid), "--regid", str(account.pw_gid),
                    "--clear-groups"] + argv
        start = time.monotonic()
        timeout = max(timeout, self.patience)
        child = subprocess.Popen(
            self.uts + argv, env={**self.client_env(user), **(env or {})}, cwd=self.path("out"),
            stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, text=True,
            errors="replace")
        try:
            text = self._output_of(child, stdin, start + timeout)
            rc = child.returncode
        except BaseException as error:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            text, _ = child.communicate()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            text, rc = text + f"(no end after {timeout} s, killed)\n", 124
        answer = Answer(text.rstrip("\n"))
        answer.rc, answer.seconds = rc, time.monotonic() - start
        return answer

    def _output_of(self, child, stdin, end):
        """The whole output of a client. Raises ClusterError if slurmctld dies meanwhile: a client would
        retry for half a minute."""
        while True:
            try:
                return child.communicate(stdin, max(0.01, min(1.0, end - time.monotonic())))[0]
            except subprocess.TimeoutExpired:
                if time.monotonic() >= end:
                    raise
                self._need_ctld()
                stdin = None    # communicate() has it already

    def cmd(self, command, check=True, user=None, timeout=30, env=None, stdin=None):
        """Runs a shell command with this cluster's clients; prints it and its answer.

        check: raise Failed if the exit code is not 0. stdout and stderr come together.
        timeout: seconds after which it is killed; not before `patience`, see wait.
        Returns an Answer (a str with .rc and .seconds).
        """
        answer = self._run(command, user, timeout, env, stdin)
        if self.echo:
            who = f"[{user}] " if user else ""
            self.say(f"{who}$ {command}", *("    " + line for line in answer.splitlines()),
                     *([f"    (exit code {answer.rc})"] if answer.rc else []))
        if check and answer.rc != 0:
            self._need_ctld()
            raise Failed(f"`{command}` to succeed; exit code {answer.rc}: {answer}")
        return answer

    def ask(self, command, check=True, user=None, timeout=30):
        """Like cmd, without printing: for polling and set-up."""
        answer = self._run(command, user, timeout)
        if check and answer.rc != 0:
            self._need_ctld()
            raise Failed(f"`{command}` to succeed; exit code {answer.rc}: {answer}")
        return answer

    def fresh_name(self, stem="type"):
        """A name not used before on this cluster: for a job type, a QOS, a file.

        Profiles of a job type outlive scenarios.
        """
        self._names += 1
        return f"{stem}-{self._names}"

    def latch(self):
        """A Latch: holds a job until the scenario opens it, however slow the machine is."""
        return Latch(self.path("out", self.fresh_name("latch")))

    def popen(self, command, user=None):
        """Starts a client in the background (salloc, a long srun): subprocess.Popen, text mode."""
        if self.echo:
            self.say(f"$ {command} &")
        argv = ["/bin/bash", "-c", "exec " + command]
        if user and pwd.getpwnam(user).pw_uid != os.getuid():
            account = pwd.getpwnam(user)
            argv = ["setpriv", "--reuid", str(account.pw_uid), "--regid", str(account.pw_gid),
                    "--clear-groups"] + argv
        child = subprocess.Popen(self.uts + argv, env=self.client_env(user), cwd=self.path("out"),
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, start_new_session=True)
        self._children.append(child)
        return child

    def defer(self, action):
        """A command or function to run after the scenario in any case (last one first)."""
        self._deferred.append(action)

    def run_deferred(self):
        """The runner's part of defer and popen."""
        for child in self._children:
            proc.stop_session(child)
        self._children.clear()
        while self._deferred:
            action = self._deferred.pop()
            if callable(action):
                action()
            else:
                self.ask(action, check=False)

    def give_up_deferred(self):
        """For a cluster that will be made anew: restores what scenarios replaced anyway."""
        while self._deferred or self._children:
            try:
                self._deferred = [action for action in self._deferred if callable(action)]
                self.run_deferred()
            except (Failed, ClusterError, OSError) as error:
                self.say(f"not undone: {error}")

    @staticmethod
    def say(*lines):
        for line in lines:
            print("  " + line, file=sys.stdout, flush=True)

    # -- waiting -------------------------------------------------------------------------------

    def bounded(self, timeout):
        """Seconds that a wait of `timeout` seconds gets."""
        return min(max(timeout, self.patience), self.limit)

    def wait(self, poll, timeout=30.0, what="the condition", every=0.05):
        """Polls until poll() is true and returns its value; Failed after `timeout` seconds.

        Waits at least `patience` seconds, since a slow machine is no failure, and at most `limit`. If slurmctld
        dies meanwhile, raises at once with the end of its log.
        """
        timeout = self.bounded(timeout)
        begin = time.monotonic()
        end = begin + timeout
        while True:
            value = poll()
            if value:
                self.longest_wait = max(self.longest_wait, time.monotonic() - begin)
                return value
            self._need_ctld()
            if time.monotonic() > end:
                raise Failed(f"{what} within {timeout:g} s; last seen: {value!r}")
            time.sleep(every)

    def expect(self, poll, wanted, what, timeout=30.0):
        """Waits until poll() is as wanted, and returns it: the awaited condition is also the asserted
        one.

        wanted: the value, or a predicate. Failed gives the last value.
        """
        seen = None

        def holds():
            nonlocal seen
            seen = poll()
            return wanted(seen) if callable(wanted) else seen == wanted
        try:
            self.wait(holds, timeout, what)
        except Failed:
            raise Failed(f"expected {what} within {self.bounded(timeout):g} s; last seen: {seen!r}") from None
        return seen

    def _need_ctld(self):
        if not (self.ctld_may_be_down or self.ctld_pid()):
            raise ClusterError("slurmctld has died; end of its log:\n" + self.log_tail())

    def wait_state(self, jobid, states, timeout=30.0):
        """Waits until a job is in one of the states ("RUNNING" or "COMPLETED,FAILED")."""
        wanted, seen = set(states.split(",")), {}

        def poll():
            seen.update(self.job(jobid))
            return seen.get("JobState") in wanted and seen
        try:
            return self.wait(poll, timeout, f"job {jobid} to be {states}")
        except Failed:
            raise Failed(f"job {jobid} to be {states} within {self.bounded(timeout):g} s; it is "
                         f"{seen.get('JobState')}, Reason={seen.get('Reason')}") from None

    # -- jobs ----------------------------------------------------------------------------------

    def sbatch(self, options="", script="sleep 1", user=None, name="scenario"):
        """Submits a batch job and prints it; returns its id.

        script: shell text, `sleep 0.2` takes fractions. Its output is out/slurm-<id>.out.
        """
        text = f"#!/bin/bash\n{script}\n"
        command = f"sbatch --parsable -J {name} {options}"
        answer = self._run(command, user, stdin=text)
        if self.echo:
            self.say(f"{'[' + user + '] ' if user else ''}$ {command} <<< '{script}'",
                     "    " + answer)
        if answer.rc != 0:
            self._need_ctld()
            raise Failed(f"`{command}` to be accepted; exit code {answer.rc}: {answer}")
        return int(re.search(r"^(\d+)(?:;|$)", answer, re.MULTILINE)[1])

    def job(self, jobid):
        """Fields of `scontrol show job -d ID`; {} if Slurm does not know it. Those of Slurm 24.11 as 22.05 has them.
        """
        text = self.ask(f"scontrol show job -d {jobid}", check=False)
        spelled = re.sub(r"((?:TresPer|MemPer)\w+=)gres/", r"\1gres:", text)
        found = fields(spelled) if text.rc == 0 and "JobId=" in text else {}
        if "ReqTRES" in found:
            allocated = found.get("AllocTRES", "(null)")
            found["TRES"] = allocated if allocated != "(null)" else found["ReqTRES"]
        return found

    def gpus(self, jobid):
        """GPUs of a running job by node and type, from Slurm: {"n1": {"a100": 2}}."""
        text = self.ask(f"scontrol show job -d {jobid}", check=False)
        return records.gpus_by_node(text)

    def jobs(self, states="PENDING,RUNNING", load=False, options=""):
        """Rows of squeue as dicts (id, name, user, partition, state, reason, nodes, priority).

        load: including the jobs of the background load. Array elements are listed one by one (-r).
        """
        keys = {"id": "%i", "name": "%j", "user": "%u", "partition": "%P", "state": "%T",
                "reason": "%r", "nodes": "%N", "priority": "%Q"}
        text = self.ask(f"squeue -h -r -t {states} {options} -o '" + "|".join(keys.values()) + "'")
        rows = [dict(zip(keys, line.split("|"))) for line in text.splitlines()]
        return [row for row in rows if load or not row["name"].startswith(LOAD_PREFIX)]

    def nodes(self):
        """{node name: fields of `scontrol show node -d`}."""
        text = self.ask("scontrol show node -d", check=False)
        found = (fields(part) for part in re.split(r"\n\s*\n", text) if "NodeName=" in part)
        return {node["NodeName"]: node for node in found}

    def sdiag(self):
        """Numbers of sdiag: {"Main schedule statistics (microseconds):/Last cycle": 812, ...}."""
        found, section = {}, ""
        for line in self.ask("sdiag").splitlines():
            line = line.partition(" (WARNING")[0]       # in the middle of a cycle of backfill
            match = re.match(r"\s*([^:]+?):\s+(\d+)", line)
            if match:
                found[f"{section}/{match[1]}"] = int(match[2])
            elif line[:1].isalpha() and ": " not in line:   # "Backfilling stats" has no colon
                section = line.strip()
        return found

    # -- slurmctld's own records ---------------------------------------------------------------

    def log_mark(self):
        """A position in slurmctld.log: pass it to log_has, log_lines."""
        return self._log.size()

    def log_lines(self, pattern, since=0):
        """Lines of slurmctld.log that match a regular expression."""
        return self._log.lines(pattern, since)

    def log_has(self, pattern, since=0):
        return bool(self._log.lines(pattern, since))

    def log_tail(self, name="slurmctld", lines=20):
        text = proc.tail(self.path("log", name + ".log"), lines)
        return text or proc.tail(self.path("log", name + ".out"), lines) or "(its log is empty)"

    def times(self, jobid):
        """records.Times of a job (id or "7_3"): submit, start, end in seconds, ms exact."""
        return self._log.times(jobid)

    def all_times(self):
        """{id: records.Times} of every job in slurmctld.log."""
        return self._log.all_times()

    def wait_seconds(self, jobid):
        """Seconds from submit to start of a job by slurmctld's log."""
        times = self.times(jobid)
        check(times.submit and times.start, f"slurmctld.log to show submit and start of {jobid}",
              times)
        return times.start - times.submit

    def finished(self):
        """Records of ended jobs that slurmctld wrote (jobcomp/filetxt): {id: dict}."""
        return records.jobcomp(self.path("log/jobcomp.log"))

    def output(self, jobid):
        """What a batch job printed."""
        try:
            return pathlib.Path(self.path("out", f"slurm-{jobid}.out")).read_text(errors="replace")
        except OSError:
            return ""
