# SPDX-License-Identifier: GPL-2.0-or-later
"""The built plugins as the dynamic linker sees them.

Slurm opens a plugin with lazy binding. A function that is not defined would end slurmctld at its first call. A variable
that slurmd lacks would keep slurmd from loading the select plugin.
"""
import glob
import os
import pathlib
import re
import shutil
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["RUBATO_BUILD_DIR"])
PLUGINS = {"sched_backfill": "sched", "select_cons_tres": "select",
           "job_submit_logging": "job_submit"}
CALLS = r"select_p_\w+|sched_p_\w+|job_submit|job_modify|init|fini"
# slurmctld preloads the runtimes of sanitizers.
SANITIZERS = ("__asan_", "__ubsan_", "__tsan_")
FUNCTION_TYPES = "TtWi"


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def dynamic_symbols(path, *options):
    """{name: type letter of nm} of the dynamic symbols of a file."""
    rows = [line.split() for line in output("nm", "-D", *options, str(path)).splitlines()]
    return {row[-1].split("@")[0]: row[-2] for row in rows}


def map_symbols(name):
    """Names that the version script exports."""
    text = (SOURCE / f"plugin/{name}/{name}.map").read_text(encoding="utf-8")
    exported = text.partition("global:")[2].partition("local:")[0]
    return set(re.findall(r"(\w+);", exported))


def needed_libraries(path):
    return re.findall(r"(/\S+) \(0x", output("ldd", str(path)))


def slurm_library(slurmctld):
    """libslurmfull of the installed Slurm."""
    linked = [path for path in needed_libraries(slurmctld) if "libslurmfull" in path]
    return linked or glob.glob("/usr/lib/*/slurm-wlm/libslurmfull.so")


#: Libraries of glibc, which Slurm itself needs.
ON_EVERY_HOST = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
#: glibc's, and the run-times of sanitizers and their libstdc++.
WITH_SANITIZERS = ON_EVERY_HOST | {"libasan.so.8", "libubsan.so.1", "libtsan.so.2", "libstdc++.so.6",
                                   "libgcc_s.so.1"}


class OfEveryHost(unittest.TestCase):
    """All hosts of a cluster load these two, whatever else is installed on them."""

    def test_they_need_no_library_that_a_host_may_lack(self):
        files = [BUILD / ".libs/spank_rubato.so", BUILD / "rubato_forwarder"]
        if not files[0].exists():
            self.skipTest("built without the SPANK plugin")
        for path in files:
            with self.subTest(file=path.name):
                needed = set(re.findall(r"NEEDED.*\[(.+)\]", output("readelf", "-d", str(path))))
                self.assertIn("libc.so.6", needed)
                sanitized = any(name.startswith(("libasan", "libubsan", "libtsan")) for name in needed)
                self.assertEqual(needed - (WITH_SANITIZERS if sanitized else ON_EVERY_HOST), set())


