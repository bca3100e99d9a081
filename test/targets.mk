# SPDX-License-Identifier: GPL-2.0-or-later
# Targets beside `all` and `check`; HACKING.md says what each is for.
RESULTS = $(abs_top_builddir)/results
STAGE = $(abs_top_builddir)/stage
SOURCE_FILES = find $(top_srcdir)/lib $(top_srcdir)/plugin $(top_srcdir)/tools $(top_srcdir)/test \
  \( -name '*.cc' -o -name '*.h' \)

# The programs and plugins that `make install` would install, below stage/ whatever the prefix is: for cluster and demo.
stage: all
	@$(MAKE) --no-print-directory -s $(STAGE_TARGETS) install-pkglibexecPROGRAMS prefix='$(STAGE)' exec_prefix='$(STAGE)' \
	  bindir='$(STAGE)/bin' libdir='$(STAGE)/lib' pkglibexecdir='$(STAGE)/libexec/rubato' \
	  rubatoplugindir='$(STAGE)/lib/rubato/slurm-$(or $(SLURM_VERSION),$(SPANK_SLURM_VERSION))' >/dev/null
	@rm -f '$(STAGE)'/lib/rubato/slurm-*/*.la

# What a cluster needs: the plugins, rubato and rqueue; no simulator and no tests.
CLUSTER_FILES = bin/rubato bin/rqueue $(rubatoplugin_LTLIBRARIES) $(rubatoplugin_PROGRAMS)
programs: $(BUILT_SOURCES)
	@$(MAKE) --no-print-directory $(CLUSTER_FILES)
install-programs: programs
	@$(MAKE) --no-print-directory -s $(STAGE_TARGETS) >/dev/null
	@cd '$(DESTDIR)$(rubatoplugindir)' 2>/dev/null && rm -f $(rubatoplugin_LTLIBRARIES) || :

STAGE_TARGETS = install-binPROGRAMS install-rubatopluginLTLIBRARIES install-rubatopluginPROGRAMS
if HAVE_SPANK
STAGE_TARGETS += install-forwarder
endif

if BUILD_PLUGINS

check-cluster: stage test/cluster/fault_injector.la
	@mkdir -p '$(RESULTS)'
	RUBATO_BUILD_DIR='$(abs_top_builddir)' $(top_srcdir)/test/cluster/run \
	  --plugins '$(STAGE)/lib/rubato/slurm-$(SLURM_VERSION)' --json '$(RESULTS)/cluster.json' \
	  $(addprefix --only ,$(ONLY)) $(addprefix --seed ,$(SEED)) $(addprefix --parallel ,$(PARALLEL)) \
	  $(addprefix --repeat ,$(REPEAT)) $(addprefix --tier ,$(TIER)) $(if $(filter no,$(NEGATIVE)),--no-negative)

symbols-check: $(rubatoplugin_LTLIBRARIES)
	$(AM_TESTS_ENVIRONMENT) $(PYTHON) $(top_srcdir)/test/support/symbols_test.py
else
check-cluster symbols-check:
	@echo '$@: there are no plugins in this build; configure it --with-slurm-source' >&2; exit 1
endif

# tally fails for each result file that results/expected names and that is not there.
check-local:
	@mkdir -p '$(RESULTS)'
	@printf '%s\n' $(addsuffix .json,$(subst /,-,$(basename $(TESTS)))) >'$(RESULTS)/expected'

# All of TESTS from nothing, and the tally. A test that does not build or run is one that failed. Test programs
# may have flags that compile faster: nobody waits for them to run.
check-all: all
	@rm -rf '$(RESULTS)'
	-@$(MAKE) --no-print-directory -k $(PRECOMPILED_TEST_FILES) $(check_LTLIBRARIES) $(check_PROGRAMS) CXXFLAGS='$(TEST_CXXFLAGS)'
	-@$(MAKE) --no-print-directory -k check-local check-TESTS
	@$(MAKE) --no-print-directory tally

# Counts the results that the last check, check-all and check-cluster left.
tally:
	@$(PYTHON) $(top_srcdir)/test/support/tally --skips $(top_srcdir)/test/skips '$(RESULTS)'

format-check:
	$(SOURCE_FILES) -print0 | xargs -0 $(CLANG_FORMAT) --dry-run -Werror

format:
	$(SOURCE_FILES) -print0 | xargs -0 $(CLANG_FORMAT) -i

# ONLY='lib/policy/round.cc ...' for some files only. With C++20 clang-tidy 14 stops at "..."fmt, which two of Slurm's
# headers have: it reads copies with a blank between.
TIDY_COPIES = $(abs_top_builddir)/tidy-copies
TIDY_FOLDERS = lib tools
if BUILD_PLUGINS
TIDY_FOLDERS += plugin
endif
tidy:
	@if test -n '$(SLURM_SOURCE)'; then mkdir -p '$(TIDY_COPIES)/src/common'; for file in log.h slurm_protocol_defs.h; do \
	  $(SED) 's/ "fmt,/ " fmt,/' "$(SLURM_SOURCE)/src/common/$$file" >"$(TIDY_COPIES)/src/common/$$file"; done; fi
	@cd $(top_srcdir) && status=0; for file in $(or $(ONLY),$$(find $(TIDY_FOLDERS) -name '*.cc' | sort)); do \
	  echo "  TIDY     $$file"; \
	  $(CLANG_TIDY) --quiet --warnings-as-errors='*' $$file -- -std=c++20 -I$(abs_top_builddir) -I. \
	    $(if $(SLURM_SOURCE),-isystem $(TIDY_COPIES) -isystem $(SLURM_SOURCE)) $(LIBRARY_CFLAGS) \
	    -DHAVE_CONFIG_H -DRUBATO_PLUGIN_DIR='"/"' \
	    -DRUBATO_SLURM_RELEASE='"$(SLURM_VERSION)"' -DRUBATO_RELEASE='"$(VERSION)"' || status=1; \
	done; exit $$status

# Clang's thread-safety analysis of the folders whose fields say which mutex guards them. plugin/sched needs Slurm's source.
THREAD_SAFETY_FOLDERS = lib/base lib/runtime lib/store
if BUILD_PLUGINS
THREAD_SAFETY_FOLDERS += plugin/sched
endif
thread-safety-check:
	@cd $(top_srcdir) && status=0; for file in $$(find $(THREAD_SAFETY_FOLDERS) -name '*.cc' | sort); do \
	  $(or $(CLANGXX),clang++) -std=c++20 -fsyntax-only -Wthread-safety -Werror=thread-safety \
	    -I$(abs_top_builddir) -I. $(if $(SLURM_SOURCE),-isystem $(SLURM_SOURCE)) $(LIBRARY_CFLAGS) $$file || status=1; \
	done; exit $$status

# Each header alone, without the precompiled header: 350 compilations.
check-headers:
	RUBATO_ALL_HEADERS=1 $(AM_TESTS_ENVIRONMENT) $(PYTHON) $(top_srcdir)/test/support/headers_test.py

# Too long for `check`; each leaves results/long-NAME.md with date, commit, machine and the outcome.
check-asan check-tsan check-seeds check-memcheck:
	@FLAGS='$(FLAGS)' SEED='$(SEED)' SEEDS='$(SEEDS)' ONLY='$(ONLY)' SLURM_SOURCE='$(SLURM_SOURCE)' JOBS='$(or $(JOBS),2)' $(top_srcdir)/test/support/long-check $(@:check-%=%)

# A change of structure or wording must leave every figure of the simulator: two builds compared.
check-figures: bin/rubato bin/rubato-simulate
	@test -n '$(BEFORE)' || { echo 'check-figures: BEFORE=FILE is missing: a rubato of another build, or its recorded figures' >&2; exit 2; }
	$(top_srcdir)/test/sim/same_figures '$(BEFORE)' bin/rubato

# The table of all suites and policies: hours; finished cells stay in the file.
full-table: bin/rubato bin/rubato-simulate
	@$(top_srcdir)/test/sim/full_table --cells '$(or $(CELLS),cells.jsonl)' --jobs '$(or $(JOBS),2)'

# The HTML pages in a browser. Nothing else needs one, so that quickstart installs none.
check-pages: bin/rubato bin/rubato-simulate
	@mkdir -p '$(RESULTS)' $(SHOTS)
	@$(AM_TESTS_ENVIRONMENT) RUBATO_SHOTS='$(SHOTS)' $(PY_LOG_COMPILER) $(top_srcdir)/test/golden/pages_in_browser_test.py

# Two definitions of one qualified name are an error that only the linker can see.
check-odr:
	@SLURM_SOURCE='$(SLURM_SOURCE)' JOBS='$(or $(JOBS),2)' $(top_srcdir)/test/support/long-check odr

shellcheck:
	@command -v shellcheck >/dev/null || { echo 'shellcheck: not installed' >&2; exit 1; }
	cd $(top_srcdir) && find .ci autogen.sh contrib test/support test/bench test/cluster -type f -exec \
	  awk 'FNR == 1 && /^#!\/bin\/(ba)?sh/ { print FILENAME } { nextfile }' {} + | xargs shellcheck

help:
	@cat $(top_srcdir)/test/targets.txt

if CODE_COVERAGE
coverage: check
	find lib -name '*.gcno' -print0 | xargs -0 gcov -n -r -s $(abs_top_srcdir) 2>/dev/null \
	  | $(SED) -n "/^File 'lib/{N;s/^File '\(.*\)'\nLines executed:\(.*\)/\2 \1/p}" | sort -u -k3
else
coverage:
	@echo 'coverage: configure the build with --enable-code-coverage' >&2; exit 1
endif

mostlyclean-local:
	rm -rf results

# libtool's .la files serve linking; plugins are opened by name. Without them `make uninstall` has to
# remove the plugins itself.
install-data-hook:
	cd '$(DESTDIR)$(rubatoplugindir)' 2>/dev/null && rm -f $(rubatoplugin_LTLIBRARIES) || :
	$(PROTECT_FORWARDER)

uninstall-hook:
	cd '$(DESTDIR)$(rubatoplugindir)' 2>/dev/null && rm -f $(rubatoplugin_LTLIBRARIES:.la=.so) || :

distclean-local:
	rm -rf stage tidy-copies

.PHONY: help shellcheck check-headers check-figures check-pages full-table check-odr check-asan check-tsan check-seeds check-memcheck
.PHONY: programs install-programs stage check-cluster symbols-check check-all tally format format-check tidy thread-safety-check coverage
EXTRA_DIST += test/targets.txt
