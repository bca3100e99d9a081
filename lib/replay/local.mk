# SPDX-License-Identifier: GPL-2.0-or-later
# lib/replay/: A site's history played through round().
noinst_LTLIBRARIES += lib/librubato_replay.la
lib_librubato_replay_la_LIBADD = $(FMT_LIBS)
lib_librubato_replay_la_SOURCES = \
  lib/replay/counterfactual.cc \
  lib/replay/counterfactual.h \
  lib/replay/counterfactual_records.h \
  lib/replay/simulate.cc \
  lib/replay/simulate.h \
  lib/replay/whatif.cc \
  lib/replay/whatif.h
