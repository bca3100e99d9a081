# SPDX-License-Identifier: GPL-2.0-or-later
# The simulator: its engine, its readers, and the figures of others that it reproduces.
EXTRA_DIST += test/sim/ablation test/sim/full_table test/sim/same_figures test/sim/site_month test/sim/sweep
if HAVE_GTEST
check_PROGRAMS += test/sim/sim_tests
TESTS += test/sim/sim_tests
test_sim_sim_tests_CPPFLAGS = $(TEST_CPPFLAGS)
test_sim_sim_tests_CXXFLAGS = $(TEST_BASE_CXXFLAGS)
test_sim_sim_tests_LDADD = $(TEST_LIBS) $(GLPK_LIBS)
test_sim_sim_tests_SOURCES = \
  test/sim/branch_bound_test.cc \
  test/sim/burst_test.cc \
  test/sim/choose_exactly.h \
  test/sim/config_test.cc \
  test/sim/differential_test.cc \
  test/sim/elastic_test.cc \
  test/sim/engine_test.cc \
  test/sim/exact_throughput_test.cc \
  test/sim/gavel_test.cc \
  test/sim/generator_test.cc \
  test/sim/glpk.cc \
  test/sim/glpk.h \
  test/sim/groups_test.cc \
  test/sim/guest_test.cc \
  test/sim/history_test.cc \
  test/sim/input_bounds_test.cc \
  test/sim/limit_test.cc \
  test/sim/own_policy_test.cc \
  test/sim/peer_gates_test.cc \
  test/sim/peers_test.cc \
  test/sim/played.h \
  test/sim/policy_shortest.cc \
  test/sim/rows_test.cc \
  test/sim/same_feed_test.cc \
  test/sim/sacct_test.cc \
  test/sim/simplices_test.cc \
  test/sim/solver_test.cc \
  test/sim/timeline_test.cc \
  test/support/build_snapshot.h \
  test/support/drawn_assignment.h \
  test/support/seeds.h \
  test/support/shared_data.h
endif
