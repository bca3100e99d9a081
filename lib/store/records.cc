// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/records.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace rubato::store {
namespace {

constexpr std::array<std::pair<Flag, const char*>, 5> kFlags = {{
    {Flag::kNone, ""},
    {Flag::kNotMonotone, "not-monotone"},
    {Flag::kWallTime, "wall-time"},
    {Flag::kAboveBest, "above-best"},
    {Flag::kUnlikeOthers, "unlike-others"},
}};
constexpr std::array<std::pair<JobClass, const char*>, 2> kClasses = {{
    {JobClass::kBestEffort, "best-effort"},
    {JobClass::kGuaranteed, "guaranteed"},
}};
constexpr std::size_t kMaxNameLength = std::size_t{64} << 10;
constexpr std::size_t kMaxTextLength = std::size_t{1} << 20;

template <typename Table, typename Value>
const char* word_of(const Table& table, Value value) {
  for (const auto& [known, word] : table) {
    if (known == value) return word;
  }
  return "";
}

template <typename Value, std::size_t N>
std::optional<Value> value_of(const std::array<std::pair<Value, const char*>, N>& table,
                              const std::string& text) {
  for (const auto& [value, word] : table) {
    if (text == word) return value;
  }
  return std::nullopt;
}

bool name_fits(const std::string& text) { return text.size() <= kMaxNameLength; }
bool type_fits(const JobType& type) { return name_fits(type.account) && name_fits(type.name); }
bool at_least_0(double value) { return std::isfinite(value) && value >= 0; }
/// No job is faster; sums of valid throughputs stay finite.
constexpr double kMaxThroughput = 1e15;
bool finite_if_told(const std::optional<double>& value) { return !value || std::isfinite(*value); }

bool fits(const Sample& s) {
  return type_fits(s.type) && name_fits(s.gpu_type) && name_fits(s.plan) &&
         at_least_0(s.throughput) && s.throughput <= kMaxThroughput && s.gpus >= 0 &&
         s.nodes >= 0 && s.batch >= 0 && s.samples_done >= 0 && s.restarts >= 0 &&
         finite_if_told(s.loss) && finite_if_told(s.forward_time) &&
         finite_if_told(s.iteration_time) && finite_if_told(s.sync_time) &&
         finite_if_told(s.optimise_time) && finite_if_told(s.gradient_noise) && s.cores >= 0 &&
         s.memory >= 0 && s.workers >= 0 && s.servers >= 0 && s.server_cores >= 0;
}

bool fits(const Fit& f) {
  return type_fits(f.type) && name_fits(f.gpu_type) && name_fits(f.model) && at_least_0(f.error) &&
         f.samples >= 0 && f.parameters.size() <= 1024 &&
         std::all_of(f.parameters.begin(), f.parameters.end(),
                     [](double value) { return std::isfinite(value); });
}

bool fits(const JobRecord& j) {
  return type_fits(j.type) && at_least_0(j.attained) && j.samples_done >= 0 && j.restarts >= 0;
}

bool fits(const RunRecord& r) { return r.text.size() <= kMaxTextLength; }

bool fits(const Decision& d) { return name_fits(d.kind) && d.text.size() <= kMaxTextLength; }

}  // namespace

const char* to_string(Flag flag) { return word_of(kFlags, flag); }
const char* to_string(JobClass job_class) { return word_of(kClasses, job_class); }
std::optional<Flag> flag_from(const std::string& text) { return value_of(kFlags, text); }
std::optional<JobClass> job_class_from(const std::string& text) { return value_of(kClasses, text); }

bool storable(const AnyRecord& entry) {
  return std::visit([](const auto& record) { return fits(record); }, entry);
}

bool storable(const ProfileRow& row) {
  const JobTypeGroup& g = row.group;
  const auto throughput_fits = [](double throughput) {
    return at_least_0(throughput) && throughput <= kMaxThroughput;
  };
  return type_fits(row.type) && name_fits(row.gpu_type) && name_fits(g.plan) && row.gpus >= 0 &&
         g.nodes >= 0 && g.batch >= 0 && g.cores >= 0 && g.workers >= 0 && g.servers >= 0 &&
         g.server_cores >= 0 && g.samples >= 0 && g.jobs >= 0 &&
         throughput_fits(g.mean_throughput) && throughput_fits(g.min_throughput) &&
         throughput_fits(g.max_throughput) && throughput_fits(g.last_throughput) &&
         finite_if_told(g.forward_time) && finite_if_told(g.sync_time) &&
         finite_if_told(g.optimise_time) && finite_if_told(g.iteration_time) &&
         finite_if_told(g.gradient_noise);
}

}  // namespace rubato::store
