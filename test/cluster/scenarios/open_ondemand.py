# SPDX-License-Identifier: GPL-2.0-or-later
"""The app of contrib/openondemand: what its form makes of a user's fields, submitted as Open OnDemand does."""
import json
import pathlib
import re
import shlex
import shutil

from cluster import Skip, check, scenario

from .sizes import total
from .spank import no_plugstack
from .steps import started_by

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = """import os, time
import rubato
print("begins with", os.environ["RUBATO_GPUS"], os.environ["RUBATO_GPU_TYPE"], flush=True)
with rubato.training(batch=256, signal="USR1", progress_file="progress.json") as run:
    while True:
        time.sleep(0.05)
        run.step(samples=256)
        if run.should_checkpoint:
            with run.checkpointing():
                print("saved", flush=True)
"""


def submit(c, folder, values, wrong=False):
    """The job's id, or what sbatch said of a wrong field. Options and their order: ood_core's adapter for Slurm."""
    at = shlex.quote(str(folder))
    (folder / "values.json").write_text(json.dumps({"folder": str(folder), **values}), encoding="utf-8")
    made = json.loads(c.ask(f"ruby {ROOT}/test/python/open_ondemand.rb {ROOT}/contrib/openondemand < {at}/values.json"))
    (folder / "job.sh").write_text(made["script"], encoding="utf-8")
    native = " ".join(shlex.quote(word) for word in made["submit"]["script"]["native"])
    said = c.cmd(f"sbatch -D {at} -J sys/dashboard/training -o {at}/output.log -t 01:00:00 --export NONE {native} "
                 f"--parsable < {at}/job.sh", check=not wrong)
    return said if wrong else int(said.split()[-1])  # Open OnDemand reads standard output only


@scenario(cluster="spank", needs=["rubato", "spank"], negative=no_plugstack, timeout=180)
def a_form_of_open_ondemand_gives_hints(c):
    """Fields of the form of contrib/openondemand are hints of the job, which Rubato starts and restarts with 2 GPUs

    Empty fields give no hint, and a wrong one is refused with the nearest valid one.
    """
    if shutil.which("ruby") is None:
        raise Skip("ruby is not installed")
    name = c.fresh_name("form")
    folder = pathlib.Path(c.path("out", f"{name} of a user's"))
    folder.mkdir()
    c.defer(lambda: shutil.rmtree(folder))
    (folder / "train.py").write_text(PROGRAM, encoding="utf-8")
    shutil.copy(ROOT / "contrib/python/rubato.py", folder)

    def printed():
        file = folder / "output.log"
        return file.read_text(encoding="utf-8") if file.exists() else ""

    fields = {"command": "env RUBATO_REPORT_INTERVAL=1 python3 train.py", "gpus": "4", "dl_job_type": name,
              "dl_gpus": "1,2,4", "dl_gpu_types": "h100/a100", "dl_samples": "1.28e8", "dl_checkpoint": "USR1@60",
              "dl_resize": "restart"}
    job = submit(c, folder, fields)
    c.wait_state(job, "RUNNING", 60)
    started_by(c, job, "rubato")
    hints = c.job(job)["Comment"]
    for hint in (f"job-type={name}", "gpus=1,2,4", "gpu-types=h100/a100", "samples=1.28e8", "checkpoint=USR1@60",
                 "resize=restart"):
        check(hint in hints, f"the hint {hint} in the comment", hints)
    c.wait(lambda: "begins with 4 h100" in printed(), 60, "the program to run with 4 h100")
    c.wait(lambda: re.search(r"samples=[1-9]", c.job(job).get("SystemComment", "")), 60, "a report of the program")
    said = c.cmd(f"rubato resize {job} --gpus 2", timeout=90)
    check("runs with 2 " in said, "2 GPUs", said)
    c.expect(printed, lambda text: text.count("begins with") == 2, "the program to run again", 60)
    check(re.search(r"begins with 4 .*saved\n.*begins with 2 ", printed(), re.DOTALL),
          "to save before, and 2 GPUs then", printed())
    check(total(c, job) == 2, "2 GPUs allocated", c.gpus(job))
    c.cmd(f"scancel {job}")

    plain = submit(c, folder, {"command": "true"})
    check("rubato:" not in c.job(plain).get("Comment", ""), "no hint", c.job(plain))
    said = submit(c, folder, {**fields, "dl_resize": "restrt"}, wrong=True)
    check(said.rc != 0 and "did you mean restart?" in said, "the nearest valid word", said)
