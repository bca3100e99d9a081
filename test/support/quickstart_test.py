# SPDX-License-Identifier: GPL-2.0-or-later
"""contrib/quickstart: what it refuses before it builds, and how check --all adds up. Small programs play the package
manager, Slurm and the checks of each release."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"])
DPKG_QUERY = """#!/bin/bash
# dpkg-query -W -f FORMAT PACKAGE...: all are installed, in one version
for name in "${@:4}"; do case $3 in *Status*) echo "installed:$name" ;; *) echo @VERSION@-1 ;; esac; done
"""


# contrib/quickstart [--debian RELEASE] build|check: RELEASES has a line `RELEASE EXIT_CODE_OF_BUILD LAST LINE OF CHECK`.
PLAYED = r"""#!/bin/bash
release=$(sed -n 's/^VERSION_ID="\([0-9]*\).*/\1/p' /etc/os-release) out=$RUBATO_BUILD_DIR
if [[ $1 == --debian ]]; then
  release=$2
  case $2 in 12) out=bookworm ;; 13) out=trixie ;; esac
  out=$RUBATO_CACHE/debian/$out/var/lib/rubato-build
  shift 2
fi
read -r _ code counts < <(grep "^$release " "$RELEASES")
echo "$release $*" >> "$RELEASES.asked"
if [[ $1 == build ]]; then
  ((code == 0)) || echo "quickstart: no source, on $release" >&2
  exit "$code"
fi
if [[ $counts == sleep ]]; then
  trap exit TERM
  sleep 4 & wait
  touch "$RELEASES.slept"
fi
if [[ $counts ]]; then mkdir -p "$out/results"; echo '[]' > "$out/results/cluster.json"; fi
echo "$counts"
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

    def test_all_releases_of_one_are_refused(self):
        code, said = self.said("--debian", "13", "check", "--all")
        self.assertEqual(2, code, said)
        self.assertIn("leave out --debian 13", said)

    def all_releases(self, lines, *options, ends_after=None):
        """(exit code, output, what was asked) of check-all where the lines say what each release does."""
        tree = self.base / "tree"
        (tree / "contrib").mkdir(parents=True)
        (tree / "test/cluster").mkdir(parents=True)
        shutil.copy(ROOT / "contrib/check-releases", tree / "contrib")
        for name, text in (("contrib/quickstart", PLAYED),
                           ("test/cluster/releases", '#!/bin/bash\nprintf "%s\\n" "$@"\n')):
            (tree / name).write_text(text, encoding="utf-8")
            (tree / name).chmod(0o755)
        (self.base / "releases").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        with subprocess.Popen([str(tree / "contrib/check-releases"), *options], text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=os.environ | {"RUBATO_CACHE": str(self.base / "cache"),
                                                "RUBATO_BUILD_DIR": str(self.base / "build"),
                                                "RELEASES": str(self.base / "releases")}) as running:
            if ends_after:
                time.sleep(ends_after)
                running.terminate()
            said, _ = running.communicate(timeout=60)
        if ends_after:
            time.sleep(4)
        asked = self.base / "releases.asked"
        self.ended = running.returncode, said, asked.read_text().splitlines() if asked.exists() else []
        return self.ended

    @unittest.skipUnless(os.getuid() == 0, "needs root")
    def test_check_all_adds_the_releases_up(self):
        code, said, asked = self.all_releases(["12 0 5 passed, 0 failed, 1 skipped", "13 0 7 passed, 0 failed, 2 skipped",
                                               "testing 1"], "--only", "a b")
        self.assertEqual((0, "12 passed, 0 failed, 3 skipped"), (code, said.splitlines()[-1]), said)
        self.assertEqual(["12 build", "12 check --only a b", "13 build", "13 check --only a b", "testing build"], asked)
        self.assertIn("Debian testing: not run: no source, on testing", said)
        table = (self.base / "build/releases/scenarios.csv").read_text().splitlines()
        self.assertEqual(["debian-12.json", "debian-13.json"], [line.rpartition("/")[2] for line in table[:2]])
        self.assertEqual("Debian testing=not run: no source, on testing", table[2])

    @unittest.skipUnless(os.getuid() == 0, "needs root")
    def test_check_all_that_is_ended_ends_the_release_and_counts(self):
        _, _, asked = self.all_releases(["12 0 sleep"], ends_after=2)
        self.assertIn("12 check", asked)
        code, said, _ = self.ended
        self.assertEqual((143, "0 passed, 1 failed, 0 skipped"), (code, said.splitlines()[-1]), said)
        self.assertFalse(pathlib.Path(self.base / "releases.slept").exists(), "the check went on")

    @unittest.skipUnless(os.getuid() == 0, "needs root")
    def test_check_all_fails_with_a_release(self):
        code, said, _ = self.all_releases(["12 0", "13 1", "testing 1"])
        self.assertEqual((1, "0 passed, 2 failed, 0 skipped"), (code, said.splitlines()[-1]), said)
        self.assertIn("Debian 13: not run: no source, on 13", said)
        self.assertRegex(said, "Debian 12(, Slurm [0-9.]+)?: no counts")


if __name__ == "__main__":
    unittest.main()
