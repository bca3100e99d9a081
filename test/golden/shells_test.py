#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What zsh and fish offer, asked of the shells themselves, and the hints of sbatch in bash."""
import os
import pathlib
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import golden  # noqa: E402

SOURCE = pathlib.Path(os.environ.get("RUBATO_SOURCE_DIR", golden.HERE.parent.parent))
SCRIPTS = SOURCE / "contrib/completion"
BASES = ["site", "published", "stats", "models"]
SUBMIT = ("sbatch", "salloc", "srun")
TIMEOUT = 120

# compadd writes what it adds to a file; the end of the completion makes another file.
ZSHRC = """
PS1='> '
fpath=({scripts} $fpath)
autoload -Uz compinit; compinit -u -D
compadd() {{
  if [[ ${{@[1,(i)(-|--)]}} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return; fi
  local -a __hits; builtin compadd -O __hits "$@"; print -rl -- $__hits >> {folder}/hits
  builtin compadd "$@"
}}
complete-and-tell() {{ _main_complete "$@"; : > {folder}/done }}
zle -C complete-and-tell complete-word complete-and-tell
bindkey '^I' complete-and-tell
: > {folder}/ready
"""


class Shells(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runner = golden.Runner(golden.program())
        cls.folder = cls.runner.new_folder(BASES)
        programs = cls.folder / "programs"
        programs.mkdir()
        for name in ("rubato", "rqueue"):
            program = programs / name
            program.write_text(f'#!/bin/bash\nPATH=$DIR/bin exec "${name.upper()}" "$@"\n', encoding="utf-8")
            program.chmod(0o755)
        cls.environment = cls.runner.environment(cls.folder) | {"PATH": f"{programs}:/usr/bin:/bin", "TERM": "dumb"}

    @classmethod
    def tearDownClass(cls):
        cls.runner.remove(cls.folder)

    def said(self, *command):
        done = subprocess.run(command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=TIMEOUT, check=False)
        self.assertEqual((0, ""), (done.returncode, done.stderr), command)
        return done.stdout

    def hints(self):
        """The options of the hints, from the table: {"--dl-gpus": True (it takes a value), "--no-dl-gpus": False}."""
        found = {}
        for option, value in re.findall(r"^(--dl-[a-z-]+)(=?).*in a comment:", self.said("rubato", "hints"), re.M):
            found[option] = bool(value)
            found[option.replace("--", "--no-", 1)] = False
        self.assertGreater(len(found), 20)
        return found

    def options_of(self, command):
        """The long options in --help."""
        text = self.said("rubato", command, "--help").split("Options:")[1]
        return set(re.findall(r"^  (?:-\w, )?(--[A-Za-z]+(?:-[a-z]+)*)(?=[, \n])", text, re.M))

    def check_what_all_shells_offer(self, offered):
        """offered(line) -> the words that complete the last word of the line."""
        self.assertEqual({"explain"}, offered("rubato ex"))
        commands = set(re.findall(r"^  ([a-z]+)  +[A-Z]", self.said("rubato", "--help"), re.M))
        self.assertEqual(commands, {word for word in offered("rubato ") if word[0] != "-"})
        for command in ("explain", "models", "pause", "simulate", "whatif"):
            self.assertEqual(self.options_of(command), {word for word in offered(f"rubato {command} --")
                                                        if word.startswith("--")}, command)
        self.assertEqual({"always", "auto"}, {word.split("=")[-1] for word in offered("rubato doctor --color a")})
        self.assertIn("1003", offered("rubato explain "))
        self.assertIn("resnet50", offered("rubato models show "))
        self.assertIn("forget", offered("rubato models "))
        self.assertEqual({"never"}, {word.split("=")[-1] for word in offered("rqueue --color=n")})
        self.assertEqual({"dlsizes", "dlsamples", "dlstart"},
                         {word.split("=")[-1] for word in offered("rqueue --sort=dls")})
        hints = self.hints()
        for command in SUBMIT:
            for start in ("--dl-", "--no-dl-"):
                self.assertEqual({option for option in hints if option.startswith(start)},
                                 {word.rstrip("=") for word in offered(f"{command} {start}")}, command)
        for line, values in (("--dl-resize=", {"none", "restart", "live"}), ("--dl-resize=l", {"live"}),
                             ("--dl-device=c", {"cpu"}), ("--dl-job-type=res", {"resnet50"}),
                             ("--dl-gpu-types=a", {"a100"})):
            self.assertEqual(values, {word.split("=")[-1] for word in offered(f"sbatch {line}")}, line)
        for line, values in (("--dl-plans=dp,ze", {"zero", "zero-offload"}),
                             ("--dl-model=params=1,h", {"hidden", "heads"})):
            self.assertEqual(values, {word.split(",")[-1].rstrip("=") for word in offered(f"sbatch {line}")}, line)

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish(self):
        def offered(line):
            out = self.said("fish", "--no-config", "-c", f"set -p fish_complete_path {SCRIPTS}/fish\n"
                            f"complete -C {shlex.quote(line)}")
            # fish 4 also offers options that have the word inside.
            start = line.split(" ")[-1]
            return {word for word in (one.split("\t")[0] for one in out.splitlines()) if word.startswith(start)}
        self.check_what_all_shells_offer(offered)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh(self):
        self.check_what_all_shells_offer(self.offered_by_zsh)

    def test_a_sites_own_zsh_function_is_called_too(self):
        if not shutil.which("zsh"):
            self.skipTest("zsh is not installed")
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "_sbatch").write_text("#compdef sbatch\n_arguments '--dl-of-the-site'\n",
                                                       encoding="utf-8")
            self.assertIn("--dl-of-the-site", self.offered_by_zsh("sbatch --dl-", f"{SCRIPTS}/zsh {folder}"))
            self.assertIn("--dl-gpus", self.offered_by_zsh("sbatch --dl-", f"{SCRIPTS}/zsh {folder}"))

    def offered_by_zsh(self, line, scripts=f"{SCRIPTS}/zsh"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / ".zshrc").write_text(ZSHRC.format(scripts=scripts, folder=folder), encoding="utf-8")
            child, terminal = pty.fork()
            if child == 0:
                os.chdir(self.folder)
                os.execvpe("zsh", ["zsh", "-i", "--no-globalrcs"], self.environment | {"ZDOTDIR": folder})
            printed = b""
            try:
                end = time.monotonic() + TIMEOUT
                sent = False
                while not (path / "done").exists():
                    self.assertLess(time.monotonic(), end, printed.decode())
                    if not sent and (path / "ready").exists():
                        os.write(terminal, line.encode() + b"\t")
                        sent = True
                    if select.select([terminal], [], [], 0.02)[0]:
                        printed += os.read(terminal, 65536)
            finally:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                os.close(terminal)
            hits = path / "hits"
            return set(hits.read_text(encoding="utf-8").split("\n")) - {""} if hits.exists() else set()


