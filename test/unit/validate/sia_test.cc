// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/validate/validate_sia.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "lib/validate/data_sia.h"
#include "test/support/shared_data.h"

namespace rubato {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "rubato-sia-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const std::string& name, const std::string& text) const {
    const fs::path file = path_ / "sia" / "traces" / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

constexpr const char* kHeading = "placement,local_bsz,step_time,sync_time\n";

TEST(DataSia, ReadsWhatIsThereUnderAnyName) {
  const Folder folder;
  folder.write("maple/placements-oak.csv", std::string(kHeading) + "1,4,0.5,0.01\n24,8,0.9,0.2\n");
  folder.write("maple/scalability-oak.csv",
               "num_nodes,num_replicas,local_bsz,step_time,sync_time\n6,12,4,1.5,1\n");
  folder.write("maple/validation-12.csv",
               "progress,iteration,metric,grad_sqr,grad_var\n100.5,100,0.9,2,8\n");
  folder.write("maple/notes.txt", "not read");
  folder.write("empty/notes.txt", "no application");
  const auto data = read_sia(folder.path());
  ASSERT_TRUE(data) << data.error().text;
  ASSERT_EQ(data->apps.size(), 1U);
  const SiaApp& app = data->apps[0];
  EXPECT_EQ(app.name, "maple");
  ASSERT_EQ(app.profiles.size(), 1U);
  EXPECT_EQ(app.profiles[0].gpu_type, "oak");
  ASSERT_EQ(app.profiles[0].placements.size(), 2U);
  EXPECT_EQ(app.profiles[0].placements[1].nodes, 2);
  EXPECT_EQ(app.profiles[0].placements[1].gpus, 6);
  EXPECT_EQ(app.profiles[0].placements[1].sync_time, 0.2);
  ASSERT_EQ(app.profiles[0].scalability.size(), 1U);
  EXPECT_EQ(app.profiles[0].scalability[0].gpus, 12);
  ASSERT_EQ(app.trainings.size(), 1U);
  EXPECT_EQ(app.trainings[0].batch, 12);
  EXPECT_EQ(app.trainings[0].epochs[0].grad_var, 8);
}

TEST(DataSia, CountsATypeOnceThatWasMeasuredOnce) {
  const Folder folder;
  const std::string one = std::string(kHeading) + "1,4,0.5,0.01\n";
  const std::string two = std::string(kHeading) + "1,4,0.4,0.01\n";
  const std::string more = std::string(kHeading) + "1,4,0.3,0.01\n1,8,0.4,0.01\n";
  const std::string other = std::string(kHeading) + "1,4,0.7,0.01\n";
  // A file without a type that copies one with a type. Another type has the rows of a third in one
  // application, and more rows in another.
  folder.write("a/placements.csv", one);
  folder.write("a/placements-x.csv", one);
  folder.write("a/placements-y.csv", two);
  folder.write("a/placements-z.csv", two);
  folder.write("b/placements-y.csv", other);
  folder.write("b/placements-z.csv", more);
  const auto data = read_sia(folder.path());
  ASSERT_TRUE(data) << data.error().text;
  EXPECT_EQ(data->gpu_types, (std::vector<std::string>{"x", "z"}));
}

TEST(DataSia, WrongFilesSayWhere) {
  const auto text = [](const std::string& name, const std::string& content) {
    const Folder folder;
    folder.write("app/placements-t.csv", std::string(kHeading) + "1,4,0.5,0.01\n");
    folder.write("app/" + name, content);
    const auto data = read_sia(folder.path());
    return data ? std::string("accepted") : data.error().text;
  };
  EXPECT_NE(text("placements-u.csv", std::string(kHeading) + "1,4,0.5,0\n10,4,0.5,0\n")
                .find("placements-u.csv:3:1"),
            std::string::npos);
  EXPECT_NE(text("placements-u.csv", std::string(kHeading) + "1,4,0,0\n").find(":2:5"),
            std::string::npos);
  EXPECT_NE(text("placements-u.csv", std::string(kHeading) + "1,4,nan,0\n").find(":2:5"),
            std::string::npos);
  EXPECT_NE(text("placements-u.csv", "placement,local_bsz,step_tim,sync_time\n1,4,1,0\n")
                .find("step_tim"),
            std::string::npos);
  EXPECT_NE(text("validation-x.csv", "progress\n").find("validation-x.csv"), std::string::npos);
  EXPECT_NE(text("scalability-t.csv",
                 "num_nodes,num_replicas,local_bsz,step_time,sync_time\n4,2,4,1.5,1\n")
                .find(":2:3"),
            std::string::npos);
  const Folder nothing;
  EXPECT_FALSE(read_sia(nothing.path()));
}

double value(const ValidateSection& section, const std::string& key) {
  for (const auto& [name, number] : section.summary) {
    if (name == key) return number;
  }
  return -1;
}

TEST(ValidateSia, GatesHoldAndNamesDoNotMatter) {
  const auto source = test::shared_data("sia");
  if (!source) GTEST_SKIP() << "no shared data";
  const auto section = validate_sia(*source);
  ASSERT_TRUE(section) << section.error().text;
  EXPECT_GE(section->observations.size(), 20U);
  for (const ValidatedObservation& observation : section->observations)
    EXPECT_LE(observation.fit_samples, 10);
  ASSERT_FALSE(section->gates.empty());
  for (const auto& [name, passed] : section->gates) EXPECT_TRUE(passed) << name;

  // Every application and type gets another name, in another order.
  const Folder copy;
  const auto data = read_sia(*source);
  ASSERT_TRUE(data);
  std::map<std::string, std::string> types;
  int app_number = 500;
  for (const SiaApp& app : data->apps) {
    const fs::path to = fs::path(copy.path()) / "sia" / "traces" / std::to_string(app_number--);
    fs::create_directories(to);
    for (const auto& entry : fs::directory_iterator(*source + "/sia/traces/" + app.name)) {
      std::string name = entry.path().filename().string();
      const std::size_t dash = name.find('-');
      if (!name.starts_with("validation") && dash != std::string::npos) {
        const std::string type = name.substr(dash + 1, name.size() - dash - 5);
        const auto kept = types.try_emplace(type, "t" + std::to_string(90 - types.size())).first;
        name = name.substr(0, dash + 1) + kept->second + ".csv";
      }
      fs::copy_file(entry.path(), to / name);
    }
  }
  const auto renamed = validate_sia(copy.path());
  ASSERT_TRUE(renamed) << renamed.error().text;
  EXPECT_EQ(renamed->summary, section->summary);
  EXPECT_EQ(renamed->gates, section->gates);
  EXPECT_EQ(renamed->notes, section->notes);
  EXPECT_GT(value(*renamed, "mean"), 0);
}

}  // namespace
}  // namespace rubato
