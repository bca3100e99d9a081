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
sys.path.insert(1, str(SOURCE / "test"))
from cluster import demo  # noqa: E402
from cluster.compare import metrics, outcome, workload  # noqa: E402

SCHEMAS = sorted((SOURCE / "docs/schema").glob("*.json"))
BASES = ["site", "published", "stats", "models", "queue"]

# Schema and the commands whose output it describes; errors print a document too.
HINTS = ("job-type=x;gpus=1-4,8;gpu-types=h100/a100,v100;batch=1-2;samples=3;model=params=7e9,hidden=3;"
         "plans=dp,tp;checkpoint=B:USR1@60;resize=live;device=any;mix-types")
REPLAY = "rubato snapshot --replay state/rubato/publish/snapshot.json"
PROFILES = ("printf 'account,job_type,gpu_type,gpus,nodes,batch,samples,rate\\nlab,x,a100,1,1,64,9,100\\n"
            "lab,x,a100,2,1,64,9,180\\n' > p.csv")
WORKLOAD = "printf 'job,arrival_s,gpus,run_s\\nx,0,1,100\\ny,5,2,50\\n' > w.csv"
# Job 12 runs and hears of a change.
NOTICE = (f"cp {golden.CASES}/314-wait-resize/files/bin/squeue bin/; "
          "echo '{rubato-notice n=1 step=coming how=live from=8 gpus=4 due=1795262457 leave=n2}' > notices; ")
# Job 901 consents to a restart.
CONSENT = (""""$PYTHON" -c 'import json
path = "state/rubato/publish/snapshot.json"
document = json.load(open(path))
for job in document["jobs"]:
    if job["id"] == 901:
        job["later_set"], job["time_limit"], job["request"] = 0, 600, {"gpus": 4, "cores": 4}
        job["hints"] = {"sizes": "2,4", "request_gpus": 4, "checkpoint": "USR1@60", "resize": "restart"}
json.dump(document, open(path, "w"))'; """)
HOLD = "printf '#!/bin/bash\\n' > bin/scontrol; chmod +x bin/scontrol; "
COMMANDS = {
    "rubato.compare.1": [],
    "rubato.config.1": ["printf 'JobType=x Gpus=1-8\\nPublishDir=/p\\n' >> etc/rubato.conf; "
                        "rubato doctor --config --json",
                        "rubato doctor --config --json", "rm etc/rubato.conf; rubato doctor --config --json",
                        "printf 'ManagedPartitions=all\\nTestOff=gate\\n' > etc/rubato.conf; "
                        "rubato doctor --config --json"],
    "rubato.decisions.1": ["cat state/rubato/publish/decisions.json"],
    "rubato.demo.1": [],
    "rubato.doctor.1": ["rubato doctor --json", "rubato doctor --remove --json",
                        "SLURM_CONF=none rubato doctor --json"],
    "rubato.explain.1": ["rubato explain --json", "rubato explain 1003 --json",
                         "rubato explain 901 --json", "rubato explain 850 --json",
                         "rubato explain 1 --json", "rm -r state; rubato explain 1003 --json",
                         'rm -r state; rubato explain --json "$(rqueue -h -n train-a -O jobid:0)"'],
    "rubato.hints.1": [f"rubato hints --check '{HINTS}' --json",
                       "rubato hints --check 'checkpoint=none;plans=auto;target-loss=0.1' --json"],
    "rubato.hold-size.1": [HOLD + "rubato hold-size 901 --release --json", "rubato hold-size 1 --json"],
    "rubato.models.1": ["rubato models --json", "rm -r state; rubato models --json",
                        "cat state/rubato/publish/models.json"],
    "rubato.models-fit.1": ["rubato snapshot -o s.json --models m.json; cat m.json",
                            "rubato snapshot --anonymise -o s.json --models m.json; cat m.json",
                            "cat state/rubato/publish/models-fit.json"],
    "rubato.models-change.1": [f"{PROFILES}; rubato models import p.csv --dry-run --json",
                               "rubato models import none --json"],
    "rubato.models-curve.1": [f"{PROFILES}; rubato models curve x --file p.csv --batch 32-256 --json",
                              "rubato models curve resnet50 --json", "rubato models curve none --json"],
    "rubato.models-fits.1": [f"{PROFILES}; rubato models fit --file p.csv --json",
                             "rubato models show resnet50 --json", "rubato models show vit --json",
                             f"{PROFILES}; rubato models fit none --file p.csv --json"],
    "rubato.pause.1": ["rubato pause --json", "rubato pause --status --json",
                       "rubato pause --for x --json", "rm -r state; rubato pause --json"],
    "rubato.profiles.1": ["rubato models export -A none", "rubato models export"],
    "rubato.validate.1": ["mkdir d; rubato validate --data d --section bert --json",
                          "rubato validate --data none --json", "rubato validate --json"],
    "rubato.wait-resize.1": [NOTICE + "rubato wait-resize --job 12 --json", "rubato wait-resize --json"],
    "rubato.whatif.1": ["rubato whatif -p gpu -G 1 -t 10 --json", "rubato whatif -p none --json",
                        "rm -r state; rubato whatif -p gpu -G 1 -t 10 --json"],
    "rubato.whatif-mode.1": ["rubato whatif --mode elastic --json", "rubato whatif --mode elastic -G 1 --json",
                             "rm -r state; rubato whatif --mode elastic --json"],
    "rubato.plan.1": [f"{REPLAY} --config etc/rubato.conf", f"{REPLAY} --json",
                      "cat state/rubato/publish/plan.json"],
    "rubato.rehearse.1": [CONSENT + "rubato rehearse 901 --dry-run --json", "rubato rehearse 1 --json"],
    "rubato.report.1": ["rubato report --json", "rubato report --samples 1 --json",
                        "touch f; SLURM_JOB_ID=1 RUBATO_REPORT_FILE=f rubato report --samples 1 "
                        "--rate 1 --batch 1 --json"],
    "rubato.resize.1": ["rubato resize 1 --json", "rubato resize 1 --gpus 2 --json",
                        "rm -r state; rubato resize 1 --gpus 2 --json"],
    "rubato.rqueue.1": ["rqueue --json", "rqueue --json -t foo", "PATH= ; rqueue --json -t R"],
    "rubato.simulate.1": [f"{WORKLOAD}; rubato simulate -w w.csv -c a:1x2 --json",
                          f"{WORKLOAD}; rubato simulate -w w.csv -c a:1x2 --until 1 --json"],
    "rubato.snapshot.1": ["rubato snapshot", "rubato snapshot --anonymise"],
    "rubato.stats.1": ["rubato stats --json", "RUBATO_NOW=1895262398 rubato stats --json",
                       "cat state/rubato/publish/stats.json"],
}
# The files that Rubato publishes lack what every command prints beside them.
FILES = ("cat ",)
# What stands at the head of the documents that have no `meta`.
OWN_HEAD = ("rubato.compare.1", "rubato.config.1", "rubato.demo.1", "rubato.hints.1", "rubato.models-fit.1", "rubato.plan.1", "rubato.profiles.1", "rubato.simulate.1",
            "rubato.snapshot.1")


