#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The JSON of the commands is what the shipped schemas say (docs/schema)."""
import copy
import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import golden  # noqa: E402
import json_schema  # noqa: E402

SOURCE = pathlib.Path(os.environ.get("RUBATO_SOURCE_DIR", golden.HERE.parent.parent))
SCHEMAS = sorted((SOURCE / "docs/schema").glob("*.json"))
BASES = ["site", "published", "stats", "models", "queue"]

# Schema and the commands whose output it describes; errors print a document too.
COMMANDS = {
    "rubato.doctor.1": ["rubato doctor --json", "rubato doctor --remove --json",
                        "SLURM_CONF=none rubato doctor --json"],
    "rubato.explain.1": ["rubato explain --json", "rubato explain 1003 --json",
                         "rubato explain 1 --json", "rm -r state; rubato explain 1003 --json",
                         'rm -r state; rubato explain --json "$(rqueue -h -n train-a -O jobid:0)"'],
    "rubato.models.1": ["rubato models --json", "rm -r state; rubato models --json",
                        "cat state/rubato/publish/models.json"],
    "rubato.report.1": ["rubato report --json", "rubato report --samples 1 --json",
                        "touch f; SLURM_JOB_ID=1 RUBATO_REPORT_FILE=f rubato report --samples 1 "
                        "--rate 1 --batch 1 --json"],
    "rubato.rqueue.1": ["rqueue --json", "rqueue --json -t foo", "PATH= ; rqueue --json -t R"],
    "rubato.snapshot.1": ["rubato snapshot", "rubato snapshot --anonymise"],
    "rubato.stats.1": ["rubato stats --json", "RUBATO_NOW=1895262398 rubato stats --json",
                       "cat state/rubato/publish/stats.json"],
}
# The files that Rubato publishes lack what every command prints beside them.
FILES = ("cat ",)


class Schemas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.runner = golden.Runner(golden.program())

    def document(self, script):
        folder = self.runner.new_folder(BASES)
        try:
            out, _, _ = self.runner.run_in(folder, script)
        finally:
            self.runner.remove(folder)
        return json.loads(out)

    def schema(self, name):
        return json.loads((SOURCE / f"docs/schema/{name}.json").read_text())

    def test_every_schema_has_commands(self):
        self.assertEqual(sorted(COMMANDS), [path.stem for path in SCHEMAS])

    def test_schemas_use_only_words_that_are_checked(self):
        for path in SCHEMAS:
            self.assertEqual([], json_schema.unknown_words(json.loads(path.read_text())), path.name)

    def test_documents(self):
        for name, scripts in COMMANDS.items():
            schema = self.schema(name)
            for script in scripts:
                document = self.document(script)
                wanted = copy.deepcopy(schema)
                if script.startswith(FILES):
                    wanted["required"] = []
                self.assertEqual([], json_schema.errors(wanted, document), f"{name}: {script}")

    def test_broken_documents_are_refused(self):
        """Each value of a document in turn becomes one of another type."""
        for name, scripts in COMMANDS.items():
            schema = self.schema(name)
            document = self.document(scripts[0])
            refused = 0
            for path in json_schema.described_paths(schema, document):
                broken = copy.deepcopy(document)
                place = broken
                for step in path[:-1]:
                    place = place[step]
                place[path[-1]] = None
                self.assertTrue(json_schema.errors(schema, broken), f"{name}: {path} = null")
                refused += 1
            self.assertGreater(refused, 5, name)
            for member in schema["required"]:
                broken = copy.deepcopy(document)
                del broken[member]
                self.assertTrue(json_schema.errors(schema, broken), f"{name}: without {member}")

    def test_rqueue_has_no_other_members(self):
        schema = self.schema("rubato.rqueue.1")
        document = self.document("rqueue --json")
        document["jobs"][0]["new"] = 1
        self.assertTrue(json_schema.errors(schema, document))


if __name__ == "__main__":
    unittest.main()
