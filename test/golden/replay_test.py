#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""rubato snapshot --replay and --anonymise: the plan for an anonymised snapshot is the plan for the
original in other names."""
import json
import pathlib
import random
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import golden  # noqa: E402

TYPES = {"a100": 4, "h100": 8, "v100": 2}
SEEDS = range(24)


def name(rng, kind):
    """A name that is no part of any other word."""
    return kind + "-" + "".join(rng.choice("bcdfghjklmnpqrstvwxz") for _ in range(8))


def random_nodes(rng):
    nodes = []
    for _ in range(rng.randint(2, 7)):
        node = {"name": name(rng, "host"), "cores": 64, "cores_free": 64, "memory": 256000,
                "memory_free": 256000}
        kind = rng.choice(list(TYPES) + [None])
        if kind:
            node["gpus"] = [{"type": kind, "total": TYPES[kind], "free": TYPES[kind]}]
        node["usable"] = rng.random() < 0.9
        nodes.append(node)
    return nodes


def take(rng, node):
    """A part of what is free on a node, taken from it; None if there is nothing."""
    if node["cores_free"] < 8:
        return None
    share = {"node": node["name"], "cores": 8, "memory": 16000}
    for group in node.get("gpus", []):
        if group["free"] > 0:
            count = rng.randint(1, group["free"])
            group["free"] -= count
            share["gpus"] = [{"type": group["type"], "count": count}]
    node["cores_free"] -= 8
    node["memory_free"] -= 16000
    return share


def random_request(rng):
    request = {"cores": rng.randint(4, 32)}
    if rng.random() < 0.8:
        request[rng.choice(["gpus", "gpus_per_node"])] = rng.randint(1, 4)
        if rng.random() < 0.5:
            request["gpu_type"] = rng.choice(list(TYPES))
    if rng.random() < 0.3:
        request["min_nodes"] = request["max_nodes"] = rng.randint(1, 3)
    return request


def random_snapshot(seed):
    """Some nodes, running and pending jobs; every name is one of its own kind."""
    rng = random.Random(seed)
    nodes = random_nodes(rng)
    everywhere = [node["name"] for node in nodes]
    some = sorted(rng.sample(range(len(nodes)), rng.randint(1, len(nodes))))
    parts = sorted((name(rng, "part") for _ in range(2)))
    people = {"user": [name(rng, "user") for _ in range(3)],
              "account": [name(rng, "acct") for _ in range(2)],
              "qos": [name(rng, "qos") for _ in range(2)]}
    now = golden.NOW

    def job(number, state):
        part = rng.randrange(2)
        entry = {"id": number, "submit": now - rng.randint(1, 9000), "label": str(number),
                 "name": name(rng, "job"), "partition": parts[part], "state": state,
                 "managed": part == 0, "priority": rng.randint(1, 9),
                 "eligible": now - rng.randint(1, 9000), "time_limit": rng.randint(1, 9) * 600,
                 "request": random_request(rng)}
        for member, names in people.items():
            entry[member] = rng.choice(names)
        return entry, part

    running = []
    for number in range(100, 100 + rng.randint(0, 6)):
        entry, _ = job(number, "running")
        share = take(rng, rng.choice(nodes))
        if share:
            entry["start"] = now - rng.randint(1, 500)
            entry["end_limit"] = entry["start"] + entry["time_limit"]
            entry["allocation"] = [share]
            running.append(entry)
    for node in nodes:  # what is 0 is left out
        for group in node.get("gpus", []):
            if group["free"] == 0:
                del group["free"]
    pending = []
    for rank in range(rng.randint(1, 25)):
        entry, part = job(200 + rank, "pending")
        entry.update(rank=rank, node_set=part, later_set=part)
        if rng.random() < 0.1:
            entry.update(block="limit", block_text=name(rng, "Words"))
        if not any(key.startswith("gpus") for key in entry["request"]):
            entry["managed"] = False
        pending.append(entry)
    pending.sort(key=lambda entry: (-entry["priority"], entry["id"]))
    for rank, entry in enumerate(pending):
        entry["rank"] = rank
    return {"schema": "rubato.snapshot/1", "cluster": name(rng, "cluster"),
            "slurm_version": "22.05.8", "taken": now, "nodes": nodes,
            "node_sets": [everywhere, [nodes[i]["name"] for i in some]],
            "partitions": [{"name": part, "managed": i == 0, "node_set": i}
                           for i, part in enumerate(parts)],
            "jobs": pending + running}


def profiles_in_memory(seed):
    """What a memory keeps by account and job type, of accounts without a job now too."""
    rng = random.Random(seed)
    figures = {"types": {"jobs": 2, "quality": 0.5}, "noises": {"points": [{"doublings": 3, "noise": 5, "reports": 1}]},
               "works": {"ended": [{"samples": 5}]}, "change_costs": {"restart": 40, "restarts": 1}}
    memory = {}
    for part, values in figures.items():
        profiles = sorted((name(rng, "acct"), name(rng, "jobtype")) for _ in range(3))
        memory[part] = [{"account": account, "job_type": job_type, "updated": golden.NOW} | values
                        for account, job_type in profiles]
    memory["statements"] = [{"account": account, "updated": golden.NOW, "ended": [{"ratio": 2}]}
                            for account in sorted(name(rng, "acct") for _ in range(3))]
    return memory


def names_of(value):
    """All made-up names in a value, each once, in the order of their places."""
    return list(dict.fromkeys(re.findall(
        r"(?:host|part|user|acct|qos|job|jobtype|cluster|Words)-[a-z]{8}", json.dumps(value))))


def tokens(original, anonymous):
    """{name in `original`: token in `anonymous`}; fails if one name became two tokens."""
    found = {}
    for group, members in (("nodes", ["name"]), ("partitions", ["name"]),
                           ("jobs", ["name", "user", "account", "qos", "partition"])):
        for before, after in zip(original[group], anonymous[group], strict=True):
            for member in members:
                if found.setdefault(before[member], after[member]) != after[member]:
                    raise AssertionError(f"{before[member]} has two tokens")
    return found


class Replay(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.runner = golden.Runner(golden.program())

    def setUp(self):
        self.folder = self.runner.new_folder(["site", "published"])
        self.published = self.folder / "state/rubato/publish/snapshot.json"

    def tearDown(self):
        self.runner.remove(self.folder)

    def rubato(self, arguments):
        out, err, code = self.runner.run_in(self.folder, "rubato " + arguments)
        self.assertEqual((0, b""), (code, err), arguments)
        return out.decode()

    def anonymised(self, snapshot):
        self.published.write_text(json.dumps(snapshot) + "\n")
        return self.rubato("snapshot --anonymise -o anonymous.json") + \
            (self.folder / "anonymous.json").read_text()

    def test_same_plan_byte_for_byte(self):
        plans = {self.rubato(f"snapshot --replay {self.published}") for _ in range(5)}
        self.assertEqual(1, len(plans))
        self.assertIn('"explanations":', plans.pop())

    def test_no_name_is_left(self):
        for seed in SEEDS:
            snapshot = random_snapshot(seed)
            snapshot["memory"] = profiles_in_memory(seed)
            text = self.anonymised(snapshot)
            self.assertEqual([], [n for n in names_of(snapshot) if n in text], f"seed {seed}")
            for part, profiles in snapshot["memory"].items():
                self.assertEqual(len(profiles), len(json.loads(text)["memory"][part]), part)
            self.assertEqual(len(snapshot["jobs"]), len(json.loads(text)["jobs"]))

    def test_types_and_numbers_stay(self):
        snapshot = random_snapshot(1)
        text = json.loads(self.anonymised(snapshot))
        self.assertEqual([node.get("gpus") for node in snapshot["nodes"]],
                         [node.get("gpus") for node in text["nodes"]])
        for before, after in zip(snapshot["jobs"], text["jobs"], strict=True):
            for member in ("id", "submit", "label", "time_limit", "priority"):
                self.assertEqual(before[member], after[member])
            for member in ("gpus", "gpus_per_node", "gpu_type", "cores"):
                self.assertEqual(before["request"].get(member), after["request"].get(member))

    def plan_for(self, snapshot):
        path = self.folder / "replay.json"
        path.write_text(json.dumps(snapshot))
        plan = json.loads(self.rubato(f"snapshot --replay {path}"))
        del plan["snapshot_fingerprint"]
        return plan

    def renamed(self, plan, original, anonymous):
        """The plan for `original` in the names of `anonymous`."""
        text = json.dumps(plan)
        for word, token in tokens(original, anonymous).items():
            text = text.replace(word, token)
        return json.loads(text)

    def test_plan_for_anonymised_snapshot_is_the_plan_in_other_names(self):
        starts = 0
        for seed in SEEDS:
            original = random_snapshot(seed)
            anonymous = json.loads(self.anonymised(original))
            wanted = self.renamed(self.plan_for(original), original, anonymous)
            plan = self.plan_for(anonymous)
            for entry in wanted["explanations"] + plan["explanations"]:
                if entry["verdict"] == "blocked":  # Slurm's words were dropped
                    entry.pop("reason", None)
                    entry.pop("facts", None)
            self.assertEqual(wanted, plan, f"seed {seed}")
            starts += len(plan.get("starts", []))
        self.assertGreater(starts, len(SEEDS), "the snapshots are too dull to tell")


if __name__ == "__main__":
    unittest.main()
