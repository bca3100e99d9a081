# SPDX-License-Identifier: GPL-2.0-or-later
# What slurmctld loads. Only these objects see Slurm's source tree (its config.h, src/, slurm/).
PLUGIN_CPPFLAGS = $(AM_CPPFLAGS) -isystem $(SLURM_SOURCE)
# A plugin holds only the functions that it calls: the linker drops the others of the rooms it links.
SECTION_FLAGS = -ffunction-sections -fdata-sections
PLUGIN_CXXFLAGS = $(AM_CXXFLAGS) $(SECTION_FLAGS)
# The files with the entry points: visible to the version script, which hides all but those.
ENTRY_CXXFLAGS = $(PLUGIN_CXXFLAGS) -fvisibility=default -fno-semantic-interposition
PLUGIN_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -Wl,--gc-sections

EXTRA_DIST += plugin/sched/sched.map plugin/select/select.map plugin/job_submit/job_submit.map

rubatoplugin_LTLIBRARIES =
rubatoplugin_PROGRAMS =

if BUILD_PLUGINS
rubatoplugin_LTLIBRARIES += sched_backfill.la select_cons_tres.la job_submit_logging.la

# A library a folder, in the order of their includes: common < slurm/stock < slurm/read < slurm/write < actuate.
noinst_LTLIBRARIES += plugin/libcommon.la plugin/libslurm_stock.la plugin/libslurm_read.la plugin/libslurm_write.la \
  plugin/libactuate.la

plugin_libcommon_la_SOURCES = \
  plugin/common/exported.h \
  plugin/common/gate_question.h \
  plugin/common/guard.cc \
  plugin/common/guard.h \
  plugin/common/host.cc \
  plugin/common/host.h \
  plugin/common/pair.cc \
  plugin/common/pair.h \
  plugin/common/release.cc \
  plugin/common/release.h \
  plugin/common/slurm_log.h
plugin_libcommon_la_CPPFLAGS = $(PLUGIN_CPPFLAGS) -DRUBATO_SLURM_RELEASE='"$(SLURM_VERSION)"' \
  -DRUBATO_RELEASE='"$(PACKAGE_VERSION)"'
plugin_libcommon_la_CXXFLAGS = $(PLUGIN_CXXFLAGS)

plugin_libslurm_stock_la_SOURCES = \
  plugin/slurm/release/differences.cc \
  plugin/slurm/release/differences.h \
  plugin/slurm/release/lists.h \
  plugin/slurm/release/slurm_headers.h \
  plugin/slurm/stock/backfill_depth.cc \
  plugin/slurm/stock/backfill_depth.h \
  plugin/slurm/stock/controller.cc \
  plugin/slurm/stock/controller.h \
  plugin/slurm/stock/hold_times.cc \
  plugin/slurm/stock/locks.cc \
  plugin/slurm/stock/locks.h \
  plugin/slurm/stock/return_codes.cc \
  plugin/slurm/stock/return_codes.h \
  plugin/slurm/stock/select_ops.cc \
  plugin/slurm/stock/select_ops.h \
  plugin/slurm/stock/slurm_log.cc
plugin_libslurm_stock_la_CPPFLAGS = $(PLUGIN_CPPFLAGS)
plugin_libslurm_stock_la_CXXFLAGS = $(PLUGIN_CXXFLAGS)

