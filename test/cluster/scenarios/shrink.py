# SPDX-License-Identifier: GPL-2.0-or-later
"""Running jobs that give back whole nodes, on a quiet cluster without slurmdbd."""
import os
import pathlib
import re
import time

from cluster import check, scenario, shape
from cluster.slurmconf import expand

from . import steps

CHECKED = steps.conf("TestInject=check-gres")
shape("shrink", load=False, rubato_conf=CHECKED)

LONG = 60  # seconds until a condition must hold, on a slow machine too

# One task per node, which writes a line per 0.2 s.
SCRIPT = """srun -N{nodes} --ntasks-per-node=1 --kill-on-bad-exit=0 sh -c \\
  'echo $CUDA_VISIBLE_DEVICES >{out}.$SLURMD_NODENAME.gpus
   while ! [ -e {out}.end ]; do echo >>{out}.$SLURMD_NODENAME; sleep 0.2; done' &
{wait}; touch {out}.end; wait; echo done"""


def indices(c, job):
    """{"n1": "0-1"}: the GPU indices of a job, from Slurm."""
    shown = c.ask(f"scontrol show job -d {job}", check=False)
    return {name: index for names, index in re.findall(r" Nodes=(\S+) .*GRES=\S*IDX:([\d,-]+)\)", shown)
            for name in expand(names)}


def show(c, job):
    c.cmd(f"scontrol show job -d {job} | grep -E 'JobState|NodeList|NumNodes|Nodes='")
    c.cmd("scontrol show node -d n[1-4] | grep -E 'NodeName|GresUsed'")


def fill(c, node, gpus):
    """A job that holds GPUs of a node, so that others get later indices there."""
    job = c.sbatch(f"-w {node} -N1 -n1 --gpus=a100:{gpus} -t 60", "sleep 900", name="filler")
    c.wait_state(job, "RUNNING", LONG)
    return job


class Spread:
    """A job with a step on all of its nodes; its two GPUs have other indices on each node."""

    def __init__(self, c, nodes, options="", before=""):
        self.c = c
        self.fillers = [fill(c, "n2", 1), fill(c, "n3", 2)]
        self.latch = c.latch()
        self.out = c.path("out", c.fresh_name("alive"))
        script = before + SCRIPT.format(nodes=nodes, out=self.out, wait=self.latch.wait)
        self.job = c.sbatch(f"-w n[1-{nodes}] -N{nodes} --ntasks-per-node=1 --gres=gpu:a100:2 -t 60 {options}",
                            script, name="spread")
        c.wait_state(self.job, "RUNNING", LONG)
        for number in range(1, nodes + 1):
            self.lives_on(f"n{number}")
        show(c, self.job)

    def lines(self, node):
        """Number of lines that the task on a node has written."""
        try:
            return os.path.getsize(f"{self.out}.{node}")
        except OSError:
            return 0

    def lives_on(self, node):
        before = self.lines(node)
        self.c.wait(lambda: self.lines(node) > before, LONG, f"the task on {node} to go on")

    def ended_on(self, node):
        def still():
            before = self.lines(node)
            time.sleep(1)
            return self.lines(node) == before
        self.c.wait(still, LONG, f"the task on {node} to end")

    def holds(self, wanted):
        self.c.expect(lambda: indices(self.c, self.job), wanted, "the GPUs of the job", LONG)
        show(self.c, self.job)

    def end(self):
        """The step and the job end as usual, and all is free."""
        self.latch.open()
        self.c.wait(lambda: not self.c.job(self.job) or
                    self.c.job(self.job).get("JobState") not in ("RUNNING", "COMPLETING"), LONG,
                    "the job to end")
        self.c.cmd("scancel -n filler")
        self.c.wait(lambda: set(used(self.c, name) for name in ("n1", "n2", "n3", "n4")) == {"N/A"}, LONG,
                    "all GPUs to be free")


def used(c, node):
    """The indices of a node's GPUs that Slurm counts as taken."""
    return re.search(r"IDX:([^)]*)", c.nodes()[node]["GresUsed"])[1]


