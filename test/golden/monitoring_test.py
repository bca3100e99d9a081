#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Dashboard and alerts use metrics that `rubato metrics` prints."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ.get("RUBATO_SOURCE_DIR", HERE.parent.parent))
RULES = SOURCE / "contrib/prometheus/rubato.rules.yml"
DASHBOARD = SOURCE / "contrib/grafana/rubato.json"
PRINTED = (HERE / "cases/178-metrics/stdout").read_text()
SAMPLES = set(re.findall(r"^(rubato_\w+)", PRINTED, re.M))


def unknown(text):
    """Metrics in an expression that are not printed."""
    return set(re.findall(r"\brubato_\w+", text)) - SAMPLES


class Monitoring(unittest.TestCase):
    def test_rules_name_printed_metrics(self):
        exprs = re.findall(r"^ +expr: (.*)$", RULES.read_text(), re.M)
        self.assertEqual(5, len(exprs))
        for expr in exprs:
            self.assertTrue(re.search(r"\brubato_", expr), expr)
            self.assertEqual(set(), unknown(expr), expr)
        self.assertEqual({"rubato_nothing"}, unknown("sum(rubato_nothing) + rubato_up"))

    def test_promtool_accepts_the_rules(self):
        """Where promtool is installed; the form of each rule everywhere."""
        alerts = RULES.read_text().split("- alert: ")[1:]
        for alert in alerts:
            for word in ("expr: ", "severity: ", "summary: ", "description: "):
                self.assertIn(word, alert)
        promtool = os.environ.get("PROMTOOL") or shutil.which("promtool")
        if promtool:
            done = subprocess.run([promtool, "check", "rules", RULES], capture_output=True, text=True, check=False)
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)
            self.assertIn("5 rules found", done.stdout)

    def test_panels(self):
        panels = json.loads(DASHBOARD.read_text())["panels"]
        self.assertGreaterEqual(len(panels), 8)
        for panel in panels:
            self.assertTrue(panel["title"])
            self.assertTrue(panel["fieldConfig"]["defaults"]["unit"], panel["title"])
            for target in panel["targets"]:
                self.assertEqual(set(), unknown(target["expr"]), panel["title"])

    def test_service_writes_by_the_command(self):
        service = (SOURCE / "contrib/prometheus/rubato-metrics.service").read_text()
        self.assertRegex(service, r"ExecStart=rubato metrics --output /\S+\.prom\n")
        self.assertIn("SuccessExitStatus=4\n", service)


if __name__ == "__main__":
    unittest.main()
