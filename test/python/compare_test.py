#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test/cluster/compare: slurmctld's records, the figures and their schema, the page, the options."""
import copy
import html.parser
import io
import json
import math
import os
import pathlib
import re
import sys
import tempfile
import types
import unittest
import xml.etree.ElementTree

sys.dont_write_bytecode = True
SOURCE = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"])
sys.path[:0] = [str(SOURCE / "test"), str(SOURCE / "test/golden")]
import json_schema  # noqa: E402
from cluster.compare import (charts, command, metrics, outcome, page, progress, site,  # noqa: E402
                             workload, workload_file)


def folder_of(case):
    made = tempfile.TemporaryDirectory()
    case.addCleanup(made.cleanup)
    return pathlib.Path(made.name)


JOBCOMP = """\
JobId={id} UserId=u(0) GroupId=g(0) Name=j JobState={state} Partition=main TimeLimit=1 \
StartTime=2026-11-21T10:00:{start} EndTime=2026-11-21T10:00:{end} NodeList={nodes} NodeCnt=1 \
ProcCnt=1 WorkDir=/x ReservationName= Tres=cpu=1 Account= QOS= WcKey= Cluster=c \
SubmitTime=2026-11-21T10:00:{submit} EligibleTime=2026-11-21T10:00:{submit} \
DerivedExitCode=0:0 ExitCode=0:0
"""


def line(number, submit, start, end, nodes, state="COMPLETED"):
    return JOBCOMP.format(id=number, submit=f"{submit:02d}", start=f"{start:02d}",
                          end=f"{end:02d}", nodes=nodes, state=state)


def hinted(gpus, name="j"):
    return workload.Job(name, "hinted", 0, 1, gpus, job_type="lm", samples=1000)


class Outcomes(unittest.TestCase):
    def read(self, text, jobs, allocated=None):
        path = folder_of(self) / "jobcomp.log"
        path.write_text(text, encoding="utf-8")
        return outcome.read(path, jobs, allocated or {}, site.TYPE_OF_NODE)

    def test_a_requeued_job_counts_from_its_first_submission_to_its_last_end(self):
        text = (line(1, 0, 5, 10, "k1", "NODE_FAIL") + line(2, 0, 1, 2, "v1")
                + line(1, 10, 20, 40, "p[1-2]"))
        found = self.read(text, {1: hinted(8), 2: hinted(1)})
        job = found[1]
        self.assertEqual((job.jct, job.start - job.submit, job.restarts, job.resizes, job.state),
                         (40, 5, 1, 0, "COMPLETED"))
        self.assertEqual([run.gpu_type for run in job.runs], ["k80", "p100"])
        self.assertEqual([run.nodes for run in job.runs], [["k1"], ["p1", "p2"]])
        self.assertEqual(job.gpu_seconds, 8 * 5 + 8 * 20)

    def test_a_resized_job(self):
        text = line(1, 0, 0, 10, "v1", "RESIZING") + line(1, 0, 10, 20, "v[1-2]")
        job = self.read(text, {1: hinted(4)})[1]
        self.assertEqual((job.restarts, job.resizes), (0, 1))

    def test_what_slurm_said_of_an_allocation_stands_before_what_was_asked_for(self):
        found = self.read(line(1, 0, 1, 2, "v1"), {1: hinted(1)})
        self.assertEqual(found[1].runs[0].gpus, 1)
        start = int(found[1].start)
        found = self.read(line(1, 0, 1, 2, "v1"), {1: hinted(1)}, {(1, start): 4})
        self.assertEqual(found[1].runs[0].gpus, 4)

    def test_a_job_that_lost_a_node_held_the_gpus_of_its_nodes(self):
        text = line(1, 0, 0, 10, "v[1-2]", "RESIZING") + line(1, 0, 10, 20, "v1")
        path = folder_of(self) / "jobcomp.log"
        path.write_text(text, encoding="utf-8")
        start = int(outcome.read(path, {1: hinted(8)}, {}, site.TYPE_OF_NODE)[1].start)
        found = outcome.read(path, {1: hinted(8)}, {(1, start): 4}, site.TYPE_OF_NODE)
        self.assertEqual([run.gpus for run in found[1].runs], [8, 4])

    def test_a_job_that_grew_on_its_node_held_what_was_seen(self):
        text = line(1, 0, 0, 10, "v1", "RESIZING") + line(1, 0, 10, 20, "v1")
        path = folder_of(self) / "jobcomp.log"
        path.write_text(text, encoding="utf-8")
        start = outcome.read(path, {1: hinted(2)}, {}, site.TYPE_OF_NODE)[1].start
        sizes = {1: [(start + 1, 2), (start + 11, 4)]}
        found = outcome.read(path, {1: hinted(2)}, {}, site.TYPE_OF_NODE, sizes)
        self.assertEqual([run.gpus for run in found[1].runs], [2, 4])

    def test_a_job_on_several_types_and_one_that_never_ran(self):
        text = line(1, 0, 1, 2, "p2,v1") + line(2, 0, 3, 3, "(null)", "CANCELLED")
        found = self.read(text + line(9, 0, 1, 2, "v1"), {1: hinted(8), 2: hinted(1)})
        self.assertEqual(sorted(found), [1, 2])
        self.assertEqual(found[1].runs[0].gpu_type, "p100+v100")
        self.assertEqual((found[2].state, found[2].gpu_seconds, found[2].jct), ("CANCELLED", 0, 3))

    def test_gpus_of_gres(self):
        self.assertEqual(outcome.gpus_in("gpu:p100:4,gpu:v100:2"), 6)
        self.assertEqual(outcome.gpus_in("gpu:2"), 2)
        self.assertEqual(outcome.gpus_in("(null)"), 0)


