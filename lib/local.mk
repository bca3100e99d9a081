# SPDX-License-Identifier: GPL-2.0-or-later
# librubato: no Slurm header below lib/. Headers are listed too, for the distribution.
noinst_LTLIBRARIES += lib/librubato.la
lib_librubato_la_SOURCES =
lib_librubato_la_LIBADD = lib/librubato_hints.la $(LIBRARY_LIBS)

# lib/: round
lib_librubato_la_SOURCES += \
  lib/round.cc \
  lib/round.h

# lib/core/: the nouns
lib_librubato_la_SOURCES += \
  lib/core/course.h \
  lib/core/enums.cc \
  lib/core/error.h \
  lib/core/fingerprint.cc \
  lib/core/job.h \
  lib/core/json.h \
  lib/core/json_courses.cc \
  lib/core/json_courses.h \
  lib/core/json_documents.h \
  lib/core/json_hints.cc \
  lib/core/json_hints.h \
  lib/core/json_read.cc \
  lib/core/json_read_plan.cc \
  lib/core/json_reader.cc \
  lib/core/json_reader.h \
  lib/core/json_write.cc \
  lib/core/json_writer.cc \
  lib/core/json_writer.h \
  lib/core/memory_clock.cc \
  lib/core/memory_clock.h \
  lib/core/node.cc \
  lib/core/node.h \
  lib/core/plan.h \
  lib/core/resize_request.cc \
  lib/core/resize_request.h \
  lib/core/snapshot.cc \
  lib/core/snapshot.h \
  lib/core/units.h \
  lib/core/version.cc \
  lib/core/version.h

# lib/sim/: jobs played through round() without Slurm
lib_librubato_la_SOURCES += \
  lib/sim/config_lines.h \
  lib/sim/csv.cc \
  lib/sim/csv.h \
  lib/sim/data_gavel.cc \
  lib/sim/data_gavel.h \
  lib/sim/data_rubick.cc \
  lib/sim/data_rubick.h \
  lib/sim/data_sia.cc \
  lib/sim/data_sia.h \
  lib/sim/run_text.cc \
  lib/sim/run_text.h \
  lib/sim/simulate.cc \
  lib/sim/simulate.h

