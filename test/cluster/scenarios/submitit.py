# SPDX-License-Identifier: GPL-2.0-or-later
"""The recipe of contrib/submitit, run as its user would."""
import importlib.util
import pathlib
import re
import shutil

from cluster import check, scenario

from .restart import steps_of
from .sizes import total
from .steps import started_by

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODEL = """import os, time
if "RUBATO_GPUS" in os.environ:
    print("begins with", os.environ["RUBATO_GPUS"], os.environ["RUBATO_GPU_TYPE"], flush=True)
def train_one_batch():
    time.sleep(0.05)
    return 1.0
def save_model():
    print("saved", flush=True)
"""


def recipe():
    """The Python program in README.md."""
    text = (ROOT / "contrib/submitit/README.md").read_text(encoding="utf-8")
    return re.search(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1]


def program(c, name, text):
    """Writes the program and what it imports; returns its folder."""
    folder = pathlib.Path(c.path("out", name))
    folder.mkdir()
    c.defer(lambda: shutil.rmtree(folder))
    (folder / "train.py").write_text(text, encoding="utf-8")
    (folder / "model.py").write_text(MODEL, encoding="utf-8")
    shutil.copy(ROOT / "contrib/python/rubato.py", folder)
    if importlib.util.find_spec("submitit") is None:
        c.say("submitit is not installed: its interface is played by test/python/submitit_interface.py")
        shutil.copy(ROOT / "test/python/submitit_interface.py", folder / "submitit.py")
    return folder


def printed(folder, job):
    """What the function printed in the job, in all its runs."""
    files = folder.glob(f"log/{job}_0_log.out")
    return "".join(file.read_text(encoding="utf-8") for file in files)


@scenario(cluster="spank", needs=["rubato", "spank"], negative="restart", timeout=180)
def a_submitit_job_has_hints_and_restarts(c):
    """The program of contrib/submitit: sbatch takes its hints, Rubato starts it, and restarts it with 2 GPUs

    The function gets the signal, saves, and is called again with the samples that it had. gpus_per_node instead of gpus
    is refused with the sizes that are left, and a wrong hint with the nearest valid one.
    """
    name = c.fresh_name("submitit")
    text = recipe().replace("resnet50", name)
    folder = program(c, name, text)
    run = f"cd {folder} && RUBATO_REPORT_INTERVAL=1 PYTHONPATH={folder} python3 train.py"
    job = int(c.cmd(run).split()[-1])
    c.wait_state(job, "RUNNING", 60)
    started_by(c, job, "rubato")
    hints = c.job(job)["Comment"]
    for hint in (f"job-type={name}", "gpus=1,2,4,8", "gpu-types=h100/a100", "samples=1.28e8", "checkpoint=USR1@60",
                 "resize=restart"):
        check(hint in hints, f"the hint {hint} in the comment", hints)
    c.wait(lambda: "begins with 4 h100" in printed(folder, job), 60, "the function to run with 4 h100")
    c.wait(lambda: re.search(r"samples=[1-9]", c.job(job).get("SystemComment", "")), 60, "a report of the function")
    said = c.cmd(f"rubato resize {job} --gpus 2", timeout=90)
    check("runs with 2 " in said, "2 GPUs", said)
    c.wait(lambda: printed(folder, job).count("begins with") == 2, 60, "the function to be called again")
    check("saved\nbegins with 2 " in printed(folder, job), "to save before, and 2 GPUs then", printed(folder, job))
    check(total(c, job) == 2, "2 GPUs allocated", c.gpus(job))
    check(steps_of(c, job)[:3] == ["saving", "requeued", "done"], "three steps of a restart", steps_of(c, job))
    c.cmd(f"scancel {job}")

    (folder / "train.py").write_text(text.replace('"gpus": "4"', '"gpus-per-node": "4"'), encoding="utf-8")
    said = c.cmd(run, check=False)
    check(said.rc != 0 and "write --dl-gpus=4,8" in said, "the sizes that are left", said)
    (folder / "train.py").write_text(text.replace('"restart"', '"restrt"'), encoding="utf-8")
    said = c.cmd(run, check=False)
    check(said.rc != 0 and "did you mean restart?" in said, "the nearest valid word", said)
