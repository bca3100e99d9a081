# SPDX-License-Identifier: GPL-2.0-or-later
"""contrib/quickstart: what it refuses before it builds. Small programs play the package manager and Slurm."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"])
DPKG_QUERY = """#!/bin/bash
# dpkg-query -W -f FORMAT PACKAGE...: all are installed, in one version
for name in "${@:4}"; do case $3 in *Status*) echo "installed:$name" ;; *) echo @VERSION@-1 ;; esac; done
"""


class Quickstart(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.base = pathlib.Path(folder.name)

    def said(self, *words, version="22.05.8"):
        """(exit code, output)."""
        programs = self.base / "programs"
        programs.mkdir(exist_ok=True)
        for name, text in (("dpkg-query", DPKG_QUERY.replace("@VERSION@", version)),
                           ("apt-get", "#!/bin/bash\nexit 1\n"),
                           ("slurmctld", f"#!/bin/bash\necho slurm-wlm {version}\n")):
            (programs / name).write_text(text, encoding="utf-8")
            (programs / name).chmod(0o755)
        done = subprocess.run([str(ROOT / "contrib/quickstart"), *map(str, words)], capture_output=True, text=True,
                              check=False, timeout=120, stdin=subprocess.DEVNULL,
                              env=os.environ | {"RUBATO_CACHE": str(self.base / "cache"),
                                                "RUBATO_BUILD_DIR": str(self.base / "build"),
                                                "PATH": f"{programs}:{os.environ['PATH']}"})
        return done.returncode, done.stdout + done.stderr

    def test_a_release_without_plugins_is_refused_before_its_source_is_fetched(self):
        for command in (("build",), ("demo",), ("package", "-o", self.base / "out")):
            code, said = self.said(*command, version="26.05.5")
            self.assertEqual((1, ""), (code, said.partition("quickstart: this machine has Slurm 26.05.5; ")[0]), said)
            self.assertIn("written for 22.05 and 24.11", said)
        code, said = self.said("deps", version="26.05.5")
        self.assertIn("could not fetch the source of exactly slurmctld 26.05.5-1", said)

    def test_a_known_release_goes_on_to_its_source(self):
        code, said = self.said("build")
        self.assertEqual(code, 1, said)
        self.assertIn("could not fetch the source of exactly slurmctld 22.05.8-1", said)

    def test_wrong_words_name_the_valid_ones(self):
        for words, wanted in ((("--debian", "11", "build"), "--debian 11: 12, 13 or testing is wanted"),
                              (("package",), "package needs -o DIR"), (("package", "-x", "y"), "package needs -o DIR"),
                              (("package", "--rpm"), "package needs -o DIR"),
                              (("package", "--rpm", "-o"), "package needs -o DIR"),
                              (("check-packages",), "check-packages needs the folder with the packages")):
            code, said = self.said(*words)
            self.assertEqual(2, code, said)
            self.assertIn(wanted, said)
        code, said = self.said("check-packages", self.base)
        self.assertEqual(1, code, said)
        self.assertIn(f"contrib/quickstart package -o {self.base} makes them", said)
        self.assertIn(f"package --rpm -o {self.base} makes RPMs", said)


if __name__ == "__main__":
    unittest.main()
