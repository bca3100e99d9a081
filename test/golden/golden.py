# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases of the golden tests: a command, and what it must print.

A case is a folder cases/NN-name with
  cmd      bash lines, run in a fresh folder; `rubato` and `rqueue` are the programs under test
  stdout, stderr, exit   what they must print, and the exit code
  base     names of folders in bases/ to copy first, one a line
  files/   files of this case, copied over those of the bases
In files and expectations @DIR@ is the fresh folder, @HOST@ the host, @USER@ who runs the test and
@VERSION@ the version of the program.

The clock stands still at NOW, times are UTC, and the program sees of PATH only @DIR@/bin, so that
no Slurm of this machine has a part in it.
"""
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CASES = HERE / "cases"
BASES = HERE / "bases"
NOW = 1795262400  # 2026-11-21T12:00:00 UTC
TIMEOUT = 60

PRELUDE = """\
rubato() { PATH="$DIR/bin" "$RUBATO" "$@"; }
rqueue() { PATH="$DIR/bin" "$RQUEUE" "$@"; }
# What follows runs as somebody who is neither root nor the owner of the files.
as_other_user() {
  if ((EUID == 0)); then
    PATH="$DIR/bin" /usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups "$RUBATO" "$@"
  else
    rubato "$@"
  fi
}
"""


def program():
    """The program under test."""
    build = os.environ.get("RUBATO_BUILD_DIR", "")
    path = os.environ.get("RUBATO_PROGRAM") or (f"{build}/bin/rubato" if build else "")
    if not path or not os.access(path, os.X_OK):
        raise SystemExit(f"golden: no program '{path}'; set RUBATO_BUILD_DIR or RUBATO_PROGRAM")
    return os.path.abspath(path)


def version_of(rubato):
    return subprocess.run([rubato, "--version"], capture_output=True, text=True, check=True,
                          timeout=TIMEOUT).stdout.split()[-1]


class Runner:
    """Runs cases in folders of their own, which are removed afterwards."""

    def __init__(self, rubato):
        self.rubato = rubato
        self.names = {"@HOST@": socket.gethostname().split(".")[0], "@VERSION@": version_of(rubato),
                      "@USER@": pwd.getpwuid(os.geteuid()).pw_name}

    def fill(self, source, target):
        """Copies the tree `source` over `target` with the names filled in."""
        for path in sorted(source.rglob("*")):
            place = target / path.relative_to(source)
            if path.is_dir():
                place.mkdir(exist_ok=True)
                continue
            text = path.read_bytes()
            for name, value in {**self.names, "@DIR@": str(target)}.items():
                text = text.replace(name.encode(), value.encode())
            place.parent.mkdir(parents=True, exist_ok=True)
            place.unlink(missing_ok=True)
            place.write_bytes(text)
            place.chmod(0o755 if os.access(path, os.X_OK) else 0o644)

    def environment(self, folder):
        # COLUMNS is not set, so a pipe has no width; NO_COLOR neither.
        return {"DIR": str(folder), "RUBATO": self.rubato,
                "RQUEUE": os.path.join(os.path.dirname(self.rubato), "rqueue"), "PATH": "/usr/bin:/bin",
                "HOME": str(folder), "TZ": "UTC", "LC_ALL": "C.UTF-8",
                "PYTHON": os.environ.get("PYTHON", "/usr/bin/python3"),
                "SLURM_CONF": f"{folder}/etc/slurm.conf", "RUBATO_TESTING": "1",
                "RUBATO_NOW": str(NOW), "RUBATO_PLUGIN_DIR": f"{folder}/plugins/rubato",
                "SOURCE": os.environ.get("RUBATO_SOURCE_DIR", str(HERE.parent.parent))}

    def run_in(self, folder, script):
        """(stdout, stderr, exit code) of bash lines, run in `folder`."""
        done = subprocess.run(["/bin/bash", "-c", PRELUDE + script], cwd=folder,
                              env=self.environment(folder), stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=TIMEOUT, check=False)
        return done.stdout, done.stderr, done.returncode

    def new_folder(self, bases):
        """A folder that all may enter, with the files of the bases."""
        os.umask(0o022)
        # Not TMPDIR: it may stand where others may not go, and that is one of the checks.
        folder = pathlib.Path(tempfile.mkdtemp(prefix="rubato-golden-", dir="/tmp"))
        folder.chmod(0o755)
        for base in bases:
            self.fill(BASES / base, folder)
        return folder

    def remove(self, folder):
        for path, folders, _ in os.walk(folder):
            for name in folders:  # a case may have closed one
                os.chmod(os.path.join(path, name), 0o755)
        shutil.rmtree(folder)

    def run(self, case):
        """{"stdout": text, "stderr": text, "exit": text} of a case, names taken out again."""
        base = case / "base"
        folder = self.new_folder(base.read_text().split() if base.exists() else [])
        try:
            if (case / "files").is_dir():
                self.fill(case / "files", folder)
            out, err, code = self.run_in(folder, (case / "cmd").read_text())
        finally:
            self.remove(folder)
        return {"stdout": self.plain(out, folder), "stderr": self.plain(err, folder),
                "exit": f"{code}\n"}

    def plain(self, output, folder):
        text = output.decode("utf-8", "backslashreplace").replace(str(folder), "@DIR@")
        return text.replace(self.names["@VERSION@"], "@VERSION@")


def all_cases():
    return sorted(path.parent for path in CASES.glob("*/cmd"))


def expected(case, name):
    path = case / name
    return path.read_text() if path.exists() else ("0\n" if name == "exit" else "")


def update(case, result):
    """Writes what was printed as the expectation; an empty output has no file."""
    for name, text in result.items():
        path = case / name
        if text == ("0\n" if name == "exit" else ""):
            path.unlink(missing_ok=True)
        elif not path.exists() or path.read_text() != text:
            path.write_text(text)
