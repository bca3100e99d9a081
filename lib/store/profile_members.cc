// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/profile_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <tuple>

#include "lib/base/text.h"

namespace rubato::store {
namespace {

constexpr std::size_t kMaxNameLength = 64;
constexpr std::size_t kMaxTextLength = 256;

auto key_of(const ProfileRow& row) {
  const JobTypeGroup& g = row.group;
  return std::tie(row.type.name, row.type.account, row.gpu_type, row.gpus, g.nodes, g.plan, g.batch,
                  g.cores, g.workers, g.servers, g.server_cores);
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("._+:@-").find(c) != std::string_view::npos;
}

}  // namespace

bool profile_before(const ProfileRow& a, const ProfileRow& b) { return key_of(a) < key_of(b); }

namespace profile {

std::string wrong_name(const std::string& text) {
  if (text.empty()) return "no name; write one such as resnet50";
  if (text.size() > kMaxNameLength) return fmt::format("longer than {} characters", kMaxNameLength);
  if (std::all_of(text.begin(), text.end(), is_name_char)) return {};
  return "not a name; use letters, digits and . _ + : @ -";
}

std::string wrong_text(const std::string& text) {
  if (text.size() > kMaxTextLength) return fmt::format("longer than {} bytes", kMaxTextLength);
  const bool fits = std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == 0x7f;
  });
  if (!fits) return "has a control character; expected a name";
  return is_utf8(text) ? "" : "is not UTF-8; expected a name";
}

std::string wrong_plan(const std::string& text) {
  if (text.size() > kMaxTextLength) return fmt::format("longer than {} characters", kMaxTextLength);
  const bool fits = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '=' || c == ',';
  });
  return fits ? "" : "not an execution plan; write one such as dp=4,ga=2";
}

std::string wrong_real(double value, double most, bool above_zero) {
  if (!std::isfinite(value) || value < 0 || value > most || (above_zero && value == 0)) {
    return fmt::format("expected a number {} 0 and at most {:g}",
                       above_zero ? "above" : "of at least", most);
  }
  return {};
}

std::string wrong_row(const ProfileRow& row) {
  const JobTypeGroup& g = row.group;
  if (g.min_throughput > g.mean_throughput) return "rate_min is above rate";
  if (g.max_throughput < g.mean_throughput) return "rate_max is below rate";
  if (g.last_throughput < g.min_throughput || g.last_throughput > g.max_throughput) {
    return "rate_last is not between rate_min and rate_max";
  }
  if (row.gpus == 0 && !row.gpu_type.empty()) return "gpus is 0, but a GPU type is named";
  return {};
}

void complete(ProfileRow& row) {
  JobTypeGroup& g = row.group;
  if (g.min_throughput == 0) g.min_throughput = g.mean_throughput;
  if (g.max_throughput == 0) g.max_throughput = g.mean_throughput;
  if (g.last_throughput == 0) g.last_throughput = g.mean_throughput;
  g.imported = true;
}

std::vector<ProfileRow> in_order(std::vector<ProfileRow> rows) {
  for (ProfileRow& row : rows) {
    row.group.samples -= row.group.flagged;
    row.group.flagged = 0;
    row.group.flags.clear();
  }
  std::erase_if(rows, [](const ProfileRow& row) {
    return row.group.samples <= 0 || row.group.mean_throughput <= 0;
  });
  std::stable_sort(rows.begin(), rows.end(), profile_before);
  for (ProfileRow& row : rows) {
    // If all samples have throughput 0.
    JobTypeGroup& g = row.group;
    if (g.min_throughput <= 0) g.min_throughput = g.mean_throughput;
    if (g.last_throughput <= 0) g.last_throughput = g.mean_throughput;
    g.min_throughput = std::min(g.min_throughput, g.mean_throughput);
    g.max_throughput = std::max(g.max_throughput, g.mean_throughput);
    g.last_throughput = std::clamp(g.last_throughput, g.min_throughput, g.max_throughput);
  }
  return rows;
}

std::size_t repeated(const std::vector<ProfileRow>& rows) {
  std::set<decltype(key_of(rows.front()))> seen;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!seen.insert(key_of(rows[i])).second) return i;
  }
  return rows.size();
}

}  // namespace profile
}  // namespace rubato::store
