// SPDX-License-Identifier: GPL-2.0-or-later
// The traces of Gavel's evaluation on its two clusters, with the figures of its own simulator.
#include <fmt/format.h>

#include <filesystem>

#include "lib/base/nearest.h"
#include "lib/sim/peers/format_gavel.h"

namespace rubato::sim {
namespace {

constexpr double kHour = 3600;

Result<Suite> gavel_suite(const std::string& data_dir, const std::string& trace,
                          const char* cluster) {
  const std::string folder = data_dir + "/gavel";
  const auto shape = parse_cluster_shape(cluster);
  if (!shape) return tl::unexpected(shape.error());
  return read_gavel_suite(folder + "/" + trace, folder, *shape);
}

}  // namespace

SuiteResult<Suite> gavel_cont48(const std::string& /*argument*/, const std::string& data_dir,
                                std::uint64_t /*seed*/) {
  auto suite =
      gavel_suite(data_dir, "traces/max_min_fairness.trace", "v100:8x1,p100:16x1,k80:24x1");
  if (!suite) return suite;
  suite->name = "gavel-cont48";
  suite->published = {{"fifo", "avg_jct_s", 9.97 * kHour, 0.01, true},
                      {"fifo-het", "avg_jct_s", 5.42 * kHour, 0.01, true},
                      {"las", "avg_jct_s", 5.55 * kHour, 0.03, true},
                      {"gavel-las", "avg_jct_s", 4.06 * kHour, 0.03, true},
                      {"gavel-wf", "avg_jct_s", 3.99 * kHour, 0.05, false}};
  return suite;
}

SuiteResult<Suite> gavel_static48(const std::string& /*argument*/, const std::string& data_dir,
                                  std::uint64_t /*seed*/) {
  auto suite =
      gavel_suite(data_dir, "traces/minimize_makespan.trace", "v100:8x1,p100:16x1,k80:24x1");
  if (!suite) return suite;
  suite->name = "gavel-static48";
  suite->published = {{"fifo", "makespan_s", 76.2 * kHour, 0.03, true},
                      {"gavel-makespan", "makespan_s", 17.98 * kHour, 0.03, true}};
  return suite;
}

SuiteResult<Suite> gavel_multi_108(const std::string& throughput, const std::string& data_dir,
                                   std::uint64_t /*seed*/) {
  const std::string folder = data_dir + "/gavel/generated";
  constexpr const char* kHead = "gavel_multi_500j_";
  constexpr const char* kTail = ".trace";
  std::vector<std::string> throughputs;
  std::error_code code;
  for (const auto& file : std::filesystem::directory_iterator(folder, code)) {
    std::string name = file.path().filename().string();
    if (!name.starts_with(kHead) || !name.ends_with(kTail)) continue;
    name = name.substr(std::string(kHead).size());
    throughputs.push_back(name.substr(0, name.size() - std::string(kTail).size()));
  }
  std::sort(throughputs.begin(), throughputs.end());
  if (throughputs.empty()) return fail(fmt::format("{}: no traces {}RATE{}", folder, kHead, kTail));
  if (std::find(throughputs.begin(), throughputs.end(), throughput) == throughputs.end()) {
    return wrong_suite(fmt::format("suite gavel-multi-108: rate '{}': must be one of {}{}",
                                   throughput, fmt::join(throughputs, ", "),
                                   did_you_mean(throughput, throughputs)));
  }
  auto suite = gavel_suite(data_dir, fmt::format("generated/{}{}{}", kHead, throughput, kTail),
                           "v100:36x1,p100:36x1,k80:36x1");
  if (!suite) return suite;
  suite->window = {150, 350};
  struct Row {
    const char* throughput;
    double fifo_het;
    double gavel_las;
  };
  for (const Row& row : {Row{"1.6", 14.4, 15.7}, Row{"3.0", 17.9, 17.1}, Row{"6.0", 31.9, 20.1}}) {
    if (throughput != row.throughput) continue;
    suite->published = {{"fifo-het", "avg_jct_s", row.fifo_het * kHour, 0.03, true},
                        {"gavel-las", "avg_jct_s", row.gavel_las * kHour, 0.03, true}};
  }
  return suite;
}

}  // namespace rubato::sim