class BashHints(Shells):
    """The hints of sbatch, salloc and srun; rubato and rqueue are in completion_test.py."""
    test_fish = test_zsh = test_a_sites_own_zsh_function_is_called_too = None

    def offered_by_bash(self, *words, before=""):
        line = " ".join(shlex.quote(word) for word in words)
        out = self.said("bash", "--norc", "-c",
                        f"{before}\nsource {SCRIPTS}/bash/rubato-hints\ncompopt() {{ :; }}\nCOMP_WORDS=({line})\n"
                        f"COMP_CWORD={len(words) - 1} COMP_LINE={shlex.quote(line)} COMP_POINT={len(line)}\n"
                        f"_rubato_hints {words[0]} \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"\n"
                        "printf '%s\\n' \"${COMPREPLY[@]}\"\n")
        return set(out.split())

    def test_options_are_those_of_the_table(self):
        wanted = {option + ("=" if value else "") for option, value in self.hints().items()}
        for command in SUBMIT:
            self.assertEqual(wanted, {word for word in self.offered_by_bash(command, "--") if "dl-" in word}, command)

    def test_values(self):
        for words, values in ((("--dl-resize", "=", "l"), {"live"}),
                              (("--dl-resize", "="), {"none", "restart", "live"}),
                              (("--dl-device", "c"), {"cpu"}),
                              (("--dl-plans", "=", "dp,ze"), {"dp,zero", "dp,zero-offload"}),
                              (("--dl-job-type", "=", "res"), {"resnet50"}),
                              (("--dl-gpu-types", "=", "v100/a"), {"v100/a100"}),
                              (("--dl-model", "=", "h"), {"hidden=", "heads="}),
                              (("--dl-steps", "=", ""), set())):
            self.assertEqual(values, self.offered_by_bash("sbatch", *words), words)

    def test_slurms_own_completion_stays(self):
        before = ("_slurms_own() { COMPREPLY=(--dl-own= --partition=); }; complete -o filenames -F _slurms_own sbatch")
        offered = self.offered_by_bash("sbatch", "--", before=before)
        self.assertLessEqual({"--dl-own=", "--partition=", "--dl-gpus="}, offered)
        self.assertIn("--partition=", self.offered_by_bash("sbatch", "x", before=before))
        self.assertNotIn("--partition=", self.offered_by_bash("salloc", "--", before=before))

    def test_slurms_own_completion_is_loaded_at_the_first_tab(self):
        main = pathlib.Path("/usr/share/bash-completion/bash_completion")
        if not main.exists() or not main.with_name("completions").joinpath("sbatch").exists():
            self.skipTest("Slurm's completion is not installed")
        offered = self.offered_by_bash("sbatch", "--", before=f"source {main}")
        self.assertIn("--dl-gpus=", offered)
        # Slurm 24.11 offers no options where no cluster answers.
        own = set(self.said("bash", "--norc", "-c", f"source {main}\ncompopt() {{ :; }}\n"
                            "declare -F _comp_load > /dev/null && load=_comp_load || load=__load_completion\n"
                            "$load sbatch > /dev/null 2>&1\n[[ $(complete -p sbatch) =~ -F\\ ([^ ]+) ]] || exit 1\n"
                            "COMP_WORDS=(sbatch --) COMP_CWORD=1 COMP_LINE='sbatch --' COMP_POINT=9 COMPREPLY=()\n"
                            "${BASH_REMATCH[1]} sbatch -- sbatch\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n").split())
        self.assertLessEqual(own, offered)

    def test_without_rubato_nothing_is_set(self):
        done = subprocess.run(["bash", "--norc", "-c", f"source {SCRIPTS}/bash/rubato-hints; complete -p sbatch"],
                              env={"PATH": "/nonexistent"}, executable="/bin/bash", capture_output=True, text=True,
                              check=False)
        self.assertIn("sbatch: no completion specification", done.stderr)


if __name__ == "__main__":
    unittest.main()
