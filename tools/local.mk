# SPDX-License-Identifier: GPL-2.0-or-later
# What the programs share, and the parts of them that tests link.
noinst_LTLIBRARIES += tools/libtools.la
tools_libtools_la_SOURCES = \
  tools/page/chart.cc \
  tools/page/chart.h \
  tools/page/html.cc \
  tools/page/html.h \
  tools/page/lanes.cc \
  tools/page/lanes.h \
  tools/rqueue/rqueue_help.cc \
  tools/rqueue/rqueue_json.cc \
  tools/rqueue/rqueue_json.h \
  tools/rqueue/rqueue_layout.cc \
  tools/rqueue/rqueue_layout.h \
  tools/rqueue/rqueue_options.cc \
  tools/rqueue/rqueue_options.h \
  tools/rqueue/rqueue_records.h \
  tools/rqueue/rqueue_sort.cc \
  tools/rqueue/rqueue_sort.h \
  tools/rubato/stats/verdict.cc \
  tools/rubato/stats/verdict.h \
  tools/shared/command.h \
  tools/shared/command_line.cc \
  tools/shared/command_line.h \
  tools/shared/format.cc \
  tools/shared/format.h \
  tools/shared/gpu_use.cc \
  tools/shared/gpu_use.h \
  tools/shared/job_facts.cc \
  tools/shared/job_facts.h \
  tools/shared/job_facts_records.h \
  tools/shared/job_match.cc \
  tools/shared/job_match.h \
  tools/shared/job_message.cc \
  tools/shared/job_message.h \
  tools/shared/output.cc \
  tools/shared/output.h \
  tools/shared/own_fields.cc \
  tools/shared/own_fields.h \
  tools/shared/pause_view.cc \
  tools/shared/pause_view.h \
  tools/shared/process.cc \
  tools/shared/process.h \
  tools/shared/published.cc \
  tools/shared/published.h \
  tools/shared/record_table.cc \
  tools/shared/record_table.h \
  tools/shared/request_words.cc \
  tools/shared/request_words.h \
  tools/shared/site.cc \
  tools/shared/site.h \
  tools/shared/slurm_conf.cc \
  tools/shared/slurm_conf.h \
  tools/shared/source.cc \
  tools/shared/source.h \
  tools/shared/squeue_fields.cc \
  tools/shared/squeue_fields.h \
  tools/shared/squeue_query.cc \
  tools/shared/squeue_query.h \
  tools/shared/table.cc \
  tools/shared/table.h \
  tools/shared/tool_mechanism.h \
  tools/shared/write_file.cc \
  tools/shared/write_file.h

# squeue with the columns of Rubato.
bin_PROGRAMS += bin/rqueue
bin_rqueue_SOURCES = tools/rqueue/rqueue.cc
bin_rqueue_LDADD = tools/libtools.la $(LIB_RUNTIME) $(LIBRARY_LIBS)

