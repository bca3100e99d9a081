# SPDX-License-Identifier: GPL-2.0-or-later
"""Stands for submitit (Debian has no package of it) in the test of contrib/submitit: the documented calls that the
recipe uses, and the batch script that submitit's documentation says they make.

    AutoExecutor(folder), update_parameters(**), submit(function, *arguments) -> job with job_id

update_parameters takes generic names (timeout_min, nodes, gpus_per_node, ...) and names of sbatch behind slurm_; a name
that it does not know is an error. slurm_additional_parameters: a dictionary, each entry one `#SBATCH --KEY=VALUE`, or
`#SBATCH --KEY` for True. The job sends USR2 90 s before its time limit, appends to its output, and calls the function
in a step of srun.
"""
import os
import pathlib
import pickle
import re
import shlex
import subprocess
import sys

GENERIC = {"name": "job-name", "timeout_min": "time", "mem_gb": "mem", "nodes": "nodes",
           "cpus_per_task": "cpus-per-task", "gpus_per_node": "gpus-per-node", "tasks_per_node": "ntasks-per-node"}
SLURM = ("account", "comment", "constraint", "partition", "qos")


class FailedJobError(RuntimeError):
    """sbatch refused the job; its words."""


class Job:
    def __init__(self, job_id):
        self.job_id = job_id


class AutoExecutor:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.options = {}

    def update_parameters(self, **parameters):
        for name, value in parameters.items():
            if name in GENERIC:
                self.options[GENERIC[name]] = value
            elif name == "slurm_additional_parameters":
                self.options.update({key.replace("_", "-"): word for key, word in value.items()})
            elif name.startswith("slurm_") and name[6:] in SLURM:
                self.options[name[6:]] = value
            else:
                raise NameError(f"unknown parameter {name}")

    def script(self, pickled):
        folder = os.path.abspath(self.folder)
        options = {"job-name": "submitit", "nodes": 1, "time": 5, "signal": "USR2@90", "open-mode": "append",
                   "wckey": "submitit", "output": f"{folder}/%j_0_log.out", "error": f"{folder}/%j_0_log.err",
                   **self.options}
        lines = [f"#SBATCH --{key}" if value is True else f"#SBATCH --{key}={shlex.quote(str(value))}"
                 for key, value in sorted(options.items())]
        logs = f"--output {folder}/%j_%t_log.out --error {folder}/%j_%t_log.err"
        command = " ".join(map(shlex.quote, (sys.executable, "-u", __file__, str(pickled))))
        return "\n".join(["#!/bin/bash", *lines, f"srun --unbuffered {logs} {command}", ""])

    def submit(self, function, *arguments):
        folder = self.folder
        folder.mkdir(parents=True, exist_ok=True)
        pickled = folder.absolute() / "call.pkl"
        # A function of the program itself is pickled by its file and name.
        main = os.path.abspath(sys.modules[function.__module__].__file__)
        pickled.write_bytes(pickle.dumps((main, function.__name__, arguments)))
        file = folder / "submission.sh"
        file.write_text(self.script(pickled), encoding="utf-8")
        done = subprocess.run(["sbatch", str(file)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise FailedJobError(done.stderr)
        return Job(re.search(r"job (\d+)", done.stdout)[1])


def call(pickled):
    """In the job: calls the function, whose program must not submit again."""
    main, name, arguments = pickle.loads(pathlib.Path(pickled).read_bytes())
    sys.path.insert(0, os.path.dirname(main))
    source = pathlib.Path(main).read_text(encoding="utf-8").split("\nexecutor = ")[0]
    space = {"__name__": "in_the_job", "__file__": main}
    exec(compile(source, main, "exec"), space)  # pylint: disable=exec-used
    print("returned", space[name](*arguments), flush=True)


if __name__ == "__main__":
    call(sys.argv[1])
