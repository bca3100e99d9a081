# SPDX-License-Identifier: GPL-2.0-or-later
# Scenarios on a private Slurm cluster with the built plugins; `make check-cluster` is in ../targets.mk.
EXTRA_DIST += test/cluster
TESTS += test/cluster/node_tables_test.py test/cluster/parallel_test.py