def outcomes(times, gpus=2, state="COMPLETED"):
    """Jobs 1.. with (kind, submit, start, end)."""
    found = []
    for number, (kind, submit, start, end) in enumerate(times, 1):
        job = hinted(gpus, f"j{number}") if kind == "hinted" else workload.Job(
            f"j{number}", kind, 0, 1, 0 if kind == "cpu" else gpus)
        run = outcome.Run(1000 + start, 1000 + end, ["p1"], job.gpus,
                          "p100" if job.gpus else "", state)
        found.append(outcome.Outcome(number, job, 1000 + submit, [run], state))
    return found


SLOW = outcomes([("hinted", 0, 0, 30), ("unhinted_gpu", 0, 20, 40), ("cpu", 10, 10, 20)])
STOCK = outcomes([("hinted", 0, 0, 20), ("unhinted_gpu", 0, 20, 30), ("cpu", 10, 10, 20)])
RUBATO = outcomes([("hinted", 0, 0, 10), ("unhinted_gpu", 0, 10, 20), ("cpu", 10, 10, 20)])


def elastic_run():
    """(entry, the outcomes of its halves) of a run of mode elastic."""
    elastic = outcomes([("hinted", 0, 5, 8), ("unhinted_gpu", 0, 10, 20), ("cpu", 10, 10, 20)])
    first = elastic[0].runs[0]
    elastic[0].runs = [outcome.Run(1000, 1002, ["p1", "p2"], 8, "p100", "RESIZING"),
                       outcome.Run(1002, 1005, ["p1"], 4, "p100", "REQUEUED"), first]
    settings = [(words, types.SimpleNamespace(outcomes=found))
                for words, found in (("a", SLOW), ("b", STOCK), ("c", SLOW))]
    best = metrics.best_of(settings).outcomes
    entry = metrics.run(1, best, elastic, 4)
    metrics.beside(entry, settings, RUBATO, 4)
    entry["simulated_avg_jct_s"] = {"stock": 24.0, "place": 15.0, "elastic": 12.0}
    return entry, [best, RUBATO, elastic]


