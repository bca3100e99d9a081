#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the man pages of sections 5, 7 and 8 show between .nf and .fi is right: configuration parses, hints are
accepted, wrong ones are refused in the words that stand below them, reports are reports. A block that no rule
here knows fails."""
import json
import os
import pathlib
import re
import shlex
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import golden  # noqa: E402
from man_test import plain  # noqa: E402

SOURCE = pathlib.Path(os.environ.get("RUBATO_SOURCE_DIR", golden.HERE.parent.parent))
PAGES = sorted(page for number in (5, 7, 8) for page in (SOURCE / "docs/man").glob(f"rub*.{number}"))
# What `rubato hints --check` cannot know: time limits, and the GPU types of the cluster. A live scenario submits
# every wrong hint.
UNKNOWN_TO_CHECK = (r" -t ", r"gpu-types=h10/", r"--gpus=1g.5gb", r"heterogeneous")
# Request options of sbatch that `rubato hints --check` takes as they are, and those it knows as flags.
REQUEST = ("--gpus", "--gpus-per-node", "--gpus-per-task", "-N", "-n")
FLAGS = {"--exclusive": "--exclusive", "--no-requeue": "--no-requeue", "--array": "--array",
         "--requeue": "", "--interactive": "--interactive"}
# Keys of the segment and the members of rqueue's JSON.
SEGMENT = {"job-type": "job_type", "gpu-type": "gpu_type", "gpus": "gpus", "rate": "rate",
           "samples": "samples", "remaining": "remaining"}


def text_of(line):
    """A line as it is printed, fonts and macros with alternating fonts taken out."""
    if re.match(r"\.(IR|RI|BR|RB|BI|IB) ", line):
        line = "".join(plain(word) for word in re.split(r"(?<!\\) ", line[4:]))
    return plain(re.sub(r"\\f[BIRP]", "", line))


def blocks(page):
    """(section, lines, the paragraph below in .RS) of everything between .nf and .fi."""
    found, section, lines, below = [], "", None, None
    for line in page.read_text().splitlines():
        if line.startswith(".SH"):
            section = line[4:]
        if line == ".nf":
            lines, below = [], []
            found.append((section, lines, below))
        elif line == ".fi":
            lines = None
        elif lines is not None:
            lines.append(text_of(line))
        elif below is not None and not line.startswith(".RS"):
            if line.startswith(".") and line != ".br":
                below = None
            elif line == ".br":
                below.append("\n")
            else:
                below.append(text_of(line))
    return found


class ManExamples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runner = golden.Runner(golden.program())

    def run_script(self, script, bases=("site", "published", "stats", "models", "queue")):
        folder = self.runner.new_folder(list(bases))
        try:
            out, err, code = self.runner.run_in(folder, script)
        finally:
            self.runner.remove(folder)
        return out.decode().replace(str(folder), "@DIR@"), err.decode(), code

    def good(self, script):
        """What a script prints that has nothing to complain of."""
        out, err, code = self.run_script(script)
        self.assertEqual((0, ""), (code, err), script)
        return out

    # The rules: each takes (lines, text below) and is chosen by the first line.

    def rubato_conf(self, lines, _):
        whole = "\n".join(lines)
        shown = self.good(f"printf '%s\\n' {shlex.quote(whole)} > etc/rubato.conf; rubato doctor --config")
        for line in lines:
            self.assertIn(line.split()[0], shown)
        _, err, code = self.run_script(
            f"printf '%s\\n' {shlex.quote(whole.replace('=', 'x=', 1))} > etc/rubato.conf; rubato doctor --config")
        self.assertNotEqual((0, ""), (code, err), "a wrong key is accepted")

    def slurm_conf(self, lines, _):
        whole = "\n".join(lines).replace("RUBATODIR", "$DIR/plugins/rubato").replace(
            "STOCKDIR", "$DIR/plugins/stock")
        out = self.run_script("sed -i '/^PluginDir\\|^JobSubmitPlugins/d' etc/slurm.conf\n"
                              f"echo \"{whole}\" >> etc/slurm.conf\nCOLUMNS=1000 rubato doctor")[0]
        for line in lines:
            key = line.split("=")[0]
            self.assertRegex(out, rf"(?m)^  {key}=.*\(slurm.conf, present\)")
            self.assertRegex(out, rf"(?m)^OK +{key}\b")

    def plugstack(self, lines, _):
        file = lines[0].split("/")[-1]
        folder = "$DIR/plugins/rubato"
        out = self.run_script(
            f"touch {folder}/{file}; echo '{lines[0]}' | sed \"s,FOLDER,{folder},\" > etc/plugstack.conf\n"
            "COLUMNS=1000 rubato doctor")[0]
        self.assertRegex(out, rf"(?m)^OK +plugstack.conf +optional @DIR@/plugins/rubato/{file}$")

    def check_hints(self, words):
        """`rubato hints --check` for the words of an sbatch command line: (stdout, stderr, exit code)."""
        hints, request = [], []
        while words:
            name, equals, value = words.pop(0).partition("=")
            if name.startswith("--dl-"):
                hints.append(name[5:] + equals + value)
            elif name == "--comment":
                hints.append(value)
            elif name in FLAGS:
                request.append(FLAGS[name])
            elif name in REQUEST:
                request += [name + equals + value] if equals else [name, words.pop(0)]
            else:
                self.fail(f"no rule for the option {name}")
        request = " ".join(word for word in request if word)
        return self.run_script(f"rubato hints --check {shlex.quote(';'.join(hints))} {request}")

    def sbatch_lines(self, lines, _):
        words = [word for line in lines for word in shlex.split(line.removeprefix("#SBATCH"))]
        out, err, code = self.check_hints(words)
        self.assertEqual((0, ""), (code, err), lines)
        self.assertTrue(out.startswith("rubato:"), out)
        if any(word.startswith("--gpus") for word in words):
            self.assertNotIn("Only the words were checked", out)

    def wrong_hints(self, lines, below):
        command, *words = shlex.split(lines[0])
        if "--gpus" not in lines[0] or any(re.search(word, " ".join(lines)) for word in UNKNOWN_TO_CHECK):
            return
        if command != "sbatch":
            words.append("--interactive")
        out, err, code = self.check_hints(words)
        self.assertEqual((1, ""), (code, out), lines)
        told = [line.removeprefix("rubato: error: ") for line in err.splitlines()]
        self.assertEqual(" ".join(below).split(" \n "), told, lines)

    def report(self, lines, _):
        said = re.search(r"(report \S+?)[\"']", lines[0])[1]
        options = " ".join(f"--{pair}" for pair in said.split()[1].split(";"))
        self.assertEqual(self.values(said),
                         self.values(self.good(f"rubato report {options} --print").removeprefix("rubato!")))

    @staticmethod
    def values(message):
        """{key: number} of `report key=value;...`."""
        pairs = [pair.partition("=") for pair in message.strip().removeprefix("report ").split(";")]
        return {key: float(value) for key, _, value in pairs}

    def segment(self, lines, _):
        """rqueue reads it out of squeue's answer, in the place of the segment of job 1."""
        swap = ("import pathlib, re; p = pathlib.Path('squeue.json'); "
                f"p.write_text(re.sub('[{{]rubato [^}}]*plan=dp[^}}]*[}}]', {lines[0]!r}, p.read_text()))")
        jobs = json.loads(self.good(f'"$PYTHON" -c {shlex.quote(swap)}; rqueue --json'))["jobs"]
        job = next(job for job in jobs if job["job_id"] == 1)
        pairs = dict(pair.split("=") for pair in lines[0].strip("{}").split()[1:])
        self.assertEqual(pairs.keys() & set(SEGMENT), pairs.keys() - {"sizes"})
        for key, member in SEGMENT.items():
            value = {**job, **job["rubato"]}[member]
            self.assertEqual(pairs[key], value if isinstance(value, str) else f"{value:g}", key)

    def summary(self, lines, _):
        """The words are those that the plugin writes, in its order."""
        source = (SOURCE / "lib/json/job_summary.cc").read_text()
        written = re.findall(r"([a-z-]+)=(?=\{|\")", source)
        said = [pair.split("=")[0] for pair in lines[0].strip("{}").split()[1:]]
        self.assertEqual(said, [word for word in written if word in said])

    def notice(self, lines, _):
        """rubato wait-resize reads it out of squeue's answer."""
        squeue = golden.CASES / "314-wait-resize/files/bin/squeue"
        out, err, _ = self.run_script(f"cp {squeue} bin/; echo {shlex.quote(lines[0])} > notices; "
                                      "rubato wait-resize --job 12 --json")
        self.assertEqual("", err)
        said = json.loads(out)
        pairs = dict(pair.split("=") for pair in lines[0].strip("{}").split()[1:])
        self.assertEqual(pairs.pop("how") == "live", said["live"])
        self.assertEqual(pairs, {key: str(said["notice" if key == "n" else key]) for key in pairs})

    def interruptions(self, lines, _):
        form = (r"\S+Z JobId=\d+ restart=(saving|requeued|done|measured|failed) uid=\d+ gpus=\d+->\d+"
                r"( gpu-type=\S+)?( seconds=\d+)?( cost=\d+)?( words=\"[^\"]*\")?$")
        for line in lines:
            self.assertRegex(line, form)

    def plugin_files(self, lines, _):
        made = "".join(path.read_text() for path in (SOURCE / "plugin").glob("local.mk"))
        for line in lines:
            name = pathlib.PurePath(line).stem
            self.assertIn(f"{name}.la", made)

    def configure(self, lines, _):
        words = (SOURCE / "configure.ac").read_text() + "".join(
            path.read_text() for path in (SOURCE / "m4").glob("*.m4"))
        for option in re.findall(r"--with-([a-z-]+)", lines[0]):
            self.assertRegex(words, rf"AC_ARG_WITH\(\[{option}\]")

    RULES = (
        (r"[.]/configure ", configure), (r"PluginDir=", slurm_conf), (r"optional ", plugstack),
        (r"(#SBATCH |--comment=)", sbatch_lines), (r"(echo|scontrol update) .*report ", report),
        (r"s(batch|alloc|run) .*--comment=", wrong_hints), (r"PREFIX/lib/", plugin_files),
        (r"\d{4}-\d\d-\d\dT.* restart=", interruptions), (r"[{]rubato waited=", summary),
        (r"[{]rubato ", segment), (r"[{]rubato-notice ", notice), (r"[A-Z][A-Za-z]+=", rubato_conf))

    def test_every_block(self):
        counts = {}
        for page in PAGES:
            for section, lines, below in blocks(page):
                rule = next((rule for pattern, rule in self.RULES if re.match(pattern, lines[0])), None)
                with self.subTest(page=page.name, section=section, line=lines[0]):
                    self.assertIsNotNone(rule, "no rule knows this block")
                    rule(self, lines, below)
                counts[rule] = counts.get(rule, 0) + 1
        for _, rule in self.RULES:
            self.assertGreater(counts.get(rule, 0), 0, rule.__name__)


if __name__ == "__main__":
    unittest.main()
