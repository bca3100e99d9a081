# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of a comparison: one self-contained HTML file with both halves side by side."""
import datetime
import pathlib

from . import charts, metrics, workload
from .charts import text

#: Colours s0 to s7 are those of all pages.
_STYLE = (pathlib.Path(__file__).resolve().parents[3] / "tools/page/page.css").read_text() + """
.bar:hover { stroke: var(--ink); }
@media (max-width: 640px) { svg text { font-size: 15px; } }
"""
#: (CSS class, name) of the halves of a run; with mode elastic, mode place is beside it.
_HALVES = {2: (("s7", "stock Slurm"), ("s0", "Rubato")),
           3: (("s7", "stock Slurm"), ("s1", "mode place"), ("s0", "mode elastic"))}


def _tile(value, words):
    return f'<div class="tile"><b>{value:.2f}</b>{text(words)}</div>'


def _swatch(css, line=False):
    shape = (f'<path class="line {css}" d="M0 7H14"/>' if line
             else f'<rect class="{css}" width="14" height="14" rx="2"/>')
    return f'<svg viewBox="0 0 14 14" aria-hidden="true">{shape}</svg>'


def _jobs_legend():
    return ('<div class="legend">' + "".join(f"<span>{_swatch(css)}{name or 'no hints'}</span>"
                                             for name, css in charts.COLOURS.items())
            + '<span class="quiet">recommendation, recommendation-small: fastest on p100; the other job types: '
            "fastest on v100</span></div>")


def _halves_legend(named):
    return ('<div class="legend">' + "".join(f"<span>{_swatch(css, True)}{name}</span>"
                                             for css, name in named) + "</div>")


def _cells(tag, values, rules, scope=""):
    """Cells of a row; the first one is its heading."""
    return "".join(
        "<{0}{1}{2}>{3}</{0}>".format(
            "th" if number == 0 else tag, ' scope="row"' if number == 0 and tag == "td" else scope,
            ' class="rule"' if number in rules else "", text(value))
        for number, value in enumerate(values))


def _table(caption, head, rows, rules=(), above=""):
    """rules: columns with a line at their left; above: a row of its own before `head`."""
    return (f'<div class="scroll" tabindex="0" role="region" aria-label="{text(caption)}"><table>'
            f'<caption class="away">{text(caption)}</caption><thead>{above}<tr>'
            + _cells("th", head, rules, ' scope="col"') + "</tr></thead><tbody>"
            + "".join("<tr>" + _cells("td", row, rules) + "</tr>" for row in rows)
            + "</tbody></table></div>")


def _figures(entry, halves):
    """A table of times and one of the other figures, so that a column has one unit."""
    times, others = [], []
    for name, values, unit, ratio in metrics.figures(entry, *(half.outcomes for half in halves)):
        shown = [f"{value:.1f}" if unit else value for value in values]
        if unit == "s":
            times.append([name, *shown, "" if ratio is None else f"{ratio:.2f}"])
        else:
            others.append([f"{name} ({unit})" if unit else name, *shown])
    named = [name for _, name in _HALVES[len(halves)]]
    return ('<div class="pair">' + _table("Times", ["time (s)", *named, f"stock / {named[-1]}"], times)
            + _table("GPUs, failures and changes", ["figure", *named], others) + "</div>")


def _where(halves):
    """Job types by the GPU type they ran on, in both halves."""
    types = list(workload.NODES)
    names = sorted({o.job.job_type for o in halves[0].outcomes if o.job.gpus},
                   key=lambda name: (not name, name))
    rows = []
    for name in names:
        row = [name or "no hints"]
        for half in halves:
            jobs = [o for o in half.outcomes if o.job.gpus and o.job.job_type == name]
            ran = [job.runs[-1].gpu_type for job in jobs]
            row += [ran.count(gpu_type) or "" for gpu_type in types]
            row.append(sum("+" in gpu_type for gpu_type in ran) or "")
            row.append(f"{metrics.average(job.jct for job in jobs):.1f}")
        rows.append(row)
    columns = [*types, "several", "mean time (s)"]
    named = _HALVES[len(halves)]
    above = "<tr><td></td>" + "".join(
        f'<th class="rule" scope="colgroup" colspan="{len(columns)}">{name}</th>' for _, name in named) + "</tr>"
    rules = tuple(1 + number * len(columns) for number in range(len(named)))
    return _table("Where the job types ran", ["jobs", *(columns * len(named))], rows, rules, above)


