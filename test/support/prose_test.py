# SPDX-License-Identifier: GPL-2.0-or-later
"""Plain words (docs/glossary.md): finds unclear phrases in strings, comments and documents.

codespell checks spelling (Debian: codespell); a machine without it skips that part.
"""
import os
import pathlib
import re
import shutil
import subprocess
import unittest

ROOT = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"])

# A pattern of text, and its replacement.
PHRASES = (
    (r"\b[Mm]end(s|ed|ing)?\b", "fix"),
    (r"\b[Ff]oretold\b|\b[Ff]oresees?\b", "forecast, predict"),
    (r"\bas many again\b|\bso much as\b", "say the number"),
    (r"\bso long after\b", "this soon after"),
    (r"\bstands? (there|beside|behind)\b", "is"),
    (r"\bis no (number|word|name|size|time|file|duration)\b", "invalid ..., or: is not a ..."),
    (r"\bis none of\b", "must be one of"),
    (r"\blets? go of\b", "release"),
    (r"\bprogrammes?\b(?! of)", "linear program, integer program"),
    (r"\bhardly\b", "almost never, barely"),
    (r"\bbegun\b", "started"),
    (r"\bhas something to say\b", "reports"),
    (r"\b[Tt]akes? it off again\b", "uninstall"),
    (r"\bin place of line\b|\bplace in line\b", "queue position"),
)
TEXT = (".md", ".1", ".5", ".7", ".8", ".svg")
CODE = (".cc", ".h", ".py")
# Recorded output and inputs, which keep their original words.
KEPT = ("docs/results/", "test/golden/cases/", "test/golden/bases/", "test/fuzz/corpus/", "docs/glossary.md",
        "test/support/prose_test.py", "test/golden/config.d/", "test/golden/hints.d/")
FOLDERS = ("lib", "plugin", "tools", "test", "contrib", "docs", "configs")


def tree():
    for path in sorted(ROOT.glob("*.md")):
        yield path.name, path
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = str(path.relative_to(ROOT))
            if path.is_file() and path.suffix in TEXT + CODE and not name.startswith(KEPT):
                yield name, path


def prose_of_code(line):
    """Comments and string literals of a line of C++ or Python, without code."""
    strings = re.findall(r'"((?:[^"\\]|\\.)*)"', line)
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', line)
    comment = re.search(r"(?://+|#)(.*)$", bare)
    return " ".join(strings + ([comment.group(1)] if comment else []))


def findings(name, text):
    """file:line: phrase -> replacement, for each phrase of PHRASES in the text of a file."""
    code = name.endswith(CODE)
    for number, line in enumerate(text.splitlines(), 1):
        prose = prose_of_code(line) if code else line
        for pattern, better in PHRASES:
            for match in re.finditer(pattern, prose):
                yield f"{name}:{number}: '{match.group(0)}'; write: {better}"


class Prose(unittest.TestCase):
    def test_plain_words(self):
        found = [line for name, path in tree() for line in findings(name, path.read_text(encoding="utf-8"))]
        self.assertEqual(found, [], "\n" + "\n".join(found[:60]))

    def test_a_phrase_is_found(self):
        """The check above finds a phrase."""
        self.assertEqual(len(list(findings("a.cc", 'fail("mended"); // is none of them'))), 2)
        self.assertEqual(list(findings("a.cc", "int mended = hardly;")), [])
        self.assertEqual(len(list(findings("a.md", "It is hardly begun."))), 2)

    def test_spelling(self):
        if shutil.which("codespell") is None:
            self.skipTest("no codespell")
        names = [str(path) for _, path in tree()]
        words = ROOT / "test/support/spelling"
        done = subprocess.run(["codespell", "--ignore-words", str(words), *names], capture_output=True, text=True,
                              check=False, cwd=ROOT)
        self.assertEqual(done.stdout.strip(), "")


if __name__ == "__main__":
    unittest.main()
