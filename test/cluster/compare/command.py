# SPDX-License-Identifier: GPL-2.0-or-later
"""`contrib/quickstart compare`: its options, its steps, its summary."""
import argparse
import difflib
import os
import pathlib
import re

from .. import cluster
from ..client import Failed
from . import metrics, page, runner, simulation, site, workload, workload_file
from .progress import Progress

DESCRIPTION = """\
Runs the same workload under stock Slurm and then under Rubato, each on a fresh private cluster of
8 nodes with 3 GPU types, and prints how long jobs took under both. About 5 minutes a seed, in mode
elastic about 30: there stock Slurm runs with three settings, and mode place beside it. The jobs
emulate training at published speeds; slurmctld and its records are real."""
EPILOG = """\
The workload is drawn from the seed before anything runs, and written to a file. ratio = stock /
rubato; above 1 Rubato was faster. The exit code is 1 if a job failed in either half.
test/cluster/compare/README.md says how the workload is made and what is measured."""


class UsageError(Exception):
    """An option is wrong; the text is for users."""


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(message)


def _number(low, high, text):
    if not re.fullmatch(r"[0-9]{1,9}", text) or not low <= int(text) <= high:
        raise argparse.ArgumentTypeError(f"{text!r}: a whole number from {low} to {high} is wanted")
    return int(text)


def _seed(text):
    return _number(0, 999999999, text)


def _jobs(text):
    return _number(workload.LEAST_JOBS, workload.MOST_JOBS, text)


def _params(text):
    if not re.fullmatch(r"[\w=:./+-]+(,[\w=:./+-]+)*", text):
        raise argparse.ArgumentTypeError(
            f"{text!r}: SchedulerParameters of slurm.conf are wanted, with commas and without "
            f"blanks, as in {site.STOCK_PARAMS}")
    return text