class Figures(unittest.TestCase):
    def test_mode_elastic_has_the_best_stock_half_and_mode_place_beside_it(self):
        entry, (best, _, _) = elastic_run()
        self.assertIs(best, STOCK)
        self.assertEqual(entry["stock_settings"], [
            {"stock_params": words, "failed": 0, "avg_jct_s": mean}
            for words, mean in (("a", 26.667), ("b", 20.0), ("c", 26.667))])
        self.assertEqual(entry["place"]["avg_jct_s"], 13.333)
        self.assertEqual((entry["place_avg_jct_ratio"], entry["place_makespan_ratio"]), (1.5, 1.5))
        self.assertEqual((entry["rubato"]["restarts"], entry["rubato"]["resizes"]), (1, 1))
        self.assertEqual((entry["place"]["restarts"], entry["place"]["resizes"]), (0, 0))
        text = metrics.table(entry, *elastic_run()[1])
        self.assertRegex(text, r"stock +place +elastic +ratio\n")
        self.assertRegex(text, r"mean time from submit to end +20.0 s +13.3 s +12.7 s +1.58\n")
        self.assertRegex(text, r"  GPU jobs +25.0 s +15.0 s +14.0 s +1.79\n")
        self.assertRegex(text, r"  GPU jobs, simulated +24.0 s +15.0 s +12.0 s +2.00\n")
        self.assertRegex(text, r"restarts +0 +0 +1\n")
        self.assertRegex(text, r"changes of size while they ran +0 +0 +1$")

    def test_percentile(self):
        self.assertEqual(metrics.percentile([3, 1, 2], 0.5), 2)
        self.assertAlmostEqual(metrics.percentile(range(101), 0.99), 99)
        self.assertAlmostEqual(metrics.percentile([0, 10], 0.99), 9.9)
        self.assertEqual(metrics.percentile([5], 0.99), 5)

    def test_half(self):
        half = metrics.half(STOCK, 4)
        self.assertEqual((half["completed"], half["failed"]), (3, 0))
        self.assertEqual((half["avg_jct_s"], half["p50_jct_s"]), (20, 20))
        self.assertEqual(half["makespan_s"], 30)
        self.assertEqual(half["gpu_utilisation"], round((2 * 20 + 2 * 10) / (4 * 30), 4))
        self.assertEqual(half["job_list"][0], {
            "id": 1, "class": "hinted", "job_type": "lm", "gpus": [2], "gpu_type": ["p100"],
            "submit": 1000, "start": 1000, "end": 1020, "state": "COMPLETED"})
        self.assertEqual(half["job_list"][2]["gpus"], [])
        self.assertEqual(metrics.half(outcomes([("hinted", 0, 0, 1)], state="FAILED"), 4)["failed"],
                         1)

    def test_ratios_are_stock_over_rubato(self):
        entry = metrics.run(5, STOCK, RUBATO, 4)
        self.assertAlmostEqual(entry["avg_jct_ratio"], 60 / 40, 4)
        self.assertAlmostEqual(entry["makespan_ratio"], 1.5, 4)
        self.assertEqual(entry["classes"]["hinted"], {"jobs": 1, "avg_jct_ratio": 2.0})
        self.assertEqual(entry["classes"]["cpu"], {"jobs": 1, "avg_jct_ratio": 1.0})
        self.assertEqual((entry["seed"], entry["jobs"]), (5, 3))

    def test_the_top_level_is_the_geometric_mean(self):
        one, two = metrics.run(1, STOCK, RUBATO, 4), metrics.run(2, RUBATO, STOCK, 4)
        document = metrics.document("22.05.8", "place", "x", [one, one, two])
        self.assertAlmostEqual(document["avg_jct_ratio"], 1.5 ** (1 / 3), 3)
        self.assertAlmostEqual(document["makespan_ratio"],
                               math.prod([1.5, 1.5, 1 / 1.5]) ** (1 / 3), 3)

    def test_several_runs_have_a_line_each(self):
        one, two = metrics.run(1, STOCK, RUBATO, 4), metrics.run(22, RUBATO, STOCK, 4)
        del two["classes"]["cpu"]
        lines = metrics.summary(metrics.document("22.05.8", "place", "x", [one, two])).splitlines()
        self.assertEqual(len(lines), 4)
        self.assertEqual(lines[1].split(), ["1", "20.0", "13.3", "1.50", "1.51", "1.50", "2.00",
                                            "1.50", "1.00"])
        self.assertEqual(lines[2].split()[-2:], ["0.67", "-"])
        self.assertEqual(lines[3].split(), ["all", "1.00", "1.00", "1.00", "1.00", "1.00", "1.00"])
        self.assertEqual({len(line) for line in lines}, {len(lines[0])})

    def test_table(self):
        text = metrics.table(metrics.run(1, STOCK, RUBATO, 4), STOCK, RUBATO)
        self.assertRegex(text, r"mean time from submit to end +20.0 s +13.3 s +1.50")
        self.assertRegex(text, r"GPUs in use +50.0 % +50.0 %\n")