plugin_libslurm_read_la_SOURCES = \
  plugin/slurm/read/blocks.cc \
  plugin/slurm/read/blocks.h \
  plugin/slurm/read/cluster_types.cc \
  plugin/slurm/read/cluster_types.h \
  plugin/slurm/read/gres_arrays.cc \
  plugin/slurm/read/gres_arrays.h \
  plugin/slurm/read/gres_contradictions.cc \
  plugin/slurm/read/job_cache.cc \
  plugin/slurm/read/job_cache.h \
  plugin/slurm/read/job_desc_view.cc \
  plugin/slurm/read/job_desc_view.h \
  plugin/slurm/read/job_ends.cc \
  plugin/slurm/read/job_ends.h \
  plugin/slurm/read/job_hints.cc \
  plugin/slurm/read/job_hints.h \
  plugin/slurm/read/job_request.cc \
  plugin/slurm/read/job_request.h \
  plugin/slurm/read/job_view.cc \
  plugin/slurm/read/job_view.h \
  plugin/slurm/read/kept_request.cc \
  plugin/slurm/read/kept_request.h \
  plugin/slurm/read/limit_room.cc \
  plugin/slurm/read/limit_room.h \
  plugin/slurm/read/node_classes.cc \
  plugin/slurm/read/node_classes.h \
  plugin/slurm/read/node_slots.cc \
  plugin/slurm/read/node_slots.h \
  plugin/slurm/read/node_view.cc \
  plugin/slurm/read/node_view.h \
  plugin/slurm/read/queue.cc \
  plugin/slurm/read/queue.h \
  plugin/slurm/read/records.cc \
  plugin/slurm/read/records.h \
  plugin/slurm/read/singletons.cc \
  plugin/slurm/read/singletons.h \
  plugin/slurm/read/snapshot_in.cc \
  plugin/slurm/read/snapshot_in.h \
  plugin/slurm/read/snapshot_jobs.cc \
  plugin/slurm/read/snapshot_look.h \
  plugin/slurm/read/stock_reserve_rules.cc \
  plugin/slurm/read/stock_reserve_rules.h
plugin_libslurm_read_la_CPPFLAGS = $(PLUGIN_CPPFLAGS)
plugin_libslurm_read_la_CXXFLAGS = $(PLUGIN_CXXFLAGS)

plugin_libslurm_write_la_SOURCES = \
  plugin/slurm/write/admin_comment.cc \
  plugin/slurm/write/admin_comment.h \
  plugin/slurm/write/ask_nodes.cc \
  plugin/slurm/write/ask_nodes.h \
  plugin/slurm/write/gpu_type.cc \
  plugin/slurm/write/gpu_type.h \
  plugin/slurm/write/gres_merge.cc \
  plugin/slurm/write/gres_merge.h \
  plugin/slurm/write/job_description.cc \
  plugin/slurm/write/job_description.h \
  plugin/slurm/write/job_env.cc \
  plugin/slurm/write/job_env.h \
  plugin/slurm/write/job_limits.cc \
  plugin/slurm/write/job_limits.h \
  plugin/slurm/write/job_merge.cc \
  plugin/slurm/write/job_merge.h \
  plugin/slurm/write/job_notice.cc \
  plugin/slurm/write/job_notice.h \
  plugin/slurm/write/job_rewrite.cc \
  plugin/slurm/write/job_rewrite.h \
  plugin/slurm/write/job_variables.cc \
  plugin/slurm/write/job_variables.h \
  plugin/slurm/write/live_growth.cc \
  plugin/slurm/write/live_growth.h \
  plugin/slurm/write/live_shrink.cc \
  plugin/slurm/write/live_shrink.h \
  plugin/slurm/write/lost_node.cc \
  plugin/slurm/write/lost_node.h \
  plugin/slurm/write/merged_nodes.h \
  plugin/slurm/write/pending_job.cc \
  plugin/slurm/write/pending_job.h \
  plugin/slurm/write/placement_test.cc \
  plugin/slurm/write/placement_test.h \
  plugin/slurm/write/resize_facts.cc \
  plugin/slurm/write/resize_facts.h \
  plugin/slurm/write/resize_rules.cc \
  plugin/slurm/write/resize_rules.h \
  plugin/slurm/write/restarted_jobs.cc \
  plugin/slurm/write/restarted_jobs.h \
  plugin/slurm/write/running_job.cc \
  plugin/slurm/write/running_job.h \
  plugin/slurm/write/set_text.cc \
  plugin/slurm/write/set_text.h \
  plugin/slurm/write/submission.cc \
  plugin/slurm/write/submission.h \
  plugin/slurm/write/system_comment.cc \
  plugin/slurm/write/system_comment.h \
  plugin/slurm/write/write_back.cc \
  plugin/slurm/write/write_back.h
