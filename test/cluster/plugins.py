# SPDX-License-Identifier: GPL-2.0-or-later
"""Locations of the plugins: the stock directory of the installed Slurm and Rubato's own."""
import functools
import glob
import hashlib
import os
import pathlib
import shutil
import subprocess
import threading

from .proc import ClusterError

TREE = pathlib.Path(__file__).resolve().parents[2]
FILES = ("sched_backfill.so", "select_cons_tres.so", "job_submit_logging.so")
SPANK = "spank_rubato.so"


@functools.lru_cache
def stock_dir():
    """Plugin directory of the installed Slurm, from the package manager's file list."""
    if os.environ.get("RUBATO_STOCK_PLUGINDIR"):
        return os.environ["RUBATO_STOCK_PLUGINDIR"]
    for command in (["dpkg-query", "-L", "slurm-wlm-basic-plugins"], ["rpm", "-ql", "slurm"]):
        try:
            text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        except FileNotFoundError:
            continue
        for line in text.splitlines():
            if line.endswith("/select_cons_tres.so"):
                return os.path.dirname(line)
    raise ClusterError("no package of Slurm's basic plugins is installed: run contrib/quickstart "
                       "deps, or set RUBATO_STOCK_PLUGINDIR")


def find():
    """Rubato's plugin directory: $RUBATO_PLUGINS, else the one that `make install` staged in
    $RUBATO_BUILD_DIR (default: build) below stage/, else what stands built there. None: neither."""
    if os.environ.get("RUBATO_PLUGINS"):
        return os.environ["RUBATO_PLUGINS"]
    build = os.environ.get("RUBATO_BUILD_DIR") or str(TREE / "build")
    found = sorted(glob.glob(os.path.join(build, "stage/**/rubato/slurm-*", FILES[0]),
                             recursive=True))
    found += glob.glob(os.path.join(build, ".libs", FILES[0]))
    return os.path.dirname(found[0]) if found else None


def scratch_root():
    """The folder of clusters."""
    return os.environ.get("RUBATO_SCRATCH") or f"/var/tmp/rubato-{os.getuid()}"


def _all_may_enter(path):
    return all(part.stat().st_mode & 0o001 for part in (path, *path.parents))


_copying = threading.Lock()


def for_all_users(folder):
    """`folder`, or, if it is below a home that others may not enter (a clone in /root, say), an
    accessible copy. Each client of Slurm reads PluginDir, also that of the second user."""
    folder = pathlib.Path(folder).resolve()
    if os.geteuid() != 0 or _all_may_enter(folder):
        return str(folder)
    files = sorted(p for p in folder.iterdir() if p.is_file())
    state = "".join(f"{p} {p.stat().st_mtime_ns} {p.stat().st_size}\n" for p in files)
    name = hashlib.sha256(state.encode()).hexdigest()[:12]
    copy = pathlib.Path(scratch_root(), "copies", name, *folder.parts[-3:])
    with _copying:
        if not copy.exists():
            making = copy.with_name(f"{copy.name}.{os.getpid()}")
            making.mkdir(parents=True)
            for file in files:
                shutil.copy2(file, making)
            try:
                making.rename(copy)
            except OSError:     # another runner was faster
                if not copy.exists():
                    raise
                shutil.rmtree(making)
    return str(copy)


class Plugins:
    """Rubato's plugin directory. asan: it was built with AddressSanitizer."""

    def __init__(self, path=None):
        found = path or find()
        if not found:
            raise ClusterError("Rubato's plugins are not built: run contrib/quickstart build, or "
                               "set RUBATO_PLUGINS to their directory")
        self.path = os.path.abspath(found)
        missing = [name for name in FILES if not os.path.exists(os.path.join(self.path, name))]
        if missing:
            raise ClusterError(f"{self.path}: no {', '.join(missing)}")
        data = pathlib.Path(self.path, FILES[0]).read_bytes()
        self.asan = b"__asan_init" in data
        self.bin = self._bin_dir()
        self.path = for_all_users(self.path)

    def spank(self):
        """True if the SPANK plugin is in their folder and can be loaded by Slurm's clients."""
        return not self.asan and os.path.exists(os.path.join(self.path, SPANK))

    def bin_dir(self):
        """Directory of the program `rubato` that belongs to the plugins, "" if there is none."""
        return self.bin

    def _bin_dir(self):
        for parent in pathlib.Path(self.path).resolve().parents:
            for folder in ("bin", "tools"):
                if os.access(parent / folder / "rubato", os.X_OK):
                    return for_all_users(parent / folder)
        return ""

    def ctld_env(self, log_path):
        """Environment slurmctld needs to load these files (empty unless they have ASan)."""
        if not self.asan:
            return {}
        libs = [subprocess.run(["g++", f"-print-file-name={name}"], capture_output=True, text=True,
                               check=True).stdout.strip()
                for name in ("libasan.so", "libstdc++.so.6")]
        return {"LD_PRELOAD": " ".join(libs),
                "ASAN_OPTIONS": f"detect_leaks=0:abort_on_error=1:log_path={log_path}",
                "UBSAN_OPTIONS": f"print_stacktrace=1:log_path={log_path}"}