class Schema(unittest.TestCase):
    def setUp(self):
        path = SOURCE / "docs/schema/rubato.compare.1.json"
        self.schema = json.loads(path.read_text(encoding="utf-8"))
        self.document = json.loads(json.dumps(metrics.document(
            "22.05.8", "place", site.STOCK_PARAMS, [metrics.run(1, STOCK, RUBATO, 4)])))

    def test_the_document_is_what_the_schema_says(self):
        self.assertEqual([], json_schema.unknown_words(self.schema))
        self.assertEqual([], json_schema.errors(self.schema, self.document))
        run = self.document["runs"][0]
        runs = self.schema["properties"]["runs"]["items"]
        for value, schema in ((self.document, self.schema), (run, runs),
                              (run["stock"], runs["properties"]["stock"])):
            self.assertEqual(sorted(value), sorted(schema["required"]))
            if schema is not runs:
                self.assertEqual(sorted(value), sorted(schema["properties"]))
        elastic = json.loads(json.dumps(elastic_run()[0]))
        self.assertEqual([], json_schema.errors(runs, elastic))
        self.assertEqual(sorted(elastic), sorted(runs["properties"]))

    def test_the_file_has_a_line_a_job(self):
        text = metrics.to_text(self.document)
        self.assertEqual(json.loads(text), self.document)
        self.assertEqual(sum('"job_type": ' in line for line in text.splitlines()), 6)

    def test_broken_documents_are_refused(self):
        self.document["runs"].append(json.loads(json.dumps(elastic_run()[0])))
        paths = list(json_schema.described_paths(self.schema, self.document))
        self.assertGreater(len(paths), 40)
        for path in paths:
            broken = copy.deepcopy(self.document)
            place = broken
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = None
            self.assertTrue(json_schema.errors(self.schema, broken), path)


class _Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