# The commands of the program `rubato`: one file cmd_NAME.cc each. simulate is a program of its own, which `rubato
# simulate` runs, so that a site that only schedules builds no simulator.
noinst_LTLIBRARIES += tools/libcommands.la
tools_libcommands_la_SOURCES = \
  tools/rubato/doctor/cmd_doctor.cc \
  tools/rubato/doctor/doctor.h \
  tools/rubato/doctor/doctor_install.cc \
  tools/rubato/doctor/doctor_machine.cc \
  tools/rubato/doctor/doctor_plugins.cc \
  tools/rubato/doctor/doctor_records.h \
  tools/rubato/doctor/doctor_rubato.cc \
  tools/rubato/doctor/doctor_running.cc \
  tools/rubato/doctor/doctor_slurm.cc \
  tools/rubato/doctor/doctor_spank.cc \
  tools/rubato/doctor/doctor_store.cc \
  tools/rubato/doctor/plugin_files.cc \
  tools/rubato/doctor/plugin_files.h \
  tools/rubato/explain/cmd_explain.cc \
  tools/rubato/explain/explain_array.cc \
  tools/rubato/explain/explain_array.h \
  tools/rubato/explain/explain_ended.cc \
  tools/rubato/explain/explain_ended.h \
  tools/rubato/explain/explain_job.cc \
  tools/rubato/explain/explain_job.h \
  tools/rubato/explain/explain_json.cc \
  tools/rubato/explain/explain_parts.cc \
  tools/rubato/explain/explain_parts.h \
  tools/rubato/explain/explain_records.h \
  tools/rubato/explain/explain_running.cc \
  tools/rubato/explain/explain_running.h \
  tools/rubato/explain/explain_stored.cc \
  tools/rubato/explain/explain_stored.h \
  tools/rubato/explain/explain_table.cc \
  tools/rubato/explain/explain_view.cc \
  tools/rubato/explain/explain_view.h \
  tools/rubato/hints/cmd_hints.cc \
  tools/rubato/models/change_records.h \
  tools/rubato/models/cmd_models.cc \
  tools/rubato/models/curve_records.h \
  tools/rubato/models/models_actions.cc \
  tools/rubato/models/models_actions.h \
  tools/rubato/models/models_curve.cc \
  tools/rubato/models/models_fits.cc \
  tools/rubato/models/models_rows.cc \
  tools/rubato/models/models_rows.h \
  tools/rubato/models/read_input.cc \
  tools/rubato/models/read_input.h \
  tools/rubato/models/site_store.cc \
  tools/rubato/models/site_store.h \
  tools/rubato/page/cmd_page.cc \
  tools/rubato/page/page_holders.cc \
  tools/rubato/page/page_holders.h \
  tools/rubato/page/page_input.cc \
  tools/rubato/page/page_input.h \
  tools/rubato/page/page_lanes.cc \
  tools/rubato/page/page_lanes.h \
  tools/rubato/page/page_view.cc \
  tools/rubato/page/page_view.h \
  tools/rubato/pause/cmd_pause.cc \
  tools/rubato/pause/pause_records.h \
  tools/rubato/report/cmd_report.cc \
  tools/rubato/report/report_records.h \
  tools/rubato/resize/asking.cc \
  tools/rubato/resize/asking.h \
  tools/rubato/resize/cmd_hold_size.cc \
  tools/rubato/resize/cmd_rehearse.cc \
  tools/rubato/resize/cmd_resize.cc \
  tools/rubato/resize/hold_size_records.h \
  tools/rubato/resize/rehearse_records.h \
  tools/rubato/resize/resize_records.h \
  tools/rubato/wait_resize/cmd_wait_resize.cc \
  tools/rubato/wait_resize/wait_resize_records.h \
  tools/rubato/snapshot/anonymise.cc \
  tools/rubato/snapshot/anonymise.h \
  tools/rubato/snapshot/cmd_snapshot.cc \
  tools/rubato/stats/cmd_metrics.cc \
  tools/rubato/stats/cmd_stats.cc \
  tools/rubato/stats/counterfactual_view.cc \
  tools/rubato/stats/counterfactual_view.h \
  tools/rubato/stats/metric_text.cc \
  tools/rubato/stats/metric_text.h \
  tools/rubato/stats/metrics.cc \
  tools/rubato/stats/metrics.h \
  tools/rubato/stats/queue_metrics.cc \
  tools/rubato/stats/queue_metrics.h \
  tools/rubato/stats/stats_view.cc \
  tools/rubato/stats/stats_view.h \
  tools/rubato/stats/verdict_records.h \
  tools/rubato/whatif/cmd_whatif.cc \
  tools/rubato/whatif/mode_change.cc \
  tools/rubato/whatif/mode_change.h \
  tools/rubato/whatif/whatif_job.cc \
  tools/rubato/whatif/whatif_job.h \
  tools/rubato/whatif/whatif_options.cc \
  tools/rubato/whatif/whatif_options.h \
  tools/rubato/whatif/whatif_records.h
# Where make install puts the plugins, for `rubato doctor`.
tools_libcommands_la_CPPFLAGS = $(AM_CPPFLAGS) -DRUBATO_PLUGIN_DIR='"$(rubatoplugindir)"'
COMMAND_LIBS = tools/libcommands.la tools/libtools.la $(LIB_ALL) $(LIBRARY_LIBS)

