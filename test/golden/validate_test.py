#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`rubato validate` on the measured data, which the project does not ship: RUBATO_DATA, or shared/data beside it.

The gates hold, a repetition gives the same bytes, and other names of models, applications and GPU types in a copy
of the data give the same figures."""
import csv
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import golden  # noqa: E402

SOURCE = pathlib.Path(os.environ.get("RUBATO_SOURCE_DIR", golden.HERE.parent.parent))
DATA = pathlib.Path(os.environ.get("RUBATO_DATA", SOURCE.parent / "shared/data"))
PARTS = ("gavel", "rubick", "sia")
PLACE = "_unconsolidated"


class Names:
    """Another name for each name, the same wherever it stands; their order is turned round."""

    def __init__(self, names, letter):
        ordered = sorted(names, reverse=True)
        self.new = {name: f"{letter}{number:03d}" for number, name in enumerate(ordered)}

    def __getitem__(self, name):
        return self.new[name]


def rename_gavel(source, target):
    """{GPU type: {(job, scale): {partner: figures}}}; a job is "APP (batch size B)"."""
    data = json.loads((source / "simulation_throughputs.json").read_text())

    def app_of(name):
        return re.fullmatch(r"(.*?)( \(batch size \d+\))?", name).groups()
    jobs = {re.fullmatch(r"\('(.*)', (\d+)\)", key)[1] for cells in data.values() for key in cells}
    apps = Names({app_of(job)[0] for job in jobs}, "app")
    types = Names({gpu.removesuffix(PLACE) for gpu in data}, "gpu")

    def key(name):
        match = re.fullmatch(r"\('(.*)', (\d+)\)", name)
        if match is None:
            return name
        app, batch = app_of(match[1])
        return f"('{apps[app]}{batch or ''}', {match[2]})"
    renamed = {}
    for gpu, cells in data.items():
        new = types[gpu.removesuffix(PLACE)] + (PLACE if gpu.endswith(PLACE) else "")
        renamed[new] = {key(job): {key(other): value for other, value in partners.items()}
                        for job, partners in cells.items()}
    target.mkdir(parents=True)
    (target / "simulation_throughputs.json").write_text(json.dumps(renamed, indent=1))


def rename_sia(source, target):
    """traces/APP/KIND-TYPE.csv; the number after validation- is a batch."""
    folders = sorted(path for path in (source / "traces").iterdir() if path.is_dir())
    apps = Names({folder.name for folder in folders}, "app")
    found = {re.fullmatch(r"(?:placements|scalability)-(.*)\.csv", file.name)
             for folder in folders for file in folder.iterdir()}
    types = Names({match[1] for match in found if match}, "gpu")
    for folder in folders:
        new = target / "traces" / apps[folder.name]
        new.mkdir(parents=True)
        for file in folder.iterdir():
            match = re.fullmatch(r"(placements|scalability)-(.*)\.csv", file.name)
            name = f"{match[1]}-{types[match[2]]}.csv" if match else file.name
            shutil.copyfile(file, new / name)


def rename_rubick(source, target):
    """perf_model_validation/MODEL, profiles/MODEL, and the models of history.csv."""
    parts = [source / "perf_model_validation", source / "profiles"]
    models = Names({folder.name for part in parts for folder in part.iterdir() if folder.is_dir()}, "model")
    for part in parts:
        for folder in part.iterdir():
            if folder.is_dir():
                shutil.copytree(folder, target / part.name / models[folder.name])
    history = parts[0] / "history.csv"
    with open(history, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    at = rows[0].index("model")
    for row in rows[1:]:
        row[at] = models.new.get(row[at], row[at])
    with open(target / parts[0].name / "history.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    if (source / "env_params.json").exists():
        shutil.copyfile(source / "env_params.json", target / "env_params.json")


def cells_of(document):
    """Cells without names, in an order that does not come from names."""
    return sorted([cell["source"], cell["fit_samples"], cell["test_rows"], cell["mean_error"], cell["max_error"]]
                  for cell in document["cells"])


def close(one, other):
    """Equal but for the last digits of sums, whose order follows the names."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(close(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(close, one, other))
    if isinstance(one, (bool, str)):
        return one == other
    return math.isclose(one, other, rel_tol=1e-7, abs_tol=1e-9)


@unittest.skipUnless(all((DATA / part).is_dir() for part in PARTS), "no shared data")
class Validate(unittest.TestCase):
    """Each run takes a while: one serves all tests but the two that need another."""

    @classmethod
    def setUpClass(cls):
        cls.first = cls.run_validate(DATA)

    @staticmethod
    def run_validate(folder):
        done = subprocess.run([golden.program(), "validate", "--data", str(folder), "--json"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              env={**os.environ, "RUBATO_TESTING": "1", "RUBATO_NOW": "1767225600"})
        return done

    def test_the_gates_hold(self):
        self.assertEqual(b"", self.first.stderr)
        gates = json.loads(self.first.stdout)["summary"]["gates"]
        self.assertGreaterEqual(len(gates), 4)
        for gate in ("rubick_split_mean", "rubick_split_nearest", "rubick_split_max"):
            self.assertIn(gate, gates)
        self.assertEqual([], [name for name, holds in gates.items() if not holds])
        self.assertEqual(0, self.first.returncode)

    def test_a_repetition_gives_the_same_bytes(self):
        self.assertEqual(self.first.stdout, self.run_validate(DATA).stdout)

    def test_names_do_not_matter(self):
        with tempfile.TemporaryDirectory() as folder:
            target = pathlib.Path(folder)
            rename_gavel(DATA / "gavel", target / "gavel")
            rename_sia(DATA / "sia", target / "sia")
            rename_rubick(DATA / "rubick", target / "rubick")
            if (DATA / "pollux").is_dir():
                rename_sia(DATA / "pollux", target / "pollux")
            renamed = self.run_validate(target)
        self.assertEqual((self.first.returncode, b""), (renamed.returncode, renamed.stderr))
        before, after = json.loads(self.first.stdout), json.loads(renamed.stdout)
        old, new = ({(cell["source"], cell["model"]) for cell in document["cells"]
                     if cell["source"] not in ("bert", "left-out")}
                    for document in (before, after))
        self.assertEqual(set(), old & new)
        self.assertEqual(len(old), len(new))
        self.assertTrue(close(cells_of(before), cells_of(after)))
        self.assertTrue(close(before["summary"], after["summary"]), (before["summary"], after["summary"]))


class WithoutData(unittest.TestCase):
    """What holds anywhere."""

    def test_a_folder_without_data_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            done = Validate.run_validate(folder)
        self.assertEqual(4, done.returncode)
        self.assertIn(folder.encode(), done.stderr)


if __name__ == "__main__":
    unittest.main()