plugin_libslurm_write_la_CPPFLAGS = $(PLUGIN_CPPFLAGS)
plugin_libslurm_write_la_CXXFLAGS = $(PLUGIN_CXXFLAGS)

plugin_libactuate_la_SOURCES = \
  plugin/actuate/commit.cc \
  plugin/actuate/commit.h \
  plugin/actuate/grow.cc \
  plugin/actuate/grow.h \
  plugin/actuate/resize.cc \
  plugin/actuate/resize.h \
  plugin/actuate/resize_notice.cc \
  plugin/actuate/resize_notice.h \
  plugin/actuate/scoped_start.h \
  plugin/actuate/start.cc \
  plugin/actuate/start.h \
  plugin/actuate/test_actions.cc \
  plugin/actuate/test_actions.h
plugin_libactuate_la_CPPFLAGS = $(PLUGIN_CPPFLAGS)
plugin_libactuate_la_CXXFLAGS = $(PLUGIN_CXXFLAGS)

# What each plugin links: slurmd loads select_cons_tres.so too, so that one links no log, store or model.
PLUGIN_SLURM = plugin/libslurm_write.la plugin/libslurm_read.la plugin/libslurm_stock.la plugin/libcommon.la

sched_backfill_la_SOURCES = \
  plugin/sched/config_source.cc \
  plugin/sched/config_source.h \
  plugin/sched/launch_check.cc \
  plugin/sched/launch_check.h \
  plugin/sched/loop.cc \
  plugin/sched/loop.h \
  plugin/sched/model_source.cc \
  plugin/sched/model_source.h \
  plugin/sched/pacer.cc \
  plugin/sched/pacer.h \
  plugin/sched/plan_committer.cc \
  plugin/sched/plan_committer.h \
  plugin/sched/plugin.cc \
  plugin/sched/snapshot_source.cc \
  plugin/sched/snapshot_source.h \
  plugin/sched/state_publisher.cc \
  plugin/sched/state_publisher.h \
  plugin/sched/stats.cc \
  plugin/sched/stats.h \
  plugin/sched/stock_backfill.cc \
  plugin/sched/stock_backfill.h \
  plugin/slurm/stock/log_writer.cc
sched_backfill_la_CPPFLAGS = $(PLUGIN_CPPFLAGS)
sched_backfill_la_CXXFLAGS = $(ENTRY_CXXFLAGS)
sched_backfill_la_LDFLAGS = $(PLUGIN_LDFLAGS) -Wl,--version-script=$(top_srcdir)/plugin/sched/sched.map
sched_backfill_la_LIBADD = plugin/libactuate.la $(PLUGIN_SLURM) $(LIB_RUNTIME) $(LIBRARY_LIBS) $(PLUGIN_BINDING)
EXTRA_sched_backfill_la_DEPENDENCIES = plugin/sched/sched.map

select_cons_tres_la_SOURCES = \
  lib/runtime/message_queue.cc \
  plugin/select/admit.cc \
  plugin/select/admit.h \
  plugin/select/forward.cc \
  plugin/select/gate.cc \
  plugin/select/gate.h \
  plugin/select/host.h \
  plugin/select/plugin.cc
select_cons_tres_la_CPPFLAGS = $(PLUGIN_CPPFLAGS)
select_cons_tres_la_CXXFLAGS = $(ENTRY_CXXFLAGS)
select_cons_tres_la_LDFLAGS = $(PLUGIN_LDFLAGS) -Wl,--version-script=$(top_srcdir)/plugin/select/select.map
select_cons_tres_la_LIBADD = $(PLUGIN_SLURM) $(LIB_CORE) $(FMT_LIBS) $(PLUGIN_BINDING)
EXTRA_select_cons_tres_la_DEPENDENCIES = plugin/select/select.map

