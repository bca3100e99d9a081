#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`rubato metrics` is Prometheus' text format, version 0.0.4."""
import json
import pathlib
import os
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import golden  # noqa: E402

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")
TYPES = {"counter", "gauge", "summary", "untyped"}
# Rules of `promtool check metrics` for names.
NOT_IN_NAMES = {"ms", "us", "ns", "sec", "min", "hr", "day", "days", "minutes", "hours", "milliseconds", "microseconds",
                "kb", "mb", "gb", "percent", "counter", "gauge", "summary", "histogram"}


def problems(families):
    """What Prometheus' rules for names say against the families."""
    found = []
    for name, (kind, samples) in families.items():
        if not re.fullmatch(r"rubato_[a-z0-9_]*[a-z0-9]", name):
            found.append(f"{name}: only rubato_ and small letters, digits and _")
        if NOT_IN_NAMES & set(name.split("_")):
            found.append(f"{name}: unit that is not a base unit, or a type")
        if (kind == "counter") != name.endswith("_total"):
            found.append(f"{name}: _total is for counters")
        if name.endswith(("_sum", "_count", "_bucket")):
            found.append(f"{name}: the end of a summary's sample")
        if not samples:
            found.append(f"{name}: no sample")
    return found


def promtool():
    return os.environ.get("PROMTOOL") or shutil.which("promtool")


def parse(text):
    """{family: (type, {labels: value})}; raises ValueError where the text is not of the format."""
    families, current = {}, None
    if not text.endswith("\n"):
        raise ValueError("the last line does not end")
    helped = set()
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name, _, words = line[7:].partition(" ")
            if name in helped or not words or not re.fullmatch(NAME, name):
                raise ValueError(f"bad HELP: {line}")
            helped.add(name)
        elif line.startswith("# TYPE "):
            name, _, kind = line[7:].partition(" ")
            if name not in helped or name in families or kind not in TYPES:
                raise ValueError(f"bad TYPE: {line}")
            current = name
            families[name] = (kind, {})
        else:
            match = SAMPLE.fullmatch(line)
            kind = families[current][0] if current else ""
            ends = ("_sum", "_count") if kind == "summary" else ("",)
            if not match or match[1] not in [f"{current}{end}" for end in ends]:
                raise ValueError(f"bad sample: {line}")
            labels = (match[2] or "") + match[1][len(current):]
            if labels in families[current][1]:
                raise ValueError(f"twice: {line}")
            families[current][1][labels] = float(match[3])
    return families


class Metrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runner = golden.Runner(golden.program())

    def metrics(self, prepare=""):
        folder = self.runner.new_folder(["site", "published", "stats", "models"])
        try:
            out, _, _ = self.runner.run_in(folder, prepare + "rubato metrics")
            stats = folder / "state/rubato/publish/stats.json"
            return parse(out.decode()), json.loads(stats.read_text())
        finally:
            self.runner.remove(folder)

    def test_names_and_types(self):
        families, _ = self.metrics()
        self.assertGreater(len(families), 50)
        self.assertEqual([], problems(families))

    def test_rules_of_names_are_checked(self):
        for name, kind in (("rubato_a_ms", "gauge"), ("rubato_a", "counter"), ("rubato_a_total", "gauge"),
                           ("rubato:a", "gauge"), ("rubato_aB", "gauge"), ("rubato_a_count", "gauge"),
                           ("other_a", "gauge"), ("rubato_gauge", "gauge")):
            self.assertNotEqual([], problems({name: (kind, {"": 1.0})}), name)

    def test_promtool_agrees(self):
        """The rules above; and where promtool is installed, Prometheus' own."""
        folder = self.runner.new_folder(["site", "published", "stats", "models"])
        try:
            out, _, _ = self.runner.run_in(folder, "rubato metrics")
        finally:
            self.runner.remove(folder)
        self.assertEqual([], problems(parse(out.decode())))
        if promtool():
            done = subprocess.run([promtool(), "check", "metrics"], input=out, capture_output=True, check=False)
            self.assertEqual((0, b"", b""), (done.returncode, done.stdout, done.stderr))

    def test_queue_by_type(self):
        families, _ = self.metrics()
        by_type = lambda name: {re.findall('"(.*)"', labels)[0]: value  # noqa: E731
                                for labels, value in families[name][1].items()}
        self.assertEqual({"a100": 8, "h100": 8}, by_type("rubato_gpus"))
        self.assertEqual({"a100": 4, "h100": 7}, by_type("rubato_gpus_held"))
        self.assertEqual({"a100": 4, "h100": 1}, by_type("rubato_gpus_free"))
        # 1003 wants two nodes, 1004 has two tasks, 1005 waits for a limit.
        self.assertEqual({"a100": 10, "h100": 4, "any": 2}, by_type("rubato_gpus_asked"))
        self.assertEqual({"a100": 1798, "h100": 398, "any": 198}, by_type("rubato_oldest_wait_seconds"))

    def test_promised_starts(self):
        promise = "sed -i 's/\"reservations\":\\[{{\"id\":1003,/&\"promised\":{},/' state/rubato/publish/plan.json; "
        states = lambda families: {labels.split('"')[3]: value  # noqa: E731
                                   for labels, value in families["rubato_promised_starts"][1].items()
                                   if 'gpu_type="a100"' in labels}
        kept, _ = self.metrics(promise.format(1795266000))
        self.assertEqual({"kept": 1, "moved": 0}, states(kept))
        self.assertEqual(0, kept["rubato_promised_start_delay_seconds"][1][""])
        moved, _ = self.metrics(promise.format(1795265000))
        self.assertEqual({"kept": 0, "moved": 1}, states(moved))
        self.assertEqual(1000, moved["rubato_promised_start_delay_seconds"][1][""])

    def test_hidden_jobs_are_not_counted(self):
        hide = "sed -i 's/\"taken\":[0-9]*,/&\"private_data\":[\"jobs\"],/' state/rubato/publish/snapshot.json; "
        families, _ = self.metrics(hide)
        self.assertIn("rubato_gpus_held", families)
        for name in ("rubato_gpus_asked", "rubato_gpus_managed", "rubato_promised_starts"):
            self.assertNotIn(name, families)

    def test_store_up(self):
        families, _ = self.metrics()
        self.assertEqual(1, families["rubato_store_up"][1][""])
        for change in ('s/"state":"open"/"state":"abandoned"/', 's/"trouble":""/"trouble":"disk full"/'):
            families, _ = self.metrics(f"sed -i '{change}' state/rubato/publish/stats.json; ")
            self.assertEqual(0, families["rubato_store_up"][1][""], change)

    def test_values(self):
        families, stats = self.metrics()
        value = lambda name: families[name][1][""]  # noqa: E731
        self.assertEqual(1, value("rubato_up"))
        self.assertEqual(stats["started"], value("rubato_jobs_started_total"))
        self.assertEqual(stats["mail"]["taken"], value("rubato_messages_taken_total"))
        self.assertAlmostEqual(stats["lock_ms_longest"] / 1000,
                               value("rubato_lock_longest_seconds"))
        self.assertAlmostEqual(stats["round_ms_mean"] * stats["rounds"] / 1000,
                               families["rubato_round_duration_seconds"][1]["_sum"])
        self.assertEqual(stats["heartbeat"], value("rubato_heartbeat_timestamp_seconds"))

    def test_every_number_of_stats_is_told(self):
        before, stats = self.metrics()
        self.assertEqual(0, before["rubato_rounds_late_total"][1][""])
        for member, number in stats.items():
            if isinstance(number, bool) or not isinstance(number, (int, float)):
                continue
            change = f"sed -i 's/\"{member}\":[0-9.]*/\"{member}\":987654/' " \
                     "state/rubato/publish/stats.json; "
            after, _ = self.metrics(change)
            self.assertNotEqual(before, after, member)

    def test_labels_are_escaped(self):
        odd = 'a\\b"c\nd'
        row = json.dumps({"schema": "rubato.models/1", "generated": 1,
                          "models": [{"job_type": odd, "samples": 1, "rate_mean": 2}]})
        families, _ = self.metrics(f"cat > state/rubato/publish/models.json <<'EOF'\n{row}\nEOF\n")
        labels = next(iter(families["rubato_profile_samples"][1]))
        self.assertIn('job_type="a\\\\b\\"c\\nd"', labels)

    def test_parser_refuses(self):
        good = "# HELP a x\n# TYPE a gauge\na 1\n"
        self.assertEqual({"a": ("gauge", {"": 1.0})}, parse(good))
        for bad in (good[:-1], "a 1\n", good + "b 2\n", good + "a 1\n", good + good,
                    good.replace("gauge", "thing"), good.replace("a 1", 'a{b=c} 1'),
                    good.replace("a 1", "a x")):
            with self.assertRaises(ValueError, msg=bad):
                parse(bad)


if __name__ == "__main__":
    unittest.main()
