# SPDX-License-Identifier: GPL-2.0-or-later
"""The worked example of docs/examples/ddp: PyTorch, restarted at another number of processes."""
import os
import pathlib
import re
import shutil

from cluster import check, scenario

from .restart import LONG
from .sizes import total
from .steps import conf

SOURCE = pathlib.Path(__file__).resolve().parents[3]


def losses(text):
    """{step: loss} of each run in the output of the example."""
    return [dict((int(step), float(loss)) for step, loss in re.findall(r"^step (\d+) loss (\S+)", run, re.MULTILINE))
            for run in re.split(r"^begins at step .*$", text, flags=re.MULTILINE)[1:]]


@scenario(cluster="jobs", needs=["rubato"], negative="restart", timeout=240, tier=2)
def a_ddp_training_goes_on_at_another_size(c):
    """PyTorch DDP on four processes goes on with two, then with four, from its checkpoint: the loss goes on

    The second run begins at the step that the first one saved after its signal, and with its loss.
    """
    there = c.ask("/usr/bin/python3 -c 'import torch'", check=False)
    check(there.rc == 0, "PyTorch, for this scenario alone: apt-get install python3-torch", there)
    c.write_rubato_conf(conf("MessageInterval=0"))
    folder = c.path("out", c.fresh_name("ddp"))
    shutil.copytree(SOURCE / "docs/examples/ddp", folder)
    shutil.copy(SOURCE / "contrib/python/rubato.py", folder)
    os.chmod(folder, 0o777)
    # srun gives every process a core; the processes of all tests share the cores of this machine.
    job = c.ask(f"cd {folder} && sbatch --parsable -o out.txt job.sh --steps 100000 --pause 0.01").split()[-1]

    def printed():
        path = os.path.join(folder, "out.txt")
        return pathlib.Path(path).read_text(encoding="utf-8") if os.path.exists(path) else ""
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
