// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/shared/own_fields.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "lib/base/nearest.h"

namespace rubato::tools {
namespace {

template <typename T>
int order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

/// As order(), but what is not known comes last.
template <typename T>
int order_known(const T& a, bool a_known, const T& b, bool b_known) {
  if (a_known != b_known) return a_known ? -1 : 1;
  return a_known ? order(a, b) : 0;
}

int order_words(const std::string& a, const std::string& b) {
  return order_known(a, !a.empty(), b, !b.empty());
}

using Facts = const JobFacts&;

std::string gpus_text(Facts f) {
  if (f.gpus <= 0) return "";
  return f.gpu_type.empty() ? fmt::format("{}", f.gpus) : fmt::format("{}x{}", f.gpus, f.gpu_type);
}

std::string held_or_sizes(Facts f) {
  return f.held && f.gpus > 0 ? fmt::format("{} held", f.gpus) : sizes_text(f.sizes);
}

std::string progress_text(Facts f) {
  const auto progress = f.progress();
  return progress ? fmt::format("{:.0f}%", *progress * 100) : "";
}

std::string interval_text(Facts f) {
  if (f.left_low < 0 || f.left_high < f.left_low) return "";
  return squeue_duration(f.left_low) + ".." + squeue_duration(f.left_high);
}

int order_sizes(Facts a, Facts b) {
  const auto key = [](Facts f) {
    return f.sizes.empty() ? std::pair(0, 0) : std::pair(f.sizes.smallest(), f.sizes.largest());
  };
  return order_known(key(a), !a.sizes.empty(), key(b), !b.sizes.empty());
}

int order_progress(Facts a, Facts b) {
  const auto left = a.progress();
  const auto right = b.progress();
  return order_known(left.value_or(0), left.has_value(), right.value_or(0), right.has_value());
}

}  // namespace

const std::vector<OwnField>& own_fields() {
  static const std::vector<OwnField> table{
      {"dljobtype", "JOBTYPE", "Job type; its jobs share profiles",
       [](Facts f) { return f.job_type; },
       [](Facts a, Facts b) { return order_words(a.job_type, b.job_type); }},
      {"dllevel", "LEVEL", "Level in Rubato's queue; 0 goes first",
       [](Facts f) { return f.level < 0 ? std::string() : fmt::format("{}", f.level); },
       [](Facts a, Facts b) { return order_known(a.level, a.level >= 0, b.level, b.level >= 0); }},
      {"dlgputype", "GPU_TYPE", "GPU type it runs on or will run on",
       [](Facts f) { return f.gpu_type; },
       [](Facts a, Facts b) { return order_words(a.gpu_type, b.gpu_type); }},
      {"dlgpus", "GPUS", "GPUs allocated or requested, with their type: 4xa100", &gpus_text,
       [](Facts a, Facts b) { return order_known(a.gpus, a.gpus > 0, b.gpus, b.gpus > 0); }},
      {"dlsizes", "SIZES", "Possible numbers of GPUs; \"4 held\": it keeps its 4", &held_or_sizes,
       &order_sizes},
      {"dlplan", "PLAN", "Execution plan", [](Facts f) { return f.plan; },
       [](Facts a, Facts b) { return order_words(a.plan, b.plan); }},
      {"dlrate", "RATE", "Throughput of its last report (samples/s)",
       [](Facts f) { return throughput_text(f.throughput); },
       [](Facts a, Facts b) {
         return order_known(a.throughput, a.throughput >= 0, b.throughput, b.throughput >= 0);
       }},
      {"dlsamples", "SAMPLES", "Samples done, including restarts",
       [](Facts f) { return f.samples < 0 ? std::string() : fmt::format("{}", f.samples); },
       [](Facts a, Facts b) {
         return order_known(a.samples, a.samples >= 0, b.samples, b.samples >= 0);
       }},
      {"dlprogress", "PROGRESS", "Share of its work done", &progress_text, &order_progress},
      {"dlremaining", "REMAINING", "Predicted remaining time",
       [](Facts f) { return f.remaining < 0 ? std::string() : squeue_duration(f.remaining); },
       [](Facts a, Facts b) {
         return order_known(a.remaining, a.remaining >= 0, b.remaining, b.remaining >= 0);
       }},
      {"dlinterval", "REMAINING_90", "90% prediction interval of the remaining time",
       &interval_text,
       [](Facts a, Facts b) {
         return order_known(a.left_high, a.left_high >= 0, b.left_high, b.left_high >= 0);
       }},
      {"dlclass", "CLASS", "P: remaining time predictable, U: not",
       [](Facts f) { return f.predictable; },
       [](Facts a, Facts b) { return order_words(a.predictable, b.predictable); }},
      {"dlwait", "WAIT", "Why it waits, in one word", [](Facts f) { return f.wait; },
       [](Facts a, Facts b) { return order_words(a.wait, b.wait); }},
      {"dlstart", "EXPECTED_START", "Latest start that Rubato expects",
       [](Facts f) { return f.start <= 0 ? std::string() : squeue_time(f.start); },
       [](Facts a, Facts b) { return order_known(a.start, a.start > 0, b.start, b.start > 0); }},
  };
  return table;
}

const OwnField* own_field(std::string_view name) {
  std::string wanted = lower(name);
  if (!wanted.starts_with("dl")) wanted = "dl" + wanted;
  const auto& table = own_fields();
  const auto it = std::find_if(table.begin(), table.end(),
                               [&wanted](const OwnField& field) { return field.name == wanted; });
  return it == table.end() ? nullptr : &*it;
}

std::string text_or_unknown(const OwnField& field, const JobFacts& facts) {
  std::string text = field.text(facts);
  return text.empty() ? kUnknown : text;
}

std::string squeue_duration(Seconds length) {
  const Seconds days = length / 86400;
  const Seconds hours = length / 3600 % 24;
  const Seconds minutes = length / 60 % 60;
  const Seconds seconds = length % 60;
  if (days > 0) return fmt::format("{}-{:02}:{:02}:{:02}", days, hours, minutes, seconds);
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, seconds);
  return fmt::format("{}:{:02}", minutes, seconds);
}

std::string squeue_time(Seconds time) {
  const char* chosen = std::getenv("SLURM_TIME_FORMAT");
  const std::string format = chosen == nullptr || *chosen == '\0' ||
                                     std::string_view(chosen) == "standard" ||
                                     std::string_view(chosen) == "relative"
                                 ? "%Y-%m-%dT%H:%M:%S"
                                 : chosen;
  const std::time_t seconds = time;
  std::tm parts{};
  if (localtime_r(&seconds, &parts) == nullptr) return "";
  char text[256];
  const std::size_t size = std::strftime(text, sizeof(text), format.c_str(), &parts);
  return {text, size};
}

std::string throughput_text(double throughput) {
  if (!(throughput >= 0)) return "";
  if (throughput >= 100) return fmt::format("{:.0f}", throughput);
  if (throughput >= 10) return fmt::format("{:.1f}", throughput);
  if (throughput >= 1) return fmt::format("{:.2f}", throughput);
  return fmt::format("{:.3f}", throughput);
}

}  // namespace rubato::tools