class Pages(unittest.TestCase):
    def setUp(self):
        entry = metrics.run(1, STOCK, RUBATO, 4)
        load = workload.Workload(1, {"v100": 1.2, "p100": 1.4, "k80": 0.5}, [])
        halves = [types.SimpleNamespace(outcomes=STOCK), types.SimpleNamespace(outcomes=RUBATO)]
        document = metrics.document("22.05.8", "place", "a<b", [entry])
        self.text = page.render(document, [(load, entry, halves)])

    def test_it_is_whole_and_needs_nothing_else(self):
        parser = _Page()
        parser.feed(self.text)
        self.assertEqual(parser.open, [])
        self.assertFalse({"script", "link", "img", "iframe"} & {tag for tag, _ in parser.seen})
        for _, attributes in parser.seen:
            self.assertFalse({"src", "href"} & set(attributes))
        self.assertNotRegex(self.text, r"https?:|@import|url\(")
        self.assertIn("a&lt;b", self.text)
        self.assertIn("prefers-color-scheme: dark", self.text)

    def test_it_opens_with_who_won(self):
        self.assertRegex(self.text, r'</h1><p class="verdict">From submit to end jobs took [\d.]+ times as long '
                                    r"under (Rubato|stock Slurm) as under (stock Slurm|Rubato) on average; one seed")
        runs = [{"avg_jct_ratio": ratio} for ratio in (1.1, 0.9, 1.6)]
        self.assertEqual(page.verdict({"avg_jct_ratio": 1.17, "runs": runs}),
                         "From submit to end jobs took 1.17 times as long under stock Slurm as under Rubato on "
                         "average: Rubato was faster with 2 of 3 seeds; their ratios are 0.90 to 1.60.")

    def test_a_column_has_one_unit_and_each_table_its_headings(self):
        self.assertRegex(self.text, r'<th scope="col">time \(s\)</th><th scope="col">stock Slurm</th>')
        self.assertRegex(self.text, r'<th scope="row">mean time from submit to end</th><td>[\d.]+</td>')
        self.assertRegex(self.text, r'<th scope="row">GPUs in use \(%\)</th><td>[\d.]+</td>')
        self.assertEqual(self.text.count("<table>"), self.text.count("<caption"))
        self.assertNotRegex(self.text, r"<th>")

    def test_its_charts_show_the_jobs_of_both_halves(self):
        drawings = re.findall(r"<svg .*?</svg>", self.text)
        for drawing in drawings:
            xml.etree.ElementTree.fromstring(drawing)
        gantts = [d for d in drawings if "Gantt" in d]
        self.assertEqual(len(gantts), 2)
        for gantt in gantts:
            self.assertEqual(gantt.count('class="bar s2"'), 1)
            self.assertEqual(gantt.count('class="bar s7"'), 1)
        self.assertIn("job 1 (j1), lm: 2 p100 on p1", gantts[0])

    def test_mode_elastic_has_a_third_chart(self):
        entry, found = elastic_run()
        load = workload.Workload(1, {"v100": 1.2, "p100": 1.4, "k80": 0.5}, [])
        halves = [types.SimpleNamespace(outcomes=one) for one in found]
        text = page.render(metrics.document("22.05.8", "elastic", "a", [entry]),
                           [(load, entry, halves)])
        parser = _Page()
        parser.feed(text)
        self.assertEqual(parser.open, [])
        self.assertEqual([name for name in re.findall(r"Gantt chart, ([a-zA-Z ]+)", text)],
                         ["stock Slurm", "mode place", "mode elastic"])
        self.assertIn('class="line s1"', text)
        self.assertRegex(text, '<th scope="row">restarts</th><td>0</td><td>0</td><td>1</td>')
        self.assertRegex(text, "<b>1.50</b>mean time, mode place")

    def test_gpus_of_a_node_are_drawn_side_by_side(self):
        both = outcomes([("hinted", 0, 0, 9), ("hinted", 0, 0, 5), ("hinted", 0, 5, 9)])
        drawn = [(node, first, number, item.id) for node, first, number, item, _ in
                 charts.slots(both)]
        self.assertEqual(drawn, [("p1", 0, 2, 1), ("p1", 2, 2, 2), ("p1", 2, 2, 3)])

    def test_curves(self):
        self.assertEqual(charts.busy(STOCK), [(0, 2), (20, 2), (30, 0)])
        self.assertEqual(charts.waiting(STOCK), [(0.0, 1), (20, 0)])
        self.assertEqual(charts.distribution(STOCK)[-1], (30, 100))

    def test_marks(self):
        self.assertEqual([charts.nice_step(span) for span in (5, 30, 150, 900)], [1, 5, 20, 200])


