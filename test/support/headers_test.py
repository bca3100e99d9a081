# SPDX-License-Identifier: GPL-2.0-or-later
"""Every header compiles alone, so that the order of includes means nothing.

A header with a source of its own is the first that this source includes, so the build compiles it
alone; the others are compiled here. With RUBATO_ALL_HEADERS=1 (`make check-headers`) every header is
compiled here: then nothing that the precompiled header brings in is taken for granted.
"""
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import unittest

ROOT = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["RUBATO_BUILD_DIR"])


def make_variable(name, text):
    """The value of a Makefile variable, with its variables expanded."""
    found = re.search(rf"^{name} = (.*(?:\\\n.*)*)$", text, re.M)
    value = found.group(1).replace("\\\n", " ") if found else ""
    return re.sub(r"\$[({](\w+)[)}]", lambda match: make_variable(match.group(1), text), value)


class Headers(unittest.TestCase):
    def setUp(self):
        text = (BUILD / "Makefile").read_text(encoding="utf-8")
        flags = " ".join(make_variable(name, text) for name in ("LIBRARY_CFLAGS", "SQLITE_CFLAGS"))
        self.slurm = make_variable("SLURM_SOURCE", text).strip()
        self.command = [*shlex.split(make_variable("CXX", text)), "-fsyntax-only", "-O0", "-w", "-DHAVE_CONFIG_H",
                        f"-I{BUILD}", f"-I{ROOT}", *shlex.split(flags)]
        if self.slurm:
            self.command += ["-isystem", self.slurm]

    def compile(self, header):
        """The compiler's messages for a file that includes only `header`, twice; "" if it compiles."""
        line = f'#include "{header}"\n'
        done = subprocess.run([*self.command, "-x", "c++", "-"], input=line + line, capture_output=True, text=True,
                              check=False)
        return done.stderr if done.returncode else ""

    def headers(self):
        for top in ("lib", "plugin", "tools"):
            for path in sorted((ROOT / top).rglob("*.h")):
                name = str(path.relative_to(ROOT))
                if self.slurm or not name.startswith("plugin/"):
                    yield name

    def first_include(self, header):
        """What the source of `header` includes first; None if there is no such source."""
        source = (ROOT / header).with_suffix(".cc")
        if not source.exists():
            return None
        found = re.search(r'^#include [<"]([^>"]+)[>"]', source.read_text(encoding="utf-8"), re.M)
        return found.group(1) if found else ""

    def test_a_source_includes_its_own_header_first(self):
        for name in self.headers():
            with self.subTest(header=name):
                self.assertIn(self.first_include(name), (name, None))

    def test_every_header_compiles_alone(self):
        names = list(self.headers())
        self.assertGreater(len(names), 100)
        if os.environ.get("RUBATO_ALL_HEADERS") != "1":
            names = [name for name in names if self.first_include(name) is None]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for name, errors in zip(names, pool.map(self.compile, names)):
                with self.subTest(header=name):
                    self.assertEqual(errors, "")

    def test_a_header_that_lacks_an_include_fails(self):
        """The check above finds a broken header."""
        self.assertNotEqual(self.compile("test/support/not_there.h"), "")


if __name__ == "__main__":
    unittest.main()
