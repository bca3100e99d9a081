#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the commands write: a full standard output, and the files that options name."""
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import golden  # noqa: E402

PATIENCE = 300
FULL = "error: standard output: No space left on device\n"
# Root may write anywhere by these two capabilities alone; without them modes of files count.
ROOT_LIKE_ANYBODY = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
WORKLOAD = "job,arrival_s,gpus,run_s\none,0,1,50\ntwo,5,2,60\n"


class Outputs(unittest.TestCase):
    def setUp(self):
        self.before = []
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rubato-outputs-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.workload = self.folder / "w.csv"
        self.workload.write_text(WORKLOAD)

    def run_program(self, program, *words, stdout=subprocess.PIPE):
        environment = {**os.environ, "TZ": "UTC", "LC_ALL": "C.UTF-8",
                       "SLURM_CONF": str(self.folder / "none")}
        return subprocess.run([*self.before, program, *words], cwd=self.folder, env=environment,
                              text=True, stdin=subprocess.DEVNULL, stdout=stdout,
                              stderr=subprocess.PIPE, timeout=PATIENCE, check=False)

    def rubato(self, *words, **more):
        return self.run_program(golden.program(), *words, **more)

    def simulate(self, *words, workload="w.csv"):
        return self.rubato("simulate", "-w", workload, "-c", "a:1x4", "-p", "fifo", *words)


class FullDisk(Outputs):
    def full(self, program, *words):
        with open("/dev/full", "w", encoding="utf-8") as full:
            return self.run_program(program, *words, stdout=full)

    def test_it_is_said_and_fails(self):
        simulate = ["simulate", "-w", "w.csv", "-c", "a:1x4", "-p", "fifo"]
        for words in (["--version"], ["--help"], ["simulate", "--help"], ["simulate", "--list"],
                      simulate, [*simulate, "--json"], [*simulate, "--csv", "-"]):
            with self.subTest(words=words):
                done = self.full(golden.program(), *words)
                self.assertEqual(done.returncode, 1)
                # Once, and with its reason.
                self.assertEqual(done.stderr.count("No space left on device"), 1, done.stderr)
                self.assertTrue(done.stderr.endswith(FULL.removeprefix("error: ")), done.stderr)

    def test_rqueue_says_it(self):
        program = os.path.join(os.path.dirname(golden.program()), "rqueue")
        done = self.full(program, "--help")
        self.assertEqual((done.returncode, done.stderr), (1, "rqueue: " + FULL))

    def test_another_exit_code_stays(self):
        words = ["explain", "--json", "--publish-dir", str(self.folder)]
        code = self.rubato(*words).returncode
        self.assertGreater(code, 1)
        done = self.full(golden.program(), *words)
        self.assertEqual(done.returncode, code)
        self.assertIn("rubato: " + FULL, done.stderr)


class Targets(Outputs):
    def test_a_fifo_is_written_and_stays(self):
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        # Open for both, so that neither end waits for the other.
        reader = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        done = self.simulate("--csv", "fifo")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(b"one", os.read(reader, 1 << 16))
        self.assertTrue(stat.S_ISFIFO(fifo.lstat().st_mode))

    def test_link_and_mode_stay(self):
        real = self.folder / "real.html"
        real.write_text("old")
        real.chmod(0o600)
        (self.folder / "link.html").symlink_to("real.html")
        (self.folder / "new.csv").symlink_to("made.csv")
        done = self.simulate("--report", "link.html", "--csv", "new.csv")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue((self.folder / "link.html").is_symlink())
        self.assertTrue((self.folder / "new.csv").is_symlink())
        self.assertIn("<html", real.read_text())
        self.assertIn("one", (self.folder / "made.csv").read_text())
        self.assertEqual(stat.S_IMODE(real.stat().st_mode), 0o600)

    def test_standard_output_that_is_a_file_stays_whole(self):
        out = self.folder / "out"
        with open(out, "w", encoding="utf-8") as file:
            done = self.rubato("simulate", "-w", "w.csv", "-c", "a:1x4", "-p", "fifo",
                               "--csv", "/proc/self/fd/1", stdout=file)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        text = out.read_text()
        self.assertIn("SUITE", text)
        self.assertIn("one", text)


class Checked(Outputs):
    """The workload is not there: what is said of an output was known before it was read."""

    def refused(self, words, code, text):
        done = self.simulate(*words, workload="none.csv")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (code, "", f"rubato: error: simulate: {text}\n"))

    def test_what_cannot_be_written(self):
        (self.folder / "folder").mkdir()
        for option in ("--json", "--csv", "--report", "--write-workload"):
            with self.subTest(option=option):
                self.refused([f"{option}=gone/x"], 1,
                             f"{option}: gone/x: No such file or directory")
                self.refused([f"{option}=folder"], 1, f"{option}: folder: Is a directory")
                self.refused([f"{option}=w.csv/x"], 1, f"{option}: w.csv/x: Not a directory")

    def test_a_folder_without_permission(self):
        (self.folder / "closed").mkdir(mode=0o500)
        self.before = ROOT_LIKE_ANYBODY if os.geteuid() == 0 else []
        self.refused(["--csv=closed/x"], 1, "--csv: closed/x: Permission denied")

    def test_two_outputs_in_one_file(self):
        (self.folder / "link").symlink_to("x")
        for other in ("x", "./x", "link", str(self.folder / "x")):
            with self.subTest(other=other):
                self.refused(["--csv=x", f"--report={other}"], 2,
                             f"--report: {other}: same file as --csv")

    def test_an_input_is_not_overwritten(self):
        (self.folder / "link").symlink_to("w.csv")
        self.refused(["--csv=none.csv"], 2, "--csv: none.csv: same file as --workload")
        self.refused(["--profiles=w.csv", "--json=link"], 2,
                     "--json: link: same file as --profiles")
        done = self.rubato("simulate", "--from-sacct=w.csv", "--cluster=a:1x4", "--report=w.csv")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--report: w.csv: same file as --from-sacct", done.stderr)
        done = self.simulate("--cluster=@w.csv", "--csv=link", workload="none.csv")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(self.workload.read_text(), WORKLOAD)


if __name__ == "__main__":
    unittest.main()
