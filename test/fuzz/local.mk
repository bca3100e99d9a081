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
FUZZ_LIBS = lib/librubato.la $(LIBRARY_LIBS) $(FUZZ_LINK_FLAGS)
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
test_fuzz_fuzz_profiles_LDADD = lib/librubato_store.la $(FUZZ_LIBS)
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