bin_PROGRAMS += bin/rubato
bin_rubato_SOURCES = \
  tools/rubato/rubato.cc \
  tools/rubato/simulate/launched.h \
  tools/rubato/simulate/launcher.cc
bin_rubato_CPPFLAGS = $(AM_CPPFLAGS) -DRUBATO_SIMULATE='"$(pkglibexecdir)/rubato-simulate"'
bin_rubato_LDADD = tools/libcommands.la tools/libtools.la lib/librubato_replay.la \
  $(LIB_RUNTIME) $(LIBRARY_LIBS)

pkglibexec_PROGRAMS = bin/rubato-simulate
bin_rubato_simulate_SOURCES = \
  tools/rubato/rubato.cc \
  tools/rubato/simulate/cmd_simulate.cc \
  tools/rubato/simulate/launched.h \
  tools/rubato/simulate/simulate_charts.cc \
  tools/rubato/simulate/simulate_charts.h \
  tools/rubato/simulate/simulate_gantt.cc \
  tools/rubato/simulate/simulate_gantt.h \
  tools/rubato/simulate/simulate_history.cc \
  tools/rubato/simulate/simulate_history.h \
  tools/rubato/simulate/simulate_input.cc \
  tools/rubato/simulate/simulate_input.h \
  tools/rubato/simulate/simulate_outputs.cc \
  tools/rubato/simulate/simulate_outputs.h \
  tools/rubato/simulate/simulate_page.cc \
  tools/rubato/simulate/simulate_page.h \
  tools/rubato/simulate/simulate_records.h \
  tools/rubato/simulate/simulate_view.cc \
  tools/rubato/simulate/simulate_view.h \
  tools/rubato/simulate/simulate_waits.cc \
  tools/rubato/simulate/simulate_waits.h \
  tools/rubato/validate/cmd_validate.cc \
  tools/rubato/validate/store_replay.cc \
  tools/rubato/validate/store_replay.h
bin_rubato_simulate_LDADD = $(COMMAND_LIBS)

# Style and script of pages, as text in the program.
PAGE_JS = tools/rubato/simulate/simulate_page.js tools/rubato/simulate/simulate_gantt.js
PAGE_TEXTS = tools/page/page.css tools/page/lanes.css tools/rubato/simulate/simulate_page.css $(PAGE_JS)
EXTRA_DIST += $(PAGE_TEXTS)
nodist_bin_rubato_simulate_SOURCES = tools/page/page_text.h
nodist_tools_libcommands_la_SOURCES = tools/page/page_text.h
BUILT_SOURCES += tools/page/page_text.h
CLEANFILES += tools/page/page_text.h
tools/page/page_text.h: $(PAGE_TEXTS) tools/local.mk
	@$(MKDIR_P) tools/page
	$(AM_V_GEN)set -e; { echo '// SPDX-License-Identifier: GPL-2.0-or-later'; echo '#pragma once'; \
	  echo 'inline constexpr char kPageStyle[] = R"page('; cat $(srcdir)/tools/page/page.css; echo ')page";'; \
	  echo 'inline constexpr char kLanesStyle[] = R"page('; cat $(srcdir)/tools/page/lanes.css; echo ')page";'; \
	  echo 'inline constexpr char kSimulateStyle[] = R"page('; cat $(srcdir)/tools/rubato/simulate/simulate_page.css; echo ')page";'; \
	  echo 'inline constexpr char kSimulateScript[] = R"page('; for script in $(PAGE_JS); do cat $(srcdir)/$$script; done; echo ')page";'; \
	} > $@.part; mv $@.part $@
tools/rubato/simulate/simulate_page.$(OBJEXT): tools/page/page_text.h

completiondir = $(datadir)/bash-completion/completions
dist_completion_DATA = contrib/completion/bash/rqueue contrib/completion/bash/rubato
# Slurm has files of its own for sbatch, salloc and srun in completiondir; bash-completion reads this folder as well.
hintcompletiondir = $(sysconfdir)/bash_completion.d
dist_hintcompletion_DATA = contrib/completion/bash/rubato-hints
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = contrib/completion/zsh/_rubato
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_fishcompletion_DATA = contrib/completion/fish/rqueue.fish contrib/completion/fish/rubato.fish \
  contrib/completion/fish/salloc.fish contrib/completion/fish/sbatch.fish contrib/completion/fish/srun.fish

