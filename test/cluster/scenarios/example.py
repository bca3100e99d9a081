# SPDX-License-Identifier: GPL-2.0-or-later
"""The worked examples of docs/examples/ddp: PyTorch, restarted at another number of processes or resized live."""
import os
import pathlib
import re
import shutil
import subprocess

from cluster import check, scenario, shape
from cluster.slurmconf import Nodes

from . import steps
from .restart import LONG
from .shrink import CHECKED, agrees
from .sizes import total
from .steps import conf

shape("pairs", nodes=(Nodes("n[1-2]", "a100:2"),), load=False, rubato_conf=CHECKED)

SOURCE = pathlib.Path(__file__).resolve().parents[3]


def example(c, *more):
    """A folder of its own with the example, rubato.py and further files of contrib/. Fails without PyTorch."""
    there = c.ask("/usr/bin/python3 -c 'import torch'", check=False)
    check(there.rc == 0, "PyTorch, for these scenarios alone: apt-get install python3-torch", there)
    folder = c.path("out", c.fresh_name("ddp"))
    shutil.copytree(SOURCE / "docs/examples/ddp", folder)
    for file in ("python/rubato.py", *more):
        shutil.copy(SOURCE / "contrib" / file, folder)
    os.chmod(folder, 0o777)
    return folder


def output_of(folder):
    path = os.path.join(folder, "out.txt")
    return pathlib.Path(path).read_text(encoding="utf-8") if os.path.exists(path) else ""


def losses(text):
    """{step: loss} of each run in the output of the example."""
    return [dict((int(step), float(loss)) for step, loss in re.findall(r"^step (\d+) loss (\S+)", run, re.MULTILINE))
            for run in re.split(r"^(?:process \d+ )?begins at step .*$", text, flags=re.MULTILINE)[1:]]


@scenario(cluster="jobs", needs=["rubato"], negative="restart", timeout=240, tier=2)
def a_ddp_training_goes_on_at_another_size(c):
    """PyTorch DDP on four processes goes on with two, then with four, from its checkpoint: the loss goes on

    The second run begins at the step that the first one saved after its signal, and with its loss.
    """
    c.write_rubato_conf(conf("MessageInterval=0"))
    folder = example(c)
    # srun gives every process a core; the processes of all tests share the cores of this machine.
    job = c.ask(f"cd {folder} && sbatch --parsable -o out.txt job.sh --steps 100000 --pause 0.01").split()[-1]

    def printed():
        return output_of(folder)
    try:
        for run, (gpus, why) in enumerate(((4, ""), (2, ", restarted by resize"), (4, ", restarted by resize"))):
            c.wait(lambda n=run, g=gpus, w=why: re.search(
                rf"^begins at step \d+ with {g} processes{w}$", printed(), re.MULTILINE) and len(losses(printed())) > n
                and len(losses(printed())[n]) >= 4, 3 * LONG, f"run {run} to train with {gpus} processes")
            check(total(c, job) == gpus, f"{gpus} GPUs", total(c, job))
            if run < 2:
                c.cmd(f"rubato resize {job} --gpus {2 if gpus == 4 else 4} --restart", timeout=120)
    finally:
        c.say(printed())
    saved = [int(step) for step in re.findall(r"^saved step (\d+)$", printed(), re.MULTILINE)]
    began = [int(step) for step in re.findall(r"^begins at step (\d+)", printed(), re.MULTILINE)]
    check(len(saved) == 2 and began == [0] + saved, "each run to begin at the step that was saved", (saved, began))
    for before, after in zip(losses(printed()), losses(printed())[1:]):
        last, first = list(before.values())[-1], list(after.values())[0]
        start = list(losses(printed())[0].values())[0]
        check(first < 2 * last + 0.05 and first < start, "a loss that goes on", (start, last, first))
    c.cmd(f"scancel {job}")


def alone(folder, steps):
    """The loss of each printed step in the same training without Slurm, as one process from start to end."""
    made = subprocess.run(["/usr/bin/python3", "live.py", "--steps", str(steps), "--checkpoint", "alone.pt"],
                          cwd=folder, capture_output=True, text=True, check=True,
                          env={"PATH": os.environ["PATH"], "MASTER_ADDR": "127.0.0.1", "FIRST_PORT": "19999"})
    return losses(made.stdout)[0]


