# SPDX-License-Identifier: GPL-2.0-or-later
# The simulator: its engine, its readers, and the figures of others that it reproduces.
if HAVE_GTEST
check_PROGRAMS += test/sim/sim_tests
TESTS += test/sim/sim_tests
test_sim_sim_tests_CPPFLAGS = $(TEST_CPPFLAGS)
test_sim_sim_tests_LDADD = lib/librubato_sim.la $(TEST_LIBS)
test_sim_sim_tests_SOURCES = \
  test/sim/engine_test.cc \
  test/sim/gavel_test.cc \
  test/sim/peers_test.cc \
  test/support/shared_data.h
endif