# lib/sim/: the simulator, a library of its own, since nothing that slurmctld loads needs it. Its
# readers of measured data stand above, since `rubato validate` uses them too.
noinst_LTLIBRARIES += lib/librubato_sim.la
lib_librubato_sim_la_LIBADD = $(FMT_LIBS) $(QHULL_LIBS)
lib_librubato_sim_la_SOURCES = \
  lib/sim/arrivals.cc \
  lib/sim/arrivals.h \
  lib/sim/branch_bound.cc \
  lib/sim/branch_bound.h \
  lib/sim/choice.cc \
  lib/sim/choice.h \
  lib/sim/choice_dual.cc \
  lib/sim/choice_dual.h \
  lib/sim/cluster_shape.cc \
  lib/sim/cluster_shape.h \
  lib/sim/cluster_snapshot.cc \
  lib/sim/cluster_snapshot.h \
  lib/sim/draw.cc \
  lib/sim/draw.h \
  lib/sim/elastic_dp.cc \
  lib/sim/elastic_dp.h \
  lib/sim/engine.cc \
  lib/sim/engine.h \
  lib/sim/field_lines.cc \
  lib/sim/field_lines.h \
  lib/sim/format_gavel.cc \
  lib/sim/format_gavel.h \
  lib/sim/format_native.cc \
  lib/sim/format_native.h \
  lib/sim/format_sacct.cc \
  lib/sim/format_sacct.h \
  lib/sim/formats.cc \
  lib/sim/gavel_fifo.cc \
  lib/sim/gavel_fifo.h \
  lib/sim/lp.h \
  lib/sim/lp_centre.cc \
  lib/sim/mersenne.cc \
  lib/sim/mersenne.h \
  lib/sim/metrics.cc \
  lib/sim/metrics.h \
  lib/sim/native_truth.cc \
  lib/sim/native_truth.h \
  lib/sim/node_pool.cc \
  lib/sim/node_pool.h \
  lib/sim/noise.h \
  lib/sim/peers/adaptive_app.cc \
  lib/sim/peers/adaptive_app.h \
  lib/sim/peers/adaptive_fit.cc \
  lib/sim/peers/adaptive_fit.h \
  lib/sim/peers/adaptive_job.cc \
  lib/sim/peers/adaptive_job.h \
  lib/sim/peers/adaptive_loop.cc \
  lib/sim/peers/adaptive_loop.h \
  lib/sim/peers/adaptive_rules.cc \
  lib/sim/peers/adaptive_rules.h \
  lib/sim/peers/adaptive_truth.cc \
  lib/sim/peers/adaptive_truth.h \
  lib/sim/peers/formats.h \
  lib/sim/peers/held_gpus.h \
  lib/sim/peers/muri_tiresias.cc \
  lib/sim/peers/muri_tiresias.h \
  lib/sim/peers/policies.cc \
  lib/sim/peers/pollux_optimus.cc \
  lib/sim/peers/pollux_optimus.h \
  lib/sim/peers/pollux_policy.cc \
  lib/sim/peers/pollux_policy.h \
  lib/sim/peers/pollux_search.cc \
  lib/sim/peers/pollux_search.h \
  lib/sim/peers/pollux_tiresias.cc \
  lib/sim/peers/pollux_tiresias.h \
  lib/sim/peers/read_jobs.cc \
  lib/sim/peers/read_jobs.h \
  lib/sim/peers/rubick_loop.cc \
  lib/sim/peers/rubick_loop.h \
  lib/sim/peers/rubick_policy.cc \
  lib/sim/peers/rubick_policy.h \
  lib/sim/peers/rubick_tables.cc \
  lib/sim/peers/rubick_tables.h \
  lib/sim/peers/sia_gavel.cc \
  lib/sim/peers/sia_gavel.h \
  lib/sim/peers/sia_policy.cc \
  lib/sim/peers/sia_policy.h \
  lib/sim/peers/simplices.cc \
  lib/sim/peers/simplices.h \
  lib/sim/peers/suite_adaptive.cc \
  lib/sim/peers/suite_muri.cc \
  lib/sim/peers/suite_rubick.cc \
  lib/sim/policies.cc \
  lib/sim/policy.h \
  lib/sim/policy_aiturbo.cc \
  lib/sim/policy_backfill.cc \
  lib/sim/policy_elastic.cc \
  lib/sim/policy_equal.cc \
  lib/sim/policy_fifo.cc \
  lib/sim/policy_help.cc \
  lib/sim/policy_help.h \
  lib/sim/policy_rubato.cc \
  lib/sim/policy_shares.cc \
  lib/sim/policy_tiresias.cc \
  lib/sim/programme.h \
  lib/sim/rules_gavel.cc \
  lib/sim/run_control.h \
  lib/sim/run_state.cc \
  lib/sim/run_state.h \
  lib/sim/sacct_fields.cc \
  lib/sim/sacct_fields.h \
  lib/sim/shares.cc \
  lib/sim/shares.h \
  lib/sim/solve_protocol.cc \
  lib/sim/solve_protocol.h \
  lib/sim/solver.cc \
  lib/sim/solver.h \
  lib/sim/solver_process.cc \
  lib/sim/solver_process.h \
  lib/sim/step_truth.cc \
  lib/sim/step_truth.h \
  lib/sim/suite.h \
  lib/sim/suite_aiturbo.cc \
  lib/sim/suite_elastic.cc \
  lib/sim/suite_error.h \
  lib/sim/suite_gavel.cc \
  lib/sim/suite_spec.cc \
  lib/sim/suite_spec.h \
  lib/sim/suites.cc \
  lib/sim/timeline.cc \
  lib/sim/timeline.h \
  lib/sim/truth.cc \
  lib/sim/truth.h \
  lib/sim/workload.h \
  lib/sim/write_native.cc \
  lib/sim/write_native.h

