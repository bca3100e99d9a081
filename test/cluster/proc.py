# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes of a private cluster: start, recognise, stop by pid; free ports; log tails."""
import os
import random
import signal
import socket
import subprocess
import time


class ClusterError(Exception):
    """The cluster itself failed (a daemon died, a program is missing); the text is for users."""


def tail(path, lines=20):
    """Last lines of a text file, "" if there is none."""
    try:
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 64 * 1024))
            return "\n".join(file.read().decode(errors="replace").splitlines()[-lines:])
    except OSError:
        return ""


def read_proc(pid, name):
    """Text of /proc/PID/NAME with zero bytes as newlines, "" if it cannot be read."""
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read().replace(b"\0", b"\n").decode(errors="replace")
    except OSError:
        return ""


def cwd_of(pid):
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def alive(pid):
    """True if the process exists and is no zombie."""
    stat = read_proc(pid, "stat")
    return bool(stat) and stat.rpartition(")")[2].split()[0] not in "ZX"


def all_pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def read_pid(path):
    """Pid in the first line of a pid file, 0 if there is none. slurmctld 24.11 leaves digits of a longer one behind it."""
    try:
        with open(path, encoding="ascii") as file:
            return int(file.readline().strip() or 0)
    except (OSError, ValueError):
        return 0


def wait_gone(pids, seconds):
    """Waits until none of the pids is alive; returns those that still are."""
    end = time.monotonic() + seconds
    left = [pid for pid in pids if alive(pid)]
    while left and time.monotonic() < end:
        time.sleep(0.02)
        left = [pid for pid in left if alive(pid)]
    return left


def send(pid, number):
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def stop(pids, seconds=10.0):
    """SIGTERM, then SIGKILL to those still alive `seconds` later."""
    pids = [pid for pid in pids if pid and alive(pid)]
    for pid in pids:
        send(pid, signal.SIGTERM)
    left = wait_gone(pids, seconds)
    for pid in left:
        send(pid, signal.SIGKILL)
    wait_gone(left, 5)


def stop_session(child, seconds=3.0):
    """Ends a subprocess.Popen that leads a session, with its whole session (salloc's command)."""
    def members():
        found = []
        for pid in all_pids():
            words = read_proc(pid, "stat").rpartition(")")[2].split()
            if len(words) > 3 and words[3] == str(child.pid) and words[0] not in "ZX":
                found.append(pid)
        return found
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
    for pid in members():
        send(pid, signal.SIGKILL)
    child.wait()
    for stream in (child.stdin, child.stdout):
        if stream:
            stream.close()


def belongs(pid, base):
    """True if a process was started for the cluster in folder `base` (guards stale pid files)."""
    return (base + "/") in read_proc(pid, "cmdline") or (base + "/") in read_proc(pid, "environ")


def leftovers(base):
    """Pids of step daemons and job processes of the cluster in `base` that outlived it.

    A slurmstepd whose slurmctld is gone retries its last message for ever, and the script of a
    step daemon that was killed runs on. Both are recognised by folder, never by name alone.
    """
    conf, found = f"SLURM_CONF={base}/", []
    for pid in all_pids():
        if pid == os.getpid():
            continue
        if read_proc(pid, "cmdline").startswith("slurmstepd") and cwd_of(pid).startswith(base):
            found.append(pid)
            continue
        environ = read_proc(pid, "environ")
        if conf in environ and "SLURMD_NODENAME=" in environ and "SLURM_JOB_ID=" in environ:
            found.append(pid)
    return [pid for pid in found if alive(pid)]


def daemon(command, env, log, seconds=30):
    """Runs a program that daemonises; raises with its output if it fails."""
    with open(log, "ab") as out:
        try:
            code = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, stdout=out,
                                  stderr=out, cwd="/", timeout=seconds, check=False).returncode
        except FileNotFoundError:
            raise ClusterError(f"{command[0]} is not installed") from None
        except subprocess.TimeoutExpired:
            raise ClusterError(f"{' '.join(command)}: not in the background after {seconds} s\n"
                               + tail(log)) from None
    if code != 0:
        raise ClusterError(f"{' '.join(command)}: exit code {code}\n{tail(log)}")


def port_free(addr, port):
    with socket.socket() as sock:
        try:
            sock.bind((addr, port))
            return True
        except OSError:
            return False


def free_ports(addr, count, taken=frozenset()):
    """First of `count` neighbouring ports that are free on addr and not in `taken`.

    They stay below 32768, where the kernel takes no port for outgoing connections.
    """
    picks = random.SystemRandom()
    for _ in range(200):
        first = picks.randrange(12000, 32000 - count)
        block = range(first, first + count)
        if not taken.isdisjoint(block):
            continue
        if all(port_free(addr, port) for port in block):
            return first
    raise ClusterError(f"no {count} neighbouring free ports between 12000 and 32000 on {addr}")


def loopback_address(host):
    """Loopback address of the host's own name, None if it has another or none.

    With NoInAddrAny Slurm's daemons bind to the address of gethostname().
    """
    try:
        addr = socket.gethostbyname(host)
    except OSError:
        return None
    return addr if addr.startswith("127.") else None