def agrees(c):
    """The next check of slurmctld's GRES records from now on finds no contradiction."""
    mark = c.log_mark()
    c.wait(lambda: len(c.log_lines(r"GRES records checked", mark)) > 1, LONG, "a check of the records")
    for line in c.log_lines(r"contradiction: |GRES records checked", mark)[:6]:
        c.say(line)
    check(not c.log_has(r"contradiction: ", mark), "no contradiction", c.log_lines(r"contradiction: ", mark))


def saved_since(c, moment):
    c.wait(lambda: pathlib.Path(c.path("state/job_state")).stat().st_mtime > moment, LONG,
           "slurmctld to save its jobs")


def middle_node_goes(c, look):
    """A job on three nodes loses n2 by scontrol, and slurmctld is killed; look(c) after each step."""
    spread = Spread(c, 3)
    spread.holds({"n1": "0-1", "n2": "1-2", "n3": "2-3"})
    look(c)
    c.cmd(f"scontrol update JobId={spread.job} NodeList=n1,n3")
    changed = time.time()
    spread.holds({"n1": "0-1", "n3": "2-3"})
    spread.ended_on("n2")
    spread.lives_on("n1")
    spread.lives_on("n3")
    look(c)
    c.say("The freed GPUs go to another job")
    other = c.sbatch("-w n2 -N1 -n1 --gpus=a100:3 -t 60", "sleep 900", name="filler")
    c.wait_state(other, "RUNNING", LONG)
    check(indices(c, other) == {"n2": "1-3"}, "GPUs 1 to 3 of n2", indices(c, other))
    look(c)
    saved_since(c, changed)
    c.kill9_ctld()
    c.start_ctld()
    spread.holds({"n1": "0-1", "n3": "2-3"})
    c.expect(lambda: used(c, "n3"), "0-3", "what Slurm counts as taken on n3", LONG)
    look(c)
    intruder = c.sbatch("-w n3 -N1 -n1 --gpus=a100:1 -t 60", "sleep 900", name="filler")
    steps.published_again(c) if c.flavour == "rubato" else time.sleep(5)
    state = c.job(intruder)["JobState"]
    check(state == "PENDING", "no other job to get a GPU of the job", f"{state} {indices(c, intruder)}")
    c.say("A GPU of another job goes to it")
    c.cmd(f"scancel {spread.fillers[1]}")
    c.wait_state(intruder, "RUNNING", LONG)
    check(indices(c, intruder) == {"n3": "0"}, "GPU 0 of n3", indices(c, intruder))
    spread.lives_on("n1")
    spread.lives_on("n3")
    look(c)
    spread.end()
    look(c)


def stock(c):
    """Stock Slurm, which keeps the GPUs of a request in the order of the old nodes"""
    c.use_plugins("stock")


@scenario(cluster="shrink", needs=["rubato"], negative=stock, timeout=240)
def gpus_of_a_shrunk_job_survive_a_kill(c):
    """A job gives back its middle node, and its GPUs stay its own when slurmctld is killed

    An admin sees: scontrol update JobId=... NodeList=n1,n3 frees the GPUs of n2 at once. The tasks on the
    other nodes go on.
    """
    middle_node_goes(c, lambda c: None)


@scenario(cluster="shrink", needs=["rubato"], negative="shrink-repair", timeout=240)
def records_agree_after_a_shrink(c):
    """slurmctld's records of nodes, jobs and steps agree after each step of the same"""
    middle_node_goes(c, agrees)