# lib/config/: rubato.conf
lib_librubato_la_SOURCES += \
  lib/config/config.cc \
  lib/config/config.h \
  lib/config/file_system.cc \
  lib/config/file_system.h \
  lib/config/option_values.cc \
  lib/config/options.cc \
  lib/config/options.h \
  lib/config/parse.cc \
  lib/config/records.cc \
  lib/config/records.h \
  lib/config/render.cc \
  lib/config/render.h \
  lib/config/values.cc \
  lib/config/values.h

# `make config-docs` writes man page and example anew after a change of the table of options.
EXTRA_PROGRAMS += lib/config/config_docs
lib_config_config_docs_SOURCES = lib/config/config_docs.cc
lib_config_config_docs_LDADD = lib/librubato.la $(LIBRARY_LIBS)
CLEANFILES += lib/config/config_docs$(EXEEXT)

.PHONY: config-docs
config-docs: lib/config/config_docs$(EXEEXT)
	lib/config/config_docs man > $(srcdir)/docs/man/rubato.conf.5
	lib/config/config_docs example > $(srcdir)/configs/rubato.conf.example

# lib/hints/: what jobs say, with what it needs. A library of its own inside librubato, since the SPANK
# plugin is loaded by every sbatch and srun, and needs no more than this.
noinst_LTLIBRARIES += lib/librubato_hints.la
lib_librubato_hints_la_LIBADD = $(FMT_LIBS)
lib_librubato_hints_la_SOURCES = \
  lib/config/lex.cc \
  lib/config/lex.h \
  lib/config/nearest.cc \
  lib/config/nearest.h \
  lib/core/text.cc \
  lib/core/text.h \
  lib/report/prose.cc \
  lib/report/prose.h \
  lib/hints/comment.cc \
  lib/hints/comment.h \
  lib/hints/facts.cc \
  lib/hints/facts.h \
  lib/hints/gpu_sizes.cc \
  lib/hints/hints.cc \
  lib/hints/hints.h \
  lib/hints/json.cc \
  lib/hints/man_text.h \
  lib/hints/message.cc \
  lib/hints/message.h \
  lib/hints/numbers.cc \
  lib/hints/numbers.h \
  lib/hints/passed.cc \
  lib/hints/passed.h \
  lib/hints/read.cc \
  lib/hints/read.h \
  lib/hints/render.cc \
  lib/hints/render.h \
  lib/hints/request.h \
  lib/hints/resolve.cc \
  lib/hints/rules.h \
  lib/hints/rules_change.cc \
  lib/hints/rules_place.cc \
  lib/hints/rules_size.cc \
  lib/hints/signals.cc \
  lib/hints/signals.h \
  lib/hints/statements.cc \
  lib/hints/statements.h \
  lib/hints/table.cc \
  lib/hints/table.h \
  lib/hints/task_variables.h \
  lib/hints/types.h \
  lib/hints/values.cc \
  lib/hints/values.h \
  lib/hints/wrong_hints.cc \
  lib/hints/wrong_hints.h

# `make hints-docs` writes the man page anew after a change of the tables of hints.
EXTRA_PROGRAMS += lib/hints/hints_docs
lib_hints_hints_docs_SOURCES = lib/hints/hints_docs.cc
lib_hints_hints_docs_LDADD = lib/librubato.la $(LIBRARY_LIBS)
CLEANFILES += lib/hints/hints_docs$(EXEEXT)

.PHONY: hints-docs
hints-docs: lib/hints/hints_docs$(EXEEXT)
	lib/hints/hints_docs man > $(srcdir)/docs/man/rubato-hints.7
	lib/hints/hints_docs wrong > $(srcdir)/test/cluster/scenarios/wrong_hints.json