def parser():
    made = _Parser(prog="contrib/quickstart compare", description=DESCRIPTION, epilog=EPILOG,
                   formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    made.add_argument("--seed", type=_seed, action="append", metavar="N", dest="seeds",
                      help="of the workload; several times for several runs (default 1)")
    made.add_argument("--jobs", type=_jobs, metavar="N",
                      help=f"of a workload (default {workload.JOBS}; in mode elastic "
                      f"{workload.ELASTIC_JOBS}, {workload.ELASTIC_LENGTH} times as long)")
    made.add_argument("--workload", metavar="FILE", help="read the workload instead of drawing it")
    made.add_argument("--stock-params", type=_params, metavar="S",
                      help=f"SchedulerParameters of both halves (default {site.STOCK_PARAMS}; in "
                      f"mode elastic the best of {len(site.STOCK_SETTINGS)} settings for stock "
                      "Slurm)")
    made.add_argument("--mode", choices=site.MODES, default="place",
                      help="of Rubato (default place)")
    made.add_argument("--prior", choices=site.PRIORS, default="measured",
                      help="speeds of the GPU types in rubato.conf: the mean of the workload, or "
                      "in the wrong order (default measured)")
    made.add_argument("--json", metavar="FILE", help="write the results, rubato.compare/1")
    made.add_argument("--report", metavar="FILE.html", help="write a page that shows both runs")
    return made


def _check_target(option, name):
    """Checks that output files are writable before hours are spent."""
    if name is None:
        return
    path = pathlib.Path(name)
    if path.is_dir():
        raise UsageError(f"{option} {name}: this is a folder; a file is wanted")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{option} {name}: there is no folder {path.absolute().parent}")
    if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise UsageError(f"{option} {name}: it cannot be written")


def parse(words):
    reader = parser()
    options, unknown = reader.parse_known_args(words)
    if unknown:
        known = [name for action in reader._actions for name in action.option_strings
                 if name != "-h"]
        near = difflib.get_close_matches(unknown[0].partition("=")[0], known, 1, 0.5)
        raise UsageError(f"unknown option {unknown[0]}; " + (
            f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}"))
    if options.workload:
        if options.seeds or options.jobs:
            word = "--seed" if options.seeds else "--jobs"
            raise UsageError(f"--workload {options.workload} brings its own jobs; leave {word} out")
    options.seeds = options.seeds or [1]
    repeated = [seed for seed in options.seeds if options.seeds.count(seed) > 1]
    if repeated:
        raise UsageError(f"--seed {repeated[0]} is there twice")
    elastic = options.mode == "elastic"
    options.jobs = options.jobs or (workload.ELASTIC_JOBS if elastic else workload.JOBS)
    options.settings = [options.stock_params] if options.stock_params else (
        list(site.STOCK_SETTINGS) if elastic else [site.STOCK_PARAMS])
    _check_target("--json", options.json)
    _check_target("--report", options.report)
    if options.json and options.report and os.path.abspath(options.json) == os.path.abspath(
            options.report):
        raise UsageError(f"--json and --report both name {options.json}")
    return options


def workloads(options):
    """The workloads of the runs, in order; WorkloadError if a file is not a workload."""
    if options.workload:
        return [workload_file.read(options.workload)]
    return [workload.generate(seed, options.jobs, options.mode == "elastic")
            for seed in options.seeds]


def _folder():
    """The folder of workloads."""
    return pathlib.Path(cluster.scratch_root(), "workloads")


def _write_workload(load):
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    elastic = "-elastic" if any(job.resize for job in load.jobs) else ""
    path = folder / f"seed-{load.seed}-jobs-{len(load.jobs)}{elastic}.json"
    workload_file.write(load, path)
    return path


def rubato_params(params):
    """Rubato's mode place needs bf_continue; the stock half keeps the requested options."""
    return params if "bf_continue" in params.split(",") else params + ",bf_continue"


def _machine():
    """Date, commit, machine and its load, for the record."""
    return workload.module("rubato_machine", workload.TREE / "test/bench/machine.py").line()


def _half(load, options, plugin_dir, progress, label, flavour, params, mode):
    """One half of a run. label: with the name of the half."""
    shape = site.shape(load.speeds, params, mode, options.prior)
    half = runner.run_half(flavour, load, shape, plugin_dir, label, progress)
    progress.line(f"{label}: {len(half.outcomes)} jobs ended in "
                  f"{metrics.makespan(half.outcomes):.0f} s, "
                  f"submitted at most {half.late:.1f} s late")
    for item in half.outcomes:
        if item.state != "COMPLETED":
            progress.line(f"  job {item.id} ({item.job.name}, {item.job.kind}): {item.state}")
    return half


def _one(load, options, plugin_dir, progress, label):
    """All halves of a run: (entry of the document, stock Slurm, mode place beside mode elastic,
    Rubato)."""
    progress.line(f"{label}: workload in {_write_workload(load)}"
                  if not options.workload else f"{label}: workload of {options.workload}")

    # It takes a second: a failure shows before hours are spent.
    program = simulation.program(plugin_dir) if options.mode == "elastic" else ""
    simulated = program and simulation.mean_times(
        load, _folder() / f"simulated-{load.seed}", program, options.prior)

    def half(name, flavour, params, mode=options.mode):
        return _half(load, options, plugin_dir, progress, f"{label}, {name}", flavour, params, mode)
    settings = []
    for number, params in enumerate(options.settings, 1):
        of = f" {number} of {len(options.settings)}" if len(options.settings) > 1 else ""
        settings.append((params, half(f"stock{of}", "stock", params)))
    params = rubato_params(options.settings[0])
    halves = [metrics.best_of(settings)]
    if options.mode == "elastic":
        halves.append(half("place", "rubato", params, "place"))
    halves.append(half(options.mode if len(halves) > 1 else "rubato", "rubato", params))
    entry = metrics.run(load.seed, halves[0].outcomes, halves[-1].outcomes, workload.GPUS)
    if len(halves) > 2:
        metrics.beside(entry, settings, halves[1].outcomes, workload.GPUS)
        if simulated:
            entry["simulated_avg_jct_s"] = simulated
        for tried in entry["stock_settings"]:
            progress.line(f"stock Slurm with {tried['stock_params']}: mean {tried['avg_jct_s']:.1f} s")
    progress.line("\n" + metrics.table(entry, *(one.outcomes for one in halves)) + "\n")
    return entry, halves


def run(words, plugin_dir=None):
    """Runs the comparison; 0 if every job completed, 2 for wrong options."""
    options = parse(words)
    loads = workloads(options)
    progress = Progress()
    version = cluster.version_text()
    progress.line(_machine())
    progress.line(f"Slurm {version}, 8 nodes with {workload.GPUS} GPUs: "
                  + ", ".join(f"{count * workload.GPUS_OF_A_NODE} {t}"
                              for t, count in workload.NODES.items())
                  + f"; {len(loads)} run{'s' if len(loads) > 1 else ''}")
    entries, shown = [], []
    try:
        for number, load in enumerate(loads, 1):
            count = f"run {number} of {len(loads)}, " if len(loads) > 1 else ""
            entry, halves = _one(load, options, plugin_dir, progress, f"{count}seed {load.seed}")
            entries.append(entry)
            shown.append((load, entry, halves))
    finally:
        progress.clear()
    document = metrics.document(version, options.mode, options.settings[0], entries)
    if len(entries) > 1:
        progress.line(metrics.summary(document) + "\n")
    progress.line(f"mean time from submit to end, stock / rubato: {document['avg_jct_ratio']:.2f}; "
                  f"makespan: {document['makespan_ratio']:.2f}")
    if options.mode == "elastic":
        place = metrics.geometric_mean(entry["place_avg_jct_ratio"] for entry in entries)
        progress.line(f"mean time, stock / mode place: {place:.2f}")
    if options.json:
        _write(options.json, metrics.to_text(document))
    if options.report:
        _write(options.report, page.render(document, shown, options.prior))
    failed = sum(entry[half]["failed"] for entry in entries for half in ("stock", "place", "rubato")
                 if half in entry)
    if failed:
        progress.line(f"{failed} jobs failed")
    return 1 if failed else 0


def _write(name, text):
    new = f"{name}.{os.getpid()}.new"
    try:
        pathlib.Path(new).write_text(text, encoding="utf-8")
        os.replace(new, name)
    except OSError as error:
        raise Failed(f"{name} to be written: {error.strerror}") from None