@scenario(cluster="shrink", needs=["rubato"], negative="shrink-repair", timeout=240)
def second_shrink_works_without_slurmdbd(c):
    """Rubato takes a second node from a job, which Slurm 22.05 refuses without slurmdbd"""
    spread = Spread(c, 4)
    spread.holds({"n1": "0-1", "n2": "1-2", "n3": "2-3", "n4": "0-1"})
    for nodes, wanted in ((3, {"n1": "0-1", "n3": "2-3", "n4": "0-1"}), (2, {"n1": "0-1", "n4": "0-1"})):
        mark = c.log_mark()
        c.write_rubato_conf(steps.conf(f"TestInject=check-gres,shrink-to:{nodes}"))
        c.wait(lambda since=mark: c.log_has(r"shrank JobId|keeps its nodes", since), LONG, "an answer")
        c.say("\n".join(c.log_lines(r"shrank JobId|keeps its nodes", mark)[:3]))
        check(c.log_has(r"shrank JobId", mark), "Slurm to take the node",
              c.log_lines(r"keeps its nodes", mark)[:1])
        spread.holds(wanted)
        for name in wanted:
            spread.lives_on(name)
    agrees(c)
    spread.ended_on("n2")
    spread.ended_on("n3")
    c.write_rubato_conf(CHECKED)
    spread.end()
    agrees(c)


LIVE = "--comment='rubato: gpus=2,4,6,8;resize=live;checkpoint=B:USR1@4'"


@scenario(cluster="shrink", needs=["rubato"], negative="restart", timeout=240)
def a_running_job_gives_back_nodes(c):
    """`rubato resize` takes two nodes from a job on four, then one more, after its checkpoint signal

    The nodes that no other job uses come back. The tasks on the other nodes go on, a job that waits
    gets the GPUs, the records agree, and a requeue asks for the submitted size again.
    """
    signals = c.path("out", c.fresh_name("signals"))
    spread = Spread(c, 4, LIVE, f"trap 'echo saved >>{signals}' USR1\n")
    job = spread.job
    asked = c.job(job)["TresPerNode"]
    spread.holds({"n1": "0-1", "n2": "1-2", "n3": "2-3", "n4": "0-1"})
    waits = c.sbatch("-w n4 -N1 -n1 --gpus=a100:4 -t 60", "sleep 900", name="filler")
    for gpus, words in ((10, "not one of its sizes, 2,4,6,8"), (5, "not one of its sizes, 2,4,6,8")):
        said = c.cmd(f"rubato resize {job} --gpus {gpus} --live", check=False)
        check(words in said, words, said)
    said = c.cmd(f"rubato resize {job} --gpus 4 --dry-run")
    check("it keeps n1,n2: signal, 4 s to save, then n3,n4 go back" in said, "the nodes", said)
    spread.lives_on("n3")

    said = c.cmd(f"rubato resize {job} --gpus 4", timeout=90)
    check("runs on with 4 GPUs" in said, "4 GPUs", said)
    spread.holds({"n1": "0-1", "n2": "1-2"})
    c.wait(lambda: os.path.exists(signals), LONG, "the job to see the signal")
    for name in ("n3", "n4"):
        spread.ended_on(name)
    for name in ("n1", "n2"):
        spread.lives_on(name)
    c.wait_state(waits, "RUNNING", LONG)
    agrees(c)
    said = c.cmd(f"rubato resize {job} --gpus 2", timeout=90)
    check("runs on with 2 GPUs" in said, "2 GPUs", said)
    spread.holds({"n1": "0-1"})
    spread.lives_on("n1")
    agrees(c)
    check(c.job(job)["Restarts"] == "0", "no restart", c.job(job)["Restarts"])
    with open(c.path("state/rubato/interruptions.log"), encoding="utf-8") as file:
        lines = file.read()
    c.say(lines)
    told = re.findall(rf"JobId={job} shrink=(\w+)", lines)
    check(told == ["saving", "done"] * 2, "two shrinks", lines)

    c.cmd(f"scancel {waits}")
    c.cmd(f"scontrol requeue {job}")
    c.expect(lambda: c.job(job).get("Restarts"), "1", "restarts", LONG)
    c.expect(lambda: (c.job(job)["TresPerNode"], c.job(job)["NumNodes"].split("-")[0]), (asked, "4"),
             "the submitted request", LONG)
    c.cmd(f"scontrol show job {job} | grep -E 'JobState|NumNodes|TresPer|ReqNodeList'")
    c.cmd(f"scancel {job}")
    spread.end()
