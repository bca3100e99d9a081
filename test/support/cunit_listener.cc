// SPDX-License-Identifier: GPL-2.0-or-later
#include "test/support/cunit_listener.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace rubato::test {
namespace {

// Text of an XML 1.0 document in ASCII. Escapes markup and writes other bytes as \xNN, because
// control characters are forbidden and a failing test may print bytes that are not UTF-8.
std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '\n' || c == '\t' || (byte >= 0x20 && byte < 0x7f)) {
      out += c;
    } else {
      char code[8];
      std::snprintf(code, sizeof code, "\\x%02x", byte);
      out += code;
    }
  }
  return out;
}

void write_element(std::ostream& out, const char* name, std::string_view text) {
  out << '<' << name << "> " << xml_text(text) << " </" << name << ">\n";
}

// The words of a skip. Since release 1.15 gtest ends them with a newline.
std::string words_of(const testing::TestPartResult& part) {
  std::string words = part.message();
  while (!words.empty() && words.back() == '\n') words.pop_back();
  return words;
}

// The reason of a skip; gtest stops a test at GTEST_SKIP(), so there is only one.
std::string skip_reason(const testing::TestResult& result) {
  for (int i = 0; i < result.total_part_count(); ++i) {
    if (result.GetTestPartResult(i).skipped()) return words_of(result.GetTestPartResult(i));
  }
  return "";
}

// CUnit has one failure record per failed assertion.
void write_failures(std::ostream& out, const testing::TestInfo& test) {
  const testing::TestResult& result = *test.result();
  for (int i = 0; i < result.total_part_count(); ++i) {
    const testing::TestPartResult& part = result.GetTestPartResult(i);
    if (!part.failed()) continue;
    out << "<CUNIT_RUN_TEST_RECORD>\n<CUNIT_RUN_TEST_FAILURE>\n";
    write_element(out, "TEST_NAME", test.name());
    write_element(out, "FILE_NAME", part.file_name() == nullptr ? "" : part.file_name());
    write_element(out, "LINE_NUMBER",
                  std::to_string(part.line_number() < 0 ? 0 : part.line_number()));
    write_element(out, "CONDITION", part.message());
    out << "</CUNIT_RUN_TEST_FAILURE>\n</CUNIT_RUN_TEST_RECORD>\n";
  }
}

void write_test(std::ostream& out, const testing::TestInfo& test) {
  if (test.result()->Failed()) {
    write_failures(out, test);
  } else if (test.result()->Skipped()) {
    out << "<CUNIT_RUN_TEST_RECORD>\n<CUNIT_RUN_TEST_SKIPPED>\n";
    write_element(out, "TEST_NAME", test.name());
    write_element(out, "SKIP_REASON", skip_reason(*test.result()));
    out << "</CUNIT_RUN_TEST_SKIPPED>\n</CUNIT_RUN_TEST_RECORD>\n";
  } else {
    out << "<CUNIT_RUN_TEST_RECORD>\n<CUNIT_RUN_TEST_SUCCESS>\n";
    write_element(out, "TEST_NAME", test.name());
    out << "</CUNIT_RUN_TEST_SUCCESS>\n</CUNIT_RUN_TEST_RECORD>\n";
  }
}

// A suite whose SetUpTestSuite() or TearDownTestSuite() failed has a second record for that.
void write_suite(std::ostream& out, const testing::TestSuite& suite) {
  out << "<CUNIT_RUN_SUITE>\n<CUNIT_RUN_SUITE_SUCCESS>\n";
  write_element(out, "SUITE_NAME", suite.name());
  for (int i = 0; i < suite.total_test_count(); ++i) {
    if (suite.GetTestInfo(i)->should_run()) write_test(out, *suite.GetTestInfo(i));
  }
  out << "</CUNIT_RUN_SUITE_SUCCESS>\n</CUNIT_RUN_SUITE>\n";
  const testing::TestResult& own = suite.ad_hoc_test_result();
  if (!own.Failed()) return;
  out << "<CUNIT_RUN_SUITE>\n<CUNIT_RUN_SUITE_FAILURE>\n";
  write_element(out, "SUITE_NAME", suite.name());
  write_element(out, "FAILURE_REASON", own.GetTestPartResult(0).message());
  out << "</CUNIT_RUN_SUITE_FAILURE>\n</CUNIT_RUN_SUITE>\n";
}

