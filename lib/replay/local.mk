# SPDX-License-Identifier: GPL-2.0-or-later
# lib/replay/: A site's history played through round().
noinst_LTLIBRARIES += lib/librubato_replay.la
lib_librubato_replay_la_LIBADD = $(FMT_LIBS)
lib_librubato_replay_la_SOURCES = \
  lib/replay/gain.cc \
  lib/replay/gain.h \
  lib/replay/simulate.cc \
  lib/replay/simulate.h
