# SPDX-License-Identifier: GPL-2.0-or-later
# lib/policy/: round() and its stages.
noinst_LTLIBRARIES += lib/librubato_policy.la
lib_librubato_policy_la_LIBADD = $(FMT_LIBS)
lib_librubato_policy_la_SOURCES = \
  lib/policy/assign.cc \
  lib/policy/assign.h \
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
  lib/policy/entry_outcome.h \
  lib/policy/existing_reservations.cc \
  lib/policy/explain.cc \
  lib/policy/explain.h \
  lib/policy/explain_forecast.cc \
  lib/policy/forecast.cc \
  lib/policy/forecast.h \
  lib/policy/history.cc \
  lib/policy/history.h \
  lib/policy/levels.cc \
  lib/policy/levels.h \
  lib/policy/load.cc \
  lib/policy/load.h \
  lib/policy/match.cc \
  lib/policy/match.h \
  lib/policy/need.cc \
  lib/policy/need.h \
  lib/policy/place.cc \
  lib/policy/place.h \
  lib/policy/place_failure.cc \
  lib/policy/pools.cc \
  lib/policy/pools.h \
  lib/policy/predict.cc \
  lib/policy/predict.h \
  lib/policy/prioritise.cc \
  lib/policy/prioritise.h \
  lib/policy/reservation_table.cc \
  lib/policy/reservation_table.h \
  lib/policy/reserve.cc \
  lib/policy/reserve.h \
  lib/policy/round.cc \
  lib/policy/round.h \
  lib/policy/scheduling_pass.cc \
  lib/policy/scheduling_pass.h \
  lib/policy/service.cc \
  lib/policy/service.h \
  lib/policy/size.cc \
  lib/policy/size.h \
  lib/policy/start_time_search.cc \
  lib/policy/start_time_search.h \
  lib/policy/type_choice.cc \
  lib/policy/type_choice.h
