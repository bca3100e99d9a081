# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of a comparison and its JSON document, rubato.compare/1 (docs/schema)."""
import json
import math

from .workload import CLASSES

SCHEMA = "rubato.compare/1"


def percentile(values, share):
    """Interpolated between the two nearest values, as in most statistics programs."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * share
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def average(values):
    values = list(values)
    return sum(values) / len(values)


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(math.log(value) for value in values) / len(values))


def ratio(stock, rubato):
    """Time under stock Slurm relative to that under Rubato. 0 s is below the resolution of the
    records."""
    return round(max(stock, 0.5) / max(rubato, 0.5), 4)


def job_entry(outcome):
    """An entry of job_list. gpus and gpu_type have a value per run of the job."""
    ran = [run for run in outcome.runs if run.gpus]
    return {"id": outcome.id, "class": outcome.job.kind, "job_type": outcome.job.job_type,
            "gpus": [run.gpus for run in ran], "gpu_type": [run.gpu_type for run in ran],
            "submit": int(outcome.submit), "start": int(outcome.start), "end": int(outcome.end),
            "state": outcome.state}


def makespan(outcomes):
    return max(o.end for o in outcomes) - min(o.submit for o in outcomes)


def half(outcomes, total_gpus):
    """R of the schema: one run of the workload."""
    times = [outcome.jct for outcome in outcomes]
    span = makespan(outcomes)
    completed = sum(outcome.state == "COMPLETED" for outcome in outcomes)
    held = sum(outcome.gpu_seconds for outcome in outcomes)
    return {"completed": completed, "failed": len(outcomes) - completed,
            "avg_jct_s": round(average(times), 3), "p50_jct_s": round(percentile(times, 0.5), 3),
            "p99_jct_s": round(percentile(times, 0.99), 3), "makespan_s": round(span, 3),
            "gpu_utilisation": round(held / (total_gpus * span), 4) if span > 0 else 0.0,
            "restarts": sum(outcome.restarts for outcome in outcomes),
            "resizes": sum(outcome.resizes for outcome in outcomes),
            "job_list": [job_entry(outcome) for outcome in outcomes]}


def class_jct(outcomes, kind):
    return average(o.jct for o in outcomes if o.job.kind == kind)


def run(seed, stock, rubato, total_gpus):
    """An entry of runs, from the outcomes of both halves."""
    one, two = half(stock, total_gpus), half(rubato, total_gpus)
    classes = {}
    for kind in CLASSES:
        count = sum(outcome.job.kind == kind for outcome in stock)
        if count:
            classes[kind] = {"jobs": count, "avg_jct_ratio": ratio(class_jct(stock, kind),
                                                                   class_jct(rubato, kind))}
    found = {"seed": seed, "jobs": len(stock), "stock": one, "rubato": two}
    for name in ("avg_jct", "p99_jct", "makespan"):
        found[f"{name}_ratio"] = ratio(one[f"{name}_s"], two[f"{name}_s"])
    found["classes"] = classes
    return found


def best_of(settings):
    """The half with the lowest mean time among [(SchedulerParameters, Half)]."""
    return min((half for _, half in settings), key=lambda half: average(
        outcome.jct for outcome in half.outcomes))


def beside(entry, settings, place, total_gpus):
    """What a run of mode elastic has besides: the settings of stock Slurm that were tried, and mode
    place."""
    found = half(place, total_gpus)
    entry["stock_settings"] = [
        {"stock_params": params, "failed": sum(o.state != "COMPLETED" for o in one.outcomes),
         "avg_jct_s": round(average(o.jct for o in one.outcomes), 3)} for params, one in settings]
    entry["place"] = found
    for name in ("avg_jct", "makespan"):
        entry[f"place_{name}_ratio"] = ratio(entry["stock"][f"{name}_s"], found[f"{name}_s"])


def document(slurm_version, mode, stock_params, runs):
    return {"schema": SCHEMA, "slurm_version": slurm_version, "mode": mode,
            "stock_params": stock_params, "runs": runs,
            "avg_jct_ratio": round(geometric_mean(r["avg_jct_ratio"] for r in runs), 4),
            "makespan_ratio": round(geometric_mean(r["makespan_ratio"] for r in runs), 4)}


def to_text(found):
    """The document as JSON, indented, one line per job."""
    lists = []

    def without_lists(value):
        if isinstance(value, dict):
            return {key: aside(item) if key == "job_list" else without_lists(item)
                    for key, item in value.items()}
        return [without_lists(item) for item in value] if isinstance(value, list) else value

    def aside(jobs):
        lists.append("[\n" + ",\n".join(json.dumps(job) for job in jobs) + "\n]")
        return f"job list {len(lists) - 1}"
    text = json.dumps(without_lists(found), indent=1) + "\n"
    for number, jobs in enumerate(lists):
        text = text.replace(f'"job list {number}"', jobs)
    return text


# -- for people ------------------------------------------------------------------------------------

_SHORT = {"hinted": "hinted", "unhinted_gpu": "unhinted", "cpu": "CPU"}


def summary(found):
    """The runs of a document, one line each, and the geometric means; times in seconds."""
    lines = ["  seed   mean: stock  rubato   ratio    p99  makespan  "
             + "  ".join(f"{name:>8}" for name in _SHORT.values())]

    def line(name, times, ratios):
        shown = [f"{value:6.2f}" if value else "     -" for value in ratios]
        return (f"{name:>6} {times} {shown[0]:>7} {shown[1]:>6} {shown[2]:>9}  "
                + "  ".join(f"{value:>8}" for value in shown[3:]))
    columns = []
    for run_ in found["runs"]:
        ratios = [run_["avg_jct_ratio"], run_["p99_jct_ratio"], run_["makespan_ratio"]]
        ratios += [run_["classes"].get(kind, {}).get("avg_jct_ratio") for kind in _SHORT]
        columns.append(ratios)
        times = f"{run_['stock']['avg_jct_s']:13.1f} {run_['rubato']['avg_jct_s']:7.1f}"
        lines.append(line(run_["seed"], times, ratios))
    means = [geometric_mean(filter(None, column)) if any(column) else None
             for column in zip(*columns)]
    lines.append(line("all", " " * 21, means))
    return "\n".join(lines)


CLASS_NAMES = {"hinted": "jobs with hints", "unhinted_gpu": "GPU jobs without", "cpu": "CPU jobs"}


def figures(entry, *outcomes):
    """A run as rows: (name, a value for each half, unit, ratio or None). The halves are those of the
    entry: stock Slurm, mode place if mode elastic is beside it, Rubato."""
    halves = [entry[name] for name in ("stock", "place", "rubato") if name in entry]

    def values(key, factor=1):
        return [factor * half_[key] for half_ in halves]
    rows = [("mean time from submit to end", values("avg_jct_s"), "s", entry["avg_jct_ratio"])]
    simulated = entry.get("simulated_avg_jct_s")
    if simulated:
        means = [average(o.jct for o in one if o.job.gpus) for one in outcomes]
        rows += [("  GPU jobs", means, "s", ratio(means[0], means[-1])),
                 ("  GPU jobs, simulated", list(simulated.values()), "s",
                  ratio(simulated["stock"], simulated["elastic"]))]
    for kind, found in entry["classes"].items():
        rows.append((f"  {CLASS_NAMES[kind]} ({found['jobs']})",
                     [class_jct(one, kind) for one in outcomes], "s", found["avg_jct_ratio"]))
    return [*rows, ("median", values("p50_jct_s"), "s", None),
            ("99th percentile", values("p99_jct_s"), "s", entry["p99_jct_ratio"]),
            ("makespan", values("makespan_s"), "s", entry["makespan_ratio"]),
            ("GPUs in use", values("gpu_utilisation", 100), "%", None),
            ("jobs that failed", values("failed"), "", None),
            ("restarts", values("restarts"), "", None),
            ("changes of size while they ran", values("resizes"), "", None)]


def table(entry, *outcomes):
    """A run as lines: under stock Slurm, under Rubato, and the ratio of these two."""
    heads = ["stock", "place", "elastic"] if "place" in entry else ["stock", "rubato"]
    lines = [f"seed {entry['seed']}, {entry['jobs']} jobs".ljust(32)
             + "".join(f"{head:>8}  " for head in heads) + "  ratio"]
    for name, values, unit, factor in figures(entry, *outcomes):
        digits = 1 if unit else 0
        line = f"{name:32}" + " ".join(f"{value:7.{digits}f} {unit:1}" for value in values)
        lines.append((line + (f" {factor:7.2f}" if factor is not None else "")).rstrip())
    return "\n".join(lines)