@scenario(cluster="pairs", needs=["rubato"], negative="grow", timeout=300, tier=2)
def a_ddp_training_changes_its_size_live(c):
    """PyTorch DDP on one GPU gets a second and two of another node, and gives that node back, while it trains

    Process 0 stays the same one. The loss is that of a training which no one resized.
    """
    folder = example(c)
    job = c.ask(f"cd {folder} && sbatch --parsable -o out.txt live.sh --steps 100000 --pause 0.02").split()[-1]

    def printed():
        return output_of(folder)

    def goes_on():
        return re.findall(r"^process (\d+) goes on at step \d+ with (\d+) processes instead of (\d+) after (\S+) s$",
                          printed(), re.MULTILINE)
    try:
        c.wait(lambda: "step 50 loss" in printed(), 3 * LONG, "the training to begin")
        before = 1
        for number, gpus in enumerate((2, 4, 2)):
            steps.published_again(c)
            c.cmd(f"rubato resize {job} --gpus {gpus} --live", timeout=120)
            c.wait(lambda n=number: len(goes_on()) > n, 2 * LONG, f"the training to go on with {gpus} processes")
            check(goes_on()[-1][1:3] == (str(gpus), str(before)), f"{gpus} processes instead of {before}", goes_on())
            c.expect(lambda: total(c, job), gpus, "GPUs of the job", LONG)
            done = max(losses(printed())[0])
            c.wait(lambda d=done: max(losses(printed())[0]) >= d + 100, 2 * LONG, "a hundred more steps")
            before = gpus
        agrees(c)
    finally:
        c.say(printed())
    pids = set(re.findall(r"^process (\d+)", printed(), re.MULTILINE))
    check(len(pids) == 1, "one process 0 from start to end", pids)
    mine = losses(printed())[0]
    other = alone(folder, max(mine))
    check(set(mine) == set(other), "each step once", (sorted(mine), sorted(other)))
    worst = max(abs(mine[step] - other[step]) / other[step] for step in mine)
    c.say(f"steps {max(mine)}, largest difference of a loss {100 * worst:.2f} %")
    check(worst < 0.02, "the loss of a training of one size", worst)
    c.cmd(f"scancel {job}")


@scenario(cluster="pairs", needs=["rubato"], negative="grow", timeout=300, tier=2)
def torchrun_goes_on_when_gpus_come_and_go(c):
    """rubato-torchrun starts a PyTorch program on one GPU, on two, on four of two nodes, and on two again

    Each run begins at the step that the one before saved, in the same job, and its loss is that of a training
    which no one resized.
    """
    folder = example(c, "torchrun/rubato-torchrun")
    # PyTorch 1.13 with Python 3.11 takes --redirects=0, its default, for nothing; a map without this process works.
    job = c.ask(f"cd {folder} && TORCHRUN='torchrun --redirects=9:1 --tee=9:1' sbatch --parsable -o out.txt torchrun.sh --steps 100000 --pause 0.02").split()[-1]

    def printed():
        return output_of(folder)

    def began():
        return [tuple(map(int, pair)) for pair in
                re.findall(r"^begins at step (\d+) with (\d+) processes$", printed(), re.MULTILINE)]
    try:
        for number, gpus in enumerate((1, 2, 4, 2)):
            if number:
                steps.published_again(c)
                c.cmd(f"rubato resize {job} --gpus {gpus} --live", timeout=120)
            c.wait(lambda n=number: len(losses(printed())) > n and len(losses(printed())[n]) >= 2, 3 * LONG,
                   f"run {number} to train")
            check(began()[-1][1] == gpus, f"{gpus} processes", began())
            c.expect(lambda: total(c, job), gpus, "GPUs of the job", LONG)
        agrees(c)
    finally:
        c.say(printed())
    saved = [int(step) for step in re.findall(r"^saved step (\d+)$", printed(), re.MULTILINE)]
    check([step for step, _ in began()] == [0] + saved, "each run to begin at the step that was saved", (saved, began()))
    check(c.job(job).get("Restarts") == "0", "one run of the job", c.job(job).get("Restarts"))
    runs = losses(printed())
    other = alone(folder, max(runs[-1]))
    for run in runs:
        worst = max(abs(run[step] - other[step]) / other[step] for step in run)
        check(worst < 0.02, "the loss of a training of one size", worst)
    c.cmd(f"scancel {job}")
