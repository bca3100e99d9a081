# SPDX-License-Identifier: GPL-2.0-or-later
"""Restores a cluster to its shape after a scenario.

If it cannot restore something, it reports that, and the runner makes a new cluster: scenarios must not
affect each other, in any order.
"""
import glob
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import time

from .client import LOAD_PREFIX


def sanitizer_reports(c):
    """Reports of ASan or UBSan for this cluster."""
    return glob.glob(c.path("log", "asan.*"))


def hang_report(c):
    """If slurmctld lives but does not answer: stack traces of its threads (with gdb, if available)."""
    pid = c.ctld_pid()
    if not pid or c.ctld_may_be_down or "is UP" in c.ask("scontrol ping", timeout=8, check=False):
        return []
    if not shutil.which("gdb"):
        return [f"slurmctld (pid {pid}) lives and does not answer; gdb would show where it hangs"]
    trace = subprocess.run(["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt 14"],
                           capture_output=True, text=True, timeout=60, check=False).stdout
    return [f"slurmctld (pid {pid}) lives and does not answer; its threads:"] + [
        line for line in trace.splitlines() if re.match(r"Thread |#", line)]


def heal(c):
    """Raises Failed or ClusterError if the cluster cannot be restored."""
    c.echo, echo = False, c.echo
    try:
        c.run_deferred()
        since = _configuration(c)
        _jobs(c)
        _outputs(c)
        _reservations(c)
        _partitions(c)
        since = _what_was_learnt(c) or since
        _nodes(c)
        wait_loop(c, since)
    finally:
        c.echo = echo


def _configuration(c):
    """slurm.conf, rubato.conf and a slurmctld that uses them. Returns the time of a change; 0: no
    change."""
    path = pathlib.Path(c.path("etc", "rubato.conf"))
    c.test_switch = ""
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None
    changed = (c.shape != c.base_shape or c.flavour != c.base_flavour
               or c.plugins is not c.base_plugins)
    if changed:
        c.shape, c.flavour, c.plugins = c.base_shape, c.base_flavour, c.base_plugins
        c.use_plugins(c.base_flavour, restart=False)
    if path.is_dir():
        path.rmdir()
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    reread = text != c.shape.rubato_conf or mode != 0o644
    if reread:
        path.unlink(missing_ok=True)
        c.write_rubato_conf(c.shape.rubato_conf, reconfigure=False)
        if path.exists():
            path.chmod(0o644)
    answers = c.ctld_pid() and "is UP" in c.ask("scontrol ping", timeout=5, check=False)
    now = time.time()
    if changed or not answers:
        c.stop_ctld()
        c.start_ctld()
    elif reread:
        c.reconfigure()
    c.ctld_may_be_down = False
    return now if changed or not answers or reread else 0


def _jobs(c):
    """Cancels the jobs of scenarios and waits until they are gone."""
    def ids():
        rows = c.ask("squeue -h -t PD,R,CG,S,CF -o '%A|%j'").splitlines()
        return [row.split("|")[0] for row in rows if not row.split("|")[1].startswith(LOAD_PREFIX)]
    first = ids()
    if first:
        c.ask("scancel -Q " + " ".join(sorted(set(first))), check=False)
        c.wait(lambda: not ids(), 120, "the scenario's jobs to be gone")


def _outputs(c):
    """Removes job output: after a kill, slurmctld reuses job ids."""
    for file in pathlib.Path(c.path("out")).glob("slurm-*.out"):
        file.unlink(missing_ok=True)


def _reservations(c):
    text = c.ask("scontrol -o show reservation", check=False)
    for name in re.findall(r"ReservationName=(\S+)", text):
        c.ask(f"scontrol delete ReservationName={name}", check=False)


def _partitions(c):
    """Up, and shared by all users unless the shape says otherwise."""
    owned = {part.name for part in c.shape.partitions if "ExclusiveUser=YES" in part.extra}
    for line in c.ask("scontrol -o show partition").splitlines():
        name = re.search(r"PartitionName=(\S+)", line)[1]
        if " State=UP" not in line:
            c.ask(f"scontrol update PartitionName={name} State=UP")
        if (" ExclusiveUser=YES" in line) != (name in owned):
            c.ask(f"scontrol update PartitionName={name} "
                  f"ExclusiveUser={'YES' if name in owned else 'NO'}")


def _what_was_learnt(c):
    """Resets memory and store if jobs have reported: profiles of one job type affect forecasts for
    others. Returns the time at which slurmctld was stopped for it; 0: it was not."""
    folder = pathlib.Path(c.path("state/rubato"))
    seen = published(c)
    reported = any((seen.get("learning", {}).get("cells"), seen.get("mail", {}).get("taken")))
    try:
        with sqlite3.connect(f"file:{folder}/rubato.db?mode=ro", uri=True, timeout=60) as base:
            for table in ("samples", "imported"):
                reported |= base.execute(f"SELECT count(*) FROM {table}").fetchone()[0] > 0
    except sqlite3.Error:
        pass                # no store, or one that a scenario has spoilt
    spoilt = any(folder.glob("rubato.db.corrupt-*"))
    if not (reported or spoilt):
        return 0
    now = time.time()
    c.stop_ctld()
    shutil.rmtree(folder)
    c.start_ctld()
    return now


def published(c):
    """stats.json as last published; {} before the first time."""
    try:
        return json.loads(pathlib.Path(c.path("state/rubato/publish/stats.json")).read_text())
    except (OSError, ValueError):
        return {}


def wait_loop(c, since=0):
    """Rubato's loop is alive, in the mode of the shape, and the gate matches.

    since: time of the last change for slurmctld, 0: none. The published state must be later.
    """
    if c.flavour != "rubato" or c.shape.rubato_conf is None:
        return
    mode = re.search(r"^Mode=(\w+)", c.shape.rubato_conf, re.MULTILINE)
    mode = mode[1] if mode else "observe"
    path = c.path("state/rubato/publish/stats.json")

    def well():
        seen = published(c)
        return (seen.get("mode") == mode and seen.get("gate_open") == (mode == "observe")
                and seen.get("config_good") and os.path.getmtime(path) > since)
    c.wait(well, 120, f"Rubato's loop to be in mode {mode}, the gate as it has it")


def _nodes(c):
    """Every expected node is up, every slurmd runs."""
    end = time.monotonic() + 120
    while True:
        bad = []
        for name, node in c.nodes().items():
            if c.shape.node_spec(name).cloud:
                continue
            state = node.get("State", "")
            if not c.daemon_pids(f"run/slurmd.{name}.pid"):
                os.makedirs(c.path("spool", name), exist_ok=True)
                c.start_slurmd(name)
                bad.append(name)
            if re.search(r"DOWN|DRAIN|FAIL|NOT_RESPONDING|UNKNOWN|\*", state):
                c.ask(f"scontrol update NodeName={name} State=RESUME", check=False)
                bad.append(name)
            elif "POWER" in state:
                c.ask(f"scontrol update NodeName={name} State=POWER_UP", check=False)
                bad.append(name)
        if not bad:
            return
        if time.monotonic() > end:
            c.wait(lambda: False, 0, f"nodes {','.join(sorted(set(bad)))} to be up again")
        time.sleep(0.2)