job_submit_logging_la_SOURCES = \
  plugin/job_submit/hints.cc \
  plugin/job_submit/hints.h \
  plugin/job_submit/hook.cc \
  plugin/job_submit/hook.h \
  plugin/job_submit/messages.cc \
  plugin/job_submit/messages.h \
  plugin/job_submit/plugin.cc \
  plugin/slurm/stock/log_writer.cc
job_submit_logging_la_CPPFLAGS = $(PLUGIN_CPPFLAGS)
job_submit_logging_la_CXXFLAGS = $(ENTRY_CXXFLAGS)
job_submit_logging_la_LDFLAGS = $(PLUGIN_LDFLAGS) -Wl,--version-script=$(top_srcdir)/plugin/job_submit/job_submit.map
job_submit_logging_la_LIBADD = $(PLUGIN_SLURM) $(LIB_CORE) $(LIB_LOG) $(SPDLOG_LIBS) $(FMT_LIBS) $(PLUGIN_BINDING)
EXTRA_job_submit_logging_la_DEPENDENCIES = plugin/job_submit/job_submit.map
endif

# plugin/spank/: what sbatch, salloc, srun and slurmstepd load. Sees Slurm's public headers only.
EXTRA_DIST += plugin/spank/spank.map
if HAVE_SPANK
rubatoplugin_LTLIBRARIES += spank_rubato.la
# All hosts load these two, so they link only libraries that every host has: own_fmt.cc stands for libfmt.
SPANK_LDFLAGS = -Wl,--as-needed
spank_rubato_la_SOURCES = \
  plugin/spank/allocator.cc \
  plugin/spank/carried.h \
  plugin/spank/client.cc \
  plugin/spank/client.h \
  plugin/spank/contexts.h \
  plugin/spank/forwarder_process.cc \
  plugin/spank/forwarder_process.h \
  plugin/spank/last_line.cc \
  plugin/spank/last_line.h \
  plugin/spank/local.cc \
  plugin/spank/own_fmt.cc \
  plugin/spank/plugin.cc \
  plugin/spank/remote.cc \
  plugin/spank/report_file.cc \
  plugin/spank/report_file.h \
  plugin/spank/spank_header.h
spank_rubato_la_CXXFLAGS = $(ENTRY_CXXFLAGS)
# Bound when it is loaded: a file that lacks something is then no plugin, and not the end of a step.
spank_rubato_la_LDFLAGS = $(PLUGIN_LDFLAGS) $(SPANK_LDFLAGS) -Wl,-z,now -Wl,--version-script=$(top_srcdir)/plugin/spank/spank.map
spank_rubato_la_LIBADD = $(LIB_HINTS) $(RUBATO_STATIC_RUNTIME)
EXTRA_spank_rubato_la_DEPENDENCIES = plugin/spank/spank.map

rubatoplugin_PROGRAMS += rubato_forwarder
rubato_forwarder_SOURCES = \
  plugin/spank/forwarder.cc \
  plugin/spank/last_line.cc \
  plugin/spank/last_line.h \
  plugin/spank/own_fmt.cc \
  plugin/spank/report_file.cc
rubato_forwarder_LDFLAGS = $(AM_LDFLAGS) $(SPANK_LDFLAGS)
rubato_forwarder_LDADD = $(LIB_HINTS) $(RUBATO_STATIC_RUNTIME)

# A program that its user cannot read is never traceable, not even before its first instruction.
# For automake rubatoplugindir is a folder of data: install-data-hook in test/targets.mk comes after it, and
# install-exec-hook before it.
PROTECT_FORWARDER = chmod 0711 '$(DESTDIR)$(rubatoplugindir)/rubato_forwarder'
install-forwarder: install-rubatopluginPROGRAMS
	@$(PROTECT_FORWARDER)
else
PROTECT_FORWARDER = :
endif