def demo_documents():
    """What the demo writes for a run that went well and for one in which every job failed."""
    def job(state):
        return demo.Job(1, "a100 x1", "--gpus=a100:1", 5, gpus={"a100": 1}, state=state, submit=1.0,
                        start=2.5, end=7.25)
    return [json.loads(demo.document("22.05.8", flavour, demo.summary([job(state)], 8)))
            for flavour, state in (("rubato", "COMPLETED"), ("stock", "FAILED"))]


def compare_document():
    """What a comparison writes; test/python/compare_test.py looks at its figures."""
    job = workload.Job("j001", "hinted", 0, 1, 8, job_type="lm", samples=1000)
    run = outcome.Run(2, 7, ["p2", "v1"], 8, "p100+v100", "COMPLETED")
    half = [outcome.Outcome(1, job, 1, [run], "COMPLETED")]
    return json.loads(json.dumps(
        metrics.document("22.05.8", "place", "bf_continue", [metrics.run(1, half, half, 32)])))


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

    def documents(self, name):
        """(what made it, document) of all that a schema describes."""
        if name == "rubato.demo.1":
            return [("demo", document) for document in demo_documents()]
        if name == "rubato.compare.1":
            return [("compare", compare_document())]
        return [(script, self.document(script)) for script in COMMANDS[name]]

    def schema(self, name):
        return json.loads((SOURCE / f"docs/schema/{name}.json").read_text())

    def test_every_schema_has_commands(self):
        self.assertEqual(sorted(COMMANDS), [path.stem for path in SCHEMAS])

    def test_schemas_use_only_words_that_are_checked(self):
        for path in SCHEMAS:
            self.assertEqual([], json_schema.unknown_words(json.loads(path.read_text())), path.name)

    def test_documents(self):
        for name in COMMANDS:
            schema = self.schema(name)
            for script, document in self.documents(name):
                wanted = copy.deepcopy(schema)
                if script.startswith(FILES):
                    wanted["required"] = []
                self.assertEqual([], json_schema.errors(wanted, document), f"{name}: {script}")
                head = document if name in OWN_HEAD or script.startswith(FILES) else document["meta"]
                self.assertEqual(schema["$id"], head["schema"], script)

    def test_broken_documents_are_refused(self):
        """Each value of a document in turn becomes one of another type."""
        for name in COMMANDS:
            schema = self.schema(name)
            document = self.documents(name)[0][1]
            refused = 0
            for path in json_schema.described_paths(schema, document):
                for wrong in (None, True):
                    broken = copy.deepcopy(document)
                    place = broken
                    for step in path[:-1]:
                        place = place[step]
                    place[path[-1]] = wrong
                    if json_schema.errors(schema, broken):
                        break
                else:
                    self.fail(f"{name}: neither {path} = null nor = true is refused")
                refused += 1
            self.assertGreater(refused, 5, name)
            for member in schema["required"]:
                broken = copy.deepcopy(document)
                del broken[member]
                self.assertTrue(json_schema.errors(schema, broken), f"{name}: without {member}")

    def test_hints_have_no_other_members(self):
        schema = self.schema("rubato.hints.1")
        _, document = self.documents("rubato.hints.1")[0]
        self.assertEqual(set(), set(document) - set(schema["properties"]))
        self.assertEqual(set(schema["properties"]) - {"unset"}, set(document))

    def test_rqueue_has_no_other_members(self):
        schema = self.schema("rubato.rqueue.1")
        document = self.document("rqueue --json")
        document["jobs"][0]["new"] = 1
        self.assertTrue(json_schema.errors(schema, document))


if __name__ == "__main__":
    unittest.main()
