# SPDX-License-Identifier: GPL-2.0-or-later
"""What the scripts of the Debian packages and RPMs do with the folder that PluginDir names."""
import os
import pathlib
import subprocess
import tempfile
import unittest

PACKAGING = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"]) / "contrib/packaging"
VERSION = "22.05.8"
PLACES = ("/usr/lib/rubato", "/etc/slurm", "/run/slurm", "/var/spool/slurmd")
NAMES_IT = "PluginDir=FOLDER:/usr/lib64/slurm\n"
NAMES_ANOTHER = "PluginDir=/usr/lib64/slurm\n"


def filled(file, version):
    """The script, as the build of the package fills it."""
    text = (PACKAGING / file).read_text(encoding="utf-8")
    folder = (PACKAGING / "folder.sh").read_text(encoding="utf-8")
    return text.replace("@FOLDER@\n", folder).replace("@VERSION@", version).replace("#DEBHELPER#", "")


class Scripts(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name)
        self.folder = self.root / f"usr/lib/rubato/slurm-{VERSION}"
        (self.root / "etc/slurm").mkdir(parents=True)

    def play(self, file, *words):
        """Runs the script below self.root; its output."""
        text = filled(file, VERSION)
        for path in PLACES:
            text = text.replace(path, f"{self.root}{path}")
        done = subprocess.run(["sh", "-eu", "-c", text, file, *words], capture_output=True, text=True, check=False,
                              env=os.environ | {"SLURM_CONF": ""}, timeout=60)
        self.assertEqual((0, ""), (done.returncode, done.stderr))
        return done.stdout

    def conf(self, text, file="etc/slurm/slurm.conf"):
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("FOLDER", str(self.folder)).replace("ROOT", str(self.root)), encoding="utf-8")

    def put(self, *names):
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            (self.folder / name).write_text("", encoding="utf-8")

    def take(self, name):
        """As dpkg and rpm remove a file, and its folder if it is empty."""
        (self.folder / name).unlink()
        if not os.listdir(self.folder):
            self.folder.rmdir()

    def left(self):
        return sorted(os.listdir(self.folder)) if self.folder.exists() else None


class Debian(Scripts):
    def purged(self):
        """What is left of the folder after a removal and a purge; None: it is gone."""
        self.put("sched_backfill.so")
        self.play("debian/slurm-rubato-plugins.prerm", "remove")
        self.take("sched_backfill.so")
        self.play("debian/slurm-rubato-plugins.postrm", "remove")
        self.assertEqual(["KEPT"], self.left())
        self.play("debian/slurm-rubato-plugins.postrm", "purge")
        return self.left()

    def test_a_folder_that_slurm_conf_names_stays(self):
        self.conf(NAMES_IT)
        self.assertEqual(["KEPT"], self.purged())

    def test_a_folder_that_a_linked_slurm_conf_names_stays(self):
        self.conf(NAMES_IT, "shared/slurm.conf")
        (self.root / "etc/slurm/slurm.conf").symlink_to(self.root / "shared/slurm.conf")
        self.assertEqual(["KEPT"], self.purged())

    def test_a_folder_that_an_included_file_names_stays(self):
        self.conf(NAMES_IT, "shared/plugins.conf")
        for line in ("include ROOT/shared/plugins.conf\n", "  Include\tROOT/shared/plugins.conf  # of all clusters\n"):
            self.conf(line)
            self.assertEqual(["KEPT"], self.purged(), line)
        self.conf(NAMES_ANOTHER, "shared/plugins.conf")
        self.assertIsNone(self.purged())

    def test_a_folder_that_a_configless_host_names_stays(self):
        self.conf(NAMES_IT, "var/spool/slurmd/conf-cache/slurm.conf")
        self.assertEqual(["KEPT"], self.purged())

    def test_a_folder_that_nothing_names_goes(self):
        self.conf(NAMES_ANOTHER)
        self.assertIsNone(self.purged())
        self.assertFalse(self.folder.parent.exists())

    def test_an_upgrade_leaves_no_note(self):
        self.put("sched_backfill.so")
        self.play("debian/slurm-rubato-plugins.prerm", "upgrade", "2")
        self.assertEqual(["KEPT", "sched_backfill.so"], self.left())
        self.play("debian/slurm-rubato-plugins.postinst", "configure", "1")
        self.assertEqual(["sched_backfill.so"], self.left())


class Rpm(Scripts):
    def removed(self, *others):
        """`rpm -e` beside files of another package. Returns what is left of the folder, or None, and the output."""
        self.put("sched_backfill.so", *others)
        self.play("rpm/preun.sh", "0")
        self.take("sched_backfill.so")
        said = self.play("rpm/postun.sh", "0")
        return self.left(), said

    def test_a_folder_that_slurm_conf_names_stays_with_a_note(self):
        for file in ("etc/slurm/slurm.conf", "var/spool/slurmd/conf-cache/slurm.conf"):
            self.conf(NAMES_IT, file)
            left, said = self.removed()
            self.assertEqual(["KEPT"], left)
            self.assertIn("Remove it from PluginDir", said)
            (self.root / file).unlink()

    def test_without_a_slurm_conf_the_folder_stays(self):
        self.conf("", "etc/slurm/slurmdbd.conf")
        self.assertEqual(["KEPT"], self.removed()[0])

    def test_a_folder_that_nothing_names_goes(self):
        self.conf(NAMES_ANOTHER)
        self.assertEqual((None, ""), self.removed())
        self.assertFalse(self.folder.parent.exists())

    def test_the_folder_stays_without_a_note_while_the_other_package_is_there(self):
        self.conf(NAMES_IT)
        self.assertEqual((["spank_rubato.so"], ""), self.removed("spank_rubato.so"))

    def test_an_upgrade_leaves_no_note_in_a_folder_in_use(self):
        """rpm runs post of the new package before preun and postun of the old one."""
        self.put("KEPT", "sched_backfill.so")
        for script, left in (("post", "2"), ("preun", "1"), ("postun", "1")):
            self.play(f"rpm/{script}.sh", left)
        self.assertEqual(["sched_backfill.so"], self.left())

    def test_an_upgrade_to_another_release_of_slurm_keeps_the_old_folder(self):
        self.conf(NAMES_IT)
        self.put("sched_backfill.so")
        self.play("rpm/preun.sh", "1")
        self.take("sched_backfill.so")
        self.play("rpm/postun.sh", "1")
        self.assertEqual(["KEPT"], self.left())


if __name__ == "__main__":
    unittest.main()