# lib/model/: speed of a job type
lib_librubato_la_SOURCES += \
  lib/model/back_end_fits.h \
  lib/model/back_end_summaries.cc \
  lib/model/back_ends.cc \
  lib/model/row_samples.cc \
  lib/model/row_samples.h \
  lib/model/batch_scaling.cc \
  lib/model/batch_scaling.h \
  lib/model/batch_tables.cc \
  lib/model/batch_tables.h \
  lib/model/best_batch.cc \
  lib/model/best_batch.h \
  lib/model/bounded_fit.cc \
  lib/model/bounded_fit.h \
  lib/model/choose_rows.cc \
  lib/model/choose_rows.h \
  lib/model/convergence.cc \
  lib/model/convergence.h \
  lib/model/core_efficiency.cc \
  lib/model/core_efficiency.h \
  lib/model/data_parallel.cc \
  lib/model/data_parallel.h \
  lib/model/data_parallel_family.cc \
  lib/model/data_parallel_family.h \
  lib/model/data_parallel_fit.cc \
  lib/model/data_parallel_fit.h \
  lib/model/data_parallel_join.cc \
  lib/model/data_parallel_latents.cc \
  lib/model/data_parallel_latents.h \
  lib/model/data_parallel_state.cc \
  lib/model/data_parallel_state.h \
  lib/model/error_replay.cc \
  lib/model/error_replay.h \
  lib/model/forecast_cache.h \
  lib/model/goodput.cc \
  lib/model/goodput.h \
  lib/model/learn_prior.cc \
  lib/model/learn_prior.h \
  lib/model/learner.cc \
  lib/model/learner.h \
  lib/model/measured_row.cc \
  lib/model/measured_row.h \
  lib/model/models.h \
  lib/model/models_fit.cc \
  lib/model/models_fit.h \
  lib/model/nnls.cc \
  lib/model/nnls.h \
  lib/model/plan.cc \
  lib/model/plan.h \
  lib/model/plan_belief.cc \
  lib/model/plan_belief.h \
  lib/model/plan_curve.cc \
  lib/model/plan_curve.h \
  lib/model/plan_fit.cc \
  lib/model/plan_fit.h \
  lib/model/plan_memory.cc \
  lib/model/plan_memory.h \
  lib/model/plan_model.cc \
  lib/model/plan_model.h \
  lib/model/plan_published.cc \
  lib/model/plan_published.h \
  lib/model/plan_rows.cc \
  lib/model/plan_rows.h \
  lib/model/plan_space.cc \
  lib/model/plan_space.h \
  lib/model/plan_speed.cc \
  lib/model/plan_speed.h \
  lib/model/predictability.cc \
  lib/model/predictability.h \
  lib/model/predictor.cc \
  lib/model/predictor.h \
  lib/model/step_time.cc \
  lib/model/step_time.h \
  lib/model/rate_history.cc \
  lib/model/rate_history.h \
  lib/model/rate_kernel.cc \
  lib/model/rate_kernel.h \
  lib/model/rate_span.h \
  lib/model/teach.cc \
  lib/model/teach.h \
  lib/model/throughput.cc \
  lib/model/throughput.h \
  lib/model/type_speeds.h \
  lib/model/usable.cc \
  lib/model/usable.h

