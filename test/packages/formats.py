# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian packages and RPMs as test/packages/check uses them: prepare, install, refuse, verify, remove."""
import os
import pathlib
import re
import subprocess
import tempfile

from cluster import check


def sh(command, code=0):
    """Runs a command as root, prints it with the end of its output, and returns that."""
    done = subprocess.run(command, shell=True, text=True, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"})
    shown = done.stdout.splitlines()
    print(f"$ {command}\n" + "".join(f"    {line}\n" for line in shown[-12:]), end="", flush=True)
    check(code is None or done.returncode == code, f"exit code {code} of `{command}`", done.returncode)
    return done.stdout


def ask(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout.strip()


class Debian:
    """The packages of `contrib/quickstart package`."""

    def __init__(self, folder):
        self.files = sorted(file for file in folder.glob("*.deb") if "-dbgsym_" not in file.name)
        self.names = [ask("dpkg-deb", "-f", file, "Package") for file in self.files]

    def prepare(self, version):
        """apt knows the machine's own Slurm already."""

    def check_refused(self, version, other):
        """The plugins beside slurmctld of another release, and that release beside the plugins."""
        package = next(file for file in self.files if "-plugins-" in file.name)
        for slurmctld, fits in ((f"{version}-1", True), (f"{other}-1", False)):
            for bound in ask("dpkg-deb", "-f", package, "Depends").split(", "):
                match = re.fullmatch(r"slurmctld \((>=|<<) (\S+)\)", bound)
                if match and match[1] == "<<":
                    said = subprocess.run(["dpkg", "--compare-versions", slurmctld, "lt", match[2]], check=False)
                    check((said.returncode == 0) == fits, f"slurmctld {slurmctld} to fit: {fits}", bound)
        with tempfile.TemporaryDirectory() as folder:
            control = pathlib.Path(folder, "root/DEBIAN/control")
            control.parent.mkdir(parents=True)
            control.write_text(
                f"Package: slurmctld\nVersion: {other}-1\nArchitecture: all\nMaintainer: a test <root@localhost>\n"
                "Description: slurmctld of another release\n", encoding="utf-8")
            sh(f"dpkg-deb -b {folder}/root {folder}/slurmctld.deb")
            said = sh(f"apt-get install --simulate --no-install-recommends {folder}/slurmctld.deb {package}", code=100)
            check("unmet dependencies" in said, "apt to name unmet dependencies", said)

    def install(self):
        sh("apt-get install -y --no-install-recommends " + " ".join(map(str, self.files)))
        sh("dpkg-query -W 'rubato*' 'slurm-rubato*'")

    def install_again(self):
        """As an upgrade does."""
        sh("apt-get install -y --reinstall --no-install-recommends " + " ".join(map(str, self.files)))

    def verify(self):
        sh(f"dpkg --verify {' '.join(self.names)}")

    def purge(self, option=""):
        sh(f"apt-get purge -y {option} {' '.join(self.names)}")


#: Plays the RPMs of a distribution: Slurm of one release, and what else Rubato's RPMs need, which Debian has.
PLAYED = """Name: slurm
Version: {version}
Release: 1
Summary: Plays Slurm
License: none
BuildArch: noarch
{provides}
%description
Plays Slurm.
%package slurmctld
Summary: Plays slurmctld
%description slurmctld
Plays slurmctld.
%files
%files slurmctld
"""


class Rpm:
    """The RPMs of `contrib/quickstart package --rpm`, with rpm's own database beside dpkg's.

    rpm of Debian asks for --force-debian. All requirements are checked: RPMs made here provide Slurm and the libraries.
    """
    RPM = "rpm --force-debian"

    def __init__(self, folder):
        self.files = sorted(file for file in folder.glob("*.rpm")
                            if not re.search(r"\.src\.rpm$|-debug(?:info|source)-", file.name))
        self.names = [ask("rpm", "-qp", "--qf", "%{NAME}", file) for file in self.files]
        self.plays = tempfile.TemporaryDirectory()

    def played(self, version):
        """Files of RPMs that play Slurm and the libraries."""
        lines = "\n".join(ask("rpm", "-qp", "--requires", file) for file in self.files).splitlines()
        wanted = {line.split(" ")[0] for line in lines if not re.match(r"rpmlib\(|slurm|rubato", line)}
        top = pathlib.Path(self.plays.name, version)
        top.mkdir()
        provides = "".join(f"Provides: {name}\n" for name in sorted(wanted))
        (top / "slurm.spec").write_text(PLAYED.format(version=version, provides=provides), encoding="utf-8")
        sh(f"rpmbuild -bb --quiet --define '_topdir {top}' {top}/slurm.spec")
        return " ".join(map(str, sorted(top.rglob("*.rpm"))))

    def prepare(self, version):
        sh("rpm --initdb")
        sh("mkdir -p /usr/share/licenses")  # of the package filesystem in distributions with RPMs
        sh(f"{self.RPM} -i {self.played(version)}")
        sh("rpm -qa")

    def check_refused(self, version, other):
        """The plugins beside slurmctld of another release, and that release beside the plugins."""
        package = next(file for file in self.files if "-plugins-" in file.name)
        sh(f"{self.RPM} -i --test {package}")
        with tempfile.TemporaryDirectory() as database:
            sh(f"rpm --dbpath {database} --initdb && {self.RPM} --dbpath {database} -i {self.played(other)}")
            said = sh(f"{self.RPM} --dbpath {database} -i --test {package}", code=None)
        for needed in ("slurm", "slurm-slurmctld"):
            check(f"{needed} = {version} is needed by slurm-rubato-plugins" in said, f"rpm to name {needed}", said)
        sh(f"{self.RPM} -i {package}")
        said = sh(f"{self.RPM} -U --test {pathlib.Path(self.plays.name, other)}/RPMS/noarch/*.rpm", code=None)
        check(f"slurm-slurmctld = {version} is needed by (installed) slurm-rubato-plugins" in said,
              "rpm to keep slurmctld and the plugins together", said)
        self.remove("slurm-rubato-plugins")

    def install(self):
        sh(f"{self.RPM} -i " + " ".join(map(str, self.files)))
        sh(f"rpm -q {' '.join(self.names)}")

    def install_again(self):
        """As an upgrade does: the scripts of the old package run after those of the new one."""
        sh(f"{self.RPM} -U --replacepkgs " + " ".join(map(str, self.files)))

    def verify(self):
        sh(f"rpm -V {' '.join(self.names)}")

    def remove(self, prefix):
        sh(f"{self.RPM} -e " + " ".join(name for name in self.names if name.startswith(prefix)))

    def purge(self, option=""):
        """rpm has no other way to remove a package."""
        del option
        self.remove("")
