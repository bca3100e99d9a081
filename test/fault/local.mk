# SPDX-License-Identifier: GPL-2.0-or-later
# The round, the recorder and the state file in simulated clusters, with faults at events.
check_PROGRAMS += test/fault/rubato-fault
test_fault_rubato_fault_LDADD = $(LIB_ALL) $(LIBRARY_LIBS)
test_fault_rubato_fault_SOURCES = \
  test/fault/draws.h \
  test/fault/main.cc \
  test/fault/play.cc \
  test/fault/play.h \
  test/fault/points.h \
  test/fault/site.cc \
  test/fault/site.h \
  test/support/build_snapshot.h \
  test/support/fake_clock.h \
  test/support/plan_checks.cc \
  test/support/plan_checks.h
TESTS += test/fault/fault_test.py
EXTRA_DIST += test/fault/fault_test.py
