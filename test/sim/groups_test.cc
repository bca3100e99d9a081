// SPDX-License-Identifier: GPL-2.0-or-later
// The order of a cluster's groups decides nothing, nor do their names where their shapes differ.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>

#include "lib/sim/engine/policy_help.h"
#include "test/sim/played.h"
#include "test/support/seeds.h"

namespace rubato::sim {
namespace {

struct Group {
  std::string name;
  std::string shape;  ///< as parse_cluster_shape() reads it
  double speed = 1;
};

/// Each type has its speed; half of the job types gain less from more GPUs.
class NamedSpeeds final : public Truth {
 public:
  explicit NamedSpeeds(const std::vector<Group>& groups) {
    for (const Group& group : groups) speeds_.push_back(group.speed);
  }
  [[nodiscard]] double throughput(const SimJob& job, const Setting& setting,
                                  double /*done*/) const override {
    if (!setting.type.valid()) return 0;
    const bool odd = job.model == "odd";
    const double speed = odd ? std::sqrt(speeds_[setting.type]) : speeds_[setting.type];
    return speed * std::pow(setting.gpus(), odd ? 0.7 : 0.95) / std::sqrt(setting.nodes());
  }

 private:
  std::vector<double> speeds_;
};

/// Jobs on these groups, in the order given. Some jobs name a type: the group of this number in
/// `named`.
Suite suite_of(const std::vector<Group>& groups, const std::vector<Group>& named,
               std::uint64_t seed) {
  Draw draw(seed);
  Suite suite;
  suite.name = "groups";
  std::string text;
  for (const Group& group : groups)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ",", group.name, group.shape);
  suite.cluster = parse_cluster_shape(text).value();
  suite.truth = std::make_shared<NamedSpeeds>(groups);
  double time = 0;
  for (int i = 0; i < 24; ++i) {
    if (draw.uniform() < .7) time += draw.whole(0, 400);
    SimJob job;
    job.key = fmt::format("job{:02}", i);
    job.model = draw.uniform() < .5 ? "odd" : "even";
    job.arrival = time;
    job.gpus = job.min_gpus = job.max_gpus = 1 << draw.whole(0, 3);
    if (draw.uniform() < .3) job.max_gpus = 8;
    job.work = draw.whole(500, 20'000);
    job.start_s = job.restart_s = 10;
    const double bound = draw.uniform();
    if (bound < .2) job.types = {named[bound < .1 ? 0 : 1].name};
    suite.jobs.push_back(std::move(job));
  }
  return suite;
}

std::vector<std::string> engine_policies(const Suite& suite) {
  std::vector<std::string> names;
  for (const PolicyEntry& entry : policies()) {
    if (entry.unfit == nullptr || entry.unfit({suite.cluster, suite.jobs}).empty())
      names.push_back(entry.name);
  }
  return names;
}

/// Starts, ends and restarts by job.
std::map<std::string, std::vector<double>> figures(const Suite& suite, const std::string& policy,
                                                   Information information, std::uint64_t seed) {
  const RunMetrics record = play(suite, policy, seed, information);
  std::map<std::string, std::vector<double>> found;
  for (std::size_t i = 0; i < suite.jobs.size(); ++i) {
    const JobResult& job = record.jobs[i];
    found[suite.jobs[i].key] = {job.first_start, job.finish, double(job.restarts), job.gpu_seconds};
  }
  return found;
}

const std::vector<Group> kGroups{{"p100", "3x4", 1}, {"a100", "2x8", 4}, {"v100", "4x2", 2}};

void expect_same(const std::vector<Group>& others, std::uint64_t seed,
                 const std::vector<Group>& names_of_jobs) {
  const Suite suite = suite_of(kGroups, kGroups, seed);
  const Suite other = suite_of(others, names_of_jobs, seed);
  for (const std::string& policy : engine_policies(suite)) {
    const bool rounds = calls_round(policy);
    for (const auto information :
         {Information::kLearned, Information::kKnown, Information::kRates, Information::kBlind}) {
      if (!rounds && information != Information::kLearned) continue;
      EXPECT_EQ(figures(suite, policy, information, seed),
                figures(other, policy, information, seed))
          << policy << " " << to_string(information) << ", seed " << seed;
    }
  }
}

TEST(Groups, TheirOrderDecidesNothing) {
  for (std::uint64_t seed = 0; seed < test::seeds(1); ++seed) {
    expect_same({kGroups[2], kGroups[1], kGroups[0]}, seed, kGroups);
    expect_same({kGroups[1], kGroups[2], kGroups[0]}, seed, kGroups);
  }
}

TEST(Groups, TheirNamesDecideNothing) {
  std::vector<Group> renamed = kGroups;
  const std::vector<std::string> names{"z", "m", "b"};
  for (std::size_t i = 0; i < renamed.size(); ++i) renamed[i].name = names[i];
  for (std::uint64_t seed = 10; seed < 10 + test::seeds(1); ++seed) {
    expect_same(renamed, seed, renamed);
    expect_same({renamed[2], renamed[0], renamed[1]}, seed, renamed);
  }
}

// A policy that ignores types does not favour a group by its place: of equal jobs each type gets
// its part.
TEST(Groups, PoliciesWithoutTypesTryThemInRandomOrder) {
  std::vector<Group> groups{{"a", "1x1", 1}, {"b", "1x1", 1}};
  for (const char* policy : {"fifo", "backfill", "easy", "tiresias"}) {
    std::map<int, int> first;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      Suite suite = suite_of(groups, groups, 1);
      suite.jobs.resize(1);
      suite.jobs[0].types.clear();
      suite.jobs[0].gpus = suite.jobs[0].min_gpus = suite.jobs[0].max_gpus = 1;
      ++first[play(suite, policy, seed).intervals.at(0).type.value()];
      suite.types_in_order = true;
      EXPECT_EQ(play(suite, policy, seed).intervals.at(0).type.value(), 0) << "as slurmctld";
    }
    EXPECT_NEAR(first[0], 100, 30) << policy;
  }
}

TEST(Groups, TiesAreBrokenByShapeThenByName) {
  const auto cluster = parse_cluster_shape("z:2x4,b:2x8,a:2x4,c:3x4,y:2x4/64").value();
  std::string order;
  for (const TypeIndex type : types_by_shape(cluster)) order += cluster.groups[type].type;
  EXPECT_EQ(order, "bcyaz");
}

}  // namespace
}  // namespace rubato::sim
