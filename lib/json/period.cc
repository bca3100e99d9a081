// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/period.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "lib/base/json_value.h"
#include "lib/json/json_documents.h"
#include "lib/json/period_records.h"
#include "lib/json/record_reader.h"
#include "lib/json/record_writer.h"

namespace rubato {
namespace {

constexpr Seconds kDay = 86400;

}  // namespace

void WaitCount::add(Seconds wait) {
  ++jobs;
  total += wait;
  longest = std::max(longest, wait);
}

void ChangeCount::add(const ChangeCount& more) {
  grown += more.grown;
  shrunk += more.shrunk;
  restarted += more.restarted;
  stopped += more.stopped;
  failed += more.failed;
  measured += more.measured;
  cost += more.cost;
  gain += more.gain;
}

Period& Periods::at(Seconds now, const std::string& mode) {
  const Seconds day = now - now % kDay;
  const auto place = std::lower_bound(
      periods_.begin(), periods_.end(), std::tie(day, mode),
      [](const Period& p, const auto& key) { return std::tie(p.day, p.mode) < key; });
  if (place != periods_.end() && place->day == day && place->mode == mode) return *place;
  auto added = periods_.insert(place, Period{});
  added->day = day;
  added->mode = mode;
  if (periods_.size() > kMaxPeriods && added != periods_.begin()) {
    const auto index = added - periods_.begin();
    periods_.erase(periods_.begin());
    added = periods_.begin() + index - 1;
  }
  return *added;
}

/// The days must be sorted. Found by the reader of records.
static void check(JsonObject& object, const json::PeriodsRecord& periods) {
  const auto less = [](const Period& a, const Period& b) {
    return std::tie(a.day, a.mode) < std::tie(b.day, b.mode);
  };
  if (!json::ascending(periods.days, less))
    object.error_at("days", "must be sorted by day and mode, each once");
}

JsonValue Periods::json(bool breakdown) const {
  JsonValue out = json::json_of(json::PeriodsRecord{until, periods_});
  if (breakdown) return out;
  JsonValue& days = out["days"];
  for (std::size_t i = 0; i < days.size(); ++i) {
    days[i].erase("by_partition");
    days[i].erase("by_job_type");
  }
  return out;
}

std::string Periods::text() const {
  JsonValue out{{"schema", kPeriodsSchema}};
  out.update(json());
  return json_text(out) + "\n";
}

Result<Periods> Periods::from_json(std::string_view text) {
  return json::kept_document<json::PeriodsRecord>(text, kPeriodsSchema)
      .map([](json::PeriodsRecord record) {
        Periods periods;
        periods.until = record.until;
        periods.periods_ = std::move(record.days);
        return periods;
      });
}

}  // namespace rubato
