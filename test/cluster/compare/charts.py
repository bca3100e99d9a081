# SPDX-License-Identifier: GPL-2.0-or-later
"""Charts of the report page as inline SVG. Colours are CSS variables of the page, so that a chart works
in light and dark mode. Times are seconds since the first submission of the run."""
import html

from . import workload
from .site import TYPE_OF_NODE, node_names

WIDTH = 560
LEFT, RIGHT, TOP, BOTTOM = 72, 12, 10, 34
ROW = 9             # pixels of a GPU in the Gantt chart
NODE_GAP, TYPE_GAP = 3, 8
#: Job type -> CSS class: a colour of tools/page/page.css; grey said nothing.
COLOURS = {"transformer": "s0", "lm": "s2", "cyclegan": "s3", "recommendation": "s1",
           "recommendation-small": "s5", "": "s7"}


def text(value):
    return html.escape(str(value), quote=True)


def nice_step(span, most=8):
    """Distance of the ticks of an axis: 1, 2 or 5 times a power of ten, at most `most` ticks."""
    step = 1
    while True:
        for factor in (1, 2, 5):
            if span / (step * factor) <= most:
                return step * factor
        step *= 10


class Plot:
    """A frame with a time axis below; `body` collects SVG elements."""

    def __init__(self, span, height, label, about):
        self.span, self.height, self.about = max(span, 1.0), height, about
        self.body = []
        self._axis(label)

    def x(self, seconds):
        return LEFT + (WIDTH - LEFT - RIGHT) * seconds / self.span

    def _axis(self, label):
        step = nice_step(self.span)
        bottom = TOP + self.height
        for mark in range(0, int(self.span) + 1, step):
            x = self.x(mark)
            self.body.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" '
                             f'y2="{bottom}"/><text x="{x:.1f}" y="{bottom + 14}" '
                             f'text-anchor="middle">{mark}</text>')
        self.body.append(f'<text class="quiet" x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" '
                         f'y="{bottom + 29}" text-anchor="middle">{text(label)}</text>')

    def left_marks(self, most, unit="", step=None):
        """Ticks 0..most at the left side; the top of the frame is `most`."""
        step = step or nice_step(most, 5)
        for mark in range(0, int(most) + 1, step):
            y = self.y(mark / most)
            self.body.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" '
                             f'y2="{y:.1f}"/><text x="{LEFT - 6}" y="{y + 4:.1f}" '
                             f'text-anchor="end">{mark}{unit}</text>')

    def y(self, share):
        """0 is at the bottom, 1 at the top."""
        return TOP + self.height * (1 - share)

    def steps(self, points, most, css):
        """A line that keeps each value until the next point: [(seconds, value)]."""
        path, last = [], None
        for seconds, value in points:
            x, y = self.x(min(seconds, self.span)), self.y(value / most)
            path.append(f"M{x:.1f} {y:.1f}" if last is None else f"H{x:.1f}V{y:.1f}")
            last = y
        if last is not None:
            self.body.append(f'<path class="line {css}" d="{"".join(path)}"/>')

    def svg(self):
        height = TOP + self.height + BOTTOM
        return (f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{text(self.about)}">'
                + "".join(self.body) + "</svg>")


# -- Gantt -----------------------------------------------------------------------------------------

