#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/results/features.md: each row has a state with its reason, and its evidence, commands, hints and options
exist."""
import ast
import os
import pathlib
import re
import unittest

ROOT = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"])
PAGE = ROOT / "docs/results/features.md"
HEADINGS = ["feature", "what to type", "state", "evidence"]


def cells(line):
    """Cells of a row of a table; a \\| is part of a cell."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def rows(text):
    """{feature: {heading: cell}} of all tables of the page."""
    found = {}
    for line in text.splitlines():
        if line.startswith("|") and not re.match(r"\|[ -]+\|", line):
            row = cells(line)
            if row != HEADINGS:
                found[row[0]] = dict(zip(HEADINGS, row))
    return found


def code(cell):
    """Code spans of a cell."""
    return re.findall(r"`([^`]+)`", cell)


def scenarios():
    """{name: tier} of the live scenarios."""
    found = {}
    for path in sorted((ROOT / "test/cluster/scenarios").glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.FunctionDef):
                continue
            for mark in node.decorator_list:
                if isinstance(mark, ast.Call) and getattr(mark.func, "id", "") == "scenario":
                    tier = [word.value.value for word in mark.keywords if word.arg == "tier"]
                    found[node.name.replace("_", "-")] = tier[0] if tier else 1
    return found


def unit_tests():
    """Names Suite.Test of the GoogleTest and RapidCheck tests."""
    names = set()
    for path in (ROOT / "test").rglob("*.cc"):
        names |= {".".join(name) for name in re.findall(
            r"^(?:TEST|TEST_F|TEST_P|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\(\s*(\w+),\s*(\w+)",
            path.read_text(encoding="utf-8"), re.M)}
    return names


class Evidence:
    """What a name of the column of evidence may be."""

    def __init__(self):
        self.scenarios, self.unit_tests = scenarios(), unit_tests()
        self.golden = {path.name for path in (ROOT / "test/golden/cases").iterdir()}
        self.files = {path.name for path in (ROOT / "test").rglob("*_test.py")}

    def missing(self, cell):
        """Sentences about the names of a cell that are nothing, or have a wrong tier."""
        wrong = []
        for name, tier in re.findall(r"`([^`]+)`( \(2\))?", cell):
            if name in self.scenarios:
                if (self.scenarios[name] == 2) != bool(tier):
                    wrong.append(f"{name} is of tier {self.scenarios[name]}")
            elif name not in self.unit_tests | self.golden | self.files:
                wrong.append(f"{name} is no scenario, unit test, golden case or test file")
        return wrong


class Features(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = PAGE.read_text(encoding="utf-8")
        cls.rows = rows(cls.text)

    def test_each_row_has_a_state_and_its_reason(self):
        self.assertGreater(len(self.rows), 40)
        for feature, row in self.rows.items():
            with self.subTest(feature=feature):
                self.assertEqual(HEADINGS, list(row))
                self.assertTrue(row["what to type"])
                state = re.match(r"(works|in part|no)(?:[:;,] (.+))?$", row["state"])
                self.assertIsNotNone(state, row["state"])
                if state[1] != "works":
                    self.assertGreater(len(state[2] or ""), 10, "the reason")

    def test_the_evidence_of_each_row_exists(self):
        evidence = Evidence()
        self.assertGreater(len(evidence.scenarios), 150)
        self.assertGreater(len(evidence.unit_tests), 1000)
        for feature, row in self.rows.items():
            with self.subTest(feature=feature):
                self.assertTrue(code(row["evidence"]) or row["state"].startswith("no"), "evidence")
                self.assertEqual([], evidence.missing(row["evidence"]))
        self.assertEqual(["no-such-thing is no scenario, unit test, golden case or test file"],
                         evidence.missing("`no-such-thing`"))
        self.assertEqual(["clients-work is of tier 1"], evidence.missing("`clients-work` (2)"))

    def test_what_to_type_exists(self):
        """Commands by their man pages, hints by the table of hints, options of rubato.conf by rubato.conf(5)."""
        hints = set(re.findall(r'^\s*\{?"([a-z-]+)"', (ROOT / "lib/hints/table.cc").read_text(encoding="utf-8"), re.M))
        hints |= set(re.findall(r"--dl-([a-z-]+)", (ROOT / "docs/man/rubato-hints.7").read_text(encoding="utf-8").replace("\\-", "-")))
        options = set(re.findall(r"^\.B ([A-Z]\w+)$", (ROOT / "docs/man/rubato.conf.5").read_text(encoding="utf-8"), re.M))
        self.assertGreater(len(hints), 10)
        self.assertGreater(len(options), 20)
        for feature, row in self.rows.items():
            for typed in code(row["what to type"]):
                with self.subTest(feature=feature, typed=typed):
                    command = re.match(r"rubato ([a-z][a-z-]*)", typed)
                    if command:
                        page = ROOT / f"docs/man/rubato-{command[1]}.1"
                        self.assertTrue(page.is_file(), page.name)
                        man = page.read_text(encoding="utf-8").replace("\\-", "-")
                        for option in re.findall(r" (--[a-z][a-z-]+)", typed):
                            self.assertTrue(option in man or option.startswith("--dl-"), option)
                    for hint in re.findall(r"--dl-([a-z-]+)", typed):
                        self.assertIn(hint, hints)
                    option = re.fullmatch(r"([A-Z][A-Za-z]+)=[\w:.-]*", typed)
                    if option:
                        self.assertIn(option[1], options)


if __name__ == "__main__":
    unittest.main()
