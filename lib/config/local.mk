# SPDX-License-Identifier: GPL-2.0-or-later
# lib/config/: rubato.conf: one table of options.
noinst_LTLIBRARIES += lib/librubato_config.la
lib_librubato_config_la_LIBADD = $(FMT_LIBS)
lib_librubato_config_la_SOURCES = \
  lib/config/config.cc \
  lib/config/config.h \
  lib/config/fault.h \
  lib/config/mechanism.h \
  lib/config/option_values.cc \
  lib/config/options.cc \
  lib/config/options.h \
  lib/config/parse.cc \
  lib/config/records.cc \
  lib/config/records.h \
  lib/config/render.cc \
  lib/config/render.h \
  lib/config/test_options.cc \
  lib/config/test_options.h \
  lib/config/values.cc \
  lib/config/values.h
