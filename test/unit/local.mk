# SPDX-License-Identifier: GPL-2.0-or-later
# Folders mirror lib/; plugin/ and tools/ stand beside them.
if HAVE_GTEST
check_PROGRAMS += test/unit/unit_tests
TESTS += test/unit/unit_tests
test_unit_unit_tests_CPPFLAGS = $(TEST_CPPFLAGS)
test_unit_unit_tests_CXXFLAGS = $(TEST_BASE_CXXFLAGS)
test_unit_unit_tests_LDADD = $(TEST_LIBS)
test_unit_unit_tests_SOURCES = \
  plugin/common/guard.cc \
  plugin/common/host.cc \
  plugin/select/gate.cc \
  plugin/slurm/write/resize_rules.cc \
  test/support/build_snapshot.h \
  test/support/fake_clock.h \
  test/support/fake_slurm_log.cc \
  test/support/fake_slurm_log.h \
  test/support/golden_files.h \
  test/support/growing_jobs.h \
  test/support/plan_checks.cc \
  test/support/plan_checks.h \
  test/support/shared_data.h \
  test/support/small_market.h \
  test/unit/base/atomic_file_test.cc \
  test/unit/base/background_worker_test.cc \
  test/unit/base/csv_test.cc \
  test/unit/base/file_system_test.cc \
  test/unit/base/folder_trust_test.cc \
  test/unit/base/hash_test.cc \
  test/unit/base/index_test.cc \
  test/unit/base/json_value_test.cc \
  test/unit/base/lex_test.cc \
  test/unit/base/log_test.cc \
  test/unit/base/nearest_test.cc \
  test/unit/base/statistics_test.cc \
  test/unit/base/thread_test.cc \
  test/unit/base/version_test.cc \
  test/unit/config/golden_test.cc \
  test/unit/config/job_type_test.cc \
  test/unit/config/options_test.cc \
  test/unit/config/parse_test.cc \
  test/unit/config/test_options_test.cc \
  test/unit/config/values_test.cc \
  test/unit/core/core_types_test.cc \
  test/unit/core/resize_request_test.cc \
  test/unit/hints/facts_test.cc \
  test/unit/hints/golden_test.cc \
  test/unit/hints/message_test.cc \
  test/unit/hints/read_test.cc \
  test/unit/hints/rules_test.cc \
  test/unit/hints/values_test.cc \
  test/unit/hints/warnings_test.cc \
  test/unit/json/annotation_test.cc \
  test/unit/json/forecasts_test.cc \
  test/unit/json/job_annotation_test.cc \
  test/unit/json/notice_test.cc \
  test/unit/json/json_hints_test.cc \
  test/unit/json/json_text_test.cc \
  test/unit/json/models_fit_test.cc \
  test/unit/json/models_table_test.cc \
  test/unit/json/job_summary_test.cc \
  test/unit/json/period_test.cc \
  test/unit/json/public_view_test.cc \
  test/unit/json/record_schema_test.cc \
  test/unit/json/statistics_table_test.cc \
  test/unit/model/batch_scaling_test.cc \
  test/unit/model/best_batch_test.cc \
  test/unit/model/bounded_fit_test.cc \
  test/unit/model/data_parallel_test.cc \
  test/unit/model/goodput_test.cc \
  test/unit/model/heterogeneity_test.cc \
  test/unit/model/learner_test.cc \
  test/unit/model/merge_observations_test.cc \
  test/unit/model/nnls_test.cc \
  test/unit/model/plan_curve_test.cc \
  test/unit/model/plan_fit_test.cc \
  test/unit/model/plan_test.cc \
  test/unit/model/done_work_test.cc \
  test/unit/model/predictability_test.cc \
  test/unit/model/ended_work_test.cc \
  test/unit/model/predictor_test.cc \
  test/unit/model/step_time_test.cc \
  test/unit/model/better_request_test.cc \
  test/unit/model/throughput_test.cc \
  test/unit/model/unproven_test.cc \
  test/unit/plugin/gate_test.cc \
  test/unit/plugin/guard_test.cc \
  test/unit/plugin/host_test.cc \
  test/unit/plugin/resize_rules_test.cc \
  test/unit/policy/assign_test.cc \
  test/unit/policy/explain_words_test.cc \
  test/unit/policy/growth_cap_test.cc \
  test/unit/policy/levels_test.cc \
  test/unit/policy/load_test.cc \
  test/unit/policy/change_bounds_test.cc \
  test/unit/policy/change_costs_test.cc \
  test/unit/policy/change_value_test.cc \
  test/unit/policy/closing_test.cc \
  test/unit/policy/market_gap_test.cc \
  test/unit/policy/market_test.cc \
  test/unit/policy/match_test.cc \
  test/unit/policy/lineage_test.cc \
  test/unit/policy/memory_test.cc \
  test/unit/policy/cpus_test.cc \
  test/unit/policy/mixed_type_test.cc \
  test/unit/policy/need_test.cc \
  test/unit/policy/overrun_test.cc \
  test/unit/policy/stated_work_test.cc \
  test/unit/policy/place_choose_test.cc \
  test/unit/policy/progress_history_test.cc \
  test/unit/policy/progress_test.cc \
  test/unit/policy/reserve_rules_test.cc \
  test/unit/policy/asked_resize_test.cc \
  test/unit/policy/asked_growth_test.cc \
  test/unit/policy/changes_to_begin_test.cc \
  test/unit/policy/asked_shrink_test.cc \
  test/unit/policy/restarts_test.cc \
  test/unit/policy/scheduling_pass_test.cc \
  test/unit/policy/service_test.cc \
  test/unit/policy/size_history_test.cc \
  test/unit/policy/size_holds_test.cc \
  test/unit/policy/trade_exploration_test.cc \
  test/unit/policy/trade_stays_test.cc \
  test/unit/policy/trade_test.cc \
  test/unit/policy/types_test.cc \
  test/unit/replay/counterfactual_test.cc \
  test/unit/replay/simulate_test.cc \
  test/unit/replay/whatif_test.cc \
  test/unit/runtime/files_test.cc \
  test/unit/runtime/message_queue_test.cc \
  test/unit/runtime/models_feed_test.cc \
  test/unit/runtime/audit_log_test.cc \
  test/unit/runtime/pause_test.cc \
  test/unit/runtime/pace_test.cc \
  test/unit/runtime/recorder_test.cc \
  test/unit/runtime/restart_record_test.cc \
  test/unit/runtime/round_size_test.cc \
  test/unit/runtime/run_log_test.cc \
  test/unit/runtime/start_history_test.cc \
  test/unit/runtime/throughput_log_test.cc \
  test/unit/runtime/user_names_test.cc \
  test/unit/validate/rubick_test.cc \
  test/unit/validate/sia_test.cc \
  tools/generate/command_schema.cc \
  tools/generate/command_schema.h \
  tools/generate/config_man.cc \
  tools/generate/config_man.h \
  tools/generate/hints_man.cc \
  tools/generate/hints_man.h \
  tools/generate/hints_man_text.h \
  tools/generate/models_schema.cc \
  tools/generate/models_schema.h \
  tools/generate/record_schema.cc \
  tools/generate/record_schema.h \
  tools/generate/schema_documents.h \
  tools/generate/schema_writer.h \
  tools/generate/statistics_schema.cc \
  tools/generate/statistics_schema.h \
  tools/generate/tool_schema.cc \
  tools/generate/tool_schema.h