# lib/policy/: the stages of a round
lib_librubato_la_SOURCES += \
  lib/policy/assign.cc \
  lib/policy/assign.h \
  lib/policy/book.cc \
  lib/policy/book.h \
  lib/policy/budget.cc \
  lib/policy/budget.h \
  lib/policy/capacity.cc \
  lib/policy/capacity.h \
  lib/policy/choose.cc \
  lib/policy/choose.h \
  lib/policy/context.cc \
  lib/policy/context.h \
  lib/policy/demand.cc \
  lib/policy/demand.h \
  lib/policy/explain.cc \
  lib/policy/explain.h \
  lib/policy/explain_forecast.cc \
  lib/policy/forecast.cc \
  lib/policy/forecast.h \
  lib/policy/history.cc \
  lib/policy/history.h \
  lib/policy/levels.cc \
  lib/policy/levels.h \
  lib/policy/load.cc \
  lib/policy/load.h \
  lib/policy/match.cc \
  lib/policy/match.h \
  lib/policy/need.cc \
  lib/policy/need.h \
  lib/policy/outcome.h \
  lib/policy/place.cc \
  lib/policy/place.h \
  lib/policy/place_failure.cc \
  lib/policy/pools.cc \
  lib/policy/pools.h \
  lib/policy/predict.cc \
  lib/policy/predict.h \
  lib/policy/prioritise.cc \
  lib/policy/prioritise.h \
  lib/policy/reserve.cc \
  lib/policy/reserve.h \
  lib/policy/service.cc \
  lib/policy/service.h \
  lib/policy/size.cc \
  lib/policy/size.h \
  lib/policy/standing.cc \
  lib/policy/sweep.cc \
  lib/policy/sweep.h \
  lib/policy/types.cc \
  lib/policy/types.h \
  lib/policy/walk.cc \
  lib/policy/walk.h

# lib/report/: what people read
lib_librubato_la_SOURCES += \
  lib/report/forecasts.cc \
  lib/report/forecasts.h \
  lib/report/gain.cc \
  lib/report/gain.h \
  lib/report/decisions.cc \
  lib/report/decisions.h \
  lib/report/job_segment.cc \
  lib/report/job_segment.h \
  lib/report/models_table.cc \
  lib/report/models_table.h \
  lib/report/period.cc \
  lib/report/period.h \
  lib/report/public_view.cc \
  lib/report/public_view.h \
  lib/report/segment.cc \
  lib/report/segment.h \
  lib/report/task_env.cc \
  lib/report/task_env.h \
  lib/report/validate.h \
  lib/report/validate_bert.cc \
  lib/report/validate_bert.h \
  lib/report/validate_gavel.cc \
  lib/report/validate_gavel.h \
  lib/report/validate_rubick.cc \
  lib/report/validate_rubick.h \
  lib/report/validate_rubick_cells.cc \
  lib/report/validate_rubick_cells.h \
  lib/report/validate_sia.cc \
  lib/report/validate_sia.h

# lib/store/: SQLite. A library of its own, so that only what opens a store loads SQLite: slurmd and
# slurmstepd load the select plugin too.
noinst_LTLIBRARIES += lib/librubato_store.la
lib_librubato_store_la_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS)
lib_librubato_store_la_LIBADD = -lSQLiteCpp $(SQLITE_LIBS) $(FMT_LIBS)
lib_librubato_store_la_SOURCES = \
  lib/store/apply.cc \
  lib/store/apply.h \
  lib/store/clock.h \
  lib/store/connection.cc \
  lib/store/connection.h \
  lib/store/folder.cc \
  lib/store/folder.h \
  lib/store/group_builder.cc \
  lib/store/group_builder.h \
  lib/store/lock_file.cc \
  lib/store/lock_file.h \
  lib/store/measured.h \
  lib/store/options.h \
  lib/store/orders.cc \
  lib/store/orders.h \
  lib/store/plausibility.cc \
  lib/store/plausibility.h \
  lib/store/profile_members.cc \
  lib/store/profile_members.h \
  lib/store/profiles.cc \
  lib/store/profiles.h \
  lib/store/profiles_csv.cc \
  lib/store/profiles_json.cc \
  lib/store/reader.cc \
  lib/store/reader.h \
  lib/store/records.cc \
  lib/store/records.h \
  lib/store/retention.cc \
  lib/store/rows.cc \
  lib/store/rows.h \
  lib/store/schema.cc \
  lib/store/schema.h \
  lib/store/session.cc \
  lib/store/session.h \
  lib/store/store.cc \
  lib/store/store.h \
  lib/store/store_worker.cc \
  lib/store/store_worker.h \
  lib/store/summary.cc \
  lib/store/summary.h
