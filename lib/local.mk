# SPDX-License-Identifier: GPL-2.0-or-later
# librubato: no Slurm header below lib/. Headers are listed too, for the distribution.
noinst_LTLIBRARIES += lib/librubato.la
lib_librubato_la_SOURCES =
lib_librubato_la_LIBADD = $(LIBRARY_LIBS)

# lib/: round
lib_librubato_la_SOURCES += \
  lib/round.cc \
  lib/round.h

# lib/core/: the nouns
lib_librubato_la_SOURCES += \
  lib/core/enums.cc \
  lib/core/error.h \
  lib/core/fingerprint.cc \
  lib/core/job.h \
  lib/core/json.h \
  lib/core/json_read.cc \
  lib/core/json_reader.cc \
  lib/core/json_reader.h \
  lib/core/json_write.cc \
  lib/core/json_writer.cc \
  lib/core/json_writer.h \
  lib/core/node.cc \
  lib/core/node.h \
  lib/core/plan.h \
  lib/core/snapshot.h \
  lib/core/text.cc \
  lib/core/text.h \
  lib/core/units.h \
  lib/core/version.cc \
  lib/core/version.h

# lib/config/: rubato.conf
lib_librubato_la_SOURCES += \
  lib/config/config.cc \
  lib/config/config.h \
  lib/config/file_system.cc \
  lib/config/file_system.h \
  lib/config/lex.cc \
  lib/config/lex.h \
  lib/config/nearest.cc \
  lib/config/nearest.h \
  lib/config/option_values.cc \
  lib/config/options.cc \
  lib/config/options.h \
  lib/config/parse.cc \
  lib/config/render.cc \
  lib/config/render.h \
  lib/config/values.cc \
  lib/config/values.h

# `make config-docs` writes man page and example anew after a change of the table of options.
EXTRA_PROGRAMS += lib/config/config_docs
lib_config_config_docs_SOURCES = lib/config/config_docs.cc
lib_config_config_docs_LDADD = lib/librubato.la $(LIBRARY_LIBS)
CLEANFILES += lib/config/config_docs$(EXEEXT)

.PHONY: config-docs
config-docs: lib/config/config_docs$(EXEEXT)
	lib/config/config_docs man > $(srcdir)/docs/man/rubato.conf.5
	lib/config/config_docs example > $(srcdir)/configs/rubato.conf.example

# lib/model/: speed of a job type
lib_librubato_la_SOURCES += \
  lib/model/models.cc \
  lib/model/models.h

# lib/policy/: the stages of a round
lib_librubato_la_SOURCES += \
  lib/policy/book.cc \
  lib/policy/book.h \
  lib/policy/budget.cc \
  lib/policy/budget.h \
  lib/policy/capacity.cc \
  lib/policy/capacity.h \
  lib/policy/choose.cc \
  lib/policy/choose.h \
  lib/policy/context.cc \
  lib/policy/context.h \
  lib/policy/demand.cc \
  lib/policy/demand.h \
  lib/policy/explain.cc \
  lib/policy/explain.h \
  lib/policy/history.cc \
  lib/policy/history.h \
  lib/policy/outcome.h \
  lib/policy/place.cc \
  lib/policy/place.h \
  lib/policy/predict.cc \
  lib/policy/predict.h \
  lib/policy/prioritise.cc \
  lib/policy/prioritise.h \
  lib/policy/reserve.cc \
  lib/policy/reserve.h \
  lib/policy/size.cc \
  lib/policy/size.h \
  lib/policy/standing.cc \
  lib/policy/sweep.cc \
  lib/policy/sweep.h \
  lib/policy/walk.cc \
  lib/policy/walk.h

# lib/report/: what people read
lib_librubato_la_SOURCES +=
