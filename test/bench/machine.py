#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What belongs beside every figure: the date, the commit, the machine and its load."""
import os
import pathlib
import re
import shutil
import subprocess
import time

TREE = pathlib.Path(__file__).resolve().parents[2]


def commit():
    """The commit of the tree, with a + when files of it were changed; "" outside of git, or without git."""
    if not shutil.which("git"):
        return ""

    def git(*words):
        done = subprocess.run(["git", "-C", str(TREE), *words], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""
    name = git("rev-parse", "--short", "HEAD")
    return name + ("+" if name and git("status", "--porcelain", "--untracked-files=no") else "")


def processor():
    found = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return found[1] if found else os.uname().machine


def system():
    found = re.search(r'PRETTY_NAME="(.*)"', pathlib.Path("/etc/os-release").read_text(encoding="utf-8"))
    return f"{found[1] if found else os.uname().sysname}, Linux {os.uname().release}"


def describe():
    """{"date", "commit", "machine", "load"} of this moment; load: the mean of the last minute."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"date": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "commit": commit(),
            "machine": f"{len(os.sched_getaffinity(0))} x {processor()}, {memory:.0f} GiB, {system()}",
            "load": round(os.getloadavg()[0], 2)}


def line():
    what = describe()
    return (f"{what['date']}, commit {what['commit'] or '(no git)'}, load {what['load']}, "
            f"{what['machine']}")


if __name__ == "__main__":
    print(line(), flush=True)
