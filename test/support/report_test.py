# SPDX-License-Identifier: GPL-2.0-or-later
"""The reports of a GoogleTest program: CUnit's XML, and the reason of a skip in the JSON."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

SAMPLE = pathlib.Path(os.environ["RUBATO_BUILD_DIR"], "test/support/listener_sample")

# Content of each element by CUnit-Run.dtd; the last two of a test case's summary are optional.
LEAVES = {"SUITE_NAME", "FAILURE_REASON", "TEST_NAME", "SKIP_REASON", "FILE_NAME", "LINE_NUMBER",
          "CONDITION", "TYPE", "TOTAL", "RUN", "SUCCEEDED", "FAILED", "SKIPPED", "INACTIVE",
          "CUNIT_FOOTER", "CUNIT_HEADER"}
SEQUENCES = {
    "CUNIT_TEST_RUN_REPORT": [["CUNIT_HEADER", "CUNIT_RESULT_LISTING", "CUNIT_RUN_SUMMARY",
                               "CUNIT_FOOTER"]],
    "CUNIT_RUN_SUITE": [["CUNIT_RUN_SUITE_SUCCESS"], ["CUNIT_RUN_SUITE_FAILURE"]],
    "CUNIT_RUN_SUITE_FAILURE": [["SUITE_NAME", "FAILURE_REASON"]],
    "CUNIT_RUN_TEST_RECORD": [["CUNIT_RUN_TEST_SUCCESS"], ["CUNIT_RUN_TEST_SKIPPED"],
                              ["CUNIT_RUN_TEST_FAILURE"]],
    "CUNIT_RUN_TEST_SUCCESS": [["TEST_NAME"]],
    "CUNIT_RUN_TEST_SKIPPED": [["TEST_NAME", "SKIP_REASON"]],
    "CUNIT_RUN_TEST_FAILURE": [["TEST_NAME", "FILE_NAME", "LINE_NUMBER", "CONDITION"]],
    "CUNIT_RUN_SUMMARY_RECORD": [["TYPE", "TOTAL", "RUN", "SUCCEEDED", "FAILED", "INACTIVE"],
                                 ["TYPE", "TOTAL", "RUN", "SUCCEEDED", "FAILED", "SKIPPED",
                                  "INACTIVE"]],
}
LISTS = {"CUNIT_RESULT_LISTING": "CUNIT_RUN_SUITE", "CUNIT_RUN_SUMMARY": "CUNIT_RUN_SUMMARY_RECORD"}


def run_sample(*arguments, **environment):
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("GTEST_", "RUBATO_CUNIT"))}
    return subprocess.run([SAMPLE, *arguments], env=env | environment, capture_output=True,
                          text=True, check=False)


def texts(parent, path):
    return [element.text.strip() for element in parent.findall(path)]


class Reports(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def report(self, *arguments):
        path = self.folder / "report.xml"
        run_sample(f"--cunit_xml={path}", *arguments)
        return ElementTree.parse(path).getroot()

    def check_content(self, element):
        tags = [child.tag for child in element]
        if element.tag in LEAVES:
            self.assertEqual(tags, [], element.tag)
        elif element.tag in LISTS:
            self.assertEqual(set(tags) - {LISTS[element.tag]}, set(), element.tag)
        elif element.tag == "CUNIT_RUN_SUITE_SUCCESS":
            self.assertEqual(tags, ["SUITE_NAME"] + ["CUNIT_RUN_TEST_RECORD"] * (len(tags) - 1))
        else:
            self.assertIn(tags, SEQUENCES[element.tag], element.tag)
        for child in element:
            self.check_content(child)

    def test_the_report_has_the_structure_of_cunits_dtd(self):
        root = self.report()
        self.assertEqual(root.tag, "CUNIT_TEST_RUN_REPORT")
        self.check_content(root)

    def test_each_test_is_recorded_as_it_ended(self):
        root = self.report()
        self.assertEqual(texts(root, ".//CUNIT_RUN_TEST_SUCCESS/TEST_NAME"), ["Passes", "Passes"])
        self.assertEqual(texts(root, ".//CUNIT_RUN_TEST_SKIPPED/TEST_NAME"), ["Skips"])
        self.assertEqual(texts(root, ".//SKIP_REASON"), ["no cheese"])
        self.assertEqual(texts(root, ".//CUNIT_RUN_SUITE_FAILURE/SUITE_NAME"), ["BrokenSuite"])
        self.assertIn("cannot clear the table", texts(root, ".//FAILURE_REASON")[0])

    def test_a_failed_test_has_a_record_for_each_assertion(self):
        failures = self.report().findall(".//CUNIT_RUN_TEST_FAILURE")
        self.assertEqual([f.findtext("TEST_NAME").strip() for f in failures], ["FailsTwice"] * 2)
        self.assertTrue(failures[0].findtext("FILE_NAME").strip().endswith("listener_sample.cc"))
        self.assertGreater(int(failures[1].findtext("LINE_NUMBER")),
                           int(failures[0].findtext("LINE_NUMBER")))
        self.assertIn("text with <markup> & a control character \\x01",
                      failures[0].findtext("CONDITION"))

    def test_the_summary_counts(self):
        suites, cases = self.report().findall(".//CUNIT_RUN_SUMMARY_RECORD")
        self.assertEqual(texts(suites, "*"), ["Suites", "2", "2", "- NA -", "1", "0"])
        self.assertEqual(texts(cases, "*"), ["Test Cases", "4", "3", "2", "1", "1", "0"])

    def test_a_report_without_skips_has_nothing_that_cunit_2_1_lacks(self):
        root = self.report("--gtest_filter=Sample.Passes")
        self.assertEqual(texts(root, ".//TEST_NAME"), ["Passes"])
        for tag in ("CUNIT_RUN_TEST_SKIPPED", "SKIP_REASON", "SKIPPED"):
            self.assertEqual(root.findall(f".//{tag}"), [], tag)

    def test_the_environment_names_the_folder(self):
        run_sample(RUBATO_CUNIT_DIR=str(self.folder))
        self.check_content(ElementTree.parse(self.folder / "listener_sample-Results.xml").getroot())

    def test_without_either_nothing_is_written(self):
        result = run_sample(f"--gtest_output=json:{self.folder}/own.json")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["own.json"])

    def test_a_file_that_cannot_be_written_is_an_error(self):
        path = self.folder / "absent/report.xml"
        result = run_sample(f"--cunit_xml={path}", "--gtest_filter=Sample.Passes")
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"cannot write the CUnit report {path}", result.stderr)

    def test_the_reason_of_a_skip_is_in_the_json(self):
        path = self.folder / "own.json"
        run_sample(f"--gtest_output=json:{path}", "--gtest_filter=Sample.Skips")
        case = json.loads(path.read_text(encoding="utf-8"))["testsuites"][0]["testsuite"][0]
        self.assertEqual((case["result"], case["skip_reason"]), ("SKIPPED", "no cheese"))


if __name__ == "__main__":
    unittest.main()
