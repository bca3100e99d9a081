# SPDX-License-Identifier: GPL-2.0-or-later
# lib/core/: The nouns: node, job, snapshot, plan, memory.
noinst_LTLIBRARIES += lib/librubato_core.la
lib_librubato_core_la_LIBADD = $(FMT_LIBS)
lib_librubato_core_la_SOURCES = \
  lib/core/enums.cc \
  lib/core/job.h \
  lib/core/node.cc \
  lib/core/node.h \
  lib/core/plan.h \
  lib/core/progress_history.h \
  lib/core/resize_request.cc \
  lib/core/resize_request.h \
  lib/core/snapshot.cc \
  lib/core/snapshot.h