class Lines(unittest.TestCase):
    def show(self, tty, times):
        out = io.StringIO()
        out.isatty = lambda: tty
        clock = iter([0.0, *times])
        shown = progress.Progress(out, lambda: next(clock))
        for number, _ in enumerate(times):
            shown.update(f"look {number}")
        shown.line("end")
        return out.getvalue()

    def test_a_terminal_has_one_line_that_changes(self):
        text = self.show(True, [])
        self.assertEqual(text, "end\n")
        out = io.StringIO()
        out.isatty = lambda: True
        shown = progress.Progress(out)
        shown.update("long words")
        shown.update("short")
        shown.line("end")
        self.assertEqual(out.getvalue(), "\rlong words\rshort     \r     \rend\n")

    def test_a_file_has_a_line_every_20_seconds(self):
        out = io.StringIO()
        clock = [0.0]
        shown = progress.Progress(out, lambda: clock[0])
        for second in range(50):
            clock[0] = float(second)
            shown.update(f"at {second}")
        self.assertEqual(out.getvalue(), "at 20\nat 40\n")


class Options(unittest.TestCase):
    def wrong(self, *words):
        with self.assertRaises((command.UsageError, workload_file.WorkloadError)) as caught:
            command.workloads(command.parse(list(words)))
        return str(caught.exception)

    def test_wrong_ones_are_told_before_anything_runs(self):
        folder = folder_of(self)
        for words, text in (
                (["--jobs", "5"], "--jobs: '5': a whole number from 6 to 400 is wanted"),
                (["--seed", "-1"], "--seed"),
                (["--seed", "1", "--seed", "1"], "--seed 1 is there twice"),
                (["--sed", "1"], "unknown option --sed; did you mean --seed?"),
                (["now"], "unknown option now; choose from --"),
                (["--stock-params", "bf_interval=1 bf_x"], "with commas and without blanks"),
                (["--mode", "elastik"], "invalid choice: 'elastik' (choose from "),
                (["--json", str(folder)], "this is a folder; a file is wanted"),
                (["--json", f"{folder}/none/x"], f"there is no folder {folder}/none"),
                (["--report", f"{folder}/none/x"], "--report"),
                (["--json", "x", "--report", "./x"], "both name x"),
                (["--workload", f"{folder}/none.json"], "none.json: No such file"),
                (["--workload", "x", "--seed", "2"], "leave --seed out"),
                (["--workload", "x", "--jobs", "9"], "leave --jobs out")):
            with self.subTest(words):
                self.assertIn(text, self.wrong(*words))

    def test_right_ones(self):
        options = command.parse([])
        self.assertEqual((options.seeds, options.jobs, options.mode), ([1], 120, "place"))
        loads = command.workloads(command.parse(["--seed", "4", "--seed", "2", "--jobs", "8"]))
        self.assertEqual([load.seed for load in loads], [4, 2])
        self.assertEqual([len(load.jobs) for load in loads], [8, 8])

    def test_mode_elastic_has_a_workload_of_its_own_and_the_best_of_three_settings(self):
        self.assertEqual(command.parse([]).settings, [site.STOCK_PARAMS])
        options = command.parse(["--mode", "elastic"])
        self.assertEqual(options.jobs, 72)
        self.assertEqual(options.settings, list(site.STOCK_SETTINGS))
        self.assertEqual(len(set(options.settings)), 3)
        self.assertEqual(command.workloads(options), [workload.generate(1, 72, elastic=True)])
        options = command.parse(["--mode", "elastic", "--stock-params", "bf_interval=30"])
        self.assertEqual(options.settings, ["bf_interval=30"])

    def test_rubato_gets_bf_continue_where_it_is_missing(self):
        self.assertEqual(command.rubato_params("bf_interval=30"), "bf_interval=30,bf_continue")
        self.assertEqual(command.rubato_params(site.STOCK_PARAMS), site.STOCK_PARAMS)


if __name__ == "__main__":
    unittest.main()
