# SPDX-License-Identifier: GPL-2.0-or-later
if HAVE_GTEST
if HAVE_RAPIDCHECK
check_PROGRAMS += test/property/property_tests
TESTS += test/property/property_tests
test_property_property_tests_CPPFLAGS = $(TEST_CPPFLAGS)
test_property_property_tests_LDADD = $(TEST_LIBS) $(RAPIDCHECK_LIBS)
test_property_property_tests_SOURCES = \
  test/property/config_property_test.cc
endif
endif
