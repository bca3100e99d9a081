# SPDX-License-Identifier: GPL-2.0-or-later
# The SPANK plugin with a Slurm that is not there (test/spank/fake_spank.cc).
if HAVE_GTEST
if HAVE_SPANK
check_PROGRAMS += test/spank/spank_tests
TESTS += test/spank/spank_tests
test_spank_spank_tests_CPPFLAGS = $(TEST_CPPFLAGS)
test_spank_spank_tests_CXXFLAGS = $(TEST_BASE_CXXFLAGS)
test_spank_spank_tests_LDADD = $(TEST_LIBS)
test_spank_spank_tests_SOURCES = \
  plugin/spank/allocator.cc \
  plugin/spank/client.cc \
  plugin/spank/forwarder_process.cc \
  plugin/spank/last_line.cc \
  plugin/spank/local.cc \
  plugin/spank/report_file.cc \
  test/spank/client_test.cc \
  test/spank/fake_spank.cc \
  test/spank/fake_spank.h \
  test/spank/forwarder_test.cc \
  test/spank/last_line_test.cc \
  test/spank/report_file_test.cc \
  test/spank/scratch.h
endif
endif