void write_summary(std::ostream& out, const testing::UnitTest& run) {
  int failed_suites = 0;
  for (int i = 0; i < run.total_test_suite_count(); ++i) {
    failed_suites += run.GetTestSuite(i)->ad_hoc_test_result().Failed() ? 1 : 0;
  }
  const int ran = run.successful_test_count() + run.failed_test_count();
  const auto record = [&out](const char* type, int total, int selected,
                             const std::string& succeeded, int failed) {
    out << "<CUNIT_RUN_SUMMARY_RECORD>\n";
    write_element(out, "TYPE", type);
    write_element(out, "TOTAL", std::to_string(total));
    write_element(out, "RUN", std::to_string(selected));
    write_element(out, "SUCCEEDED", succeeded);
    write_element(out, "FAILED", std::to_string(failed));
  };
  record("Suites", run.total_test_suite_count(), run.test_suite_to_run_count(), "- NA -",
         failed_suites);
  write_element(out, "INACTIVE",
                std::to_string(run.total_test_suite_count() - run.test_suite_to_run_count()));
  out << "</CUNIT_RUN_SUMMARY_RECORD>\n";
  record("Test Cases", run.total_test_count(), ran, std::to_string(run.successful_test_count()),
         run.failed_test_count());
  if (run.skipped_test_count() > 0) {
    write_element(out, "SKIPPED", std::to_string(run.skipped_test_count()));
  }
  write_element(out, "INACTIVE", std::to_string(run.total_test_count() - run.test_to_run_count()));
  out << "</CUNIT_RUN_SUMMARY_RECORD>\n";
}

void write_report(std::ostream& out, const testing::UnitTest& run) {
  out << "<?xml version=\"1.0\" encoding=\"US-ASCII\"?>\n"
         "<?xml-stylesheet type=\"text/xsl\" href=\"CUnit-Run.xsl\"?>\n"
         "<!DOCTYPE CUNIT_TEST_RUN_REPORT SYSTEM \"CUnit-Run.dtd\">\n"
         "<CUNIT_TEST_RUN_REPORT>\n<CUNIT_HEADER/>\n<CUNIT_RESULT_LISTING>\n";
  for (int i = 0; i < run.total_test_suite_count(); ++i) {
    if (run.GetTestSuite(i)->should_run()) write_suite(out, *run.GetTestSuite(i));
  }
  out << "</CUNIT_RESULT_LISTING>\n<CUNIT_RUN_SUMMARY>\n";
  write_summary(out, run);
  out << "</CUNIT_RUN_SUMMARY>\n";
  write_element(out, "CUNIT_FOOTER", "File Generated By Rubato's tests");
  out << "</CUNIT_TEST_RUN_REPORT>\n";
}

class CUnitListener : public testing::EmptyTestEventListener {
 public:
  explicit CUnitListener(std::string path) : path_(std::move(path)) {}

  void OnTestProgramEnd(const testing::UnitTest& run) override {
    std::ofstream out(path_);
    write_report(out, run);
    out.close();
    if (out) return;
    std::fprintf(stderr, "cannot write the CUnit report %s\n", path_.c_str());
    std::exit(1);
  }

 private:
  std::string path_;
};

// GoogleTest's JSON lacks the reason of a skip, so it becomes a property of the test.
class SkipReasonListener : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (part.skipped()) testing::Test::RecordProperty("skip_reason", words_of(part));
  }
};

std::string report_path(int argc, char** argv) {
  constexpr std::string_view kOption = "--cunit_xml=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with(kOption)) return std::string(argument.substr(kOption.size()));
  }
  const char* folder = std::getenv("RUBATO_CUNIT_DIR");
  if (folder == nullptr || *folder == '\0') return "";
  const std::string program = std::filesystem::path(argv[0]).filename();
  return std::filesystem::path(folder) / (program + "-Results.xml");
}

}  // namespace

void add_listeners(int argc, char** argv) {
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  listeners.Append(new SkipReasonListener);
  if (const std::string path = report_path(argc, argv); !path.empty()) {
    listeners.Append(new CUnitListener(path));
  }
}

}  // namespace rubato::test