# The loop with a slurmctld that is not there (test/support/fake_core.cc).
LOOP_SOURCES = \
  plugin/actuate/resize.cc \
  plugin/actuate/resize_notice.cc \
  plugin/sched/config_source.cc \
  plugin/sched/launch_check.cc \
  plugin/sched/loop.cc \
  plugin/sched/model_source.cc \
  plugin/sched/pacer.cc \
  plugin/sched/plan_committer.cc \
  plugin/sched/snapshot_source.cc \
  plugin/sched/state_publisher.cc \
  plugin/sched/stats.cc \
  plugin/slurm/read/job_desc_view.cc \
  plugin/slurm/read/job_hints.cc \
  plugin/slurm/read/job_request.cc \
  plugin/slurm/read/kept_request.cc \
  plugin/slurm/stock/hold_times.cc \
  test/support/fake_core.cc \
  test/support/fake_core.h
if BUILD_PLUGINS
check_PROGRAMS += test/unit/loop_tests
TESTS += test/unit/loop_tests
test_unit_loop_tests_CPPFLAGS = $(TEST_CPPFLAGS) -isystem $(SLURM_SOURCE)
test_unit_loop_tests_CXXFLAGS = $(TEST_BASE_CXXFLAGS)
test_unit_loop_tests_LDADD = $(TEST_LIBS)
test_unit_loop_tests_SOURCES = \
  $(LOOP_SOURCES) \
  plugin/common/guard.cc \
  plugin/select/gate.cc \
  plugin/slurm/read/blocks.cc \
  plugin/slurm/read/limit_room.cc \
  test/support/fake_clock.h \
  test/support/fake_slurm_log.cc \
  test/support/small_snapshot.h \
  test/support/statistics_checks.h \
  test/unit/plugin/job_desc_view_test.cc \
  test/unit/plugin/job_request_test.cc \
  test/unit/plugin/launch_check_test.cc \
  test/unit/plugin/limits_test.cc \
  test/unit/plugin/loop_test.cc \
  test/unit/plugin/pacer_test.cc \
  test/unit/plugin/resize_test.cc \
  test/unit/plugin/state_publisher_test.cc
