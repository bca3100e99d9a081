# SPDX-License-Identifier: GPL-2.0-or-later
# lib/validate/: Models against published measurements.
noinst_LTLIBRARIES += lib/librubato_validate.la
lib_librubato_validate_la_LIBADD = $(FMT_LIBS)
lib_librubato_validate_la_SOURCES = \
  lib/validate/data_gavel.cc \
  lib/validate/data_gavel.h \
  lib/validate/data_rubick.cc \
  lib/validate/data_rubick.h \
  lib/validate/data_sia.cc \
  lib/validate/data_sia.h \
  lib/validate/left_out_gavel.cc \
  lib/validate/left_out_gavel.h \
  lib/validate/step_errors.h \
  lib/validate/validate.h \
  lib/validate/validate_bert.cc \
  lib/validate/validate_bert.h \
  lib/validate/validate_gavel.cc \
  lib/validate/validate_gavel.h \
  lib/validate/validate_left_out.cc \
  lib/validate/validate_left_out.h \
  lib/validate/validate_rubick_split.cc \
  lib/validate/validate_rubick.cc \
  lib/validate/validate_rubick.h \
  lib/validate/validate_rubick_cells.cc \
  lib/validate/validate_rubick_cells.h \
  lib/validate/validate_sia.cc \
  lib/validate/validate_sia.h
