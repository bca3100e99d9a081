# SPDX-License-Identifier: GPL-2.0-or-later
"""Slurm's own records of jobs: slurmctld.log, jobcomp/filetxt, `scontrol show job -d`."""
import dataclasses
import datetime
import os
import re

_STAMP = re.compile(r"^\[(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})\] ")
# slurmctld writes a job as 7, an array element as 7_3(12) (its id is 12); Rubato writes 7_3.
_JOB = r"JobId=(?P<label>\d+(?:_\d+)?)(?:\((?P<id>\d+)\))?"
# Which scheduler started a job, by the words of the log line.
_STARTS = (
    ("rubato", re.compile(r"rubato: started " + _JOB)),
    ("backfill", re.compile(r"sched/backfill: _start_job: Started " + _JOB)),
    ("schedule", re.compile(r"sched: Allocate " + _JOB)),
    ("submit", re.compile(r"_slurm_rpc_allocate_resources " + _JOB + r" NodeList=(?!\(null\))")),
)
_SUBMIT = re.compile(r"(?:_slurm_rpc_submit_batch_job: (?=JobId=\d+ InitPrio)"
                     r"|_slurm_rpc_allocate_resources )" + _JOB)
_END = re.compile(r"_job_complete: " + _JOB + " done")
_BEGIN = re.compile(r"slurmctld version \S+ started")


@dataclasses.dataclass
class Times:
    """Seconds since the epoch, 0 if the log has no line. by: "rubato", "backfill", "schedule" or
    "submit"; "" if the start was not seen."""
    submit: float = 0.0
    start: float = 0.0
    end: float = 0.0
    by: str = ""


def stamp(line):
    """Time of a log line in seconds, 0.0 if it has none."""
    match = _STAMP.match(line)
    return datetime.datetime.fromisoformat(match[1]).timestamp() if match else 0.0


class Log:
    """slurmctld.log."""

    def __init__(self, path):
        self.path = path

    def size(self):
        return os.path.getsize(self.path) if os.path.exists(self.path) else 0

    def lines(self, pattern, since=0):
        try:
            with open(self.path, "rb") as file:
                file.seek(since)
                text = file.read().decode(errors="replace")
        except OSError:
            return []
        return [line for line in text.splitlines() if re.search(pattern, line)]

    def all_times(self):
        """{job id: Times}, array elements also under "7_3"; of a requeued job the last start.

        A slurmctld that was killed may give the id of a job that no state file had to another one:
        what the log says of it from before the last begin is of the first.
        """
        found, begin = {}, 0.0

        def of(match):
            """The record of the job in a line, under its id and its label."""
            keys = [match["label"] if "_" in match["label"] else int(match["label"])]
            keys += [int(match["id"])] if match["id"] else []
            times = next((found[key] for key in keys if key in found), None) or Times()
            found.update(dict.fromkeys(keys, times))
            return times
        for line in self.lines(rf"JobId=|{_BEGIN.pattern}"):
            if _BEGIN.search(line):
                begin = stamp(line)
                continue
            match = _SUBMIT.search(line)
            if match:
                times = of(match)
                if 0 < times.start < begin:     # one after it may be logged before its submit
                    times = found[int(match["label"])] = Times()
                times.submit = stamp(line)
            for who, pattern in _STARTS:
                match = pattern.search(line)
                if match:
                    times = of(match)
                    times.start, times.by = stamp(line), who
                    break
            match = _END.search(line)
            if match:
                of(match).end = stamp(line)
        return found

    def times(self, jobid):
        key = jobid if "_" in str(jobid) else int(jobid)
        return self.all_times().get(key, Times())


def gpus_by_node(text):
    """`scontrol show job -d` -> {"n1": {"a100": 2}}; {} if nothing is allocated."""
    from .slurmconf import expand
    found = {}
    for match in re.finditer(r"^\s*Nodes=(\S+) .*?GRES=(\S*)", text, re.MULTILINE):
        kinds = {}
        for kind, count in re.findall(r"gpu:(\w+):(\d+)", match[2]):
            if int(count):
                kinds[kind] = kinds.get(kind, 0) + int(count)
        for name in expand(match[1]):
            found[name] = dict(kinds)
    return found


def jobcomp_lines(path):
    """Lines of jobcomp/filetxt as fields, in file order: a requeued job has one per run. Times are
    seconds since the epoch, 0 if the line has none."""
    found = []
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return found
    for line in lines:
        record = dict(word.partition("=")[::2]
                      for word in re.split(r"\s+(?=[A-Z][A-Za-z]+=)", line))
        for key in ("StartTime", "EndTime", "SubmitTime", "EligibleTime"):
            try:
                record[key] = datetime.datetime.fromisoformat(record[key]).timestamp()
            except (KeyError, ValueError):
                record[key] = 0.0
        if record.get("JobId", "").isdigit():
            found.append(record)
    return found


def jobcomp(path):
    """jobcomp/filetxt -> {job id: fields} of the last line of each job."""
    return {int(record["JobId"]): record for record in jobcomp_lines(path)}
