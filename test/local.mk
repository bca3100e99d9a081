# SPDX-License-Identifier: GPL-2.0-or-later
# `make check` runs the programs of TESTS and the *_test.py files through test/support/run-test,
# which leaves one result file a test in results/. A folder adds its part in its own local.mk.
TEST_CPPFLAGS = $(AM_CPPFLAGS) $(GTEST_CFLAGS) -DRUBATO_SOURCE_DIR='"$(abs_top_srcdir)"'
TEST_LIBS = test/support/libtestmain.la $(LIB_ALL) $(LIBRARY_LIBS) $(GTEST_LIBS)

TEST_EXTENSIONS = .py
AM_TESTS_ENVIRONMENT = PYTHONDONTWRITEBYTECODE=1 RUBATO_SOURCE_DIR='$(abs_top_srcdir)' RUBATO_BUILD_DIR='$(abs_top_builddir)' \
  RUBATO_RESULTS='$(abs_top_builddir)/results' PYTHON='$(PYTHON)'; \
  RC_PARAMS="$${RC_PARAMS-seed=1}"; \
  export PYTHONDONTWRITEBYTECODE RUBATO_SOURCE_DIR RUBATO_BUILD_DIR RUBATO_RESULTS PYTHON RC_PARAMS;
LOG_COMPILER = $(top_srcdir)/test/support/run-test
PY_LOG_COMPILER = $(top_srcdir)/test/support/run-test

include $(top_srcdir)/test/support/local.mk
include $(top_srcdir)/test/unit/local.mk
include $(top_srcdir)/test/sim/local.mk
include $(top_srcdir)/test/property/local.mk
include $(top_srcdir)/test/fault/local.mk
include $(top_srcdir)/test/store/local.mk
include $(top_srcdir)/test/spank/local.mk
include $(top_srcdir)/test/python/local.mk
include $(top_srcdir)/test/golden/local.mk
include $(top_srcdir)/test/fuzz/local.mk
include $(top_srcdir)/test/bench/local.mk
include $(top_srcdir)/test/cluster/local.mk
