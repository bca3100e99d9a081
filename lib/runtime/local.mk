# SPDX-License-Identifier: GPL-2.0-or-later
# lib/runtime/: What runs beside the scheduling loop, without Slurm.
noinst_LTLIBRARIES += lib/librubato_runtime.la
lib_librubato_runtime_la_LIBADD = $(FMT_LIBS)
lib_librubato_runtime_la_SOURCES = \
  lib/runtime/audit_log.cc \
  lib/runtime/audit_log.h \
  lib/runtime/files.cc \
  lib/runtime/files.h \
  lib/runtime/message_queue.cc \
  lib/runtime/message_queue.h \
  lib/runtime/models_feed.cc \
  lib/runtime/models_feed.h \
  lib/runtime/models_feed_task.cc \
  lib/runtime/models_feed_task.h \
  lib/runtime/models_publisher.cc \
  lib/runtime/models_publisher.h \
  lib/runtime/pace.h \
  lib/runtime/pause.cc \
  lib/runtime/pause.h \
  lib/runtime/publisher.cc \
  lib/runtime/publisher.h \
  lib/runtime/recorder.cc \
  lib/runtime/recorder.h \
  lib/runtime/recorder_notes.cc \
  lib/runtime/restart_record.cc \
  lib/runtime/restart_record.h \
  lib/runtime/round_size.cc \
  lib/runtime/round_size.h \
  lib/runtime/run_log.cc \
  lib/runtime/run_log.h \
  lib/runtime/running_jobs.cc \
  lib/runtime/running_jobs.h \
  lib/runtime/start_history.cc \
  lib/runtime/start_history.h \
  lib/runtime/throughput_log.cc \
  lib/runtime/throughput_log.h \
  lib/runtime/user_names.cc \
  lib/runtime/user_names.h \
  lib/runtime/waiting_messages.cc \
  lib/runtime/waiting_messages.h
