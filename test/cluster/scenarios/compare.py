# SPDX-License-Identifier: GPL-2.0-or-later
"""`contrib/quickstart compare` on a workload of seconds: both halves run, and what it writes agrees
with slurmctld's own records."""
import json
import os
import pathlib
import signal
import subprocess

from cluster import Nodes, check, scenario, shape
from cluster.compare import outcome, site, workload, workload_file

CTL = pathlib.Path(__file__).resolve().parents[1] / "ctl"
# The comparison makes its own clusters; this one only provides the folder.
shape("bystander", nodes=(Nodes("n1", "a100:1"),), load=False)

SPEEDS = {"v100": 1.2, "p100": 1.4, "k80": 0.6}


def tiny():
    """Nine jobs of 2 to 4 seconds."""
    def job(number, kind, **fields):
        return workload.Job(f"j{number:03d}", kind, 0.3 * number, 1, **fields)

    def train(number, job_type, gpus, **fields):
        samples = int(2.5 * workload.rate(job_type, "p100", gpus))
        return job(number, "hinted", job_type=job_type, gpus=gpus, samples=samples, **fields)
    sleeps = {"v100": 2.5, "p100": 2.0, "k80": 4.0}
    return workload.Workload(1, SPEEDS, [
        train(0, "lm", 1, tells_samples=True), train(1, "recommendation", 8),
        train(2, "transformer", 2, sizes=[1, 2, 4]), train(3, "recommendation-small", 4),
        train(4, "lm", 8, sizes=[4, 8]), job(5, "unhinted_gpu", gpus=4, seconds=sleeps),
        job(6, "unhinted_gpu", gpus=1, seconds=sleeps), job(7, "cpu", cpus=8, seconds={"cpu": 2.0}),
        job(8, "cpu", cpus=4, seconds={"cpu": 3.0})])


def compare(c, *words):
    """Runs it below this cluster's folder, to avoid conflicts with another comparison."""
    env = dict(os.environ, RUBATO_SCRATCH=c.path("cmp"))
    command = [str(CTL), "--plugins", c.plugins.path, "compare", *words]
    c.say("$ " + " ".join(command))
    child = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
    try:
        answer = child.communicate()[0]
    except BaseException:
        child.send_signal(signal.SIGTERM)   # it stops its clusters
        child.communicate(timeout=60)
        raise
    c.say(*("    " + line for line in answer.splitlines()))
    check(child.returncode == 0, "the comparison to succeed", f"exit code {child.returncode}")
    return answer


def rubato_only_observes(c):
    """Negative control: stock Slurm starts the jobs of both halves."""
    c.compare_words = ["--mode", "observe"]
    c.defer(lambda: setattr(c, "compare_words", []))


@scenario(cluster="bystander", needs=["rubato", "spank"], negative=rubato_only_observes,
          timeout=400)
def compare_runs_both_halves(c):
    """compare runs a workload under stock Slurm and under Rubato; its figures are slurmctld's"""
    load = tiny()
    workload_file.write(load, c.path("tiny.json"))
    compare(c, "--workload", c.path("tiny.json"), "--json", c.path("c.json"), "--report",
            c.path("c.html"), *getattr(c, "compare_words", []))
    document = json.loads(pathlib.Path(c.path("c.json")).read_text(encoding="utf-8"))
    run = document["runs"][0]
    for half in ("stock", "rubato"):
        check((run[half]["completed"], run[half]["failed"]) == (9, 0), "9 of 9 jobs completed",
              run[half])
        ids = {number: job for number, job in enumerate(load.jobs, 1)}
        found = outcome.read(c.path(f"cmp/compare-{half}/log/jobcomp.log"), ids, {},
                             site.TYPE_OF_NODE)
        jct = sum(job.jct for job in found.values()) / len(found)
        check(abs(jct - run[half]["avg_jct_s"]) < 0.01, f"the mean time of the records, {jct}",
              run[half]["avg_jct_s"])
        conf = pathlib.Path(c.path(f"cmp/compare-{half}/etc/slurm.conf")).read_text()
        check(f"SchedulerParameters={site.STOCK_PARAMS}\n" in conf, "the same parameters", half)
    check(document["avg_jct_ratio"] == run["avg_jct_ratio"], "the mean of one run", document)
    page = pathlib.Path(c.path("c.html")).read_text(encoding="utf-8")
    check(page.endswith("</html>\n"), "a whole page")
    # Rubato starts GPU jobs only in its half. Not necessarily all: if a round is late on a slow machine,
    # stock Slurm starts one.
    gpu_jobs = {number for number, job in enumerate(load.jobs, 1) if job.gpus}
    for half, least, most in (("stock", 0, 0), ("rubato", len(gpu_jobs) // 2, len(gpu_jobs))):
        log = pathlib.Path(c.path(f"cmp/compare-{half}/log/slurmctld.log")).read_text()
        started = {number for number in gpu_jobs if f"rubato: started JobId={number} " in log}
        check(least <= len(started) <= most,
              f"{half}: Rubato to start {least} to {most} of the GPU jobs", sorted(started))
