#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The page that `rubato simulate --report` writes: whole, harmless, the same again, and with what the run was."""
import html.parser
import json
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

VOID = {"meta", "br", "link", "img", "input"}
EVIL = "</script><script>alert('x')</script>&amp;\"quoted\""
WORKLOAD = ("job,arrival_s,model,gpus,run_s\n"
            f"\"{EVIL.replace(chr(34), chr(34) * 2)}\",0,<b>m</b>,2,1000\n"
            "b,10,other,4,2000\nc,20,other,1,300\nlast,30,third & more,2,5000\n")


class Page(html.parser.HTMLParser):
    """Elements of a page; `wrong` where a tag is closed that is not open."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.wrong, self.tags, self.ids, self.texts = [], [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open[-1] != tag:
            self.wrong.append((tag, self.getpos(), self.open[-3:]))
            return
        self.open.pop()

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="rubato-page-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        (cls.folder / "w.csv").write_text(WORKLOAD)
        cls.text = cls.write("-p", "fifo,backfill,rubato-place")
        cls.page = Page(cls.text)

    @classmethod
    def write(cls, *options, workload="w.csv"):
        command = [golden.program(), "simulate", "-w", workload, "-c", "a:1x4,b:1x2", *options,
                   "--report", "r.html"]
        subprocess.run(command, cwd=cls.folder, check=True, capture_output=True, timeout=300,
                       env={**os.environ, "TZ": "UTC"})
        return (cls.folder / "r.html").read_text()

    def data(self, text=None):
        found = re.search(r'<script type="application/json" id="data">(.*?)</script>',
                          text or self.text, re.S)
        return json.loads(found.group(1))

    def test_it_is_well_formed(self):
        self.assertEqual([], self.page.wrong)
        self.assertEqual([], self.page.open)
        self.assertEqual(len(self.page.ids), len(set(self.page.ids)))
        self.assertTrue(self.text.startswith("<!DOCTYPE html>\n<html lang=\"en\">"))

    def test_it_needs_nothing_from_elsewhere(self):
        for tag, attrs in self.page.tags:
            for name in ("src", "href", "action", "srcset"):
                self.assertNotIn(name, attrs, tag)
        text = self.text.replace("http://www.w3.org/2000/svg", "")
        self.assertNotRegex(text, r"https?://|url\(|@import|fetch\(|XMLHttpRequest|import\(")

    def test_names_stay_names(self):
        self.assertEqual(2, len(self.page.all("script")), "the data and the script of the page")
        self.assertEqual([], self.page.all("alert"))
        jobs = self.data()["suites"][0]["jobs"]
        self.assertEqual([EVIL, "<b>m</b>", 2, 0], jobs[0])
        shutil.copy(self.folder / "w.csv", self.folder / "<i>w&.csv")
        text = self.write("-p", "fifo", workload="<i>w&.csv")
        page = Page(text)
        self.assertEqual([], page.wrong)
        self.assertIn(("h1", "Simulation of <i>w&.csv"), page.texts)
        self.assertEqual([], [attrs for attrs in page.all("i") if not attrs], "those of bars have a class")

    def test_the_same_command_makes_the_same_bytes(self):
        self.assertEqual(self.text, self.write("-p", "fifo,backfill,rubato-place"))

    def test_command_seed_schema_and_version_are_there(self):
        version = golden.version_of(golden.program())
        text = " ".join(data for _, data in self.page.texts)
        self.assertIn("rubato simulate -w w.csv -c a:1x4,b:1x2 -p fifo,backfill,rubato-place --report r.html",
                      text)
        self.assertIn(f"Seed 0; Rubato {version};", text)
        self.assertIn("rubato.simulate/1", text)

    def test_every_run_has_its_charts_and_they_say_what_they_are(self):
        charts = [svg for svg in self.page.all("svg") if svg.get("role") == "img"]
        self.assertEqual(4, len(charts))
        for svg in charts:
            self.assertRegex(svg["aria-label"], r"fifo: .*backfill: .*rubato-place: ")
        canvases = self.page.all("canvas")
        self.assertEqual(["gantt0", "gantt1", "gantt2"], [canvas["id"] for canvas in canvases])
        for canvas in canvases:
            self.assertRegex(canvas["aria-label"], r"^Gantt chart of [\w-]+: \d+ bars on 6 GPUs")
        lines = [attrs["data-name"] for attrs in self.page.all("path") if "data-name" in attrs]
        self.assertEqual(["fifo", "backfill", "rubato-place"] * 4, lines)

    def test_it_opens_with_who_won(self):
        verdicts = [data for tag, data in self.page.texts if tag == "p"]
        self.assertRegex(verdicts[0], r"^Jobs took [\d.]+ [sh] on average from arrival to end under \S+, the least; "
                                      r"under \S+ [\d.]+ [sh] \([\d.]+ times as long\), and up to [\d.]+ times")
        self.assertLess(self.text.index('class="verdict"'), self.text.index("<section"))

    def test_units_are_in_the_headings(self):
        table = re.search(r"Figures of each policy</caption>(.*?)</table>", self.text, re.S).group(1)
        self.assertRegex(table, r">Mean \([sh]\)<")
        self.assertEqual(1, len(set(re.findall(r">(?:Mean|Median|99th|Ideal) \(([sh])\)<", table))), "one unit for times of jobs")
        self.assertRegex(self.text, r"<h3>Mean time from arrival to end \([sh]\)</h3>")
        self.assertNotRegex(self.text, r"<b>[\d.]+ [a-z%]")
        self.assertNotRegex(table, r"<td[^>]*>[\d.]+ [sh]<")

    def test_both_colour_schemes_are_meant(self):
        self.assertIn("color-scheme: light dark", self.text)
        self.assertEqual(2, self.text.count("@media (prefers-color-scheme: dark)"))
        style = re.search(r"<style>(.*?)</style>", self.text, re.S).group(1)
        dark = "".join(re.findall(r"prefers-color-scheme: dark\) \{ :root \{(.*?)\} \}", style, re.S))
        light = re.sub(r"@media \(prefers.*?\} \}", "", style, flags=re.S)
        colours = set(re.findall(r"(--\w+): #", light))
        self.assertGreater(len(colours), 15)
        self.assertEqual(colours, set(re.findall(r"(--\w+): #", dark)))
        self.assertIn("@media print", style)

    def test_the_pieces_of_a_chart_are_the_gpu_time_of_the_jobs(self):
        subprocess.run([golden.program(), "simulate", "-w", "w.csv", "-c", "a:1x4,b:1x2", "-p",
                        "backfill", "--csv", "jobs.csv"], cwd=self.folder, check=True,
                       capture_output=True, timeout=300)
        data = self.data()
        held = sum(float(line.split(",")[-2])
                   for line in (self.folder / "jobs.csv").read_text().splitlines()[1:])
        bars = data["runs"][1]["bars"]
        unit = data["suites"][0]["unit"]
        drawn = sum(bars[i + 2] * bars[i + 4] * unit for i in range(0, len(bars), 5))
        self.assertAlmostEqual(held, drawn, delta=held * 1e-4)
        self.assertEqual([["a", 1, 4], ["b", 1, 2]], data["suites"][0]["groups"])

    def test_a_thousand_jobs_stay_small(self):
        rows = [f"job-{i},{i * 37},kind-{i % 9},{2 ** (i % 3)},{600 + i * 7919 % 20000}"
                for i in range(1000)]
        (self.folder / "many.csv").write_text("job,arrival_s,model,gpus,run_s\n" + "\n".join(rows))
        text = self.write("-p", "fifo,backfill", workload="many.csv")
        self.assertEqual([], Page(text).wrong)
        self.assertLess(len(text), 1_500_000)
        self.assertEqual(6, len(self.data(text)["suites"][0]["kinds"]))

    def test_a_file_that_cannot_be_written_is_an_error(self):
        done = subprocess.run([golden.program(), "simulate", "-w", "w.csv", "-c", "a:1x4,b:1x2",
                               "--report", "none/r.html"], cwd=self.folder, capture_output=True,
                              text=True, timeout=300, check=False)
        self.assertEqual((1, "rubato: error: simulate: --report: none/r.html: No such file or directory\n"),
                         (done.returncode, done.stderr))


if __name__ == "__main__":
    unittest.main()
