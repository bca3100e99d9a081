// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/period.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "lib/json/json_documents.h"

namespace rubato {
namespace {

using Json = nlohmann::ordered_json;

constexpr Seconds kDay = 86400;
constexpr std::uint64_t kMaxNumber = std::uint64_t{1} << 53;

Json json_of(const WaitCount& count) {
  return {{"jobs", count.jobs}, {"seconds", count.total}, {"longest", count.longest}};
}

Json json_of(const std::map<std::string, WaitCount>& counts) {
  Json out = Json::object();
  for (const auto& [name, count] : counts) out[name] = json_of(count);
  return out;
}

std::int64_t number(const JsonItem& item) {
  return static_cast<std::int64_t>(item.number(kMaxNumber));
}

WaitCount read_count(const JsonItem& item) {
  WaitCount count;
  JsonObject object(item);
  object.optional("jobs", [&](const JsonItem& value) { count.jobs = number(value); });
  object.optional("seconds", [&](const JsonItem& value) { count.total = number(value); });
  object.optional("longest", [&](const JsonItem& value) { count.longest = number(value); });
  object.finish();
  return count;
}

std::map<std::string, WaitCount> read_counts(const JsonItem& item) {
  std::map<std::string, WaitCount> counts;
  if (!item.value().is_object()) {
    item.error("expected an object");
    return counts;
  }
  for (const auto& [name, value] : item.value().items()) {
    const JsonPath path{&item.path(), name, 0};
    counts[name] = read_count(JsonItem(value, path, item.errors()));
  }
  return counts;
}

Period read_period(const JsonItem& item) {
  Period period;
  JsonObject object(item);
  object.time("day", period.day);
  object.text("mode", period.mode);
  object.optional("waits", [&](const JsonItem& value) { period.waits = read_count(value); });
  object.optional("by_partition",
                  [&](const JsonItem& value) { period.by_partition = read_counts(value); });
  object.optional("by_job_type",
                  [&](const JsonItem& value) { period.by_job_type = read_counts(value); });
  object.optional("started", [&](const JsonItem& value) { period.started = number(value); });
  object.optional("earlier", [&](const JsonItem& value) { period.earlier = read_count(value); });
  object.optional("not_earlier",
                  [&](const JsonItem& value) { period.not_earlier = number(value); });
  object.optional("gpu_seconds", [&](const JsonItem& value) { period.gpu_seconds = value.real(); });
  object.optional("reports", [&](const JsonItem& value) { period.reports = number(value); });
  object.finish();
  return period;
}

}  // namespace

void WaitCount::add(Seconds wait) {
  ++jobs;
  total += wait;
  longest = std::max(longest, wait);
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

nlohmann::ordered_json Periods::json(bool breakdown) const {
  Json days = Json::array();
  for (const Period& period : periods_) {
    Json day{{"day", period.day}, {"mode", period.mode}, {"waits", json_of(period.waits)}};
    if (breakdown) {
      day["by_partition"] = json_of(period.by_partition);
      day["by_job_type"] = json_of(period.by_job_type);
    }
    day["started"] = period.started;
    day["earlier"] = json_of(period.earlier);
    day["not_earlier"] = period.not_earlier;
    day["gpu_seconds"] = period.gpu_seconds;
    day["reports"] = period.reports;
    days.push_back(std::move(day));
  }
  return {{"until", until}, {"days", std::move(days)}};
}

std::string Periods::text() const {
  Json out{{"schema", kPeriodsSchema}};
  out.update(json());
  return json_text(out) + "\n";
}

Result<Periods> Periods::from_json(std::string_view text) {
  return json::parse<Periods>(text, kPeriodsSchema, [](JsonObject& object) {
    Periods periods;
    object.time("until", periods.until);
    object.optional("days", [&](const JsonItem& item) {
      item.elements([&](const JsonItem& day) { periods.periods_.push_back(read_period(day)); });
      const bool sorted = json::ascending(periods.periods_, [](const Period& a, const Period& b) {
        return std::tie(a.day, a.mode) < std::tie(b.day, b.mode);
      });
      if (!item.failed() && !sorted) item.error("must be sorted by day and mode, each once");
    });
    return periods;
  });
}

}  // namespace rubato
