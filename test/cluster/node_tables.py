# SPDX-License-Identifier: GPL-2.0-or-later
"""slurmctld's node tables beside its jobs: what a node counts as taken is what its jobs hold.

The runner asks after each scenario. Slurm's own tests would not notice a core or a GPU that two jobs hold, or
one that no job holds and no job gets.
"""
import collections
import re
import time

#: Nodes whose jobs are not all told: a state after which slurmctld frees them bit by bit.
UNSETTLED = ("COMPLETING", "CONFIGURING", "POWERING", "UNKNOWN", "REBOOT")


def _fields(line):
    return dict(re.findall(r"(\w+)=(\S*)", line))


def _number(text):
    return int(re.match(r"\d*", text or "0")[0] or 0)


def expand(words):
    """The numbers of `0-3,7`; none of `(null)` and `N/A`."""
    numbers = []
    for part in words.split(","):
        first, _, last = part.partition("-")
        if first.isdigit():
            numbers += range(int(first), int(last or first) + 1)
    return numbers


def hosts(words, known):
    """The node names of a hostlist, of nodes whose names end in a number."""
    names = []
    for stem, inside, plain in re.findall(r"([^,\[\]]+)\[([^\]]+)\]|([^,\[\]]+)", words):
        names += [f"{stem}{number}" for number in expand(inside)] if stem else [plain]
    missing = [name for name in names if name not in known]
    return names if not missing else []


def held(job_lines, known):
    """By node: CPUs, memory in MiB, and GPU indices that running jobs hold, from `scontrol -d -o show job`."""
    cpus, memory = collections.Counter(), collections.Counter()
    gpus = collections.defaultdict(list)
    for line in job_lines:
        if not re.search(r" JobState=(RUNNING|SUSPENDED)", line):
            continue
        job = _fields(line)["JobId"]
        for names, ids, mem, gres in re.findall(
                r" Nodes=(\S+) CPU_IDs=(\S+) Mem=(\d+) GRES=(\S*)", line):
            for name in hosts(names, known):
                cpus[name] += len(expand(ids))
                memory[name] += int(mem)
                for kind, indices in re.findall(r"gpu:([^:,()]+)(?::\d+)?\(IDX:([^)]*)\)", gres):
                    gpus[name] += [(index, kind, job) for index in expand(indices)]
    return cpus, memory, gpus


def differences(node_text, job_text):
    """How each node differs from its jobs, as {node: [line]}; None for a node whose jobs are not all told.

    Takes the texts of `scontrol -d -o show node` and `job`."""
    nodes = {_fields(line)["NodeName"]: line for line in node_text.splitlines() if "NodeName=" in line}
    cpus, memory, gpus = held(job_text.splitlines(), set(nodes))
    found = {}
    for name, line in sorted(nodes.items()):
        seen = _fields(line)
        if any(word in seen.get("State", "") for word in UNSETTLED):
            found[name] = None
            continue
        wrong = []
        if _number(seen.get("CPUAlloc")) != cpus[name]:
            wrong.append(f"{name}: CPUAlloc={seen.get('CPUAlloc')}, its jobs hold {cpus[name]}")
        if _number(seen.get("AllocMem")) != memory[name]:
            wrong.append(f"{name}: AllocMem={seen.get('AllocMem')}, its jobs hold {memory[name]}")
        used = sum(int(count) for count in re.findall(r"gpu(?::[^:,()]+)?:(\d+)\(IDX", seen.get("GresUsed", "")))
        if used != len(gpus[name]):
            wrong.append(f"{name}: GresUsed={seen.get('GresUsed')}, its jobs hold {len(gpus[name])} GPUs")
        twice = collections.Counter(index for index, _, _ in gpus[name])
        for index in sorted(index for index, count in twice.items() if count > 1):
            jobs = ", ".join(job for at, _, job in gpus[name] if at == index)
            wrong.append(f"{name}: GPU {index} is held by jobs {jobs}")
        found[name] = wrong
    return found


def still_wrong(c, seconds=20.0):
    """The differences that stay for `seconds`; [] if every node agreed with its jobs once, or slurmctld is down.

    Where jobs start and end all the time, the two answers of slurmctld are not of one moment. So each node is compared
    by itself, with the jobs just before it and just after it. What is really lost on a node is lost for good.
    """
    until = time.monotonic() + seconds
    agreed = set()
    before = c.ask("scontrol -d -o show job", timeout=20, check=False)
    while True:
        nodes = c.ask("scontrol -d -o show node", timeout=20, check=False)
        after = c.ask("scontrol -d -o show job", timeout=20, check=False)
        last = differences(nodes, after)
        for one in (differences(nodes, before), last):
            agreed |= {name for name, wrong in one.items() if wrong == []}
        wrong = [line for name, lines in last.items() if name not in agreed for line in lines or []]
        if not wrong or time.monotonic() > until:
            return wrong
        before = after
        time.sleep(0.2)
