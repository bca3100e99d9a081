#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Two gangs and a job of another partition that ran one after the other, with idle time between; one that runs
for ever, one whose end nobody saw, one on a node that is gone, and one that began too early."""
import json
import sqlite3

NOW = 1795262398
ALL = [{"type": "a100", "count": 4}]
NODES = ("n1", "n2")


def run(number, start, end, enters, nodes=NODES, partition="gpu", mode="observe", **more):
    job = {"id": number, "submit": NOW + enters, "partition": partition, "state": "running", "priority": 10,
           "eligible": NOW + enters, "time_limit": 3600, "start": NOW + start,
           "end_limit": NOW + start + 3600, **more}
    text = {"mode": mode, "schema": "rubato.snapshot/1", "taken": NOW, "nodes": [{"name": node} for node in nodes],
            "jobs": [job]}
    return number, NOW + enters, NOW + start, NOW + enters, end and NOW + end, json.dumps(text)


def gang(number, start, end, enters, nodes=NODES):
    return run(number, start, end, enters, nodes, managed=True, request={"gpus": 8, "gpu_type": "a100"},
               allocation=[{"node": node, "cores": 4, "gpus": ALL} for node in nodes])


ROWS = [gang(2001, -3600, -3000, -3600), gang(2002, -2400, -1800, -3500),
        run(2003, -2000, -1990, -2010, ("c1",), "cpu", allocation=[{"node": "c1", "cores": 4}]),
        gang(2004, -1700, 0, -1700), gang(2005, -1000, -500, -1000, ("n1", "n9")), gang(2006, -90000, -80000, -90000)]
with sqlite3.connect("state/rubato/rubato.db") as database:
    database.execute("DELETE FROM runs")
    database.executemany("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)", ROWS)
