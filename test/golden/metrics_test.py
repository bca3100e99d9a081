#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`rubato metrics` is Prometheus' text format, version 0.0.4."""
import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import golden  # noqa: E402

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")
TYPES = {"counter", "gauge", "untyped"}


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
            if not match or match[1] != current:
                raise ValueError(f"bad sample: {line}")
            labels = match[2] or ""
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
        for name, (kind, samples) in families.items():
            self.assertTrue(name.startswith("rubato_"), name)
            self.assertTrue(samples, name)
            self.assertEqual(kind == "counter", name.endswith("_total"), name)
            self.assertNotIn("_ms_", name)

    def test_values(self):
        families, stats = self.metrics()
        value = lambda name: families[name][1][""]  # noqa: E731
        self.assertEqual(1, value("rubato_up"))
        self.assertEqual(stats["started"], value("rubato_jobs_started_total"))
        self.assertEqual(stats["mail"]["taken"], value("rubato_messages_taken_total"))
        self.assertAlmostEqual(stats["lock_ms_longest"] / 1000,
                               value("rubato_lock_longest_seconds"))

    def test_every_number_of_stats_is_told(self):
        before, stats = self.metrics()
        self.assertEqual(0, before["rubato_rounds_late_total"][1][""])
        for member, number in stats.items():
            if isinstance(number, bool) or not isinstance(number, (int, float)):
                continue
            if member == "heartbeat":
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
