# SPDX-License-Identifier: GPL-2.0-or-later
"""test/support/tally and test/support/run-test count every failure, skip and crash."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

SUPPORT = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"], "test/support")
SAMPLE = pathlib.Path(os.environ["RUBATO_BUILD_DIR"], "test/support/listener_sample")


class Tally(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.results = self.root / "results"
        self.results.mkdir()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def cases(self, name, *cases):
        self.write(f"results/{name}", json.dumps([
            {"name": n, "status": s, "reason": r} for n, s, r in cases]))

    def tally(self, *arguments):
        """(exit status, lines, stderr) of tally over the results."""
        result = subprocess.run([SUPPORT / "tally", *arguments, self.results], capture_output=True,
                                text=True, check=False)
        return result.returncode, result.stdout.splitlines(), result.stderr

    def run_test(self, path):
        env = os.environ | {"RUBATO_RESULTS": str(self.results)}
        return subprocess.run([SUPPORT / "run-test", path], capture_output=True, text=True,
                              check=False, env=env)

    def test_counts_over_all_files(self):
        self.cases("a.json", ("one", "passed", ""), ("two", "passed", ""))
        self.cases("deep/b.json", ("three", "passed", ""))
        self.assertEqual(self.tally(), (0, ["3 passed, 0 failed, 0 skipped"], ""))

    def test_a_failure_is_printed_and_decides(self):
        self.cases("a.json", ("one", "passed", ""), ("two", "failed", "expected 1\ngot 2"))
        self.assertEqual(self.tally(), (1, ["failed: two: expected 1", "    got 2",
                                            "1 passed, 1 failed, 0 skipped"], ""))

    def test_a_skip_must_be_listed_with_its_reason(self):
        self.cases("a.json", ("one", "passed", ""), ("two", "skipped", "no root"))
        for line, last in (("two: no root", "1 passed, 0 failed, 1 skipped"),
                           ("t*: no *", "1 passed, 0 failed, 1 skipped"),
                           ("two: no disk", "1 passed, 1 failed, 0 skipped"),
                           ("one: no root", "1 passed, 1 failed, 0 skipped")):
            skips = self.write("skips", f"# allowed\n\n{line}\n")
            code, lines, _ = self.tally("--skips", skips)
            self.assertEqual((code, lines[-1]), (int("1 failed" in last), last), line)

    def test_a_line_of_skips_without_reason_is_an_error(self):
        self.cases("a.json", ("one", "passed", ""))
        skips = self.write("skips", "two\n")
        self.assertEqual(self.tally("--skips", skips), (
            1, [], f"tally: {skips}:1: expected 'NAME: REASON', found 'two'\n"))

    def test_what_is_expected_must_be_there(self):
        self.cases("a.json", ("one", "passed", ""))
        code, lines, _ = self.tally("--expect", "a.json", "--expect", "b.json")
        self.assertEqual((code, lines), (1, [
            "failed: b.json: left no results: it did not run to its end",
            "1 passed, 1 failed, 0 skipped"]))

    def test_what_the_file_expected_names_must_be_there(self):
        self.cases("a.json", ("one", "passed", ""))
        self.write("results/expected", "a.json\nc.json\n")
        code, lines, _ = self.tally()
        self.assertEqual((code, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))

    def test_an_unreadable_file_and_an_empty_one_fail(self):
        self.cases("a.json", ("one", "passed", ""))
        self.cases("empty.json")
        for text in ("{", '{"tests": 3}', '[{"name": "x", "status": "maybe"}]', "3"):
            self.write("results/b.json", text)
            code, lines, _ = self.tally()
            self.assertEqual((code, lines[-1]), (1, "1 passed, 2 failed, 0 skipped"), text)

    def test_nothing_ran_is_not_a_success(self):
        self.assertEqual(self.tally(), (1, ["0 passed, 0 failed, 0 skipped"], ""))

    def test_a_gtest_program(self):
        self.assertEqual(self.run_test(SAMPLE).returncode, 1)
        self.assertEqual([p.name for p in (self.results / "cunit").iterdir()],
                         ["listener_sample-Results.xml"])
        code, lines, _ = self.tally("--skips", self.write("skips", "Sample.Skips: no cheese\n"))
        self.assertEqual((code, lines[0]), (1, "skipped: Sample.Skips: no cheese"))
        # Since release 1.15 gtest also tells the suite that could not be taken down.
        self.assertIn(lines[-1], [f"2 passed, {failed} failed, 1 skipped" for failed in (1, 2)])

    def test_a_program_that_dies_is_a_failure(self):
        path = self.write("dies", "#!/bin/sh\nkill -SEGV $$\n")
        path.chmod(0o755)
        self.assertEqual(self.run_test(path).returncode, 1)
        self.assertEqual(self.tally()[1], ["failed: dies: ended by signal 11",
                                           "0 passed, 1 failed, 0 skipped"])

    def test_a_program_that_fails_after_its_tests_is_a_failure(self):
        path = self.write("leaks", '#!/bin/sh\necho \'{"failures": 0, "testsuites": [{"name": "A", '
                          '"testsuite": [{"name": "b", "result": "COMPLETED"}]}]}\''
                          ' >"${1#--gtest_output=json:}"\nexit 23\n')
        path.chmod(0o755)
        self.run_test(path)
        self.assertEqual(self.tally()[1], ["failed: leaks: exit status 23",
                                           "1 passed, 1 failed, 0 skipped"])

    def test_a_unittest_file(self):
        path = self.write("x_test.py", "import unittest\nclass A(unittest.TestCase):\n"
                          "  def test_good(self): pass\n  def test_bad(self): self.fail('why')\n"
                          "  def test_part(self):\n    for n in (1, 2):\n      with self.subTest(n=n): self.fail('sub')\n"
                          "  @unittest.skip('later')\n  def test_skip(self): pass\n")
        self.assertEqual(self.run_test(path).returncode, 1)
        lines = self.tally("--skips", self.write("skips", "x_test.A.test_skip: later\n"))[1]
        self.assertEqual(lines, ["skipped: x_test.A.test_skip: later",
                                 "failed: x_test.A.test_bad: why",
                                 "failed: x_test.A.test_part: n=1: sub", "    n=2: sub",
                                 "1 passed, 2 failed, 1 skipped"])

    def test_a_fuzz_target_without_corpus_is_a_failure(self):
        path = self.write("fuzz_nothing", "#!/bin/sh\nexit 0\n")
        path.chmod(0o755)
        self.assertEqual(self.run_test(path).returncode, 1)
        self.assertEqual(self.tally()[1][-1], "0 passed, 1 failed, 0 skipped")


if __name__ == "__main__":
    unittest.main()
