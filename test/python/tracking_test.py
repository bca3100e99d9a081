# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs of contrib/tracking, on modules that play the calls of W&B and MLflow that they use."""
import os
import pathlib
import re
import sys
import types
import unittest
from unittest import mock

ROOT = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"])
sys.path.insert(0, str(ROOT / "contrib/python"))

FIRST = {"RUBATO_GPUS": "4", "RUBATO_GPU_TYPE": "h100", "RUBATO_BATCH": "256", "RUBATO_PLAN": "dp"}
SECOND = {**FIRST, "RUBATO_GPUS": "2", "RUBATO_RESTART_REASON": "round", "RUBATO_RESIZE_COUNT": "1",
          "SLURM_RESTART_COUNT": "1"}
JOB = {"SLURM_JOB_ID": "7", "SLURM_CLUSTER_NAME": "c1"}


class Config(dict):
    """wandb.Config: a value that is there already changes with allow_val_change only."""

    def update(self, values, allow_val_change=False):
        for name, value in values.items():
            if name in self and self[name] != value and not allow_val_change:
                raise ValueError(f"config item '{name}' cannot be changed")
            self[name] = value


class Wandb(types.ModuleType):
    """wandb.init(project, id, resume="allow"): the run of that id, a new one if there is none."""

    def __init__(self):
        super().__init__("wandb")
        self.runs = {}

    def init(self, project, id, resume):  # pylint: disable=redefined-builtin
        assert resume == "allow" and not set(id) & set("/\\#?%:"), (resume, id)
        return self.runs.setdefault((project, id), types.SimpleNamespace(tags=None, config=Config()))


class Mlflow(types.ModuleType):
    """Runs with tags and metrics; search_runs by one tag."""

    def __init__(self):
        super().__init__("mlflow")
        self.runs, self.active, self.experiment = [], None, None

    def set_experiment(self, name):
        self.experiment = name

    def search_runs(self, filter_string, output_format):
        assert output_format == "list"
        name, value = re.fullmatch(r"tags\.(\w+) = '([^']*)'", filter_string).groups()
        return [run for run in reversed(self.runs) if run.tags.get(name) == value and run.experiment == self.experiment]

    def start_run(self, run_id=None):
        if run_id is None:
            self.runs.append(types.SimpleNamespace(info=types.SimpleNamespace(run_id=f"r{len(self.runs)}"), tags={},
                                                   metrics=[], experiment=self.experiment))
            self.active = self.runs[-1]
        else:
            self.active, = (run for run in self.runs if run.info.run_id == run_id)
        return self.active

    def set_tags(self, tags):
        self.active.tags.update({name: str(value) for name, value in tags.items()})

    def log_metric(self, key, value, step=None):
        self.active.metrics.append((key, float(value), step))


class Tracking(unittest.TestCase):
    def setUp(self):
        text = (ROOT / "contrib/tracking/README.md").read_text(encoding="utf-8")
        self.programs = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)

    def play(self, module, *environments):
        """Runs the program that imports module once in each environment."""
        program, = (text for text in self.programs if f"import {module.__name__}\n" in text)
        for environment in environments:
            with mock.patch.dict(sys.modules, {module.__name__: module}), \
                    mock.patch.dict(os.environ, {**JOB, **environment}, clear=True):
                exec(compile(program, "README.md", "exec"), {})  # pylint: disable=exec-used

    def test_wandb_has_one_run_with_each_size_as_a_tag(self):
        wandb = Wandb()
        self.play(wandb, FIRST, SECOND, SECOND)
        run, = wandb.runs.values()
        self.assertEqual([("training", "c1-7")], list(wandb.runs))
        self.assertEqual(("gpus=4", "gpu_type=h100", "plan=dp", "gpus=2"), run.tags)
        self.assertEqual({"rubato_gpus": 2, "rubato_gpu_type": "h100", "rubato_batch": 256, "rubato_plan": "dp",
                          "rubato_restart_reason": "round", "rubato_resize_count": 1}, run.config)

    def test_mlflow_has_one_run_with_the_last_size_as_a_tag(self):
        mlflow = Mlflow()
        self.play(mlflow, FIRST, SECOND)
        run, = mlflow.runs
        self.assertEqual({"slurm_job": "c1-7", "rubato.gpus": "2", "rubato.gpu_type": "h100", "rubato.batch": "256",
                          "rubato.plan": "dp", "rubato.restart_reason": "round", "rubato.resize_count": "1"}, run.tags)
        self.assertEqual([("gpus", 4.0, 0), ("gpus", 2.0, 1)], run.metrics)

    def test_other_jobs_are_other_runs(self):
        wandb, mlflow = Wandb(), Mlflow()
        for module in (wandb, mlflow):
            self.play(module, FIRST, {**FIRST, "SLURM_JOB_ID": "8"})
            self.assertEqual(2, len(module.runs))

    def test_a_job_of_stock_slurm_has_no_facts(self):
        wandb, mlflow = Wandb(), Mlflow()
        self.play(wandb, {})
        self.play(mlflow, {})
        run, = wandb.runs.values()
        self.assertEqual(((), {"rubato_resize_count": 0}), (run.tags, run.config))
        self.assertEqual({"slurm_job": "c1-7", "rubato.resize_count": "0"}, mlflow.runs[0].tags)


if __name__ == "__main__":
    unittest.main()
