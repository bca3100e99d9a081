# SPDX-License-Identifier: GPL-2.0-or-later
# The program `rubato`: a table of subcommands, one file cmd_NAME.cc each.
bin_PROGRAMS += tools/rubato
tools_rubato_SOURCES = \
  tools/anonymise.cc \
  tools/anonymise.h \
  tools/cmd_doctor.cc \
  tools/cmd_explain.cc \
  tools/cmd_snapshot.cc \
  tools/command.h \
  tools/doctor.h \
  tools/doctor_install.cc \
  tools/doctor_machine.cc \
  tools/doctor_plugins.cc \
  tools/doctor_rubato.cc \
  tools/doctor_running.cc \
  tools/doctor_slurm.cc \
  tools/explain_view.cc \
  tools/explain_view.h \
  tools/job_match.cc \
  tools/job_match.h \
  tools/output.cc \
  tools/output.h \
  tools/plugin_files.cc \
  tools/plugin_files.h \
  tools/process.cc \
  tools/process.h \
  tools/published.cc \
  tools/published.h \
  tools/rubato.cc \
  tools/site.cc \
  tools/site.h \
  tools/slurm_conf.cc \
  tools/slurm_conf.h
# Where make install puts the plugins, for `rubato doctor`.
tools_rubato_CPPFLAGS = $(AM_CPPFLAGS) -DRUBATO_PLUGIN_DIR='"$(rubatoplugindir)"'
tools_rubato_LDADD = lib/librubato.la $(LIBRARY_LIBS)

completiondir = $(datadir)/bash-completion/completions
dist_completion_DATA = contrib/completion/bash/rubato
