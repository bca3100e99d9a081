# SPDX-License-Identifier: GPL-2.0-or-later
"""What a running job hears of changes of its size: rubato wait-resize."""
import pathlib
import re

from cluster import check, scenario

from . import steps
from .shrink import LONG, indices

HINTS = "--comment='rubato: gpus=4,8;resize=live;checkpoint=B:USR1@40'"
# The script of rubato-wait-resize(1), with a program that has nothing to save.
WAITS = """trap : USR1
echo "run ${SLURM_RESTART_COUNT:-0}"
sleep 900 & program=$!
while kill -0 $program 2>/dev/null; do
    rubato wait-resize --timeout 600
    code=$?; echo "code $code"
    case $code in
        10 | 11) rubato wait-resize --ack; echo "then $?" ;;
    esac
done"""


def notice_of(c, job):
    """The notice in a job's SystemComment, as scontrol shows it."""
    found = re.findall(r"\{rubato-notice [^}]*\}", c.job(job).get("SystemComment", ""))
    return found[0] if found else ""


@scenario(cluster="shrink", needs=["rubato"], negative="notice", timeout=240)
def a_job_is_told_what_changes(c):
    """`rubato wait-resize` in a job tells which node goes and until when, what came of it, and of a restart

    The notice is in the SystemComment, so every user reads it by scontrol. The answer of the job ends the
    lead time. A restart leaves no notice to the next run.
    """
    job = c.sbatch(f"--gpus=a100:8 -n8 -t 60 {HINTS}", WAITS)
    c.wait_state(job, "RUNNING", LONG)
    nodes = sorted(indices(c, job))
    check(len(nodes) == 2, "two nodes with 4 GPUs each", nodes)
    c.wait(lambda: "run 0\n" in c.output(job), LONG, "the job to begin")

    def prints(pattern):
        try:
            c.wait(lambda: re.search(pattern, c.output(job)), LONG, f"the job to print {pattern}")
        finally:
            c.say(c.output(job), notice_of(c, job))
    steps.published_again(c)
    c.cmd(f"rubato resize {job} --gpus 4 --no-wait")
    prints(rf"Notice 1: 4 GPUs instead of 8 in \d+ s at the latest; {nodes[1]} goes\. .*\ncode 11\n")
    prints(rf"Notice 2: the job has 4 GPUs instead of 8; {nodes[1]} has gone\.\nthen 0\n")
    check(set(indices(c, job)) == {nodes[0]}, "the job on its first node alone", indices(c, job))
    check(notice_of(c, job) == f"{{rubato-notice n=2 step=done how=live from=8 gpus=4 leave={nodes[1]}}}",
          "the second notice in scontrol show job", notice_of(c, job))

    steps.published_again(c)
    c.cmd(f"rubato resize {job} --gpus 8", timeout=90)
    prints(r"Notice 3: the job has 8 GPUs instead of 4; n\d has come\.\ncode 0\n")
    steps.published_again(c)
    c.cmd(f"rubato resize {job} --gpus 4 --restart --no-wait")
    prints(r"Notice 4: restart with 4 GPUs instead of 8 in \d+ s at the latest\. .*\ncode 10\n")
    prints(r"run 1\n")
    check(notice_of(c, job) == "", "no notice for the next run", notice_of(c, job))
    said = c.cmd(f"rubato wait-resize --job {job} --timeout 1", check=False)
    check(said.rc == 124, "code 124", said.rc)
    c.cmd(f"scancel {job}")


DISCOVER = pathlib.Path(__file__).resolve().parents[3] / "contrib/elastic/discover-hosts"


@scenario(cluster="shrink", needs=["rubato"], negative="restart", timeout=120)
def an_elastic_launcher_finds_the_hosts_of_now(c):
    """contrib/elastic/discover-hosts prints the nodes of a job and its GPUs on each, before and after a change

    In the job it needs no argument.
    """
    latch = c.latch()
    job = c.sbatch("--gpus=a100:8 -n8 -t 60 --comment='rubato: gpus=4,8;resize=live'", f"{DISCOVER}; echo told; {latch.wait}")
    c.wait_state(job, "RUNNING", LONG)
    nodes = sorted(indices(c, job))
    c.wait(lambda: "told\n" in c.output(job), LONG, "the job to ask")
    check(c.output(job) == f"{nodes[0]}:4\n{nodes[1]}:4\ntold\n", "four GPUs on each node", c.output(job))
    steps.published_again(c)
    c.cmd(f"rubato resize {job} --gpus 4", check=False, timeout=90)
    c.expect(lambda: c.ask(f"{DISCOVER} {job}"), f"{nodes[0]}:4", "the node that is left", LONG)
    c.cmd(f"{DISCOVER} {job}")
    said = c.cmd(f"env -u SLURM_JOB_ID {DISCOVER}", check=False)
    check(said.rc == 2 and "give a JOBID" in said, "what is missing outside of a job", said)
    latch.open()
