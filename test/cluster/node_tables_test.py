# SPDX-License-Identifier: GPL-2.0-or-later
"""The check of node tables against jobs sees what is held twice, held by no job, or not counted."""
import os
import pathlib
import sys
import unittest

SOURCE = pathlib.Path(os.environ.get("RUBATO_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(SOURCE / "test"))
sys.dont_write_bytecode = True
from cluster import node_tables  # noqa: E402  pylint: disable=wrong-import-position

NODE = "NodeName={0} CPUAlloc={1} CPUTot=64 AllocMem={2} State=MIXED Gres=gpu:a100:4 GresUsed=gpu:a100:{3}(IDX:{4})"
JOB = ("JobId={0} JobName=x JobState={1} NodeList={2} JOB_GRES=gpu:a100:{3}  Nodes={2} CPU_IDs={4} Mem={5} "
       "GRES=gpu:a100:{3}(IDX:{6}) MinCPUsNode=1")


def nodes(*rows):
    return "\n".join(NODE.format(*row) for row in rows)


def jobs(*rows):
    return "\n".join(JOB.format(*row) for row in rows)


class NodeTables(unittest.TestCase):
    def test_agree(self):
        text = nodes(("n1", 6, 300, 3, "0-2"), ("n2", 4, 200, 2, "0-1"))
        held = jobs((1, "RUNNING", "n[1-2]", 2, "0-3", 200, "0-1"), (2, "RUNNING", "n1", 1, "4-5", 100, "2"),
                    (3, "PENDING", "n1", 1, "0", 100, "0"))
        self.assertEqual({"n1": [], "n2": []}, node_tables.differences(text, held))

    def test_cpus_that_nobody_holds(self):
        self.assertIn("n1: CPUAlloc=6, its jobs hold 4", node_tables.differences(
            nodes(("n1", 6, 100, 1, "0")), jobs((1, "RUNNING", "n1", 1, "0-3", 100, "0")))["n1"])

    def test_a_gpu_that_two_jobs_hold(self):
        found = node_tables.differences(
            nodes(("n1", 4, 200, 2, "0-1")),
            jobs((1, "RUNNING", "n1", 1, "0-1", 100, "0"), (2, "RUNNING", "n1", 1, "2-3", 100, "0")))
        self.assertEqual(["n1: GPU 0 is held by jobs 1, 2"], found["n1"])

    def test_memory_and_gpus_not_counted(self):
        found = node_tables.differences(nodes(("n1", 2, 0, 0, "N/A")),
                                        jobs((1, "RUNNING", "n1", 1, "0-1", 100, "0")))
        self.assertEqual(["n1: AllocMem=0, its jobs hold 100",
                          "n1: GresUsed=gpu:a100:0(IDX:N/A), its jobs hold 1 GPUs"], found["n1"])

    def test_a_node_whose_job_is_completing_is_left_out(self):
        text = nodes(("n1", 6, 300, 3, "0-2")).replace("State=MIXED", "State=MIXED+COMPLETING")
        self.assertEqual({"n1": None}, node_tables.differences(text, ""))


class Answers:
    """Gives the texts of a cluster whose jobs change, one after another, and the last again and again."""

    def __init__(self, node_texts, job_texts):
        self.texts = {"node": list(node_texts), "job": list(job_texts)}

    def ask(self, command, **_):
        left = self.texts[command.split()[-1]]
        return left.pop(0) if len(left) > 1 else left[0]


ONE, OTHER = ((1, "RUNNING", "n1", 1, "0-1", 100, "0"), (2, "RUNNING", "n2", 1, "0-1", 100, "0"))
N1, N2 = ("n1", 2, 100, 1, "0"), ("n2", 2, 100, 1, "0")
FREE1, FREE2 = ("n1", 0, 0, 0, "N/A"), ("n2", 0, 0, 0, "N/A")


class StillWrong(unittest.TestCase):
    def test_nodes_that_never_agree_at_once(self):
        # At each look one of the two nodes has a job that the other answer does not have.
        c = Answers([nodes(N1, FREE2), nodes(FREE1, N2)], [jobs(ONE, OTHER)])
        self.assertEqual([], node_tables.still_wrong(c, 5))

    def test_the_jobs_before_count_too(self):
        c = Answers([nodes(N1), nodes(FREE1)], [jobs(ONE), jobs(OTHER)])
        self.assertEqual([], node_tables.still_wrong(c, 5))

    def test_what_is_lost_stays_wrong(self):
        c = Answers([nodes(N1, FREE2), nodes(N1, N2)], [jobs(), jobs(OTHER), jobs()])
        self.assertEqual(3, len(node_tables.still_wrong(c, 0.5)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
