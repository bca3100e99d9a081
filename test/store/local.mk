# SPDX-License-Identifier: GPL-2.0-or-later
# The store on real SQLite, with a file layer that goes wrong (fault_vfs.cc).
STORE_TEST_LIBS = test/support/libtestmain.la $(LIB_ALL) $(LIBRARY_LIBS) $(GTEST_LIBS)
STORE_SUPPORT = \
  test/store/fault_vfs.cc \
  test/store/fault_vfs.h \
  test/store/store_support.cc \
  test/store/store_support.h
KEPT_ENTRIES = \
  test/store/kept_content.h \
  test/store/kept_entries.cc

# A database of every schema version that was ever written. `make keep-database` adds that of a new one.
EXTRA_DIST += test/store/schema-1.db test/store/schema-2.db test/store/schema-3.db

if HAVE_GTEST
check_PROGRAMS += test/store/store_tests
TESTS += test/store/store_tests
test_store_store_tests_CPPFLAGS = $(TEST_CPPFLAGS) $(SQLITE_CFLAGS)
test_store_store_tests_CXXFLAGS = $(TEST_BASE_CXXFLAGS)
test_store_store_tests_LDADD = $(STORE_TEST_LIBS)
test_store_store_tests_SOURCES = $(STORE_SUPPORT) $(KEPT_ENTRIES) \
  test/store/fault_test.cc \
  test/store/kept_content.cc \
  test/store/lock_file_test.cc \
  test/store/orders_test.cc \
  test/store/plausibility_test.cc \
  test/store/schema_test.cc \
  test/store/session_test.cc \
  test/store/store_test.cc \
  test/store/summary_test.cc

if HAVE_RAPIDCHECK
check_PROGRAMS += test/store/store_property_tests
TESTS += test/store/store_property_tests
test_store_store_property_tests_CPPFLAGS = $(TEST_CPPFLAGS) $(SQLITE_CFLAGS)
test_store_store_property_tests_CXXFLAGS = $(TEST_BASE_CXXFLAGS)
test_store_store_property_tests_LDADD = $(STORE_TEST_LIBS) $(RAPIDCHECK_LIBS)
test_store_store_property_tests_SOURCES = $(STORE_SUPPORT) \
  test/store/profiles_property_test.cc \
  test/store/store_property_test.cc
endif
endif

EXTRA_PROGRAMS += test/store/keep_database
test_store_keep_database_SOURCES = $(KEPT_ENTRIES) test/store/keep_database.cc
test_store_keep_database_LDADD = $(LIB_ALL) $(LIBRARY_LIBS)
CLEANFILES += test/store/keep_database$(EXEEXT)

.PHONY: keep-database
keep-database: test/store/keep_database$(EXEEXT)
	test/store/keep_database $(srcdir)/test/store
