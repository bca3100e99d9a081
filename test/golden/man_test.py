#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The man pages of the commands: their examples run, and they name every option."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import golden  # noqa: E402

SOURCE = pathlib.Path(os.environ.get("RUBATO_SOURCE_DIR", golden.HERE.parent.parent))
PAGES = sorted([*(SOURCE / "docs/man").glob("rubato*.1"), SOURCE / "docs/man/rqueue.1"])
# Files that examples use; they are installed as documentation.
EXAMPLES = sorted((SOURCE / "docs/examples").glob("*.[ct]*"))
BASES = ["site", "published", "stats", "models", "queue"]


def plain(text):
    """roff text as it is printed."""
    return text.replace("\\-", "-").replace("\\e", "\\").replace("\\&", "")


def section(page, title):
    """Lines of a section."""
    lines, inside = [], False
    for line in page.read_text().splitlines():
        if line.startswith(".SH"):
            inside = line == f".SH {title}"
        elif inside:
            lines.append(line)
    return lines


def examples(page):
    """The commands that stand after a '$' between .EX and .EE of EXAMPLES."""
    commands, code = [], False
    for line in section(page, "EXAMPLES"):
        if line in (".EX", ".EE"):
            code = line == ".EX"
        elif code and line.startswith("$ "):
            commands.append(plain(line[2:]))
    return commands


def options_of_help(text):
    return set(re.findall(r"--[A-Za-z]+(?:-[a-z]+)*", text))


class ManPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runner = golden.Runner(golden.program())

    def run_script(self, script):
        folder = self.runner.new_folder(BASES)
        for path in EXAMPLES:
            shutil.copy(path, folder)
        try:
            return self.runner.run_in(folder, script)
        finally:
            self.runner.remove(folder)

    def test_there_is_a_page_for_each_command(self):
        out, _, _ = self.run_script("rubato --help")
        commands = re.findall(r"^  ([a-z][a-z-]*) +[A-Z]", out.decode(), re.M)
        self.assertGreaterEqual(len(commands), 3)
        names = {page.stem for page in PAGES}
        self.assertEqual({"rqueue", "rubato"} | {f"rubato-{command}" for command in commands}, names)

    def test_examples_run(self):
        for page in PAGES:
            commands = examples(page)
            self.assertTrue(commands, f"{page.name} has no example")
            # In one folder, for an example may use the file of the one before.
            script = "set -o pipefail\n" + "".join(
                f"{{ {command}\n}} || {{ echo \"$?: {number}\" >&2; exit 1; }}\n"
                for number, command in enumerate(commands, 1))
            out, err, code = self.run_script(script)
            self.assertEqual((0, b""), (code, err), f"{page.name}: {commands}: {out.decode()}")

    def test_what_an_example_prints_stands_below_it(self):
        """Where lines stand below a command, they are what it prints, or its first lines."""
        page = SOURCE / "docs/man/rubato-simulate.1"
        shown, code = [], False
        for line in section(page, "EXAMPLES"):
            if line in (".EX", ".EE"):
                code = line == ".EX"
            elif code and line.startswith("$ "):
                shown.append((plain(line[2:]), []))
            elif code:
                shown[-1][1].append(plain(line))
        self.assertGreaterEqual(sum(bool(lines) for _, lines in shown), 3)
        for command, lines in shown:
            if lines:
                out, err, code = self.run_script(command)
                self.assertEqual((0, b""), (code, err), command)
                self.assertEqual(lines, out.decode().splitlines(), command)

    def test_options_are_documented(self):
        common = options_of_help((SOURCE / "docs/man/rubato.1").read_text().replace("\\-", "-"))
        for page in PAGES:
            command = page.stem.replace("-", " ", 1)
            if command == "rubato":
                continue
            out, _, code = self.run_script(f"{command} --help")
            self.assertEqual(0, code)
            named = options_of_help(plain(page.read_text())) | common
            self.assertEqual(set(), options_of_help(out.decode()) - named, page.name)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_groff_has_no_warnings(self):
        for page in PAGES:
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", str(page)],
                                  capture_output=True, text=True, check=False)
            self.assertEqual((0, ""), (done.returncode, done.stderr), page.name)


if __name__ == "__main__":
    unittest.main()