def slots(outcomes):
    """[(node, first GPU, GPUs, outcome, run)]: the GPUs of its node on which each run is drawn. Slurm's
    records only contain the number, so the lowest free ones are used."""
    free_at = {(node, gpu): 0.0 for node in TYPE_OF_NODE for gpu in range(workload.GPUS_OF_A_NODE)}
    drawn = []
    runs = [(run.start, outcome.id, outcome, run) for outcome in outcomes for run in outcome.runs
            if run.gpus]
    for _, _, outcome, run in sorted(runs, key=lambda entry: entry[:2]):
        rest = run.gpus
        for place, node in enumerate(run.nodes):
            count = -(-rest // (len(run.nodes) - place))
            rest -= count
            # Records have whole seconds, so runs that follow each other may seem to overlap.
            gpus = sorted(range(workload.GPUS_OF_A_NODE),
                          key=lambda gpu: (free_at[node, gpu] > run.start,
                                           free_at[node, gpu] > run.start and free_at[node, gpu],
                                           gpu))[:count]
            for gpu in gpus:
                free_at[node, gpu] = run.end
            drawn += [(node, first, number, outcome, run) for first, number in _joined(gpus)]
    return drawn


def _joined(gpus):
    """[0, 1, 3] -> [(0, 2), (3, 1)]"""
    found = []
    for gpu in sorted(gpus):
        if found and gpu == sum(found[-1]):
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((gpu, 1))
    return found


def _rows(speeds):
    """{node: y of its first GPU}, [(GPU type, y, height)], height of all; fast types first."""
    at, groups, y = {}, [], 0
    for gpu_type in sorted(workload.NODES, key=lambda t: -speeds[t]):
        top = y
        for name in node_names(gpu_type):
            at[name] = y
            y += ROW * workload.GPUS_OF_A_NODE + NODE_GAP
        groups.append((gpu_type, top, y - NODE_GAP - top))
        y += TYPE_GAP - NODE_GAP
    return at, groups, y - TYPE_GAP


def _tip(outcome, run, zero):
    job = outcome.job
    what = job.job_type or "no hints"
    return (f"job {outcome.id} ({job.name}), {what}: {run.gpus} {run.gpu_type} on "
            f"{','.join(run.nodes)}, asked for {job.gpus}; submitted at "
            f"{outcome.submit - zero:.0f} s, waited {run.start - outcome.submit:.0f} s, "
            f"ran {run.end - run.start:.0f} s, {run.state}")


def gantt(outcomes, speeds, span, about):
    """One row per GPU, grouped by node and type; one bar per run of a job."""
    zero = min(outcome.submit for outcome in outcomes)
    at, groups, height = _rows(speeds)
    plot = Plot(span, height, "seconds since the first job was submitted", about)
    for gpu_type, y, tall in groups:    # below the lines of the axis
        plot.body.insert(0, f'<rect class="lane" x="{LEFT}" y="{TOP + y}" '
                         f'width="{WIDTH - LEFT - RIGHT}" height="{tall}"/>'
                         f'<text class="strong" x="2" y="{TOP + y + 11}">{gpu_type}</text>')
    for name, y in at.items():
        middle = TOP + y + ROW * workload.GPUS_OF_A_NODE / 2 + 4
        plot.body.append(f'<text x="{LEFT - 6}" y="{middle:.0f}" text-anchor="end">{name}</text>')
    for node, first, number, outcome, run in slots(outcomes):
        x, end = plot.x(run.start - zero), plot.x(run.end - zero)
        plot.body.append(
            f'<rect class="bar {COLOURS.get(outcome.job.job_type, "s7")}" x="{x:.1f}" '
            f'y="{TOP + at[node] + first * ROW + 0.5:.1f}" width="{max(end - x, 1):.1f}" '
            f'height="{number * ROW - 1:.1f}" rx="1.5"><title>{text(_tip(outcome, run, zero))}'
            "</title></rect>")
    return plot.svg()


# -- curves ----------------------------------------------------------------------------------------

def _counted(changes):
    """[(time, change)] -> [(time, sum so far)], one point per time."""
    points, total = [(0.0, 0)], 0
    for time, change in sorted(changes):
        total += change
        if points[-1][0] == time:
            points[-1] = (time, total)
        else:
            points.append((time, total))
    return points


def busy(outcomes):
    """GPUs held over time."""
    zero = min(outcome.submit for outcome in outcomes)
    return _counted([change for outcome in outcomes for run in outcome.runs if run.gpus
                     for change in ((run.start - zero, run.gpus), (run.end - zero, -run.gpus))])


def waiting(outcomes):
    """Jobs that wait for GPUs over time."""
    zero = min(outcome.submit for outcome in outcomes)
    return _counted([change for outcome in outcomes if outcome.job.gpus
                     for change in ((outcome.submit - zero, 1), (outcome.start - zero, -1))])


def distribution(outcomes):
    """Share of jobs that ended within a time of their submission, percent."""
    times = sorted(outcome.jct for outcome in outcomes)
    return [(0.0, 0.0)] + [(time, 100 * (number + 1) / len(times))
                           for number, time in enumerate(times)]


def curves(lines, span, most, label, about, unit=""):
    """lines: {CSS class: [(seconds, value)]}."""
    plot = Plot(span, 150, label, about)
    plot.left_marks(most, unit)
    for css, points in lines.items():
        plot.steps(points, most, css)
    return plot.svg()