# What --json prints; test/golden/schema_test.py holds the commands to it.
schemadir = $(pkgdatadir)/schema
dist_schema_DATA = \
  docs/schema/rubato.compare.1.json \
  docs/schema/rubato.config.1.json \
  docs/schema/rubato.decisions.1.json \
  docs/schema/rubato.demo.1.json \
  docs/schema/rubato.doctor.1.json \
  docs/schema/rubato.explain.1.json \
  docs/schema/rubato.hints.1.json \
  docs/schema/rubato.hold-size.1.json \
  docs/schema/rubato.models-change.1.json \
  docs/schema/rubato.models-fit.1.json \
  docs/schema/rubato.models-curve.1.json \
  docs/schema/rubato.models-fits.1.json \
  docs/schema/rubato.models.1.json \
  docs/schema/rubato.pause.1.json \
  docs/schema/rubato.plan.1.json \
  docs/schema/rubato.profiles.1.json \
  docs/schema/rubato.rehearse.1.json \
  docs/schema/rubato.report.1.json \
  docs/schema/rubato.resize.1.json \
  docs/schema/rubato.wait-resize.1.json \
  docs/schema/rubato.rqueue.1.json \
  docs/schema/rubato.simulate.1.json \
  docs/schema/rubato.snapshot.1.json \
  docs/schema/rubato.stats.1.json \
  docs/schema/rubato.validate.1.json \
  docs/schema/rubato.whatif-mode.1.json \
  docs/schema/rubato.whatif.1.json

# `make config-docs`, `make hints-docs` and `make schema-docs` write man pages, examples and schemas again
# after a change of the tables.
EXTRA_PROGRAMS += tools/generate/config_docs tools/generate/hints_docs tools/generate/schema_docs
tools_generate_config_docs_SOURCES = \
  tools/generate/config_docs.cc \
  tools/generate/config_man.cc \
  tools/generate/config_man.h
tools_generate_config_docs_LDADD = $(LIB_CORE) $(LIBRARY_LIBS)
tools_generate_hints_docs_SOURCES = \
  tools/generate/hints_docs.cc \
  tools/generate/hints_man.cc \
  tools/generate/hints_man.h \
  tools/generate/hints_man_text.h
tools_generate_hints_docs_LDADD = $(LIB_JSON) $(LIBRARY_LIBS)
tools_generate_schema_docs_SOURCES = \
  tools/generate/command_schema.cc \
  tools/generate/command_schema.h \
  tools/generate/models_schema.cc \
  tools/generate/models_schema.h \
  tools/generate/record_schema.cc \
  tools/generate/record_schema.h \
  tools/generate/schema_docs.cc \
  tools/generate/schema_documents.h \
  tools/generate/schema_writer.h \
  tools/generate/statistics_schema.cc \
  tools/generate/statistics_schema.h \
  tools/generate/tool_schema.cc \
  tools/generate/tool_schema.h
tools_generate_schema_docs_LDADD = $(LIB_ALL) $(LIBRARY_LIBS)
CLEANFILES += tools/generate/config_docs$(EXEEXT) tools/generate/hints_docs$(EXEEXT) tools/generate/schema_docs$(EXEEXT)

.PHONY: config-docs hints-docs schema-docs
schema-docs: tools/generate/schema_docs$(EXEEXT)
	tools/generate/schema_docs $(srcdir)/docs/schema

config-docs: tools/generate/config_docs$(EXEEXT)
	tools/generate/config_docs man > $(srcdir)/docs/man/rubato.conf.5
	tools/generate/config_docs example > $(srcdir)/configs/rubato.conf.example

hints-docs: tools/generate/hints_docs$(EXEEXT)
	tools/generate/hints_docs man > $(srcdir)/docs/man/rubato-hints.7
	tools/generate/hints_docs wrong > $(srcdir)/test/cluster/scenarios/wrong_hints.json
