# SPDX-License-Identifier: GPL-2.0-or-later
"""A workload of a comparison in `rubato simulate`: the same jobs, throughputs, cluster and rubato.conf.

CPU jobs are left out, since they wait for no GPU. Slurm's own time for a start or an end is not
simulated.
"""
import json
import os
import pathlib
import subprocess

from .. import plugins
from ..client import Failed
from . import site, workload
from .workload import GPUS_OF_A_NODE, NODES, START_SECONDS

#: Seconds without progress of a restart: of live runs (docs/results/compare.md).
RESTART_SECONDS = 2
#: Policies of `rubato simulate` by the names of the halves.
POLICIES = {"stock": "backfill", "place": "rubato-place", "elastic": "rubato"}
CLUSTER = ",".join(f"{t}:{count}x{GPUS_OF_A_NODE}" for t, count in NODES.items())
COLUMNS = ("job", "arrival_s", "gpus", "work", "model", "start_s", "restart_s", "resize_s", "restarts",
           "sizes", "time_limit_s", "predictable", "hints")


def _row(job, restart_seconds):
    """A GPU job by COLUMNS. A job without hints is a model of its own."""
    if job.kind == "unhinted_gpu":
        return (job.name, job.submit, job.gpus, 1000, job.name, "", "", "", 0, "", 60 * job.limit, 0, 0)
    start = START_SECONDS if job.resize else 0
    live = 0 if job.resize in ("live", "both") else ""
    restarts = int(job.resize in ("restart", "both"))
    sizes = "/".join(str(size) for size in sorted({*job.sizes, job.gpus})) if job.sizes else ""
    return (job.name, job.submit, job.gpus, job.samples, job.job_type, start, restart_seconds, live,
            restarts, sizes, 60 * job.limit, int(job.tells_samples), 1)


def _speeds(load):
    """Rows (model, GPU type, GPUs, samples/s)."""
    for job_type in sorted({job.job_type for job in load.jobs if job.job_type}):
        for gpu_type in NODES:
            for gpus in workload.SIZES:
                found = workload.rate(job_type, gpu_type, gpus)
                if found:
                    yield job_type, gpu_type, gpus, found
    for job in load.jobs:
        if job.kind == "unhinted_gpu":
            for gpu_type in NODES:
                yield job.name, gpu_type, job.gpus, 1000 / job.seconds[gpu_type]


def _csv(heads, rows):
    return "\n".join(",".join(map(str, row)) for row in [heads, *rows]) + "\n"


def write(load, folder, prior="measured", restart_seconds=RESTART_SECONDS, mode="elastic"):
    """Writes the inputs of `rubato simulate` into `folder`; returns its options."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    jobs, speeds, conf = folder / "jobs.csv", folder / "speeds.csv", folder / "rubato.conf"
    jobs.write_text(_csv(COLUMNS, (_row(job, restart_seconds) for job in load.jobs if job.gpus)),
                    encoding="utf-8")
    speeds.write_text(_csv(("model", "gpu_type", "gpus", "rate"), _speeds(load)), encoding="utf-8")
    conf.write_text(site.rubato_conf(load.speeds, mode, prior), encoding="utf-8")
    return ["-w", str(jobs), "--profiles", str(speeds), "-c", CLUSTER, "--config", str(conf)]


def program(plugin_dir=None):
    """The `rubato` that belongs to the plugins; "" if there is none."""
    folder = plugins.Plugins(plugin_dir).bin_dir()
    return os.path.join(folder, "rubato") if folder else ""


def mean_times(load, folder, rubato, prior="measured"):
    """{half: seconds from submit to end, the mean of the GPU jobs}, of all halves. Throughputs are
    learned from reports."""
    options = write(load, folder, prior)
    found = {}
    for half, policy in POLICIES.items():
        # Stock Slurm reads no rubato.conf.
        words = options if half != "stock" else options[:options.index("--config")]
        made = subprocess.run([rubato, "simulate", *words, "-p", policy, "--information", "learned",
                               "--json"], capture_output=True, text=True, check=False)
        if made.returncode:
            raise Failed(f"rubato simulate to play the workload: {made.stderr.strip()}")
        found[half] = round(json.loads(made.stdout.splitlines()[0])["avg_jct_s"], 3)
    return found