endif
endif

# What the commands are made of.
if HAVE_GTEST
check_PROGRAMS += test/unit/tools_tests
TESTS += test/unit/tools_tests
test_unit_tools_tests_CPPFLAGS = $(TEST_CPPFLAGS)
test_unit_tools_tests_CXXFLAGS = $(TEST_BASE_CXXFLAGS)
test_unit_tools_tests_LDADD = tools/libtools.la $(TEST_LIBS)
test_unit_tools_tests_SOURCES = \
  test/unit/tools/format_test.cc \
  test/unit/tools/gpu_use_test.cc \
  test/unit/tools/record_table_test.cc \
  test/unit/tools/rqueue_test.cc \
  test/unit/tools/verdict_test.cc \
  test/unit/tools/write_file_test.cc
endif

# Programs whose operator new fails.
if HAVE_GTEST
check_PROGRAMS += test/unit/allocation_tests
TESTS += test/unit/allocation_tests
test_unit_allocation_tests_CPPFLAGS = $(TEST_CPPFLAGS) $(SQLITE_CFLAGS)
test_unit_allocation_tests_CXXFLAGS = $(TEST_BASE_CXXFLAGS)
test_unit_allocation_tests_LDADD = $(TEST_LIBS)
test_unit_allocation_tests_SOURCES = \
  plugin/common/guard.cc \
  plugin/select/gate.cc \
  test/store/fault_vfs.cc \
  test/store/fault_vfs.h \
  test/store/store_support.cc \
  test/store/store_support.h \
  test/support/failing_new.cc \
  test/support/failing_new.h \
  test/support/small_snapshot.h \
  test/unit/allocation/entries_test.cc \
  test/unit/allocation/silent_log.cc \
  test/unit/allocation/store_test.cc
if BUILD_PLUGINS
test_unit_allocation_tests_CPPFLAGS += -isystem $(SLURM_SOURCE)
test_unit_allocation_tests_SOURCES += $(LOOP_SOURCES) test/unit/allocation/loop_test.cc
endif
endif
