#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""In mode place: a long job that consents to restarts held all GPUs while three short ones of another account waited."""
import json
import sqlite3

NOW = 1795262398
ALL = [{"type": "a100", "count": 4}]
NODES = ("n1", "n2")


def run(number, account, enters, start, end, limit=1200):
    job = {"id": number, "submit": NOW + enters, "partition": "gpu", "state": "running", "priority": 10,
           "eligible": NOW + enters, "time_limit": limit, "start": NOW + start, "end_limit": NOW + start + limit,
           "managed": True, "batch": True, "account": account, "request": {"gpus": 8, "gpu_type": "a100"},
           "hints": {"job_type": "resnet", "checkpoint": "USR1@60", "resize": "restart"},
           "allocation": [{"node": node, "cores": 4, "gpus": ALL} for node in NODES]}
    text = {"mode": "place", "schema": "rubato.snapshot/1", "taken": NOW,
            "nodes": [{"name": node} for node in NODES], "jobs": [job]}
    return number, NOW + enters, NOW + start, NOW + enters, NOW + end, json.dumps(text)


ROWS = [run(1, "physics", -30000, -30000, -10000, 36000), run(2, "biology", -20000, -10000, -9400),
        run(3, "biology", -20000, -9400, -8800), run(4, "biology", -19000, -8800, -8200)]
with sqlite3.connect("state/rubato/rubato.db") as database:
    database.execute("DELETE FROM runs")
    database.execute("INSERT INTO job_types VALUES (3, 'biology', 'resnet', 0)")
    names = [column[1] for column in database.execute("PRAGMA table_info(samples)")][2:]
    database.execute(f"INSERT INTO samples (type, {', '.join(names)}) SELECT 3, {', '.join(names)} FROM samples "
                     "WHERE type = 1")
    database.executemany("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)", ROWS)
