# SPDX-License-Identifier: GPL-2.0-or-later
if HAVE_GTEST
check_PROGRAMS += test/unit/unit_tests
TESTS += test/unit/unit_tests
test_unit_unit_tests_CPPFLAGS = $(TEST_CPPFLAGS)
test_unit_unit_tests_LDADD = $(TEST_LIBS)
test_unit_unit_tests_SOURCES = \
  test/support/build_snapshot.h \
  test/support/plan_checks.cc \
  test/support/plan_checks.h \
  test/unit/config_file_system_test.cc \
  test/unit/config_golden_test.cc \
  test/unit/config_lex_test.cc \
  test/unit/config_nearest_test.cc \
  test/unit/config_options_test.cc \
  test/unit/config_parse_test.cc \
  test/unit/config_values_test.cc \
  test/unit/core_types_test.cc \
  test/unit/explain_words_test.cc \
  test/unit/gate_test.cc \
  test/unit/guard_test.cc \
  test/unit/host_test.cc \
  test/unit/json_text_test.cc \
  test/unit/hints_golden_test.cc \
  test/unit/hints_message_test.cc \
  test/unit/hints_read_test.cc \
  test/unit/hints_rules_test.cc \
  test/unit/hints_values_test.cc \
  test/unit/logger_test.cc \
  test/unit/mixed_type_test.cc \
  test/unit/place_choose_test.cc \
  test/unit/reserve_rules_test.cc \
  test/unit/round_walk_test.cc \
  test/unit/version_test.cc
# Plugin code that sees no Slurm header is tested here, with a log of our own.
test_unit_unit_tests_SOURCES += \
  plugin/pair/guard.cc \
  plugin/pair/host.cc \
  plugin/pair/logger.cc \
  plugin/select/gate.cc \
  test/support/fake_slurm_log.cc \
  test/support/fake_slurm_log.h

# The loop with a slurmctld that is not there (test/support/fake_core.cc).
if BUILD_PLUGINS
check_PROGRAMS += test/unit/loop_tests
TESTS += test/unit/loop_tests
test_unit_loop_tests_CPPFLAGS = $(TEST_CPPFLAGS) -isystem $(SLURM_SOURCE)
test_unit_loop_tests_LDADD = $(TEST_LIBS)
test_unit_loop_tests_SOURCES = \
  plugin/pair/guard.cc \
  plugin/pair/logger.cc \
  plugin/sched/config_source.cc \
  plugin/sched/loop.cc \
  plugin/sched/publisher.cc \
  plugin/sched/stats.cc \
  plugin/select/gate.cc \
  test/support/fake_core.cc \
  test/support/fake_core.h \
  test/support/fake_slurm_log.cc \
  test/unit/loop_test.cc
endif
endif
