# SPDX-License-Identifier: GPL-2.0-or-later
"""What people look at: the page of a cluster, and the summary of an ended job."""
import json
import re

from cluster import check, scenario, shape

from . import steps
from .remember import report

HINTS = "rubato:job-type={};samples=100000"

shape("summaries", dbd=True, load=False,
      rubato_conf=steps.conf("MessageInterval=0", "JobSummary=admin-comment"))


def page_of(c):
    """The text of `rubato page`, "" while there is none."""
    text = c.ask("rubato page", check=False)
    return text if text.rc == 0 else ""


@scenario(cluster="main", needs=["rubato"], negative="publish", timeout=60)
def page_names_running_and_waiting_jobs(c):
    """The page of a live cluster has a bar for a running job, and the reason of a waiting one"""
    latch = c.latch()
    runs = c.sbatch("-w n1 --gpus=a100:2 -t 60", latch.wait)
    c.wait_state(runs, "RUNNING")
    waits = c.sbatch("-w n1 -N 1 --gpus=a100:4 -t 60", "true")
    c.wait(lambda: f'data-label="Job">{waits}<' in page_of(c), 30, "the waiting job on the page")
    c.cmd(f"squeue -j {runs},{waits} -o '%i %T %b %R'")
    c.cmd("rubato page -o page.html", check=True)
    text = page_of(c)
    bars = re.findall(rf"<title>(Job {runs} of [^<]*)</title>", text)
    c.cmd(f"rubato explain {waits} | grep Reason")
    check(any(": 2 GPUs of n1, runs since " in bar for bar in bars), "a bar of the running job", bars)
    row = re.search(rf'data-label="Job">{waits}</th>(.*?)</tr>', text, re.S)
    check(row is not None, "a row of the waiting job")
    cells = dict(re.findall(r'data-label="([^"]*)">([^<]*)<', row[1]))
    told = c.cmd(f"rubato explain {waits} --json", check=False)
    reason = json.loads(told)["jobs"][0].get("reason", "")
    check(cells["GPUs"] == "4 a100", "the GPUs that it asks for", cells)
    check(cells["Why"] and reason.split(";")[0][:20] in cells["Why"], "its reason", (cells, reason))
    opens = re.search(r'class="verdict">([^<]*)<', text)[1]
    check(re.match(r"\d+ of \d+ GPUs are held by \d+ jobs?; \d+ GPU jobs? waits?\. The first in the queue is job ", opens),
          "a sentence of what the cluster does now first", opens)
    check("managed job" in text, "what Rubato did in the last days")
    latch.open()


def summary(c, job):
    """`summary` of the ended job in `rubato explain --json`; {} while there is none."""
    text = c.ask(f"rubato explain {job} --json 2>/dev/null", check=False)
    jobs = json.loads(text or "{}").get("jobs", [])
    return jobs[0].get("summary", {}) if jobs else {}


@scenario(cluster="summaries", needs=["rubato", "dbd"], negative="job-summary", timeout=120)
def ended_job_has_a_summary(c):
    """At its end a job has one summary: in rubato explain, in scontrol, and in the accounting

    Text that another program put into AdminComment stays. An update of a finished job, which Slurm
    refuses, changes nothing.
    """
    latch = c.latch()
    job = c.sbatch(f"-w n1 --gpus=a100:2 -t 60 --comment='{HINTS.format(c.fresh_name())}'", latch.wait)
    c.wait_state(job, "RUNNING")
    c.cmd(f"scontrol update JobId={job} AdminComment=JS1:kept")
    report(c, job, 500, 50)
    report(c, job, 640, 46)
    c.wait(lambda: "640 samples" in c.ask(f"rubato explain {job}", check=False), 30,
           "the last report in a snapshot")
    latch.open()
    c.wait_state(job, "COMPLETED")
    found = c.wait(lambda: summary(c, job), 30, "the summary in rubato explain")
    text = c.cmd(f"rubato explain {job}")
    check(found["gpus"] == 2 and found["gpu_type"] == "a100" and found["gpu_seconds"] > 0,
          "the GPUs that it held", found)
    check(found.get("completed") is True, "that it ended by itself", found)
    check(re.search(r"Waited +\d\d:\d\d", text) and "GPU-hours" in text and "46" in text,
          "wait, GPU-hours and speed in the text", text)

    def comment():
        shown = re.search(r"AdminComment=(.*)", c.ask(f"scontrol show job {job}"))
        return shown[1].strip() if shown else ""

    line = c.expect(comment, lambda shown: "{rubato " in shown, "the line in AdminComment", 30)
    check(line.startswith("JS1:kept {rubato waited="), "the other program's text before it", line)
    for word in ("gpus=2", "gpu-type=a100", "samples=640", "rate=46"):
        check(f" {word}" in line, f"{word} in the line", line)
    refused = c.cmd(f"scontrol update JobId={job} AdminComment=late", check=False)
    check(refused.rc != 0, "slurmctld to refuse updates of a finished job", refused)
    check(comment() == line, "the line as it was", comment())
    said = c.expect(lambda: c.ask(f"sacct -n -X -P -j {job} -o admincomment", check=False).strip(),
                    line, "the same line in the accounting", 60)
    c.cmd(f"sacct -X -j {job} -o jobid,state,admincomment%150")
    check(said == line, "slurmdbd to have it", said)
