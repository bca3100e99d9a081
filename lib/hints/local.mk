# SPDX-License-Identifier: GPL-2.0-or-later
# lib/hints/: What jobs say. The SPANK plugin, which every sbatch and srun loads, needs no more than this and base/.
noinst_LTLIBRARIES += lib/librubato_hints.la
lib_librubato_hints_la_LIBADD = $(FMT_LIBS)
lib_librubato_hints_la_SOURCES = \
  lib/hints/comment.cc \
  lib/hints/comment.h \
  lib/hints/facts.cc \
  lib/hints/facts.h \
  lib/hints/gpu_sizes.cc \
  lib/hints/hints.cc \
  lib/hints/hints.h \
  lib/hints/message.cc \
  lib/hints/message.h \
  lib/hints/numbers.cc \
  lib/hints/numbers.h \
  lib/hints/passed.cc \
  lib/hints/passed.h \
  lib/hints/read.cc \
  lib/hints/read.h \
  lib/hints/render.cc \
  lib/hints/render.h \
  lib/hints/request.h \
  lib/hints/resolve.cc \
  lib/hints/rules.h \
  lib/hints/rules_change.cc \
  lib/hints/rules_place.cc \
  lib/hints/rules_size.cc \
  lib/hints/signals.cc \
  lib/hints/signals.h \
  lib/hints/statements.cc \
  lib/hints/statements.h \
  lib/hints/table.cc \
  lib/hints/table.h \
  lib/hints/task_variables.h \
  lib/hints/types.h \
  lib/hints/values.cc \
  lib/hints/values.h \
  lib/hints/warnings.cc \
  lib/hints/warnings.h \
  lib/hints/wrong_hints.cc \
  lib/hints/wrong_hints.h
