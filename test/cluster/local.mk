# SPDX-License-Identifier: GPL-2.0-or-later
# Scenarios on a private Slurm cluster with the built plugins; `make check-cluster` is in ../targets.mk.
EXTRA_DIST += test/cluster
TESTS += test/cluster/node_tables_test.py test/cluster/parallel_test.py test/cluster/releases_test.py

# Preloaded into slurmctld by scenarios/failures.py.
if BUILD_PLUGINS
check_LTLIBRARIES += test/cluster/fault_injector.la
test_cluster_fault_injector_la_SOURCES = test/cluster/fault_injector.cc
test_cluster_fault_injector_la_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS)
# A module, although it is not installed.
test_cluster_fault_injector_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere
test_cluster_fault_injector_la_LIBADD = $(SQLITE_LIBS)
endif
