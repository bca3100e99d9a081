# SPDX-License-Identifier: GPL-2.0-or-later
"""`contrib/quickstart compare`: the same workload under stock Slurm, then under Rubato, on the same
cluster. README.md says how it is made and how to read it."""
