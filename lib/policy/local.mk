# SPDX-License-Identifier: GPL-2.0-or-later
# lib/policy/: round() and its stages.
noinst_LTLIBRARIES += lib/librubato_policy.la
lib_librubato_policy_la_LIBADD = $(FMT_LIBS)
lib_librubato_policy_la_SOURCES = \
  lib/policy/algorithms/assign.cc \
  lib/policy/algorithms/assign.h \
  lib/policy/algorithms/capacity.cc \
  lib/policy/algorithms/capacity.h \
  lib/policy/algorithms/choose.cc \
  lib/policy/algorithms/choose.h \
  lib/policy/algorithms/demand.cc \
  lib/policy/algorithms/demand.h \
  lib/policy/algorithms/entry_outcome.h \
  lib/policy/algorithms/explainer.cc \
  lib/policy/algorithms/explainer.h \
  lib/policy/algorithms/explainer_forecast.cc \
  lib/policy/algorithms/forecast.cc \
  lib/policy/algorithms/forecast.h \
  lib/policy/algorithms/job_forecast.cc \
  lib/policy/algorithms/job_forecast.h \
  lib/policy/algorithms/job_history.cc \
  lib/policy/algorithms/job_history.h \
  lib/policy/algorithms/levels.cc \
  lib/policy/algorithms/levels.h \
  lib/policy/algorithms/load.cc \
  lib/policy/algorithms/load.h \
  lib/policy/algorithms/match.cc \
  lib/policy/algorithms/match.h \
  lib/policy/algorithms/need.cc \
  lib/policy/algorithms/need.h \
  lib/policy/algorithms/pending_queue.cc \
  lib/policy/algorithms/pending_queue.h \
  lib/policy/algorithms/placer.cc \
  lib/policy/algorithms/placer.h \
  lib/policy/algorithms/placer_failure.cc \
  lib/policy/algorithms/pools.cc \
  lib/policy/algorithms/pools.h \
  lib/policy/algorithms/reservation_table.cc \
  lib/policy/algorithms/reservation_table.h \
  lib/policy/algorithms/reserver.cc \
  lib/policy/algorithms/reserver.h \
  lib/policy/algorithms/service.cc \
  lib/policy/algorithms/service.h \
  lib/policy/algorithms/size.cc \
  lib/policy/algorithms/size.h \
  lib/policy/algorithms/start_time_search.cc \
  lib/policy/algorithms/start_time_search.h \
  lib/policy/algorithms/type_choice.cc \
  lib/policy/algorithms/type_choice.h \
  lib/policy/budget.cc \
  lib/policy/budget.h \
  lib/policy/place.cc \
  lib/policy/place.h \
  lib/policy/prioritise.cc \
  lib/policy/prioritise.h \
  lib/policy/reserve.cc \
  lib/policy/round.cc \
  lib/policy/round.h
