# SPDX-License-Identifier: GPL-2.0-or-later
"""contrib/packaging/rpm: the spec, its lists of files and its scripts, without compiling."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["RUBATO_BUILD_DIR"])
PACKAGING = ROOT / "contrib/packaging"
SPEC = PACKAGING / "rpm/rubato.spec"
VERSION = "22.05.8"
ADDED = ("/usr/share/licenses", "/usr/lib/.build-id")


def run(*command, env=None, **more):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=600,
                          env=os.environ | (env or {}), **more)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.base = pathlib.Path(folder.name)

    def slurm(self, version=VERSION):
        """The folder of a configured source of that release, as far as versions go."""
        folder = self.base / f"slurm-{version}"
        folder.mkdir()
        (folder / "config.h").write_text(f'/* made */\n#define SLURM_VERSION_STRING "{version}"\n', encoding="utf-8")
        return folder

    def succeeded(self, done):
        self.assertEqual(0, done.returncode, done.stdout[-3000:] + done.stderr[-3000:])
        return done.stdout


@unittest.skipUnless(shutil.which("rpmspec"), "rpm is not installed")
class Spec(Case):
    def query(self, source, what, *options):
        return run("rpmspec", "-q", *options, "--define", f"slurm_source {source}", "--qf", what, SPEC)

    def test_names_and_requirements_follow_the_release_as_those_of_the_debian_packages_do(self):
        for version in (VERSION, "24.11.5", "22.05.10", "23.09.1"):
            source = self.slurm(version)
            facts = self.succeeded(run("bash", "-euc", ". contrib/packaging/common.sh; read_facts $1; "
                                       'echo "$VERSION $SERIES $NEXTSERIES $RUBATO"', "bash", source, cwd=ROOT))
            version, series, next_series, rubato = facts.split()
            said = self.succeeded(self.query(source, "%{NAME} %{VERSION} %{RELEASE} "
                                             "[%{REQUIRES} %{REQUIREFLAGS:depflags} %{REQUIREVERSION};]\n"))
            with self.subTest(version=version):
                found = {line.split()[0]: line.split(maxsplit=3) for line in said.splitlines()}
                plugins, spank = f"slurm-rubato-plugins-{series}", f"slurm-rubato-spank-{series}"
                self.assertEqual({"rubato", "rubato-doc", plugins, spank}, set(found))
                for fields in found.values():
                    self.assertEqual(rubato, fields[1])
                    self.assertTrue(fields[2].startswith(f"1.slurm{version}"), fields)
                self.assertIn(f"slurm = {version};", found[plugins][3])
                self.assertIn(f"slurm-slurmctld = {version};", found[plugins][3])
                self.assertIn(f"slurm >= {series};", found[spank][3].replace("  ", " "))
                self.assertIn(f"slurm < {next_series};", found[spank][3].replace("  ", " "))
                self.assertNotIn("slurm", found["rubato"][3])

    def test_other_names_of_the_packages_of_slurm(self):
        said = self.succeeded(self.query(self.slurm(), "[%{REQUIRES} %{REQUIREVERSION};]", "--define",
                                         "slurm_package slurm-ohpc", "--define", "slurmctld_package ctld-ohpc"))
        for wanted in (f"slurm-ohpc {VERSION};", f"ctld-ohpc {VERSION};", "slurm-ohpc 22.05;"):
            self.assertIn(wanted, said)
        self.assertNotIn("slurm-slurmctld", said)

    def test_without_the_source_of_slurm_it_names_the_option(self):
        for options in ((), ("--define", f"slurm_source {self.base}"), ("--define", "slurm_source /nowhere")):
            done = run("rpmspec", "-q", *options, SPEC)
            self.assertNotEqual(0, done.returncode, done.stdout)
            self.assertIn("no configured source of Slurm; give its folder by --define 'slurm_source DIR'", done.stderr)

    def test_it_needs_the_libraries_that_configure_needs(self):
        """The minimum versions of configure and of the spec are the same."""
        libraries = (ROOT / "m4/rubato_libraries.m4").read_text(encoding="utf-8").partition("RUBATO_OPTIONAL")[0]
        wanted = sorted(" ".join(match) for match in
                        re.findall(r"RUBATO_NEED_MODULE\(\[\w+\], \[(\w+) >= ([\d.]+)\]", libraries))
        self.assertGreater(len(wanted), 5)
        text = SPEC.read_text(encoding="utf-8")
        found = sorted(" ".join(match) for match in re.findall(r"pkgconfig\((\w+)\) >= ([\d.]+)", text))
        self.assertEqual(wanted, found)


def filled(file, version=VERSION):
    """A script of the packages, as the builds fill it."""
    text = (PACKAGING / file).read_text(encoding="utf-8")
    folder = (PACKAGING / "folder.sh").read_text(encoding="utf-8")
    return text.replace("@FOLDER@\n", folder).replace("@VERSION@", version)


def made_for():
    """The release of Slurm that this build has plugins for; empty without."""
    match = re.search(r"^SLURM_VERSION = (\S+)$", (BUILD / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    return match[1] if match and (BUILD / "spank_rubato.la").exists() else ""


@unittest.skipUnless(made_for(), "built without --with-slurm-source")
@unittest.skipUnless(shutil.which("rpmbuild"), "rpm is not installed")
class Content(Case):
    """RPMs by the spec from what this build has compiled: small programs stand for autoreconf and configure."""

    CONFIGURE = """#!/bin/sh
