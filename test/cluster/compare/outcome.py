# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of the jobs, from slurmctld's own records (jobcomp/filetxt). A requeued job has one record per
run, a resized one has one record per size."""
import dataclasses
import re

from .. import records, slurmconf
from .workload import GPUS_OF_A_NODE


@dataclasses.dataclass
class Run:
    """One allocation of a job, from start to end; times are seconds since the epoch."""
    start: float
    end: float
    nodes: list
    gpus: int
    gpu_type: str   # "" of a CPU job, "p100+v100" on several
    state: str


@dataclasses.dataclass
class Outcome:
    """A job and its runs. submit: the first submission, however often it was requeued."""
    id: int
    job: object     # workload.Job
    submit: float
    runs: list
    state: str      # of the last run
    by: str = ""    # who started it last: "rubato", "backfill", "schedule"

    @property
    def start(self):
        return self.runs[0].start

    @property
    def end(self):
        return self.runs[-1].end

    @property
    def jct(self):
        return self.end - self.submit

    @property
    def resizes(self):
        return sum(run.state == "RESIZING" for run in self.runs)

    @property
    def restarts(self):
        return len(self.runs) - 1 - self.resizes

    @property
    def gpu_seconds(self):
        return sum(run.gpus * (run.end - run.start) for run in self.runs)


def gpus_in(gres):
    """GPUs in the JOB_GRES of `scontrol show job -d`: "gpu:p100:4" or "gpu:p100:4,gpu:v100:4"."""
    return sum(int(number) for number in re.findall(r"gpu(?::[A-Za-z]\w*)?:(\d+)", gres))


def type_text(nodes, type_of_node):
    return "+".join(sorted({type_of_node[name] for name in nodes}))


def size_until(sizes, end):
    """GPUs of the last size that was seen before `end`; None: none was."""
    before = [gpus for time, gpus in sizes if time < end]
    return before[-1] if before else None


def read(path, jobs, allocated, type_of_node, sizes=None):
    """{job id: Outcome} from the file of jobcomp/filetxt.

    jobs:         {job id: workload.Job}
    allocated:    {(job id, start): GPUs held}, as Slurm said while they ran. The file does not say
                  it; an allocation nobody saw, of less than a second, held what was asked for.
    type_of_node: {node: GPU type}
    sizes:        {job id: [(time, GPUs)]}, as seen, of jobs that changed while they ran
    """
    found = {}
    for record in records.jobcomp_lines(path):
        number = int(record["JobId"])
        job = jobs.get(number)
        if job is None:
            continue
        outcome = found.setdefault(number, Outcome(number, job, record["SubmitTime"], [], ""))
        outcome.submit = min(outcome.submit, record["SubmitTime"])
        outcome.state = record["JobState"]
        nodes = [] if record["NodeList"] in ("", "(null)") else slurmconf.expand(record["NodeList"])
        if not nodes:       # it never ran: cancelled, or ended while it waited
            outcome.runs.append(Run(record["EndTime"], record["EndTime"], [], 0, "",
                                    record["JobState"]))
            continue
        start = record["StartTime"]
        gpus = 0
        if job.gpus:
            gpus = allocated.get((number, int(start)), job.gpus)
        outcome.runs.append(Run(start, record["EndTime"], nodes, gpus,
                                type_text(nodes, type_of_node) if job.gpus else "",
                                record["JobState"]))
    for outcome in found.values():
        if outcome.resizes:
            # Slurm tells one start for all sizes of such a job.
            for run in outcome.runs:
                seen = size_until((sizes or {}).get(outcome.id, []), run.end)
                run.gpus = seen or GPUS_OF_A_NODE * len(run.nodes)
    return found
