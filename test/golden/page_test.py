#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The page that `rubato page` writes: whole, harmless, the same again, and with what the published files say."""
import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import golden  # noqa: E402
from simulate_page_test import Page  # noqa: E402

EVIL = "</script><script>alert('x')</script>&amp;\"quoted\""


class ClusterPage(unittest.TestCase):
    def setUp(self):
        self.runner = golden.Runner(golden.program())
        self.folder = self.runner.new_folder(["site", "published", "stats", "models"])
        self.addCleanup(self.runner.remove, self.folder)
        self.publish = self.folder / "state/rubato/publish"

    def change(self, name, edit):
        path = self.publish / name
        document = json.loads(path.read_text())
        edit(document)
        path.write_text(json.dumps(document) + "\n")

    def write(self, options=""):
        out, err, code = self.runner.run_in(self.folder, f"rubato page {options}")
        self.assertEqual((b"", 0), (err, code))
        return out.decode()

    def test_it_is_well_formed_and_needs_nothing_from_elsewhere(self):
        text = self.write()
        page = Page(text)
        self.assertEqual([], page.wrong)
        self.assertEqual([], page.open)
        self.assertTrue(text.startswith("<!DOCTYPE html>\n<html lang=\"en\">"))
        self.assertEqual([], page.all("script"))
        for tag, attrs in page.tags:
            for name in ("src", "href", "action", "srcset", "onclick"):
                self.assertNotIn(name, attrs, tag)
        self.assertNotRegex(text, r"https?://|url\(|@import")

    def test_the_same_files_make_the_same_bytes_at_any_time(self):
        first = self.write()
        out, _, _ = self.runner.run_in(self.folder, "RUBATO_NOW=1795262405 rubato page")
        self.assertEqual(first, out.decode())

    def opening(self, options=""):
        return re.search(r'<p class="verdict">(.*?)</p>', self.write(options))[1]

    def test_it_opens_with_what_the_cluster_does_now(self):
        self.assertLess(self.write().index('class="verdict"'), self.write().index('class="tiles"'))
        self.assertEqual("11 of 16 GPUs are held by 2 jobs; 7 GPU jobs wait. The first in the queue is job 1001 of ann, "
                         "which starts now.", self.opening())
        self.change("snapshot.json", lambda snapshot: snapshot["jobs"].clear())
        self.assertEqual("11 of 16 GPUs are held; no GPU job waits.", self.opening())
        self.change("snapshot.json", lambda snapshot: [node["gpus"].clear() for node in snapshot["nodes"] if "gpus" in node])
        self.assertEqual("The snapshot has no node with GPUs.", self.opening())

    def test_times_are_as_their_headings_say(self):
        cells = re.findall(r'data-label="[^"]*\(h:mm:ss\)">([^<]+)<', self.write())
        self.assertGreater(len(cells), 8)
        for cell in cells:
            self.assertRegex(cell, r"^\d+:\d\d:\d\d$")

    def test_names_stay_names(self):
        def edit(snapshot):
            snapshot["cluster"] = EVIL
            for job in snapshot["jobs"]:
                job["user"] = job["name"] = EVIL
            snapshot["nodes"][0]["name"] = "<b>n1</b>"

        names = self.publish / "snapshot.json"
        names.write_text(names.read_text().replace('"n1"', '"<b>n1</b>"'))
        plan = self.publish / "plan.json"
        plan.write_text(plan.read_text().replace('"n1"', '"<b>n1</b>"'))
        self.change("snapshot.json", edit)
        page = Page(self.write())
        self.assertEqual([], page.wrong)
        self.assertEqual([], page.all("script"))
        self.assertIn(("h1", "Cluster " + EVIL), page.texts)
        self.assertIn(("span", "<b>n1</b>"), page.texts)

    def test_charts_say_what_they_are_and_tables_have_headings(self):
        page = Page(self.write())
        charts = [svg for svg in page.all("svg") if svg.get("role") == "img"]
        self.assertEqual(2, len(charts), "one for each GPU type")
        texts = dict.fromkeys(tag for tag, _ in page.texts)
        self.assertIn("desc", texts)
        titles = [text for tag, text in page.texts if tag == "title"]
        self.assertIn("a100: which job holds which GPUs", titles)
        self.assertIn("Job 901 of ann: 4 GPUs of n1, runs since 2026-11-21T11:00:00, "
                      "time limit until 2026-11-21T13:00:00", titles)
        tables = page.all("table")
        self.assertEqual(len(tables), len(page.all("caption")))
        self.assertEqual(6, len(tables))
        for heading in page.all("th"):
            self.assertIn(heading["scope"], ("col", "row"))

    def test_both_colour_schemes_have_all_colours(self):
        style = re.search(r"<style>(.*?)</style>", self.write(), re.S).group(1)
        dark = "".join(re.findall(r"prefers-color-scheme: dark\) \{ :root \{(.*?)\} \}", style, re.S))
        light = re.sub(r"@media \(prefers.*?\} \}", "", style, flags=re.S)
        colours = set(re.findall(r"(--\w+): #", light))
        self.assertGreater(len(colours), 12)
        self.assertEqual(colours, set(re.findall(r"(--\w+): #", dark)))

    def test_a_promise_is_called_one(self):
        def edit(document):
            for reservation in document.get("reservations", []) + document.get("memory", {}).get(
                    "reservations", []):
                reservation["reason"] = "waited"
                reservation["promised"] = 1795266000

        self.assertNotIn("(promised)", self.write())
        self.change("snapshot.json", edit)
        self.change("plan.json", edit)
        text = self.write()
        self.assertIn("by 13:00 (promised)", text)
        self.assertIn("promised from 2026-11-21T13:00:00", text)

    def test_bars_stay_inside_their_nodes_and_the_time(self):
        text = self.write("--hours 1")
        for chart in re.findall(r'<svg viewBox="0 0 1000 (\d+)"[^>]*role="img">(.*?)</svg>', text, re.S):
            height, body = int(chart[0]), chart[1]
            bars = re.findall(r'class="bar [^"]*" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', body)
            self.assertTrue(bars)
            for x, y, width, tall in (map(float, bar) for bar in bars):
                self.assertLessEqual(x + width, 1001)
                self.assertLessEqual(y + tall, height)

    def test_many_gpus_have_no_chart_but_tables(self):
        def edit(snapshot):
            snapshot["nodes"][1]["gpus"] = [{"type": "a100", "total": 4000, "free": 4000}]

        self.change("snapshot.json", edit)
        text = self.write()
        self.assertIn("are too many for one", text)
        self.assertNotIn('class="lanes"', text)
        self.assertIn("4\u202f004", text)

    def test_runs_of_the_store_are_drawn(self):
        store = pathlib.Path(golden.HERE.parent / "store/schema-3.db")
        target = self.folder / "state/rubato/rubato.db"
        target.write_bytes(store.read_bytes())
        runs = golden.CASES / "217-report-gain/files/runs.py"
        subprocess.run([sys.executable, runs], cwd=self.folder, check=True, timeout=60)
        text = self.write("--hours 24")
        self.assertNotIn("are known here", text)
        self.assertRegex(text, r"ran from 2026-11-2\d")


if __name__ == "__main__":
    unittest.main()
