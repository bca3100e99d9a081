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
  test/support/shared_data.h \
  test/unit/batch_scaling_test.cc \
  test/unit/best_batch_test.cc \
  test/unit/config_file_system_test.cc \
  test/unit/config_golden_test.cc \
  test/unit/config_job_type_test.cc \
  test/unit/config_lex_test.cc \
  test/unit/config_nearest_test.cc \
  test/unit/config_options_test.cc \
  test/unit/config_parse_test.cc \
  test/unit/config_values_test.cc \
  test/unit/core_types_test.cc \
  test/unit/course_test.cc \
  test/unit/csv_test.cc \
  test/unit/data_parallel_test.cc \
  test/unit/explain_words_test.cc \
  test/unit/gain_test.cc \
  test/unit/gate_test.cc \
  test/unit/forecasts_test.cc \
  test/unit/goodput_test.cc \
  test/unit/guard_test.cc \
  test/unit/host_test.cc \
  test/unit/job_segment_test.cc \
  test/unit/json_hints_test.cc \
  test/unit/json_text_test.cc \
  test/unit/hints_facts_test.cc \
  test/unit/hints_golden_test.cc \
  test/unit/hints_message_test.cc \
  test/unit/hints_read_test.cc \
  test/unit/hints_rules_test.cc \
  test/unit/hints_values_test.cc \
  test/unit/logger_test.cc \
  test/unit/mailbox_test.cc \
  test/unit/mixed_type_test.cc \
  test/unit/pace_test.cc \
  test/unit/models_fit_test.cc \
  test/unit/models_table_test.cc \
  test/unit/period_test.cc \
  test/unit/place_choose_test.cc \
  test/unit/plan_curve_test.cc \
  test/unit/plan_fit_test.cc \
  test/unit/plan_test.cc \
  test/unit/predictor_test.cc \
  test/unit/reserve_rules_test.cc \
  test/unit/resize_request_test.cc \
  test/unit/progress_test.cc \
  test/unit/public_view_test.cc \
  test/unit/round_walk_test.cc \
  test/unit/segment_test.cc \
  test/unit/simulate_test.cc \
  test/unit/assign_test.cc \
  test/unit/bounded_fit_test.cc \
  test/unit/levels_test.cc \
  test/unit/nnls_test.cc \
  test/unit/predictability_test.cc \
  test/unit/load_test.cc \
  test/unit/match_test.cc \
  test/unit/need_test.cc \
  test/unit/service_test.cc \
  test/unit/step_time_test.cc \
  test/unit/types_test.cc \
  test/unit/heterogeneity_test.cc \
  test/unit/learner_test.cc \
  test/unit/throughput_test.cc \
  test/unit/validate_rubick_test.cc \
  test/unit/validate_sia_test.cc \
  test/unit/version_test.cc
# Plugin code that sees no Slurm header is tested here, with a log of our own.
test_unit_unit_tests_SOURCES += \
  plugin/pair/guard.cc \
  plugin/pair/host.cc \
  plugin/pair/logger.cc \
  plugin/pair/mailbox.cc \
  plugin/select/gate.cc \
  test/support/fake_slurm_log.cc \
  test/support/fake_slurm_log.h

# The loop with a slurmctld that is not there (test/support/fake_core.cc).
if BUILD_PLUGINS
check_PROGRAMS += test/unit/loop_tests
TESTS += test/unit/loop_tests
test_unit_loop_tests_CPPFLAGS = $(TEST_CPPFLAGS) -isystem $(SLURM_SOURCE)
test_unit_loop_tests_LDADD = lib/librubato_store.la $(TEST_LIBS)
test_unit_loop_tests_SOURCES = \
  plugin/pair/guard.cc \
  plugin/pair/logger.cc \
  plugin/pair/mailbox.cc \
  plugin/sched/config_source.cc \
  plugin/sched/files.cc \
  plugin/sched/job_book.cc \
  plugin/sched/loop.cc \
  plugin/sched/loop_publish.cc \
  plugin/sched/models_feed.cc \
  plugin/sched/models_publisher.cc \
  plugin/sched/rate_book.cc \
  plugin/sched/publisher.cc \
  plugin/sched/recorder.cc \
  plugin/sched/recorder_notes.cc \
  plugin/sched/run_log.cc \
  plugin/sched/start_book.cc \
  plugin/sched/stats.cc \
  plugin/slurm/hold_times.cc \
  plugin/slurm/job_desc_view.cc \
  plugin/slurm/job_hints.cc \
  plugin/slurm/job_request.cc \
  plugin/select/gate.cc \
  test/support/fake_core.cc \
  test/support/fake_core.h \
  test/support/fake_slurm_log.cc \
  test/unit/files_test.cc \
  test/unit/job_desc_view_test.cc \
  test/unit/job_request_test.cc \
  test/unit/loop_test.cc \
  test/unit/models_feed_test.cc \
  test/unit/rate_book_test.cc \
  test/unit/start_book_test.cc \
  test/unit/recorder_test.cc \
  test/unit/run_log_test.cc
endif
endif

# What the commands are made of.
if HAVE_GTEST
check_PROGRAMS += test/unit/tools_tests
TESTS += test/unit/tools_tests
test_unit_tools_tests_CPPFLAGS = $(TEST_CPPFLAGS)
test_unit_tools_tests_LDADD = tools/libtools.la $(TEST_LIBS)
test_unit_tools_tests_SOURCES = \
  test/unit/tools_format_test.cc \
  test/unit/tools_rqueue_test.cc \
  test/unit/tools_write_file_test.cc
endif
