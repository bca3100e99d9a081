# SPDX-License-Identifier: GPL-2.0-or-later
"""`contrib/quickstart compare`: the same workload under stock Slurm, then under Rubato, on the same
cluster. README.md describes how it works and how to read the report."""
