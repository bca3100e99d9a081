# SPDX-License-Identifier: GPL-2.0-or-later
"""A private loopback Slurm cluster and the scenarios that run on it. See README.md."""
from .client import Answer, Failed, check
from .cluster import Cluster, second_user
from .proc import ClusterError
from .registry import Skip, scenario, shape
from .slurmconf import DEMO_NODES, MIXED_NODES, Nodes, Partition, Shape

__all__ = ["Answer", "Cluster", "ClusterError", "DEMO_NODES", "Failed", "MIXED_NODES", "Nodes",
           "Partition", "Shape", "Skip", "check", "scenario", "second_user", "shape"]
