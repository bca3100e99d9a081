#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Documents in Markdown: links resolve, pages stay short, quoted messages are those of the source."""
import os
import pathlib
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ.get("RUBATO_SOURCE_DIR", HERE.parent.parent)).resolve()
README_LINES = 130
DESIGN_BYTES = 10 * 1024
CODE = ("lib", "plugin", "tools")
# [text](target) and ![text](target); a title behind the target is allowed.
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
FENCE = re.compile(r"^\s*(```|~~~)\s*(\w*)")
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def tracked(suffix):
    """Tracked files that end so; from a tarball, or without git, all files of the folders that it has."""
    names = []
    if shutil.which("git"):
        listed = subprocess.run(["git", "-C", str(SOURCE), "ls-files", "-z", f"*{suffix}"],
                                capture_output=True, text=True, check=False)
        names = [name for name in listed.stdout.split("\0") if name and listed.returncode == 0]
    if not names:
        folders = ("contrib", "docs", "test")
        found = [*SOURCE.glob(f"*{suffix}"),
                 *(path for name in folders for path in (SOURCE / name).rglob(f"*{suffix}"))]
        names = [str(path.relative_to(SOURCE)) for path in found]
    return [SOURCE / name for name in sorted(names) if (SOURCE / name).is_file()]


def prose(path):
    """(number, line) of a page without code: neither fences nor indented blocks nor code spans."""
    fenced = False
    blank = True
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and not (blank and line.startswith("    ")):
            yield number, re.sub(r"`[^`]*`", "", line)
        if not line.startswith("    "):
            blank = not line.strip()


def links(path):
    """(number, target) of each link that does not leave the tree."""
    for number, line in prose(path):
        for target in LINK.findall(line):
            if not re.match(r"[a-z][a-z0-9+.-]*:", target):
                yield number, target


def anchors(path):
    """Anchors of the headings of a page, as GitHub and GitLab make them."""
    names = set()
    fenced = False
    for line in path.read_text(encoding="utf-8").splitlines():
        fenced ^= FENCE.match(line) is not None
        heading = HEADING.match(line)
        if heading and not fenced:
            text = re.sub(r"[^\w\s-]", "", heading.group(1).lower())
            names.add(re.sub(r"\s", "-", text.strip()))
    return names


def fenced_lines(path, language):
    """(number, line) inside ```language fences."""
    inside = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if fence:
            inside = fence.group(2) if inside is None else None
        elif inside == language:
            yield number, line


def source_strings():
    """All string literals of the code, one a line; adjacent ones are joined as a compiler does."""
    texts = []
    for folder in CODE:
        for path in sorted((SOURCE / folder).rglob("*")):
            if path.suffix not in (".cc", ".h"):
                continue
            code = path.read_text(encoding="utf-8")
            code = re.sub(r"^#include.*", "", code, flags=re.M)
            code = re.sub(r'"\s*\n\s*"', "", code)
            texts += [text.replace('\\"', '"') for text in STRING.findall(code)]
    return "\n".join(texts)


class Documents(unittest.TestCase):
    def test_every_relative_link_leads_to_a_file(self):
        pages = tracked(".md")
        self.assertGreater(len(pages), 10)
        for page in pages:
            for number, target in links(page):
                with self.subTest(page=f"{page.relative_to(SOURCE)}:{number}", link=target):
                    name, _, anchor = target.partition("#")
                    path = (page.parent / name).resolve() if name else page
                    self.assertTrue(path.is_relative_to(SOURCE), "leads out of the tree")
                    self.assertTrue(path.exists(), "no such file or folder")
                    if anchor and path.suffix == ".md":
                        self.assertIn(anchor, anchors(path))

    def test_the_readme_is_short(self):
        lines = (SOURCE / "README.md").read_text(encoding="utf-8").splitlines()
        self.assertLessEqual(len(lines), README_LINES)

    def test_the_plain_readme_leads_to_the_readme(self):
        self.assertIn("README.md", (SOURCE / "README").read_text(encoding="utf-8"))

    def test_design_pages_are_short(self):
        for page in sorted((SOURCE / "docs/design").glob("*.md")):
            with self.subTest(page=page.name):
                self.assertLessEqual(page.stat().st_size, DESIGN_BYTES)

    def test_pictures_are_well_formed_and_described(self):
        pictures = sorted((SOURCE / "docs/images").glob("*.svg"))
        self.assertGreaterEqual(len(pictures), 2)
        for picture in pictures:
            with self.subTest(picture=picture.name):
                root = xml.etree.ElementTree.parse(picture).getroot()
                names = {child.tag.rpartition("}")[2] for child in root}
                self.assertLessEqual({"title", "desc"}, names)

    def test_messages_in_troubleshooting_are_those_of_the_source(self):
        """Lines in ```text fences; `...` stands for what a message fills in."""
        strings = source_strings()
        page = SOURCE / "docs/guide/troubleshooting.md"
        quoted = list(fenced_lines(page, "text"))
        self.assertGreaterEqual(len(quoted), 20)
        for number, line in quoted:
            for part in line.split("..."):
                if len(part.strip()) < 4:
                    continue
                with self.subTest(line=number, message=line):
                    self.assertTrue(part.strip() in strings, f"no message has {part.strip()!r}")


if __name__ == "__main__":
    unittest.main()
