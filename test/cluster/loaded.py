# SPDX-License-Identifier: GPL-2.0-or-later
"""Background load: keeps >= 10 jobs running and >= 30 pending while scenarios run.

The load has two nodes and a partition `bg`, so that a scenario finds the nodes of its shape free. It
shares with the load everything that exists once per cluster: the queue, scheduling passes, locks,
depths, logs. Some pending jobs are in the scenarios' own partition, where they can never start (begin
date, dependency, hold). All are named "bg-...", carry Nice, so that they come after the scenarios' jobs
in the queue, and are jobs that any user could submit. A small array of short jobs starts and ends jobs
all the time.
"""
import dataclasses
import re

from . import slurmconf
from .client import LOAD_PREFIX, Failed

NODES = (slurmconf.Nodes("b1", "a100:8"), slurmconf.Nodes("b2", "v100:4"))
PARTITION = "bg"


@dataclasses.dataclass(frozen=True)
class Kind:
    """`count` jobs named bg-<name>, kept in `state`."""
    name: str
    count: int
    options: str
    script: str = "sleep 86400"
    state: str = "PENDING"


KINDS = (
    Kind("run-gpu", 4, "-p bg --gpus=a100:1 --mem=1G -t 2-0 --nice=100", state="RUNNING"),
    Kind("run-any", 2, "-p bg -w b2 --gpus=1 --mem=1G -t 2-0 --nice=100", state="RUNNING"),
    Kind("run-cpu", 8, "-p bg -n2 --mem=1G -t 2-0 --nice=100", state="RUNNING"),
    Kind("churn", 1, "-p bg --array=1-2000%2 --mem=100M -t 5 --nice=200", "sleep 2", "PENDING"),
    Kind("wait-a100", 8, "-p bg --gpus=a100:8 --mem=1G -t 60 --nice=5000"),
    Kind("wait-v100", 6, "-p bg --gpus=v100:4 --mem=1G -t 60 --nice=5000"),
    Kind("wait-any", 4, "-p bg --gpus-per-node=4 -N2 --mem=1G -t 60 --nice=5000"),
    Kind("wait-cpu", 6, "-p bg -N2 --exclusive -t 60 --nice=6000"),
    Kind("later", 5, "--gpus=1 --begin=now+2days -t 10 --nice=7000"),
    Kind("held", 4, "-n4 --hold -t 10 --nice=7000"),
)


def with_load(shape):
    """The shape with the load's nodes and partition."""
    parts = shape.partitions or (
        slurmconf.Partition("main", ",".join(spec.names for spec in shape.nodes), default=True),)
    return slurmconf.dataclasses.replace(
        shape, nodes=tuple(shape.nodes) + NODES,
        partitions=tuple(parts) + (slurmconf.Partition(PARTITION, "b[1-2]"),))


def counts(c):
    """{(kind, state): number} of the load's jobs; the churn array counts as one."""
    found = {}
    for line in c.ask("squeue -h -t PENDING,RUNNING -o '%j|%T'").splitlines():
        name, _, state = line.partition("|")
        if name.startswith(LOAD_PREFIX):
            key = (name[len(LOAD_PREFIX):], state)
            found[key] = found.get(key, 0) + 1
    return found


def _last_in_queue(c, options):
    """The job's options, with an explicit priority under priority/basic.

    There each new job gets one less than the lowest so far, and after a restart of slurmctld the niced
    ones count too; an explicit priority never does.
    """
    if "--hold" in options or c.shape.options.get("PriorityType", "") == "priority/multifactor":
        return options
    return re.sub(r"--nice=(\d+)", lambda match: f"--priority={10000 - int(match[1])}", options)


def ensure(c):
    """Submits the missing jobs of the load and waits until it is complete."""
    have = counts(c)
    account = "-A load " if c.shape.dbd else ""
    commands = []
    for kind in KINDS:
        present = have.get((kind.name, "PENDING"), 0) + have.get((kind.name, "RUNNING"), 0)
        if kind.name == "churn":
            present = min(have.get(("churn", "PENDING"), 0), 1)
        for _ in range(kind.count - present):
            commands.append(f"sbatch -J {LOAD_PREFIX}{kind.name} -o /dev/null {account}"
                            f"{_last_in_queue(c, kind.options)} --wrap '{kind.script}'")
    if commands:
        c.ask(" && ".join(commands), timeout=180)

    def settled():
        seen = counts(c)
        running = sum(n for (_, state), n in seen.items() if state == "RUNNING")
        pending = sum(n for (_, state), n in seen.items() if state == "PENDING")
        return running >= 10 and pending >= 30
    try:
        c.wait(settled, 120, "the background load to run", every=0.1)
    except Failed as error:
        raise Failed(f"{error}; it has {counts(c)}") from None


def summary(c):
    """(running, pending) jobs of the load."""
    seen = counts(c)
    return tuple(sum(n for (_, state), n in seen.items() if state == wanted)
                 for wanted in ("RUNNING", "PENDING"))