def _run(load, entry, halves):
    span = max(metrics.makespan(half.outcomes) for half in halves)
    named = _HALVES[len(halves)]
    pairs = list(zip((css for css, _ in named), (half.outcomes for half in halves)))
    longest = max(o.jct for _, outcomes in pairs for o in outcomes)
    queues = {css: charts.waiting(outcomes) for css, outcomes in pairs}
    most = max(5, max(value for points in queues.values() for _, value in points))
    parts = [f"<h2>Seed {load.seed}: {entry['jobs']} jobs</h2>", _figures(entry, halves),
             "<h3>Which GPUs each job held</h3>", _jobs_legend(), '<div class="pair">']
    for (_, name), half in zip(named, halves):
        parts.append(f"<div><h3>{name}</h3>"
                     + charts.gantt(half.outcomes, load.speeds, span, f"Gantt chart, {name}")
                     + "</div>")
    parts += ["</div>", _halves_legend(named), '<div class="pair">',
              "<div><h3>GPUs held</h3>", charts.curves(
                  {css: charts.busy(outcomes) for css, outcomes in pairs}, span, workload.GPUS,
                  "seconds since the first job was submitted", "GPUs held over time"), "</div>",
              "<div><h3>Jobs that wait for GPUs</h3>", charts.curves(
                  queues, span, most, "seconds since the first job was submitted",
                  "jobs that wait over time"), "</div>",
              "<div><h3>Time from submit to end</h3>", charts.curves(
                  {css: charts.distribution(outcomes) for css, outcomes in pairs}, longest, 100,
                  "seconds from submit to end", "share of jobs that ended within a time", "%"),
              "</div></div><h3>Where the job types ran</h3>", _where(halves)]
    return "".join(parts)


def verdict(document):
    """Who won by how much, in a sentence. The seeds say how sure that is."""
    ratio = document["avg_jct_ratio"]
    ratios = [run["avg_jct_ratio"] for run in document["runs"]]
    how = (f"{ratio:.2f} times as long under stock Slurm as under Rubato" if ratio >= 1
           else f"{1 / ratio:.2f} times as long under Rubato as under stock Slurm")
    text_of = f"From submit to end jobs took {how} on average"
    if len(ratios) == 1:
        return text_of + "; one seed does not say how sure that is."
    won = sum(one > 1 for one in ratios)
    return (text_of + f": Rubato was faster with {won} of {len(ratios)} seeds; their ratios are "
            f"{min(ratios):.2f} to {max(ratios):.2f}.")


def render(document, shown, prior="measured"):
    """The page. shown: [(Workload, entry of runs, the two halves)]."""
    runs = document["runs"]
    seeds = ", ".join(str(run["seed"]) for run in runs)
    of_what = f"Geometric mean of the seeds {seeds}" if len(runs) > 1 else f"Seed {seeds}"
    tiles = [_tile(document["avg_jct_ratio"], "mean time from submit to end"),
             _tile(metrics.geometric_mean(run["p99_jct_ratio"] for run in runs), "99th percentile"),
             _tile(document["makespan_ratio"], "makespan")]
    for kind in runs[0]["classes"]:
        ratios = [run["classes"][kind]["avg_jct_ratio"] for run in runs if kind in run["classes"]]
        tiles.append(_tile(metrics.geometric_mean(ratios), metrics.CLASS_NAMES[kind]))
    if "place" in runs[0]:
        tiles.insert(1, _tile(metrics.geometric_mean(run["place_avg_jct_ratio"] for run in runs),
                              "mean time, mode place"))
    wrong = ("; the speeds of the GPU types in rubato.conf were in the wrong order"
             if prior == "inverted" else "")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Rubato beside stock Slurm</title><style>{_STYLE}</style></head><body>"
        "<h1>Rubato beside stock Slurm</h1>"
        f'<p class="verdict">{text(verdict(document))}</p>'
        f"<p>Stock / Rubato: above 1, Rubato was faster. {text(of_what)}; "
        f"Slurm {text(document['slurm_version'])}, mode {text(document['mode'])}{wrong}.</p>"
        f'<div class="tiles">{"".join(tiles)}</div>'
        + "".join(_run(*item) for item in shown)
        + "<h2>How it was measured</h2>"
        f"<p>Both halves ran on 8 nodes with {workload.GPUS} GPUs of "
        f"{len(workload.NODES)} types under one slurm.conf with <code>SchedulerParameters="
        f"{text(document['stock_params'])}</code>, nodes weighted by the mean speed of their type; "
        "Rubato's half had its own lines besides. Times and allocations are slurmctld's own "
        "records; a job's time goes from its first submission to its last end. The GPUs are device "
        f"files and the jobs emulate training at published speeds, {workload.TIME_SCALE} times as fast. "
        "Rubato knew no job type before a run began.</p>"
        f'<p class="quiet">{datetime.date.today():%Y-%m-%d}</p></body></html>\n')
