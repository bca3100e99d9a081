# SPDX-License-Identifier: GPL-2.0-or-later
# lib/store/: SQLite. Only what opens a store links it: slurmd and slurmstepd load the select plugin too.
noinst_LTLIBRARIES += lib/librubato_store.la
lib_librubato_store_la_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS)
lib_librubato_store_la_LIBADD = -lSQLiteCpp $(SQLITE_LIBS) $(FMT_LIBS)
lib_librubato_store_la_SOURCES = \
  lib/store/apply.cc \
  lib/store/apply.h \
  lib/store/backup.cc \
  lib/store/backup.h \
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
  lib/store/run_text.cc \
  lib/store/run_text.h \
  lib/store/salvage.cc \
  lib/store/salvage.h \
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
