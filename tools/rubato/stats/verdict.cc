// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/stats/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <map>
#include <utility>
#include <vector>

#include "tools/shared/own_fields.h"

namespace rubato::tools {
namespace {

constexpr Seconds kDay = 86400;
constexpr int kMinDays = 3;

/// 95 % quantile of Student's t for 1 to 30 degrees of freedom; the last is used above.
constexpr std::array<double, 30> kQuantiles{6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860,
                                            1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753, 1.746,
                                            1.740, 1.734, 1.729, 1.725, 1.721, 1.717, 1.714, 1.711,
                                            1.708, 1.706, 1.703, 1.701, 1.699, 1.697};

/// Waits by day, and the completions of all of them.
struct Days : std::map<Seconds, WaitCount> {
  WaitCount completions;
};

void add(WaitCount& to, const WaitCount& more) {
  to.jobs += more.jobs;
  to.total += more.total;
  to.longest = std::max(to.longest, more.longest);
}

DayCount count_of(const Days& days) {
  DayCount count;
  count.completions = days.completions;
  for (const auto& [day, waits] : days) {
    if (waits.jobs == 0) continue;
    if (count.days++ == 0) count.from = day;
    count.until = day;
    add(count.waits, waits);
  }
  return count;
}

/// Variance of the mean wait of a job, by leaving out one day at a time.
double jackknife(const Days& days, const DayCount& all) {
  std::vector<double> means;
  for (const auto& [day, waits] : days) {
    const auto jobs = static_cast<double>(all.waits.jobs - waits.jobs);
    if (waits.jobs > 0 && jobs > 0)
      means.push_back(static_cast<double>(all.waits.total - waits.total) / jobs);
  }
  const auto n = static_cast<double>(means.size());
  double mean = 0;
  for (const double one : means) mean += one / n;
  double sum = 0;
  for (const double one : means) sum += (one - mean) * (one - mean);
  return sum * (n - 1) / n;
}

/// Degrees of freedom after Welch and Satterthwaite.
double quantile(double a, int a_days, double b, int b_days) {
  const double sum = a + b;
  const double under = a * a / (a_days - 1) + b * b / (b_days - 1);
  const double freedom = under > 0 ? sum * sum / under : 1;
  const auto at = static_cast<std::size_t>(
      std::clamp(std::floor(freedom), 1.0, static_cast<double>(kQuantiles.size())));
  return kQuantiles[at - 1];
}

std::string length(double seconds) {
  const std::string text = squeue_duration(std::llround(std::abs(seconds)));
  return seconds < -0.5 ? "-" + text : text;
}

std::string dates(Seconds from, Seconds until) {
  return from == until ? "on " + day_text(from)
                       : fmt::format("from {} to {}", day_text(from), day_text(until));
}

std::string jobs_text(std::int64_t jobs) {
  return fmt::format("{} managed job{}", jobs, jobs == 1 ? "" : "s");
}

/// How sure the difference of the two means is.
std::string sureness(const PeriodVerdict& verdict) {
  if (!verdict.low || !verdict.high) {
    return fmt::format("Not sure: an interval needs {} days of each, and there are {} and {}.",
                       kMinDays, verdict.stock.days, verdict.rubato.days);
  }
  const bool clear = *verdict.low > 0 || *verdict.high < 0;
  return fmt::format(
      "{}: 90% interval of the difference {} to {} (days with other jobs are compared).",
      clear ? "More than chance" : "It may be chance", length(*verdict.low), length(*verdict.high));
}

std::string against_stock(const PeriodVerdict& verdict) {
  const DayCount& stock = verdict.stock;
  if (stock.days == 0) return " There is no day of mode observe to compare with.";
  const double before = stock.mean();
  const double now = verdict.rubato.mean();
  const std::string than = fmt::format("the {} of {} that stock Slurm started {}", length(before),
                                       jobs_text(stock.waits.jobs), dates(stock.from, stock.until));
  if (std::abs(before - now) < 0.5) return fmt::format(" That is {}. ", than) + sureness(verdict);
  return fmt::format(" That is {} {} than {}. ", length(std::abs(before - now)),
                     now < before ? "less" : "more", than) +
         sureness(verdict);
}

double mean_of(const WaitCount& count) {
  return static_cast<double>(count.total) / static_cast<double>(count.jobs);
}

/// The time from eligible to end, where both sides have some.
std::string completions_text(const PeriodVerdict& verdict) {
  const WaitCount& now = verdict.rubato.completions;
  const WaitCount& before = verdict.stock.completions;
  if (now.jobs == 0 || before.jobs == 0) return "";
  return fmt::format(" From eligible to end {} jobs took {} on average, before that {} took {}.",
                     now.jobs, length(mean_of(now)), before.jobs, length(mean_of(before)));
}

/// What was done to running jobs, and what that cost.
std::string changes_text(const ChangeCount& changes) {
  if (changes.done() == 0) return "";
  std::string kinds;
  for (const auto& [count, word] : {std::pair{changes.grown, "grown"},
                                    {changes.shrunk, "shrunk"},
                                    {changes.restarted, "restarted"},
                                    {changes.stopped, "stopped"}}) {
    if (count > 0) kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", count, word);
  }
  std::string text = fmt::format(" {} change{} of running jobs ({})", changes.done(),
                                 changes.done() == 1 ? "" : "s", kinds);
  if (changes.gain > 0)
    text += fmt::format("; by forecast their jobs end {} earlier in all", length(changes.gain));
  if (changes.measured > 0) {
    text += fmt::format("; {} measured one{} cost {} without progress", changes.measured,
                        changes.measured == 1 ? "" : "s", length(changes.cost));
  }
  return text + ".";
}

std::string observed_text(const PeriodVerdict& verdict) {
  const DayCount& seen = verdict.observed;
  std::string text =
      fmt::format("{} started under stock Slurm {} (mode observe); they waited {} on average.",
                  jobs_text(seen.waits.jobs), dates(seen.from, seen.until), length(seen.mean()));
  if (verdict.scored == 0) return text;
  text += fmt::format(" Rubato would have started {} of {} earlier", verdict.earlier.jobs,
                      verdict.scored);
  if (verdict.earlier.jobs > 0)
    text += fmt::format(", by {} on average",
                        squeue_duration(verdict.earlier.total / verdict.earlier.jobs));
  return text + "; each was judged alone, so this is no measured gain.";
}

std::string verdict_text(const PeriodVerdict& verdict) {
  if (verdict.rubato.days > 0) {
    return fmt::format("{} started under Rubato {}; they waited {} on average.",
                       jobs_text(verdict.rubato.waits.jobs),
                       dates(verdict.rubato.from, verdict.rubato.until),
                       length(verdict.rubato.mean())) +
           against_stock(verdict) + completions_text(verdict) + changes_text(verdict.changes);
  }
  if (verdict.observed.days > 0) return observed_text(verdict);
  return verdict.until > 0 ? fmt::format("No managed job has started since {}.",
                                         day_text(std::max<Seconds>(0, verdict.from)))
                           : "No managed job has started yet.";
}

/// The interval, where there are days enough.
void judge(PeriodVerdict& verdict, const Days& stock, const Days& rubato) {
  if (verdict.rubato.days < kMinDays || verdict.stock.days < kMinDays) return;
  const double a = jackknife(stock, verdict.stock);
  const double b = jackknife(rubato, verdict.rubato);
  const double half = quantile(a, verdict.stock.days, b, verdict.rubato.days) * std::sqrt(a + b);
  const double gain = verdict.stock.mean() - verdict.rubato.mean();
  verdict.low = gain - half;
  verdict.high = gain + half;
}

}  // namespace

PeriodVerdict verdict_of(const Periods& periods, const std::string& mode, int days) {
  PeriodVerdict verdict;
  verdict.mode = mode;
  verdict.until = periods.until;
  verdict.from = periods.until - periods.until % kDay - (days - 1) * kDay;
  Days rubato;
  Days stock;
  Days observed;
  for (const Period& period : periods.all()) {
    const bool inside = period.day >= verdict.from;
    if (inside) verdict.changes.add(period.changes);
    if (period.mode == "observe") {
      add(stock[period.day], period.waits);
      add(stock.completions, period.completions);
      if (!inside) continue;
      add(observed[period.day], period.waits);
      add(observed.completions, period.completions);
      add(verdict.earlier, period.earlier);
      verdict.scored += period.earlier.jobs + period.not_earlier;
    } else if (inside) {
      add(rubato[period.day], period.waits);
      add(rubato.completions, period.completions);
    }
  }
  verdict.rubato = count_of(rubato);
  verdict.stock = count_of(stock);
  verdict.observed = count_of(observed);
  judge(verdict, stock, rubato);
  verdict.sentence = verdict_text(verdict);
  return verdict;
}

Periods periods_of(const PublishedStats& stats) {
  const Json* report = stats.all->find("report");
  if (report == nullptr) return {};
  Json document{{"schema", kPeriodsSchema}};
  document.update(*report);
  auto periods = Periods::from_json(json_text(document));
  return periods ? std::move(*periods) : Periods{};
}

std::string day_text(Seconds day) {
  const std::time_t time = day;
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 16> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d", &parts)};
}

}  // namespace rubato::tools
