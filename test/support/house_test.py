# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules of the source tree that a compiler does not check (HACKING.md, "House rules")."""
import os
import pathlib
import re
import unittest

ROOT = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"])
FOLDERS = ("lib", "plugin", "tools", "test", "contrib", "docs")
LICENCE = "SPDX-License-Identifier: GPL-2.0-or-later"


def files(*folders, suffixes=(".cc", ".h")):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes and path.is_file():
                yield path.relative_to(ROOT), path.read_text(encoding="utf-8")


def scripts():
    """Files of the tree that begin with '#!'."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and not path.suffix == ".pyc" and path.read_bytes()[:2] == b"#!":
                yield path.relative_to(ROOT), path.read_text(encoding="utf-8")


# A member of Memory (lib/core/snapshot.h), as in "plan.memory.jobs" and "memory_.jobs[0].refusals".
MEMBER = (r"[\w.>-]*\bmemory_?(?:\.|->)(?:round|jobs|reservations|service|progress|progress_histories|types|loads)\b"
          r"(?:\[[^\]]*\])?(?:(?:\.|->)\w+\b(?!\())*")
MEMORY_CHANGE = re.compile(
    rf"(?:\+\+|--|&){MEMBER}"
    rf"|{MEMBER}\s*(?:[-+*/]?=(?!=)|\+\+|--)"
    rf"|{MEMBER}\.(?:push_back|pop_back|emplace\w*|insert|erase|clear|resize|assign|swap)\("
    rf"|\b(?:erase|erase_if|sort|stable_sort|move|exchange|swap|promote_all|progress_history_for|ended)\([^;]*?{MEMBER}"
    rf"|(?:^|[;{{(])\s*(?!const\b)[\w:<>]+&\s*[\w\[\], ]+\s*[=:]\s*{MEMBER}", re.M)
# These change a Memory: what the next round gets, restarts on request, what is read, and what readers may not see.
MEMORY_WRITERS = ("lib/policy/memory.cc", "lib/policy/asked_resize.cc", "lib/json/", "tools/rubato/snapshot/anonymise.cc")


def memory_changes(text):
    """Places that change a member of a Memory, as far as the variable is named memory or memory_."""
    return [match.group().strip() for match in MEMORY_CHANGE.finditer(re.sub(r"//[^\n]*", "", text))]


class House(unittest.TestCase):
    def test_every_source_is_built_and_distributed(self):
        """A source file that no local.mk names is neither compiled nor in the tarball."""
        makefiles = "\n".join(path.read_text(encoding="utf-8") for folder in FOLDERS
                              for path in (ROOT / folder).rglob("*.mk"))
        named = set(re.findall(r"[\w/.-]+\.(?:cc|h)\b", makefiles))
        found = [str(path) for path, _ in files(*FOLDERS)]
        self.assertGreater(len(found), 20)
        self.assertEqual([path for path in found if path not in named], [])

    def test_every_source_names_the_licence_first(self):
        for path, text in files(*FOLDERS, suffixes=(".cc", ".h", ".py", ".mk")):
            with self.subTest(path=str(path)):
                first = [line for line in text.splitlines()[:2] if not line.startswith("#!")]
                self.assertIn(LICENCE, first[0])
        for path, text in scripts():
            if path.parts[:2] == ("test", "golden"):
                continue  # programs of a fake machine
            with self.subTest(path=str(path)):
                self.assertIn(LICENCE, text.splitlines()[1])

    def test_the_library_includes_no_slurm_header(self):
        includes = re.compile(r'^\s*#\s*include\s*[<"]((?:src|slurm)/[^">]*|config\.h|plugin/[^">]*)',
                              re.M)
        for path, text in files("lib", "tools"):
            with self.subTest(path=str(path)):
                self.assertEqual(includes.findall(text), [])

    def test_headers_that_cost_seconds_are_included_once(self):
        """JsonValue and CommandLine stand before libraries whose headers take 2 to 7 s to compile in each source."""
        include = re.compile(r'^\s*#\s*include\s*<((?:nlohmann|CLI)/[^>]*)>', re.M)
        users = [(str(path), name) for path, text in files("lib", "plugin", "tools") for name in include.findall(text)]
        self.assertEqual(users, [("lib/base/json_value.cc", "nlohmann/json.hpp"),
                                 ("tools/shared/command_line.cc", "CLI/CLI.hpp")])

    def test_slurm_records_are_used_in_one_folder(self):
        """Only plugin/slurm/ uses Slurm's headers and records, except for the entry points that Slurm calls."""
        entries = {"plugin/job_submit/plugin.cc", "plugin/sched/plugin.cc",
                   "plugin/select/forward.cc", "plugin/select/plugin.cc"}
        headers = re.compile(r'^\s*#\s*include\s*[<"]((?:src|slurm)/[^">]*|'
                             r'[^">]*slurm_headers\.h)', re.M)
        words = re.compile(
            r"\b((?:job|part|node|step|slurmdb|slurmctld)_\w*(?:record|rec|resv)_t|job_desc_msg_t"
            r"|job_(?:record|descriptor|details)|bitstr_t|ListIterator"
            r"|slurm_conf|slurmctld_\w+|(?:list|bit)_\w+ *\(|x(?:free|malloc|strdup|strcmp)"
            r"|find_job_record|(?:NO_VAL|INFINITE)\d*|IS_JOB_\w+|ESLURM_\w+|SLURM_(?:SUCCESS|ERROR))\b")
        not_code = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"')
        self.assertTrue(words.search("IS_JOB_PENDING(job_record_t)"))
        checked = 0
        for path, text in files("plugin"):
            if path.parts[1] in ("slurm", "spank"):  # spank/: Slurm's public headers
                continue
            if str(path) in entries:
                self.assertTrue(words.search(text) or headers.search(text), path)
                continue
            checked += 1
            with self.subTest(path=str(path)):
                self.assertEqual(headers.findall(text), [])
                self.assertEqual(words.findall(not_code.sub("", text)), [])
        self.assertGreater(checked, 20)

    def test_slurm_is_read_before_it_is_written(self):
        """The folders of plugin/slurm/ include each other in one direction only."""
        order = ["release", "stock", "read", "write"]
        include = re.compile(r'^#include "plugin/slurm/(\w+)/', re.M)
        for path, text in files("plugin/slurm"):
            own = order.index(path.parts[2])
            with self.subTest(path=str(path)):
                self.assertEqual([other for other in include.findall(text)
                                  if order.index(other) > own], [])

    def test_the_slurm_release_is_tested_in_one_folder(self):
        condition = re.compile(r"^\s*#\s*(?:el)?if\b.*SLURM_VERSION_NUMBER", re.M)
        users = [str(path) for path, text in files(*FOLDERS) if condition.search(text)]
        self.assertEqual([path for path in users if not path.startswith("plugin/slurm/release/")], [])

    def test_a_memory_is_changed_in_one_file(self):
        """Functions of lib/policy/memory.h make what the next round gets."""
        for path, text in files("lib", "plugin", "tools"):
            if not str(path).startswith(MEMORY_WRITERS):
                with self.subTest(path=str(path)):
                    self.assertEqual(memory_changes(text), [])

    def test_a_change_of_a_memory_is_found(self):
        """The check above sees what it is for."""
        for text in ("memory_.round = 3;", "++memory.round;", "plan->memory.jobs[i].refusals += 1;",
                     "plan_.memory.jobs.push_back(fresh);", "auto& jobs = plan_.memory.jobs;",
                     "std::vector<Progress>& all = memory.progress;", "std::erase_if(memory.progress, gone);",
                     "for (Service& service : memory.service) service.level = 0;", "Seconds* at = &memory.jobs[0].last_try;",
                     "promote_all(memory_.progress_histories);", "ended(history, account, name, now, memory.types);",
                     "auto jobs = std::move(memory.jobs);"):
            with self.subTest(text=text):
                self.assertEqual(len(memory_changes(text)), 1)
        for text in ("if (memory.round == before.memory.round) return;", "const auto& jobs = plan.memory.jobs;",
                     "for (const JobMemory& job : memory.jobs) use(job);", "auto at = memory.jobs.begin();",
                     "snapshot.memory = memory_;", "node.memory = 3;", "use(memory.types.end(), memory.jobs.size());",
                     "const std::vector<Service>& all = snapshot.memory.service;", "// memory.round = 3"):
            with self.subTest(text=text):
                self.assertEqual(memory_changes(text), [])

    def test_headers_are_included_once(self):
        for path, text in files(*FOLDERS, suffixes=(".h",)):
            with self.subTest(path=str(path)):
                self.assertIn("#pragma once", text)


if __name__ == "__main__":
    unittest.main()
