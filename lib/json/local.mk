# SPDX-License-Identifier: GPL-2.0-or-later
# lib/json/: Every document that leaves the process.
noinst_LTLIBRARIES += lib/librubato_json.la
lib_librubato_json_la_LIBADD = $(FMT_LIBS)
lib_librubato_json_la_SOURCES = \
  lib/json/annotation.cc \
  lib/json/annotation.h \
  lib/json/braced_text.cc \
  lib/json/braced_text.h \
  lib/json/column_visitor.h \
  lib/json/decisions.cc \
  lib/json/decisions.h \
  lib/json/decisions_records.h \
  lib/json/fit_summary_records.h \
  lib/json/forecasts.cc \
  lib/json/forecasts.h \
  lib/json/hints_json.cc \
  lib/json/job_annotation.cc \
  lib/json/job_annotation.h \
  lib/json/job_summary.cc \
  lib/json/job_summary.h \
  lib/json/json.h \
  lib/json/json_documents.cc \
  lib/json/json_documents.h \
  lib/json/json_hints.cc \
  lib/json/json_hints.h \
  lib/json/json_read.cc \
  lib/json/json_tree.h \
  lib/json/json_write.cc \
  lib/json/models_fit.cc \
  lib/json/models_fit.h \
  lib/json/memory_records.h \
  lib/json/models_fit_records.h \
  lib/json/models_table.cc \
  lib/json/models_table.h \
  lib/json/models_table_records.h \
  lib/json/notice.cc \
  lib/json/notice.h \
  lib/json/period.cc \
  lib/json/period.h \
  lib/json/period_records.h \
  lib/json/public_view.cc \
  lib/json/public_view.h \
  lib/json/record_checks.h \
  lib/json/record_description.h \
  lib/json/record_reader.h \
  lib/json/record_writer.h \
  lib/json/records.h \
  lib/json/statistics_table.cc \
  lib/json/statistics_table.h \
  lib/json/task_env.cc \
  lib/json/task_env.h