mkdir bin
printf '#!/bin/sh\\n' | tee bin/rubato > bin/rqueue
chmod 755 bin/rubato bin/rqueue
cat > Makefile <<'END'
all symbols-check:
install:
\t$(MAKE) -C '{build}' install DESTDIR=$(DESTDIR) {places}
END
"""

    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        top = pathlib.Path(holder.name)
        cls.version = made_for()
        cls.folder = f"/usr/lib/rubato/slurm-{cls.version}"
        rubato = re.search(r"^Version: (.*)$", SPEC.read_text(encoding="utf-8"), re.MULTILINE)[1]
        tree = top / f"rubato-{rubato}"
        for name in ("contrib", "docs"):
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "COPYING", tree)
        # The build itself has places below its stage/.
        places = f"prefix=/usr exec_prefix=/usr sysconfdir=/etc rubatoplugindir={cls.folder}"
        (top / "programs").mkdir()
        (top / "slurm").mkdir()
        for file, text in ((tree / "configure", cls.CONFIGURE.format(build=BUILD, places=places)),
                           (top / "programs/autoreconf", "#!/bin/sh\n"),
                           (top / "slurm/config.h", f'#define SLURM_VERSION_STRING "{cls.version}"\n')):
            file.write_text(text, encoding="utf-8")
            file.chmod(0o755)
        archive = shutil.make_archive(str(tree), "xztar", root_dir=top, base_dir=tree.name)
        done = run("rpmbuild", "-tb", archive, "--nodeps", "--define", f"_topdir {top}/rpmbuild", "--define",
                   f"slurm_source {top}/slurm", "--define", "_binary_payload w0.ufdio", "--define",
                   "__spec_install_post %{nil}", "--define", "debug_package %{nil}",
                   env={"PATH": f"{top}/programs:{os.environ['PATH']}", "MAKEFLAGS": ""})
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        series = cls.version.rpartition(".")[0]
        names = {"plugins": f"slurm-rubato-plugins-{series}", "spank": f"slurm-rubato-spank-{series}",
                 "rubato": "rubato", "doc": "rubato-doc"}
        cls.files = {what: next((top / "rpmbuild/RPMS").glob(f"*/{name}-{rubato}-*.rpm"))
                     for what, name in names.items()}

    def asked(self, what, *options):
        return self.succeeded(run("rpm", "-qp", *options, self.files[what]))

    def listed(self, what):
        """Files and folders without what rpmbuild adds: the licence, and names of programs by their build id."""
        return {line for line in self.asked(what, "-l").splitlines() if not line.startswith(ADDED)}

    def test_each_package_has_its_files(self):
        plugins = {f"{self.folder}/{name}.so" for name in ("sched_backfill", "select_cons_tres", "job_submit_logging")}
        folders = {"/usr/lib/rubato", self.folder}
        self.assertEqual(plugins | folders, self.listed("plugins"))
        self.assertEqual({f"{self.folder}/spank_rubato.so", f"{self.folder}/rubato_forwarder"} | folders,
                         self.listed("spank"))
        for what, wanted in (("rubato", "/usr/bin/rqueue"), ("rubato", "/usr/share/man/man8/rubato-spank.8"),
                             ("rubato", "/usr/share/zsh/site-functions/_rubato"), ("rubato", "/usr/share/rubato"),
                             ("doc", "/usr/share/doc/rubato/guide/installation.md"),
                             ("doc", "/usr/share/doc/rubato/results/packages.md")):
            self.assertIn(wanted, self.listed(what))
        modes = self.asked("spank", "--qf", "[%{FILENAMES} %{FILEMODES:perms} %{FILEUSERNAME}\n]")
        self.assertIn("rubato_forwarder -rwx--x--x root", modes)

    def test_each_file_is_in_one_package_and_no_folder_of_the_system_in_any(self):
        """That all files that `make install` makes are in a package is what rpmbuild checks."""
        seen = {}
        for what in self.files:
            for line in self.asked(what, "--qf", "[%{FILENAMES} %{FILEMODES:perms}\n]").splitlines():
                name, mode = line.rsplit(" ", 1)
                if name.startswith(ADDED):
                    continue
                if mode.startswith("d"):
                    self.assertRegex(name, "/(rubato|share/fish|share/zsh|etc/bash_completion.d)")
                else:
                    self.assertNotIn(name, seen, f"{what}, {seen.get(name)}")
                    seen[name] = what
        self.assertGreater(len(seen), 50)

    def test_the_only_file_in_etc_is_configuration(self):
        completion = "/etc/bash_completion.d/rubato-hints"
        found = {what: {line for line in self.listed(what) if line.startswith("/etc")} for what in self.files}
        etc = {"/etc/bash_completion.d", completion}
        self.assertEqual({"plugins": set(), "spank": set(), "doc": set(), "rubato": etc}, found)
        self.assertEqual(f"{completion}\n", self.asked("rubato", "--configfiles"))

    def test_requirements(self):
        wanted = self.asked("plugins", "--requires").splitlines()
        self.assertIn(f"slurm = {self.version}", wanted)
        self.assertIn(f"slurm-slurmctld = {self.version}", wanted)
        self.assertTrue([line for line in wanted if line.startswith("libfmt.so.")], wanted)
        spank = self.asked("spank", "--requires")
        self.assertNotIn("libfmt", spank)
        self.assertNotIn("slurmctld", spank)

    def test_the_plugins_are_no_libraries_for_others(self):
        for what in ("plugins", "spank"):
            self.assertNotIn(".so", self.asked(what, "--provides"))

    def test_the_scripts_are_those_of_the_tree(self):
        for what in ("plugins", "spank"):
            for tag, file in (("POSTIN", "post"), ("PREUN", "preun"), ("POSTUN", "postun")):
                self.assertEqual(filled(f"rpm/{file}.sh", self.version).strip(),
                                 self.asked(what, "--qf", f"%{{{tag}}}").strip())
        for what in ("rubato", "doc"):
            self.assertEqual("", self.asked(what, "--scripts"))


class Lists(Case):
    def test_a_list_that_names_what_is_not_there_is_an_error(self):
        done = run(PACKAGING / "rpm/package-files", self.base / "empty", VERSION, self.base / "lists")
        self.assertEqual(1, done.returncode, done.stderr)
        self.assertRegex(done.stderr, r"\.install names \S+, which is neither installed nor in the tree")

    def test_build_rpms_refuses_what_is_no_configured_source_of_a_release(self):
        for source, wanted in ((self.base, "no configured source of Slurm"),
                               (self.slurm("24.11.0-0rc1"), "is Slurm '24.11.0-0rc1', which is no release")):
            done = run(PACKAGING / "build-rpms", "-s", source, "-o", self.base / "out")
            self.assertEqual(1, done.returncode, done.stdout)
            self.assertIn(wanted, done.stderr)
        self.assertFalse((self.base / "out").exists())


if __name__ == "__main__":
    unittest.main()
