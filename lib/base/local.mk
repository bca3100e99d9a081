# SPDX-License-Identifier: GPL-2.0-or-later
# lib/base/: Text, files, JSON, CSV, log: what every room uses.
noinst_LTLIBRARIES += lib/librubato_base.la
lib_librubato_base_la_LIBADD = $(FMT_LIBS) $(XXHASH_LIBS)
lib_librubato_base_la_SOURCES = \
  lib/base/atomic_file.cc \
  lib/base/atomic_file.h \
  lib/base/background_thread.cc \
  lib/base/background_thread.h \
  lib/base/background_worker.h \
  lib/base/clock.h \
  lib/base/csv.cc \
  lib/base/csv.h \
  lib/base/error.h \
  lib/base/folder_trust.cc \
  lib/base/folder_trust.h \
  lib/base/file_system.cc \
  lib/base/file_system.h \
  lib/base/fingerprint.cc \
  lib/base/fingerprint.h \
  lib/base/hash.cc \
  lib/base/hash.h \
  lib/base/index.h \
  lib/base/json_reader.cc \
  lib/base/json_reader.h \
  lib/base/json_value.cc \
  lib/base/json_value.h \
  lib/base/json_writer.cc \
  lib/base/json_writer.h \
  lib/base/lex.cc \
  lib/base/lex.h \
  lib/base/mutex.h \
  lib/base/nearest.cc \
  lib/base/nearest.h \
  lib/base/precompiled.h \
  lib/base/prose.cc \
  lib/base/prose.h \
  lib/base/statistics.cc \
  lib/base/statistics.h \
  lib/base/text.cc \
  lib/base/text.h \
  lib/base/thread.cc \
  lib/base/thread.h \
  lib/base/thread_annotations.h \
  lib/base/units.h \
  lib/base/version.cc \
  lib/base/version.h

noinst_LTLIBRARIES += lib/librubato_log.la
lib_librubato_log_la_LIBADD = $(FMT_LIBS) $(SPDLOG_LIBS)
lib_librubato_log_la_SOURCES = lib/base/log.cc lib/base/log.h
