# SPDX-License-Identifier: GPL-2.0-or-later
# A target test/fuzz/fuzz_NAME.cc has the corpus test/fuzz/corpus/NAME/. Normal builds link a main
# that replays the corpus; --enable-fuzzing links libFuzzer, which replays and then searches.
FUZZ_TARGETS =
check_PROGRAMS += $(FUZZ_TARGETS)
TESTS += $(FUZZ_TARGETS)

if FUZZING
FUZZ_MAIN =
else
FUZZ_MAIN = test/fuzz/replay_main.cc
endif
FUZZ_LIBS = $(LIB_ALL) $(LIBRARY_LIBS) $(FUZZ_LINK_FLAGS)
EXTRA_DIST += test/fuzz/replay_main.cc

# For each target:
#   FUZZ_TARGETS += test/fuzz/fuzz_NAME
#   test_fuzz_fuzz_NAME_SOURCES = test/fuzz/fuzz_NAME.cc
#   nodist_test_fuzz_fuzz_NAME_SOURCES = $(FUZZ_MAIN)
#   test_fuzz_fuzz_NAME_LDADD = $(FUZZ_LIBS)
#   EXTRA_DIST += test/fuzz/corpus/NAME

FUZZ_TARGETS += test/fuzz/fuzz_config
test_fuzz_fuzz_config_SOURCES = test/fuzz/fuzz_config.cc
nodist_test_fuzz_fuzz_config_SOURCES = $(FUZZ_MAIN)
test_fuzz_fuzz_config_LDADD = $(FUZZ_LIBS)
EXTRA_DIST += test/fuzz/corpus/config

FUZZ_TARGETS += test/fuzz/fuzz_profiles
test_fuzz_fuzz_profiles_SOURCES = test/fuzz/fuzz_profiles.cc
nodist_test_fuzz_fuzz_profiles_SOURCES = $(FUZZ_MAIN)
test_fuzz_fuzz_profiles_LDADD = $(FUZZ_LIBS)
EXTRA_DIST += test/fuzz/corpus/profiles

FUZZ_TARGETS += test/fuzz/fuzz_snapshot
test_fuzz_fuzz_snapshot_SOURCES = test/fuzz/fuzz_snapshot.cc
nodist_test_fuzz_fuzz_snapshot_SOURCES = $(FUZZ_MAIN)
test_fuzz_fuzz_snapshot_LDADD = $(FUZZ_LIBS)
EXTRA_DIST += test/fuzz/corpus/snapshot

FUZZ_TARGETS += test/fuzz/fuzz_hints
test_fuzz_fuzz_hints_SOURCES = test/fuzz/fuzz_hints.cc
nodist_test_fuzz_fuzz_hints_SOURCES = $(FUZZ_MAIN)
test_fuzz_fuzz_hints_LDADD = $(FUZZ_LIBS)
EXTRA_DIST += test/fuzz/corpus/hints

FUZZ_TARGETS += test/fuzz/fuzz_format
test_fuzz_fuzz_format_SOURCES = test/fuzz/fuzz_format.cc
nodist_test_fuzz_fuzz_format_SOURCES = $(FUZZ_MAIN)
test_fuzz_fuzz_format_LDADD = tools/libtools.la $(FUZZ_LIBS)
EXTRA_DIST += test/fuzz/corpus/format

FUZZ_TARGETS += test/fuzz/fuzz_store
test_fuzz_fuzz_store_SOURCES = test/fuzz/fuzz_store.cc
nodist_test_fuzz_fuzz_store_SOURCES = $(FUZZ_MAIN)
test_fuzz_fuzz_store_LDADD = $(FUZZ_LIBS)
EXTRA_DIST += test/fuzz/corpus/store

FUZZ_TARGETS += test/fuzz/fuzz_workload
test_fuzz_fuzz_workload_SOURCES = test/fuzz/fuzz_workload.cc
nodist_test_fuzz_fuzz_workload_SOURCES = $(FUZZ_MAIN)
test_fuzz_fuzz_workload_LDADD = $(FUZZ_LIBS)
EXTRA_DIST += test/fuzz/corpus/workload

FUZZ_TARGETS += test/fuzz/fuzz_annotation
test_fuzz_fuzz_annotation_SOURCES = test/fuzz/fuzz_annotation.cc
nodist_test_fuzz_fuzz_annotation_SOURCES = $(FUZZ_MAIN)
test_fuzz_fuzz_annotation_LDADD = $(FUZZ_LIBS)
EXTRA_DIST += test/fuzz/corpus/annotation

FUZZ_TARGETS += test/fuzz/fuzz_published
test_fuzz_fuzz_published_SOURCES = test/fuzz/fuzz_published.cc
nodist_test_fuzz_fuzz_published_SOURCES = $(FUZZ_MAIN)
test_fuzz_fuzz_published_LDADD = $(FUZZ_LIBS)
EXTRA_DIST += test/fuzz/corpus/published

FUZZ_TARGETS += test/fuzz/fuzz_report_file
test_fuzz_fuzz_report_file_SOURCES = plugin/spank/last_line.cc plugin/spank/report_file.cc test/fuzz/fuzz_report_file.cc
nodist_test_fuzz_fuzz_report_file_SOURCES = $(FUZZ_MAIN)
test_fuzz_fuzz_report_file_LDADD = $(FUZZ_LIBS)
EXTRA_DIST += test/fuzz/corpus/report_file

# Searches with each target in turn, SECONDS each (300); ONLY=NAME for one. What is found, and the log, is in found/ of
# the build.
FUZZ_SECONDS = $(or $(SECONDS),300)
FUZZ_WANTED = $(if $(ONLY),$(addprefix test/fuzz/fuzz_,$(ONLY)),$(FUZZ_TARGETS))
.PHONY: fuzz
if FUZZING
fuzz: $(FUZZ_WANTED)
	@status=0; for target in $(FUZZ_WANTED); do \
	  name=$${target##*/fuzz_}; mkdir -p found/$$name; \
	  if $$target -max_total_time=$(FUZZ_SECONDS) -timeout=30 -rss_limit_mb=4096 -print_final_stats=1 \
	    -artifact_prefix=found/$$name- found/$$name $(top_srcdir)/test/fuzz/corpus/$$name >found/$$name.log 2>&1; \
	  then word=good; else word=FAILED; status=1; fi; \
	  runs=$$($(SED) -n 's/^stat::number_of_executed_units: *//p' found/$$name.log); \
	  echo "$$word $$name: $$runs executions in $(FUZZ_SECONDS) s; found/$$name.log"; \
	done; exit $$status
else
fuzz:
	@echo 'fuzz: configure the build with CXX=clang++ CC=clang --enable-fuzzing --enable-asan --enable-ubsan' >&2; exit 1
endif