class Plugins(unittest.TestCase):
    def setUp(self):
        self.files = {name: BUILD / f".libs/{name}.so" for name in PLUGINS}
        if not any(path.exists() for path in self.files.values()):
            self.skipTest("built without --with-slurm-source")

    def test_exports_are_those_of_the_version_script(self):
        for name, folder in PLUGINS.items():
            with self.subTest(plugin=name):
                self.assertEqual(set(dynamic_symbols(self.files[name], "--defined-only")),
                                 map_symbols(folder))

    def test_exports_hold_those_of_the_stock_plugin(self):
        """slurmctld finds a plugin's functions by name; the stock file shows which names it needs."""
        stock_folders = [os.path.dirname(path) for path in
                         slurm_library(self.slurmctld())]
        for name in PLUGINS:
            with self.subTest(plugin=name):
                stock = pathlib.Path(stock_folders[0], f"{name}.so")
                calls = {symbol for symbol, kind in dynamic_symbols(stock, "--defined-only").items()
                         if kind == "T" and re.fullmatch(CALLS, symbol)}
                self.assertGreater(len(calls), 1)
                own = set(dynamic_symbols(self.files[name], "--defined-only"))
                self.assertEqual(calls - own, set())

    def test_binding_is_lazy(self):
        for name, path in self.files.items():
            with self.subTest(plugin=name):
                dynamic = output("readelf", "-d", str(path))
                self.assertIn("(NEEDED)", dynamic)
                self.assertNotRegex(dynamic, r"BIND_NOW|Flags: .*\bNOW\b")

    def test_no_solver_of_programmes_is_loaded(self):
        for name, path in self.files.items():
            with self.subTest(plugin=name):
                libraries = needed_libraries(path)
                self.assertGreater(len(libraries), 0)
                self.assertEqual([one for one in libraries if "glpk" in one or "highs" in one], [])

    def test_every_undefined_symbol_is_defined_somewhere(self):
        slurmctld = self.slurmctld()
        known = set(dynamic_symbols(slurmctld, "--defined-only"))
        for path in slurm_library(slurmctld):
            known |= set(dynamic_symbols(path, "--defined-only"))
        for name, path in self.files.items():
            with self.subTest(plugin=name):
                libraries = set().union(*(dynamic_symbols(library, "--defined-only")
                                          for library in needed_libraries(path)))
                missing = {symbol for symbol, kind in
                           dynamic_symbols(path, "--undefined-only").items()
                           if kind == "U" and not symbol.startswith(SANITIZERS)}
                self.assertEqual(missing - known - libraries, set())

    def test_the_log_function_has_the_name_that_all_programs_of_slurm_know(self):
        """The public libslurm, with which programs of users load the select plugin, exports no log_var."""
        for name, path in self.files.items():
            with self.subTest(plugin=name):
                needed = set(dynamic_symbols(path, "--undefined-only"))
                self.assertIn("slurm_log_var", needed)
                self.assertNotIn("log_var", needed)
        public = glob.glob("/usr/lib/*/libslurm.so.*")
        for path in public[:1]:
            self.assertIn("slurm_log_var", dynamic_symbols(path, "--defined-only"))

    def test_select_needs_no_variable_that_only_slurmctld_has(self):
        slurmctld = self.slurmctld()
        variables = {symbol for symbol, kind in
                     dynamic_symbols(slurmctld, "--defined-only").items()
                     if kind not in FUNCTION_TYPES}
        self.assertIn("node_record_count", variables | self.library_symbols(slurmctld))
        for path in slurm_library(slurmctld):
            variables -= set(dynamic_symbols(path, "--defined-only"))
        needed = {symbol for symbol, kind in
                  dynamic_symbols(self.files["select_cons_tres"], "--undefined-only").items()
                  if kind == "U"}
        self.assertEqual(needed & variables, set())

    @staticmethod
    def library_symbols(slurmctld):
        return set().union(*(dynamic_symbols(path, "--defined-only")
                             for path in slurm_library(slurmctld)))

    def slurmctld(self):
        path = shutil.which("slurmctld", path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")
        if not path or not slurm_library(path):
            self.skipTest("slurmctld is not installed")
        return path


class Spank(unittest.TestCase):
    """spank_rubato.so, which sbatch, salloc, srun, slurmd and slurmstepd load."""
    FILE = BUILD / ".libs/spank_rubato.so"

    def setUp(self):
        if not self.FILE.exists():
            self.skipTest("built without slurm/spank.h")

    def test_exports_are_those_of_the_version_script(self):
        self.assertEqual(set(dynamic_symbols(self.FILE, "--defined-only")), map_symbols("spank"))

    def test_it_loads_whole_or_not_at_all(self):
        """Bound at load time: a file that lacks a symbol is skipped, and does not end a step later."""
        self.assertRegex(output("readelf", "-d", str(self.FILE)), r"BIND_NOW|Flags: .*\bNOW\b")

    def test_every_undefined_symbol_is_defined_in_every_program_that_loads_it(self):
        needed = {symbol for symbol, kind in
                  dynamic_symbols(self.FILE, "--undefined-only").items()
                  if kind == "U" and not symbol.startswith(SANITIZERS)}
        own = set().union(*(dynamic_symbols(library, "--defined-only")
                            for library in needed_libraries(self.FILE)))
        self.assertIn("spank_option_register", needed)
        for name in ("sbatch", "salloc", "srun", "slurmd", "slurmstepd"):
            program = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")
            if not program or not slurm_library(program):
                self.skipTest(f"{name} is not installed")
            known = set().union(*(dynamic_symbols(path, "--defined-only") for path in
                                  [program, *slurm_library(program)]))
            with self.subTest(program=name):
                self.assertEqual(needed - own - known, set())


if __name__ == "__main__":
    unittest.main()
