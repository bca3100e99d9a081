# SPDX-License-Identifier: GPL-2.0-or-later
# What tests share: the GoogleTest main, the CUnit listener, the runner, the tally of results.
SUPPORT_TESTS = test/support/debian_root_test.py test/support/features_test.py test/support/headers_test.py \
  test/support/house_test.py test/support/package_scripts_test.py test/support/prose_test.py \
  test/support/quickstart_test.py test/support/rooms_test.py test/support/rpm_test.py test/support/symbols_test.py
EXTRA_DIST += $(SUPPORT_TESTS) test/support/spelling test/support/precompiled.h test/support/run-test \
  test/support/long-check test/support/tally \
  test/support/report_test.py test/support/tally_test.py test/skips

if HAVE_GTEST
check_LTLIBRARIES += test/support/libtestmain.la
test_support_libtestmain_la_SOURCES = \
  test/support/cunit_listener.cc \
  test/support/cunit_listener.h \
  test/support/main.cc
test_support_libtestmain_la_CPPFLAGS = $(TEST_CPPFLAGS)

check_PROGRAMS += test/support/listener_sample
test_support_listener_sample_SOURCES = test/support/listener_sample.cc
test_support_listener_sample_CPPFLAGS = $(TEST_CPPFLAGS)
test_support_listener_sample_LDADD = test/support/libtestmain.la $(GTEST_LIBS)

SUPPORT_TESTS += test/support/report_test.py test/support/tally_test.py
endif
TESTS += $(SUPPORT_TESTS)
