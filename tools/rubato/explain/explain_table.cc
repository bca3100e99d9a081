// SPDX-License-Identifier: GPL-2.0-or-later
// The table of `rubato explain` without a job.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "tools/rubato/explain/explain_parts.h"
#include "tools/rubato/explain/explain_view.h"

namespace rubato::tools {
namespace {

constexpr std::size_t kMinReason = 8;
constexpr std::size_t kGoodReason = 30;

std::string short_time(Seconds time, Seconds now) {
  if (time <= now) return "now";
  const std::time_t at = time;
  const std::time_t today = now;
  std::tm a{};
  std::tm b{};
  if (localtime_r(&at, &a) == nullptr || localtime_r(&today, &b) == nullptr) return "N/A";
  if (a.tm_year != b.tm_year) return fmt::format("{:%Y-%m-%d}", a);
  return a.tm_yday == b.tm_yday ? fmt::format("{:%H:%M}", a) : fmt::format("{:%m-%dT%H:%M}", a);
}

std::string short_start(const PlanEntry& entry, Seconds now) {
  const Explanation& e = *entry.explanation;
  if (entry.old_since > 0) return "N/A";
  if (e.verdict == Verdict::kStart || e.verdict == Verdict::kAttempt) return "now";
  const bool from = tells_earliest(e, now);
  const bool to = e.start_latest > 0 && e.start_latest < kForever;
  if (!from && !to) return "N/A";
  const std::string first = from ? short_time(e.start_earliest, now) : "";
  const std::string last = to ? short_time(e.start_latest, now) : "";
  return first == last ? first : first + ".." + last;
}

using Row = std::array<std::string, 6>;
constexpr std::size_t kOrder = 0;
constexpr std::size_t kJob = 1;
constexpr std::size_t kPartition = 2;
constexpr std::size_t kUser = 3;
constexpr std::size_t kVerdict = 4;

const Row& titles() {
  static const Row row{"ORDER", "JOBID", "PARTITION", "USER", "VERDICT", "START"};
  return row;
}

Row row_of(const PlanEntry& entry, Seconds now) {
  Row row{"-", "", "", "", "-", "N/A"};
  if (const Explanation* e = entry.explanation; e != nullptr) {
    row = {std::to_string(e->order + 1), e->label, e->partition, "", to_string(e->verdict),
           short_start(entry, now)};
  }
  if (const Job* job = entry.job; job != nullptr) {
    row[kJob] = job->label;
    row[kPartition] = job->partition;
    row[kUser] = job->user;
  }
  return row;
}

}  // namespace

std::string queue_table(const std::vector<PlanEntry>& entries, Seconds now, std::size_t width,
                        bool color) {
  std::vector<Row> rows{titles()};
  for (const PlanEntry& entry : entries) rows.push_back(row_of(entry, now));
  // Columns of width 0 are omitted.
  std::array<std::size_t, 6> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  const auto used = [&] {
    std::size_t sum = 0;
    for (const std::size_t w : widths) sum += w > 0 ? w + 2 : 0;
    return sum;
  };
  for (const std::size_t column : {kPartition, kUser}) {
    if (width > 0 && used() + kGoodReason > width) widths[column] = 0;
  }
  const std::size_t room =
      width == 0 ? 0 : std::max(width > used() ? width - used() : 0, kMinReason);

  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Explanation* e = r == 0 ? nullptr : entries[r - 1].explanation;
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] == 0) continue;
      const std::string pad(widths[i] - columns(rows[r][i]), ' ');
      const Color hue = i == kVerdict && e != nullptr ? color_of(e->verdict) : Color::kPlain;
      const std::string cell = paint(rows[r][i], hue, color);
      line += (i == kOrder ? pad + cell : cell + pad) + "  ";  // numbers are right-aligned
    }
    const std::string reason = r == 0         ? "REASON"
                               : e != nullptr ? e->reason
                                              : "submitted after the last round";
    line += room > 0 ? cut(reason, room) : reason;
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace rubato::tools
