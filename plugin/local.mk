# SPDX-License-Identifier: GPL-2.0-or-later
# What slurmctld loads. Only these objects see Slurm's source tree (its config.h, src/, slurm/).
PLUGIN_CPPFLAGS = $(AM_CPPFLAGS) -isystem $(SLURM_SOURCE)
# The files with the entry points: visible to the version script, which hides all but those.
ENTRY_CXXFLAGS = $(AM_CXXFLAGS) -fvisibility=default -fno-semantic-interposition
PLUGIN_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared
PLUGIN_LIBADD = lib/librubato.la $(LIBRARY_LIBS) $(PLUGIN_BINDING)

EXTRA_DIST += plugin/sched/sched.map plugin/select/select.map plugin/job_submit/job_submit.map

if BUILD_PLUGINS
rubatoplugin_LTLIBRARIES = sched_backfill.la select_cons_tres.la job_submit_logging.la
noinst_LTLIBRARIES += plugin/libslurmside.la

# plugin/slurm/ and plugin/actuate/: compiled once, linked into all three.
plugin_libslurmside_la_SOURCES = \
  plugin/actuate/commit.cc \
  plugin/actuate/commit.h \
  plugin/actuate/start.cc \
  plugin/actuate/start.h \
  plugin/pair/exported.h \
  plugin/pair/guard.cc \
  plugin/pair/guard.h \
  plugin/pair/host.cc \
  plugin/pair/host.h \
  plugin/pair/pair.cc \
  plugin/pair/pair.h \
  plugin/pair/logger.cc \
  plugin/pair/logger.h \
  plugin/pair/slurm_log.h \
  plugin/slurm/backfill_depth.cc \
  plugin/slurm/backfill_depth.h \
  plugin/slurm/blocks.cc \
  plugin/slurm/blocks.h \
  plugin/slurm/controller.cc \
  plugin/slurm/controller.h \
  plugin/slurm/gpu_type.cc \
  plugin/slurm/gpu_type.h \
  plugin/slurm/job_view.cc \
  plugin/slurm/job_view.h \
  plugin/slurm/locks.cc \
  plugin/slurm/locks.h \
  plugin/slurm/node_slots.cc \
  plugin/slurm/node_slots.h \
  plugin/slurm/node_view.cc \
  plugin/slurm/node_view.h \
  plugin/slurm/queue.cc \
  plugin/slurm/queue.h \
  plugin/slurm/records.cc \
  plugin/slurm/records.h \
  plugin/slurm/release.cc \
  plugin/slurm/release.h \
  plugin/slurm/select_ops.cc \
  plugin/slurm/select_ops.h \
  plugin/slurm/slurm_headers.h \
  plugin/slurm/slurm_log.cc \
  plugin/slurm/snapshot_in.cc \
  plugin/slurm/snapshot_in.h \
  plugin/slurm/write_back.cc \
  plugin/slurm/write_back.h
plugin_libslurmside_la_CPPFLAGS = $(PLUGIN_CPPFLAGS) -DRUBATO_SLURM_RELEASE='"$(SLURM_VERSION)"' \
  -DRUBATO_RELEASE='"$(PACKAGE_VERSION)"'

sched_backfill_la_SOURCES = \
  plugin/sched/config_source.cc \
  plugin/sched/config_source.h \
  plugin/sched/loop.cc \
  plugin/sched/loop.h \
  plugin/sched/plugin.cc \
  plugin/sched/publisher.cc \
  plugin/sched/publisher.h \
  plugin/sched/stats.cc \
  plugin/sched/stock_backfill.cc \
  plugin/sched/stock_backfill.h
sched_backfill_la_CPPFLAGS = $(PLUGIN_CPPFLAGS)
sched_backfill_la_CXXFLAGS = $(ENTRY_CXXFLAGS)
sched_backfill_la_LDFLAGS = $(PLUGIN_LDFLAGS) -Wl,--version-script=$(top_srcdir)/plugin/sched/sched.map
sched_backfill_la_LIBADD = plugin/libslurmside.la $(PLUGIN_LIBADD)
EXTRA_sched_backfill_la_DEPENDENCIES = plugin/sched/sched.map

select_cons_tres_la_SOURCES = \
  plugin/select/forward.cc \
  plugin/select/gate.cc \
  plugin/select/gate.h \
  plugin/select/host.h \
  plugin/select/job_test.cc \
  plugin/select/plugin.cc
select_cons_tres_la_CPPFLAGS = $(PLUGIN_CPPFLAGS)
select_cons_tres_la_CXXFLAGS = $(ENTRY_CXXFLAGS)
select_cons_tres_la_LDFLAGS = $(PLUGIN_LDFLAGS) -Wl,--version-script=$(top_srcdir)/plugin/select/select.map
select_cons_tres_la_LIBADD = plugin/libslurmside.la $(PLUGIN_LIBADD)
EXTRA_select_cons_tres_la_DEPENDENCIES = plugin/select/select.map

job_submit_logging_la_SOURCES = plugin/job_submit/plugin.cc
job_submit_logging_la_CPPFLAGS = $(PLUGIN_CPPFLAGS)
job_submit_logging_la_CXXFLAGS = $(ENTRY_CXXFLAGS)
job_submit_logging_la_LDFLAGS = $(PLUGIN_LDFLAGS) -Wl,--version-script=$(top_srcdir)/plugin/job_submit/job_submit.map
job_submit_logging_la_LIBADD = plugin/libslurmside.la $(PLUGIN_LIBADD)
EXTRA_job_submit_logging_la_DEPENDENCIES = plugin/job_submit/job_submit.map
endif
