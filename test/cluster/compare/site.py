# SPDX-License-Identifier: GPL-2.0-or-later
"""The cluster of a comparison, with one slurm.conf for both halves, and the jobs in sbatch form.

Both halves get the same Shape. The flavour of the Cluster is the difference: PluginDir, JobSubmitPlugins
and the line of plugstack.conf, which an installation of Rubato adds, and rubato.conf, which stock Slurm
does not read.
"""
import math
import shlex
import zlib

from .. import slurmconf
from . import workload
from .workload import GPUS_OF_A_NODE, NODES, TIME_SCALE, TRAINER

#: Stock Slurm at its most attentive.
STOCK_PARAMS = "bf_interval=1,bf_resolution=1,bf_continue,batch_sched_delay=0,sched_min_interval=0"
#: What else a site may try: backfill that keeps nodes for one job a partition instead of for all, and
#: backfill that fills busy nodes first. Mode elastic is compared with the best of the three.
STOCK_SETTINGS = (STOCK_PARAMS, STOCK_PARAMS + ",bf_job_part_count_reserve=1",
                  STOCK_PARAMS + ",bf_busy_nodes")
MODES = ("place", "observe", "elastic")
PRIORS = ("measured", "inverted")
REPORTS = 1     # seconds between the reports of a job: a minute in the time of the workload
#: Times of rubato.conf by their defaults, in seconds, as the workload's time passes.
_SCALED = {"MessageInterval": 60, "ReserveAfter": 600, "StarvationBound": 86400}
#: Seconds between the checkpoint signal and the requeue.
LEAD = 2
#: RestartCost: the job loads, and what it did since its checkpoint is lost.
RESTART_COST = math.ceil(workload.START_SECONDS + LEAD)
#: ResizeCost: a job looks once a second how many GPUs it has.
RESIZE_COST = 1
#: Hints of the ways of workload.RESIZES.
_CHECKPOINT = f"checkpoint=B:USR1@{LEAD}"
RESIZE_HINTS = {"restart": f"{_CHECKPOINT};resize=restart", "live": "resize=live",
                "both": f"{_CHECKPOINT};resize=live"}


def node_names(gpu_type):
    return [f"{gpu_type[0]}{number}" for number in range(1, NODES[gpu_type] + 1)]


#: {node name: GPU type}
TYPE_OF_NODE = {name: gpu_type for gpu_type in NODES for name in node_names(gpu_type)}


def weight(speed):
    """Slurm prefers the node with the lowest weight."""
    return round(100 / speed)


def configured_speeds(speeds, prior):
    """GPU type -> Speed of rubato.conf. inverted: the fastest gets the speed of the slowest."""
    if prior == "measured":
        return dict(speeds)
    order = sorted(speeds, key=lambda t: (speeds[t], t))
    return {t: speeds[other] for t, other in zip(order, reversed(order))}


def rubato_conf(speeds, mode="place", prior="measured"):
    # The jobs have their throughput from the first second on: training is emulated.
    lines = [f"Mode={mode}", "ManagedPartitions=all", "WarmUp=0"]
    lines += [f"{key}={max(1, value // TIME_SCALE)}" for key, value in _SCALED.items()]
    if mode == "elastic":
        lines += [f"RestartCost={RESTART_COST}", f"ResizeCost={RESIZE_COST}"]
    lines += [f"GpuType={t} Speed={speed}"
              for t, speed in configured_speeds(speeds, prior).items()]
    return "\n".join(lines) + "\n"


def shape(speeds, params=STOCK_PARAMS, mode="place", prior="measured"):
    """speeds: mean speed of each GPU type; params: SchedulerParameters of both halves."""
    nodes = tuple(slurmconf.Nodes(f"{t[0]}[1-{count}]", f"{t}:{GPUS_OF_A_NODE}",
                                  extra=f"Weight={weight(speeds[t])}")
                  for t, count in NODES.items())
    return slurmconf.Shape(
        nodes=nodes, load=False, rubato_conf=rubato_conf(speeds, mode, prior),
        options={"SchedulerParameters": params}, spank=f"interval={REPORTS}")


# -- jobs ------------------------------------------------------------------------------------------

def hints(job):
    """The comment of a hinted job; stock Slurm ignores comments."""
    words = [f"job-type={job.job_type}"]
    if job.sizes:
        words.append("gpus=" + ",".join(map(str, job.sizes)))
    if job.tells_samples:
        words.append(f"samples={job.samples}")
    if job.resize:
        words.append(RESIZE_HINTS[job.resize])
    return "rubato:" + ";".join(words)


def options(job):
    """The sbatch options: the same in both halves."""
    words = [f"-t {job.limit}", f"-o {job.name}.out"]
    if job.kind == "cpu":
        words.append(f"-N1 -n{job.cpus}")
    elif job.gpus > GPUS_OF_A_NODE:
        words.append(f"-N{job.gpus // GPUS_OF_A_NODE} --gpus-per-node={GPUS_OF_A_NODE}")
    elif job.sizes:     # one task, so one node, at every size
        words.append(f"-n1 --gpus={job.gpus}")
    else:
        words.append(f"-N1 -n1 --gpus-per-node={job.gpus}")
    if job.kind == "hinted":
        words.append("--comment=" + shlex.quote(hints(job)))
    return " ".join(words)


def script(job, seed):
    """The batch script: the same in both halves. Jobs send reports only if a receiver exists. Each job
    has its own noise: with common noise, a job type would always be off by the same factor."""
    if job.kind == "hinted":
        changes = ""
        if job.resize:
            changes = (f" --start-seconds {workload.START_SECONDS} "
                       f"--checkpoint-seconds {workload.SAVE_SECONDS}")
        if job.resize in ("live", "both"):
            changes += " ${RUBATO_REPORT_FILE:+--follow-size 1}"
        return (f"export RUBATO_REPORT_INTERVAL={REPORTS}\n"
                '[ -n "$RUBATO_REPORT_FILE" ] || RUBATO_REPORT_INTERVAL=86400\n'
                f"exec {shlex.quote(str(TRAINER))} --job-type {job.job_type} "
                f"--samples {job.samples} --time-scale {TIME_SCALE} "
                f"--seed {zlib.crc32(f'{seed} {job.name}'.encode())}{changes}")
    if job.kind == "cpu":
        return f"exec sleep {job.seconds['cpu']:g}"
    # The slowest type of the nodes, which is requested first, decides.
    cases = [f"*{t[0]}*) exec sleep {job.seconds[t]:g} ;;"
             for t in sorted(NODES, key=lambda t: -job.seconds[t])]
    return "case $SLURM_JOB_NODELIST in\n" + "\n".join(cases) + "\nesac\nexit 1"
