// SPDX-License-Identifier: GPL-2.0-or-later
// Golden files: test/golden/hints.d/NN-name/{comment,[request,][jobtype,]expected}, and the man
// page. `comment` is one comment and a line end; `request` the words of an sbatch command line;
// `jobtype` the pairs of a JobType= line. After an intended change, RUBATO_REGENERATE=1 rewrites
// the expected files; check them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <sstream>

#include "lib/base/lex.h"
#include "lib/hints/comment.h"
#include "lib/hints/message.h"
#include "lib/hints/request.h"
#include "lib/hints/rules.h"
#include "lib/hints/table.h"
#include "lib/hints/values.h"
#include "test/support/golden_files.h"
#include "tools/generate/hints_man.h"

namespace rubato {
namespace {

namespace fs = std::filesystem;
using test::expect_kept;
using test::golden_cases;
using test::read_whole;
using test::source_dir;

/// The text of a file without its final line end.
std::string line_of(const fs::path& path) {
  std::string text = read_whole(path);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

/// "2" or "2-4", the value of -N.
void read_nodes(const std::string& value, HintRequest& request) {
  request.min_nodes = std::stoi(value);
  const std::size_t dash = value.find('-');
  request.max_nodes =
      dash == std::string::npos ? request.min_nodes : std::stoi(value.substr(dash + 1));
}

/// "4" or "a100:4", the value of --gpus.
void read_gpus(const std::string& value, HintRequest& request) {
  const std::size_t colon = value.find(':');
  if (colon != std::string::npos) request.gpu_types.push_back(value.substr(0, colon));
  request.gpus = std::stoi(value.substr(colon == std::string::npos ? 0 : colon + 1));
}

HintRequest request_of(const std::string& words) {
  HintRequest request;
  std::istringstream in(words);
  for (std::string word; in >> word;) {
    const std::size_t equals = word.find('=');
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    word.resize(std::min(equals, word.size()));
    if (word == "salloc")
      request.batch = false;
    else if (word == "--gpus")
      read_gpus(value, request);
    else if (word == "--gpus-per-node")
      request.gpus_per_node = std::stoi(value);
    else if (word == "--gpus-per-task")
      request.gpus_per_task = std::stoi(value);
    else if (word == "--nodes")
      read_nodes(value, request);
    else if (word == "--ntasks")
      request.tasks = std::stoi(value);
    else if (word == "--gres" && value == "shard:1")
      request.shared_gpus = true;
    else if (word == "--time")
      request.time_limit = std::stoi(value) * Seconds{60};
    else if (word == "--no-requeue")
      request.requeue = false;
    else if (word == "--exclusive")
      request.exclusive = true;
    else if (word == "--array")
      request.array = true;
    else if (word == "hetjob")
      request.het = true;
    else if (word == "cluster")
      request.cluster_types = {"a100", "h100", "v100"};
    else
      ADD_FAILURE() << "request: " << word;
  }
  return request;
}

std::string shown(const ResolvedHints& resolved) {
  std::string out = fmt::format(
      "request {} GPUs, unit {}\nsizes {}\ntypes {}\ncheckpoint {}, resize {}, device {}, {}\n",
      resolved.request_gpus, resolved.unit, resolved.sizes.empty() ? "-" : to_text(resolved.sizes),
      resolved.gpu_types.empty() ? "any" : to_text(resolved.gpu_types),
      to_text(resolved.checkpoint), to_string(resolved.resize), to_string(resolved.device),
      resolved.mix_types ? "mixed types" : "one type");
  for (const std::string& note : resolved.notes) out += "note: " + note + "\n";
  return out;
}

std::string result_of(const fs::path& folder, bool& good) {
  const std::string comment = line_of(folder / "comment");
  good = false;
  if (is_message(comment)) {
    const auto message = parse_message(comment);
    good = message.has_value();
    return (message ? render_message(*message) : message.error().text) + "\n";
  }
  const auto hints = parse_comment(comment);
  if (!hints) return hints.error().text + "\n";
  std::string out = fmt::format("site {}\nhints {}\n{}\n", in_quotes(split_comment(comment).site),
                                render_hints(*hints), hints_json(*hints));
  if (!fs::exists(folder / "request")) {
    good = true;
    return out;
  }
  Hints job_type;
  if (fs::exists(folder / "jobtype")) {
    job_type = parse_comment("rubato:" + line_of(folder / "jobtype")).value();
  }
  const auto resolved =
      resolve_hints(*hints, job_type, request_of(line_of(folder / "request")), Spelling::kComment);
  good = resolved.has_value();
  return resolved ? out + shown(*resolved) : resolved.error().text + "\n";
}

TEST(HintsGolden, EveryFolderGivesWhatIsExpected) {
  int valid = 0;
  int invalid = 0;
  for (const fs::path& folder : golden_cases("hints.d")) {
    SCOPED_TRACE(folder.filename());
    bool good = false;
    const std::string result = result_of(folder, good);
    (good ? valid : invalid) += 1;
    expect_kept(folder / "expected", result);
  }
  EXPECT_GE(valid, 25);
  EXPECT_GE(invalid, 40);
}

TEST(HintsGolden, EveryRuleAndEveryHintHasAFolder) {
  std::string all;
  std::set<std::string> broken;
  for (const fs::path& folder : golden_cases("hints.d")) {
    all += read_whole(folder / "comment");
    if (fs::exists(folder / "request") && !is_message(read_whole(folder / "comment"))) {
      const auto hints = parse_comment(line_of(folder / "comment"));
      ASSERT_TRUE(hints) << folder;
      const HintRequest request = request_of(line_of(folder / "request"));
      for (const HintRule& rule : hint_rules()) {
        std::vector<std::string> errors;
        rule.check({*hints, request, Spelling::kComment}, errors);
        if (!errors.empty()) broken.insert(rule.name);
      }
    }
  }
  for (const HintDef& def : hint_table()) EXPECT_NE(all.find(def.key + "="), std::string::npos);
  for (const HintRule& rule : hint_rules()) EXPECT_TRUE(broken.contains(rule.name)) << rule.name;
}

TEST(HintsGolden, ErrorsAreSentencesWithAPlace) {
  for (const fs::path& folder : golden_cases("hints.d")) {
    bool good = false;
    const std::string result = result_of(folder, good);
    if (good) continue;
    std::istringstream lines(result);
    for (std::string line; std::getline(lines, line);) {
      if (line == "and 5 more errors") continue;
      EXPECT_NE(line.find(": "), std::string::npos) << line;
      EXPECT_FALSE(line.ends_with('.') || line.ends_with(' ')) << line;
    }
  }
}

TEST(HintsGolden, TheManPageIsThatOfTheTables) {
  expect_kept(source_dir() / "docs/man/rubato-hints.7", man_page_hints());
}

TEST(HintsGolden, TheManPageNamesEverything) {
  std::string page = man_page_hints();
  page.erase(std::remove(page.begin(), page.end(), '\\'), page.end());
  for (const HintDef& def : hint_table()) {
    EXPECT_NE(page.find("--" + def.option), std::string::npos) << def.option;
    for (const HintWord& word : def.words) {
      EXPECT_NE(page.find(".B " + word.name + "\n"), std::string::npos) << word.name;
    }
  }
  for (const HintRule& rule : hint_rules()) {
    EXPECT_NE(page.find(rule.summary), std::string::npos) << rule.name;
  }
  for (const MessageKind& kind : message_kinds()) {
    EXPECT_NE(page.find(kind.example), std::string::npos) << kind.name;
  }
}

/// The #SBATCH lines in the examples of the man page are valid.
TEST(HintsGolden, ExamplesOfTheManPageAreGood) {
  std::string page = man_page_hints();
  page.erase(std::remove(page.begin(), page.end(), '\\'), page.end());
  page.erase(page.find(".SH WRONG HINTS"));
  int options = 0;
  int comments = 0;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t option = line.find("#SBATCH --dl-");
    if (option != std::string::npos) {
      const std::string text = line.substr(option + 13);
      const std::size_t equals = text.find('=');
      Hints hints;
      const HintDef* def = find_hint(text.substr(0, equals));
      ASSERT_NE(def, nullptr) << line;
      EXPECT_TRUE(set_hint(*def, text.substr(equals + 1), hints)) << line;
      ++options;
    }
    const std::size_t comment = line.find("omment=\"");
    if (comment == std::string::npos) continue;
    const std::string text = line.substr(comment + 8, line.size() - comment - 9);
    EXPECT_TRUE(is_message(text) ? parse_message(text).has_value()
                                 : !parse_comment(text).value().empty())
        << line;
    ++comments;
  }
  EXPECT_GE(options, 9);
  EXPECT_GE(comments, 3);
}

}  // namespace
}  // namespace rubato
