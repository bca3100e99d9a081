# SPDX-License-Identifier: GPL-2.0-or-later
# What the programs share, and the parts of them that tests link.
noinst_LTLIBRARIES += tools/libtools.la
tools_libtools_la_SOURCES = \
  tools/chart.cc \
  tools/chart.h \
  tools/command.h \
  tools/format.cc \
  tools/format.h \
  tools/job_facts.cc \
  tools/job_facts.h \
  tools/output.cc \
  tools/output.h \
  tools/own_fields.cc \
  tools/own_fields.h \
  tools/process.cc \
  tools/process.h \
  tools/rqueue_help.cc \
  tools/rqueue_json.cc \
  tools/rqueue_json.h \
  tools/rqueue_layout.cc \
  tools/rqueue_layout.h \
  tools/rqueue_options.cc \
  tools/rqueue_options.h \
  tools/rqueue_sort.cc \
  tools/rqueue_sort.h \
  tools/slurm_conf.cc \
  tools/slurm_conf.h \
  tools/squeue_fields.cc \
  tools/squeue_fields.h \
  tools/squeue_query.cc \
  tools/squeue_query.h \
  tools/table.cc \
  tools/table.h \
  tools/write_file.cc \
  tools/write_file.h

# squeue with the columns of Rubato.
bin_PROGRAMS += tools/rqueue
tools_rqueue_SOURCES = tools/rqueue.cc
tools_rqueue_LDADD = tools/libtools.la lib/librubato.la $(LIBRARY_LIBS)

# The program `rubato`: a table of subcommands, one file cmd_NAME.cc each.
bin_PROGRAMS += tools/rubato
tools_rubato_SOURCES = \
  tools/anonymise.cc \
  tools/anonymise.h \
  tools/cmd_doctor.cc \
  tools/cmd_explain.cc \
  tools/cmd_hints.cc \
  tools/cmd_metrics.cc \
  tools/cmd_models.cc \
  tools/cmd_report.cc \
  tools/cmd_simulate.cc \
  tools/cmd_snapshot.cc \
  tools/cmd_stats.cc \
  tools/cmd_validate.cc \
  tools/doctor.h \
  tools/doctor_install.cc \
  tools/doctor_machine.cc \
  tools/doctor_plugins.cc \
  tools/doctor_rubato.cc \
  tools/doctor_running.cc \
  tools/doctor_slurm.cc \
  tools/doctor_spank.cc \
  tools/doctor_store.cc \
  tools/explain_job.cc \
  tools/explain_job.h \
  tools/explain_json.cc \
  tools/explain_parts.cc \
  tools/explain_parts.h \
  tools/explain_table.cc \
  tools/explain_view.cc \
  tools/explain_view.h \
  tools/gain_view.cc \
  tools/gain_view.h \
  tools/job_match.cc \
  tools/job_match.h \
  tools/metrics.cc \
  tools/metrics.h \
  tools/store_replay.cc \
  tools/store_replay.h \
  tools/models_actions.cc \
  tools/models_actions.h \
  tools/models_curve.cc \
  tools/models_fits.cc \
  tools/models_rows.cc \
  tools/models_rows.h \
  tools/plugin_files.cc \
  tools/plugin_files.h \
  tools/published.cc \
  tools/published.h \
  tools/read_input.cc \
  tools/read_input.h \
  tools/rubato.cc \
  tools/report_message.cc \
  tools/report_message.h \
  tools/simulate_charts.cc \
  tools/simulate_charts.h \
  tools/simulate_gantt.cc \
  tools/simulate_gantt.h \
  tools/simulate_history.cc \
  tools/simulate_history.h \
  tools/simulate_input.cc \
  tools/simulate_input.h \
  tools/simulate_outputs.cc \
  tools/simulate_outputs.h \
  tools/simulate_page.cc \
  tools/simulate_page.h \
  tools/simulate_solver.cc \
  tools/simulate_solver.h \
  tools/simulate_view.cc \
  tools/simulate_view.h \
  tools/site.cc \
  tools/site.h \
  tools/site_store.cc \
  tools/site_store.h \
  tools/source.cc \
  tools/source.h \
  tools/stats_view.cc \
  tools/stats_view.h
# Where make install puts the plugins, for `rubato doctor`.
tools_rubato_CPPFLAGS = $(AM_CPPFLAGS) -DRUBATO_PLUGIN_DIR='"$(rubatoplugindir)"' \
  -DRUBATO_SOLVE='"$(pkglibexecdir)/rubato-solve"'
tools_rubato_LDADD = tools/libtools.la lib/librubato_store.la lib/librubato_sim.la lib/librubato.la $(LIBRARY_LIBS)

# Style and script of pages, as text in the program.
PAGE_JS = tools/simulate_page.js tools/simulate_gantt.js
PAGE_TEXTS = tools/page.css tools/simulate_page.css $(PAGE_JS)
EXTRA_DIST += $(PAGE_TEXTS)
nodist_tools_rubato_SOURCES = tools/page_text.h
BUILT_SOURCES += tools/page_text.h
CLEANFILES += tools/page_text.h
tools/page_text.h: $(PAGE_TEXTS) tools/local.mk
	@$(MKDIR_P) tools
	$(AM_V_GEN){ echo '// SPDX-License-Identifier: GPL-2.0-or-later'; echo '#pragma once'; \
	  echo 'inline constexpr char kPageStyle[] = R"page('; cat $(srcdir)/tools/page.css; echo ')page";'; \
	  echo 'inline constexpr char kSimulateStyle[] = R"page('; cat $(srcdir)/tools/simulate_page.css; echo ')page";'; \
	  echo 'inline constexpr char kSimulateScript[] = R"page('; for script in $(PAGE_JS); do cat $(srcdir)/$$script; done; echo ')page";'; \
	} > $@.part && mv $@.part $@
tools/rubato-simulate_page.$(OBJEXT): tools/page_text.h

# Answers programmes of the simulator; the only program that links GLPK.
if HAVE_GLPK
pkglibexec_PROGRAMS = tools/rubato-solve
tools_rubato_solve_SOURCES = tools/rubato_solve.cc
tools_rubato_solve_LDADD = lib/librubato_sim.la $(FMT_LIBS) $(GLPK_LIBS)
endif

completiondir = $(datadir)/bash-completion/completions
dist_completion_DATA = contrib/completion/bash/rqueue contrib/completion/bash/rubato

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
  docs/schema/rubato.models-change.1.json \
  docs/schema/rubato.models-fit.1.json \
  docs/schema/rubato.models-curve.1.json \
  docs/schema/rubato.models-fits.1.json \
  docs/schema/rubato.models.1.json \
  docs/schema/rubato.plan.1.json \
  docs/schema/rubato.profiles.1.json \
  docs/schema/rubato.report.1.json \
  docs/schema/rubato.rqueue.1.json \
  docs/schema/rubato.simulate.1.json \
  docs/schema/rubato.snapshot.1.json \
  docs/schema/rubato.stats.1.json \
  docs/schema/rubato.validate.1.json
