# SPDX-License-Identifier: GPL-2.0-or-later
"""contrib/debian-root: a debootstrap that is killed leaves nothing mounted and no root behind. It is played by a small
program."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"])

DEBOOTSTRAP = """#!/bin/bash
# debootstrap OPTION... SUITE TARGET MIRROR
target=${*: -2:1}
mkdir -p "$target/proc"
mount -t tmpfs of-a-test "$target/proc" || exit
touch "$target/proc/mounted"
kill -9 $$
"""


def mounts():
    return pathlib.Path("/proc/self/mounts").read_text(encoding="utf-8")


@unittest.skipUnless(os.getuid() == 0, "needs root")
class DebianRoot(unittest.TestCase):
    def test_nothing_stays_mounted_after_a_kill(self):
        self.kill_debootstrap("trixie.new")

    def test_nothing_stays_of_a_clean_root_after_a_kill(self):
        self.kill_debootstrap("trixie-minimal.new", "--clean")

    def kill_debootstrap(self, name, *options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        base = pathlib.Path(folder.name)
        (base / "bin").mkdir()
        program = base / "bin/debootstrap"
        program.write_text(DEBOOTSTRAP, encoding="utf-8")
        program.chmod(0o755)
        target = base / "cache/debian" / name
        self.addCleanup(lambda: subprocess.run(["umount", str(target / "proc")], check=False, capture_output=True))
        ended = subprocess.run([str(ROOT / "contrib/debian-root"), *options, "13", "deps"], capture_output=True, text=True,
                               check=False, timeout=120,
                               env=os.environ | {"RUBATO_CACHE": str(base / "cache"),
                                                 "PATH": f"{base}/bin:{os.environ['PATH']}"})
        said = ended.stdout + ended.stderr
        self.assertEqual(ended.returncode, 1, said)
        self.assertIn("debootstrap failed", said)
        self.assertNotIn(str(target), mounts())
        self.assertEqual([path.name for path in target.parent.iterdir() if path.is_dir()], [], said)


if __name__ == "__main__":
    unittest.main()
