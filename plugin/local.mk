# SPDX-License-Identifier: GPL-2.0-or-later
# What slurmctld loads. Only these objects see Slurm's source tree (its config.h, src/, slurm/).
PLUGIN_CPPFLAGS = $(AM_CPPFLAGS) -isystem $(SLURM_SOURCE)
# The files with the entry points: visible to the version script, which hides all but those.
ENTRY_CXXFLAGS = $(AM_CXXFLAGS) -fvisibility=default -fno-semantic-interposition
PLUGIN_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared
PLUGIN_LIBADD = lib/librubato.la $(LIBRARY_LIBS) $(PLUGIN_BINDING)

EXTRA_DIST += plugin/sched/sched.map plugin/select/select.map plugin/job_submit/job_submit.map

rubatoplugin_LTLIBRARIES =
rubatoplugin_PROGRAMS =

if BUILD_PLUGINS
rubatoplugin_LTLIBRARIES += sched_backfill.la select_cons_tres.la job_submit_logging.la
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
  plugin/pair/mailbox.cc \
  plugin/pair/mailbox.h \
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
  plugin/slurm/job_desc_view.cc \
  plugin/slurm/job_desc_view.h \
  plugin/slurm/job_hints.cc \
  plugin/slurm/job_hints.h \
  plugin/slurm/hold_times.cc \
  plugin/slurm/job_cache.cc \
  plugin/slurm/job_cache.h \
  plugin/slurm/job_env.cc \
  plugin/slurm/job_env.h \
  plugin/slurm/job_request.cc \
  plugin/slurm/job_request.h \
  plugin/slurm/job_rewrite.cc \
  plugin/slurm/job_rewrite.h \
  plugin/slurm/job_view.cc \
  plugin/slurm/job_view.h \
  plugin/slurm/locks.cc \
  plugin/slurm/locks.h \
  plugin/slurm/node_classes.cc \
  plugin/slurm/node_classes.h \
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
  plugin/slurm/snapshot_jobs.cc \
  plugin/slurm/snapshot_look.h \
  plugin/slurm/system_comment.cc \
  plugin/slurm/system_comment.h \
  plugin/slurm/write_back.cc \
  plugin/slurm/write_back.h
plugin_libslurmside_la_CPPFLAGS = $(PLUGIN_CPPFLAGS) -DRUBATO_SLURM_RELEASE='"$(SLURM_VERSION)"' \
  -DRUBATO_RELEASE='"$(PACKAGE_VERSION)"'

sched_backfill_la_SOURCES = \
  plugin/sched/config_source.cc \
  plugin/sched/config_source.h \
  plugin/sched/files.cc \
  plugin/sched/files.h \
  plugin/sched/job_book.cc \
  plugin/sched/job_book.h \
  plugin/sched/loop.cc \
  plugin/sched/loop.h \
  plugin/sched/loop_publish.cc \
  plugin/sched/pace.h \
  plugin/sched/models_feed.cc \
  plugin/sched/models_feed.h \
  plugin/sched/models_publisher.cc \
  plugin/sched/models_publisher.h \
  plugin/sched/rate_book.cc \
  plugin/sched/rate_book.h \
  plugin/sched/plugin.cc \
  plugin/sched/publisher.cc \
  plugin/sched/publisher.h \
  plugin/sched/recorder.cc \
  plugin/sched/recorder.h \
  plugin/sched/recorder_notes.cc \
  plugin/sched/run_log.cc \
  plugin/sched/run_log.h \
  plugin/sched/start_book.cc \
  plugin/sched/start_book.h \
  plugin/sched/stats.cc \
  plugin/sched/stock_backfill.cc \
  plugin/sched/stock_backfill.h
sched_backfill_la_CPPFLAGS = $(PLUGIN_CPPFLAGS)
sched_backfill_la_CXXFLAGS = $(ENTRY_CXXFLAGS)
sched_backfill_la_LDFLAGS = $(PLUGIN_LDFLAGS) -Wl,--version-script=$(top_srcdir)/plugin/sched/sched.map
sched_backfill_la_LIBADD = plugin/libslurmside.la lib/librubato_store.la $(PLUGIN_LIBADD)
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

job_submit_logging_la_SOURCES = \
  plugin/job_submit/cluster_types.cc \
  plugin/job_submit/cluster_types.h \
  plugin/job_submit/hints.cc \
  plugin/job_submit/hints.h \
  plugin/job_submit/messages.cc \
  plugin/job_submit/messages.h \
  plugin/job_submit/plugin.cc
job_submit_logging_la_CPPFLAGS = $(PLUGIN_CPPFLAGS)
job_submit_logging_la_CXXFLAGS = $(ENTRY_CXXFLAGS)
job_submit_logging_la_LDFLAGS = $(PLUGIN_LDFLAGS) -Wl,--version-script=$(top_srcdir)/plugin/job_submit/job_submit.map
job_submit_logging_la_LIBADD = plugin/libslurmside.la $(PLUGIN_LIBADD)
EXTRA_job_submit_logging_la_DEPENDENCIES = plugin/job_submit/job_submit.map
endif

# plugin/spank/: what sbatch, salloc, srun and slurmstepd load. Sees Slurm's public headers only.
EXTRA_DIST += plugin/spank/spank.map
if HAVE_SPANK
rubatoplugin_LTLIBRARIES += spank_rubato.la
spank_rubato_la_SOURCES = \
  plugin/spank/allocator.cc \
  plugin/spank/carried.h \
  plugin/spank/client.cc \
  plugin/spank/client.h \
  plugin/spank/contexts.h \
  plugin/spank/forwarder_process.cc \
  plugin/spank/forwarder_process.h \
  plugin/spank/local.cc \
  plugin/spank/plugin.cc \
  plugin/spank/remote.cc \
  plugin/spank/report_file.cc \
  plugin/spank/report_file.h \
  plugin/spank/spank_header.h
spank_rubato_la_CXXFLAGS = $(ENTRY_CXXFLAGS)
# Bound when it is loaded: a file that lacks something is then no plugin, and not the end of a step.
spank_rubato_la_LDFLAGS = $(PLUGIN_LDFLAGS) -Wl,-z,now -Wl,--version-script=$(top_srcdir)/plugin/spank/spank.map
spank_rubato_la_LIBADD = lib/librubato_hints.la $(FMT_LIBS)
EXTRA_spank_rubato_la_DEPENDENCIES = plugin/spank/spank.map

rubatoplugin_PROGRAMS += rubato_forwarder
rubato_forwarder_SOURCES = \
  plugin/spank/forwarder.cc \
  plugin/spank/last_line.cc \
  plugin/spank/last_line.h \
  plugin/spank/report_file.cc
rubato_forwarder_LDADD = lib/librubato_hints.la $(FMT_LIBS)
endif
