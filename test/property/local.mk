# SPDX-License-Identifier: GPL-2.0-or-later
if HAVE_GTEST
if HAVE_RAPIDCHECK
check_PROGRAMS += test/property/property_tests
TESTS += test/property/property_tests
test_property_property_tests_CPPFLAGS = $(TEST_CPPFLAGS)
test_property_property_tests_CXXFLAGS = $(TEST_BASE_CXXFLAGS)
test_property_property_tests_LDADD = $(TEST_LIBS) $(RAPIDCHECK_LIBS)
test_property_property_tests_SOURCES = \
  test/property/change_bounds_property_test.cc \
  test/property/config_property_test.cc \
  test/property/data_parallel_property_test.cc \
  test/property/hints_property_test.cc \
  test/property/market_property_test.cc \
  test/property/models_fit_property_test.cc \
  test/property/place_property_test.cc \
  test/property/plan_property_test.cc \
  test/property/predictor_property_test.cc \
  test/property/resize_property_test.cc \
  test/property/round_property_test.cc \
  test/property/annotation_property_test.cc \
  test/property/simulate_property_test.cc \
  test/property/trade_property_test.cc \
  test/support/build_snapshot.h \
  test/support/gen_elastic.h \
  test/support/gen_snapshot.h \
  test/support/plan_checks.cc \
  test/support/plan_checks.h \
  test/support/small_market.h
endif
endif

if HAVE_GTEST
if HAVE_RAPIDCHECK
check_PROGRAMS += test/property/tools_property_tests
TESTS += test/property/tools_property_tests
test_property_tools_property_tests_CPPFLAGS = $(TEST_CPPFLAGS)
test_property_tools_property_tests_CXXFLAGS = $(TEST_BASE_CXXFLAGS)
test_property_tools_property_tests_LDADD = tools/libtools.la $(TEST_LIBS) $(RAPIDCHECK_LIBS)
test_property_tools_property_tests_SOURCES = test/property/tools_property_test.cc
endif
endif
