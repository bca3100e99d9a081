# SPDX-License-Identifier: GPL-2.0-or-later
# Measurements, never part of `make check`.
EXTRA_DIST += test/bench/actions test/bench/live test/bench/machine.py test/bench/messages \
  test/bench/submit_many.c
if HAVE_BENCHMARK
BENCH_TARGETS =
EXTRA_PROGRAMS += $(BENCH_TARGETS)
BENCH_LIBS = $(LIB_ALL) $(LIBRARY_LIBS) $(BENCHMARK_LIBS)

BENCH_TARGETS += test/bench/round_bench
test_bench_round_bench_SOURCES = \
  test/bench/round_bench.cc \
  test/support/big_snapshot.h \
  test/support/build_snapshot.h
test_bench_round_bench_LDADD = $(BENCH_LIBS)

BENCH_TARGETS += test/bench/choice_bench
test_bench_choice_bench_SOURCES = \
  test/bench/choice_bench.cc \
  test/support/drawn_assignment.h
test_bench_choice_bench_LDADD = $(BENCH_LIBS)

BENCH_TARGETS += test/bench/elastic_bench
test_bench_elastic_bench_SOURCES = test/bench/elastic_bench.cc
test_bench_elastic_bench_LDADD = $(BENCH_LIBS)

BENCH_TARGETS += test/bench/market_bench
test_bench_market_bench_SOURCES = test/bench/market_bench.cc
test_bench_market_bench_LDADD = $(BENCH_LIBS)

BENCH_TARGETS += test/bench/data_parallel_bench
test_bench_data_parallel_bench_SOURCES = test/bench/data_parallel_bench.cc
test_bench_data_parallel_bench_LDADD = $(BENCH_LIBS)

# A sweep of a constant, not a benchmark: docs/results/models.md.
EXTRA_PROGRAMS += test/bench/batch_sweep
test_bench_batch_sweep_SOURCES = test/bench/batch_sweep.cc
test_bench_batch_sweep_LDADD = $(LIB_ALL) $(LIBRARY_LIBS)

# The market against an enumeration, not a benchmark: docs/results/market.md.
EXTRA_PROGRAMS += test/bench/market_gap
test_bench_market_gap_SOURCES = \
  test/bench/market_gap.cc \
  test/support/small_market.h
test_bench_market_gap_LDADD = $(LIB_ALL) $(LIBRARY_LIBS)

BENCH_TARGETS += test/bench/hints_bench
test_bench_hints_bench_SOURCES = test/bench/hints_bench.cc
test_bench_hints_bench_LDADD = $(BENCH_LIBS)

BENCH_TARGETS += test/bench/plan_bench
test_bench_plan_bench_SOURCES = test/bench/plan_bench.cc
test_bench_plan_bench_LDADD = $(BENCH_LIBS)

BENCH_TARGETS += test/bench/predictor_bench
test_bench_predictor_bench_SOURCES = test/bench/predictor_bench.cc
test_bench_predictor_bench_LDADD = $(BENCH_LIBS)

BENCH_TARGETS += test/bench/simulate_bench
test_bench_simulate_bench_SOURCES = test/bench/simulate_bench.cc
test_bench_simulate_bench_LDADD = $(BENCH_LIBS)

BENCH_TARGETS += test/bench/step_time_bench
test_bench_step_time_bench_SOURCES = test/bench/step_time_bench.cc
test_bench_step_time_bench_LDADD = $(BENCH_LIBS)

BENCH_TARGETS += test/bench/store_bench
test_bench_store_bench_SOURCES = test/bench/store_bench.cc
test_bench_store_bench_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS)
test_bench_store_bench_LDADD = $(LIB_ALL) $(LIBRARY_LIBS) $(BENCHMARK_LIBS)

BENCH_WANTED = $(if $(ONLY),$(patsubst %,test/bench/%_bench,$(ONLY)),$(BENCH_TARGETS))
bench: $(BENCH_WANTED)
	@set -e; $(srcdir)/test/bench/machine.py; for program in $(BENCH_WANTED); do ./$$program; done
else
bench:
	@echo 'bench: configure found no Google Benchmark (libbenchmark-dev)' >&2; exit 1
endif
.PHONY: bench
