// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/validate/data_rubick.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "lib/base/csv.h"
#include "lib/base/text.h"

namespace rubato {
namespace {

constexpr double kMs = 1e-3;
// Codes of the column zero_type.
constexpr int kPlain = 0;
constexpr int kOffload = 1;
constexpr int kSharded = 2;

// Folders in `parent`, sorted.
Result<std::vector<std::string>> folders_of(const std::string& parent) {
  std::error_code code;
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(parent, code)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  if (code) return fail(fmt::format("{}: {}", parent, code.message()));
  if (names.empty()) return fail(fmt::format("{}: expected folders, one a model", parent));
  std::sort(names.begin(), names.end());
  return names;
}

// The fields of a row by heading. Keeps the first error.
class Row {
 public:
  Row(const CsvTable& table, std::size_t row) : table_(table), row_(row) {}

  double amount(std::string_view heading) {
    return number(heading, [&](std::size_t column) { return table_.amount(row_, column); });
  }

  double positive(std::string_view heading) {
    const double value = amount(heading);
    if (!error_.text.empty() || value > 0) return value;
    refuse(heading, "expected a number above 0");
    return 1;
  }

  int whole(std::string_view heading, std::int64_t from, std::int64_t to) {
    const auto value = static_cast<std::int64_t>(number(heading, [&](std::size_t column) {
      const auto read = table_.whole(row_, column);
      return read ? Result<double>(static_cast<double>(*read)) : tl::unexpected(read.error());
    }));
    if (!error_.text.empty() || (value >= from && value <= to)) return static_cast<int>(value);
    refuse(heading, fmt::format("expected a whole number from {} to {}", from, to));
    return static_cast<int>(from);
  }

  std::string text(std::string_view heading) {
    const auto column = table_.column(heading);
    if (!column) {
      keep(column.error());
      return "";
    }
    return table_.text(row_, *column);
  }

  void refuse(std::string_view heading, const std::string& why) {
    const auto column = table_.column(heading);
    keep(column ? table_.error(row_, *column, why).value() : column.error());
  }

  [[nodiscard]] const Error& error() const { return error_; }

 private:
  template <typename Read>
  double number(std::string_view heading, Read read) {
    const auto column = table_.column(heading);
    if (!column) {
      keep(column.error());
      return 0;
    }
    const Result<double> value = read(*column);
    if (value) return *value;
    keep(value.error());
    return 0;
  }

  void keep(const Error& error) {
    if (error_.text.empty()) error_ = error;
  }

  const CsvTable& table_;
  std::size_t row_;
  Error error_;
};

RubickFitRow fit_row(Row& config, Row& data) {
  RubickFitRow out;
  PlanSample& s = out.sample;
  s.configuration.nodes = config.whole("nodes", 1, 1);
  s.configuration.gpus = config.whole("gpus", 1, kMaxGpus);
  s.configuration.cores_per_gpu = config.whole("num_cpu_threads", 1, 4096);
  s.batch = config.whole("batch_size", 1, kMaxBatch);
  s.plan.data = s.configuration.gpus;
  const int zero = config.whole("zero_type", kPlain, kSharded);
  if (zero == kOffload) s.plan.zero = Zero::kOffload;
  if (zero == kSharded) s.plan.zero = Zero::kSharded;
  out.params_mi = config.positive("parameter_size");
  s.forward_seconds = kMs * data.positive("forward_time");
  s.tail_seconds = kMs * data.positive("Tcc");
  s.optimiser_seconds = kMs * data.positive("Topt");
  s.step_seconds = kMs * data.positive("iter_time");
  return out;
}

Result<RubickFitSet> read_fit_set(const std::string& folder, const std::string& name) {
  const auto config = CsvTable::read(fmt::format("{}/{}/config.csv", folder, name));
  if (!config) return tl::unexpected(config.error());
  const std::string path = fmt::format("{}/{}/data.csv", folder, name);
  const auto data = CsvTable::read(path);
  if (!data) return tl::unexpected(data.error());
  if (config->rows() != data->rows() || data->rows() == 0) {
    return fail(
        fmt::format("{}: {} rows, expected as many as in config.csv beside it ({}), and one "
                    "at least",
                    path, data->rows(), config->rows()));
  }
  RubickFitSet out{.name = name, .rows = {}};
  for (std::size_t i = 0; i < data->rows(); ++i) {
    Row left(*config, i);
    Row right(*data, i);
    out.rows.push_back(fit_row(left, right));
    for (const Row* row : {&left, &right}) {
      if (!row->error().text.empty()) return tl::unexpected(row->error());
    }
  }
  return out;
}

// "8844": GPUs on each node.
bool read_placement(const std::string& text, PlanConfiguration& configuration) {
  if (text.empty() || text.size() > 64) return false;
  configuration.gpus = 0;
  for (const char c : text) {
    if (c < '1' || c > '9') return false;
    configuration.gpus += c - '0';
  }
  configuration.nodes = static_cast<int>(text.size());
  return true;
}

RubickProfileRow profile_row(Row& row, const CsvTable& table) {
  RubickProfileRow out;
  PlanSample& s = out.sample;
  out.plan_name = row.text("exec_plan");
  out.placement = row.text("placement");
  s.step_seconds = row.amount("iter_time");
  if (table.has("cpu_threads")) s.configuration.cores_per_gpu = row.whole("cpu_threads", 1, 4096);
  if (table.has("forward")) {
    s.forward_seconds = row.amount("forward");
    s.tail_seconds = row.amount("overlap_sync");
    s.optimiser_seconds = row.amount("optimize");
  }
  if (!read_placement(out.placement, s.configuration)) {
    row.refuse("placement", "expected a digit from 1 to 9 for each node, as in 88");
    return out;
  }
  const auto plan = rubick_plan(out.plan_name, s.configuration.gpus);
  if (plan) {
    s.plan = *plan;
  } else {
    row.refuse("exec_plan", plan.error().text);
  }
  return out;
}

double parts_of(const PlanSample& s) {
  return s.forward_seconds + s.tail_seconds + s.optimiser_seconds;
}

void normalise_parts(std::vector<RubickProfileRow>& rows) {
  double in_seconds = 0;
  double in_ms = 0;
  for (const RubickProfileRow& row : rows) {
    if (!(parts_of(row.sample) > 0)) continue;
    in_seconds += std::abs(std::log(parts_of(row.sample) / row.sample.step_seconds));
    in_ms += std::abs(std::log(parts_of(row.sample) * kMs / row.sample.step_seconds));
  }
  const double unit = in_ms < in_seconds ? kMs : 1;
  for (RubickProfileRow& row : rows) {
    PlanSample& s = row.sample;
    const double ratio = unit * parts_of(s) / s.step_seconds;
    const double keep = ratio > 0.8 && ratio < 1.25 ? unit : 0;
    s.forward_seconds *= keep;
    s.tail_seconds *= keep;
    s.optimiser_seconds *= keep;
  }
}

Result<RubickProfile> read_profile(const std::string& folder, const std::string& name) {
  const auto table = CsvTable::read(fmt::format("{}/{}/placements.csv", folder, name));
  if (!table) return tl::unexpected(table.error());
  RubickProfile out{.name = name, .rows = {}};
  for (std::size_t i = 0; i < table->rows(); ++i) {
    Row row(*table, i);
    RubickProfileRow read = profile_row(row, *table);
    if (!row.error().text.empty()) return tl::unexpected(row.error());
    read.line = table->line(i);
    if (read.sample.step_seconds > 0) out.rows.push_back(std::move(read));
  }
  normalise_parts(out.rows);
  return out;
}

}  // namespace

Result<ExecutionPlan> rubick_plan(const std::string& name, int gpus) {
  ExecutionPlan plan;
  if (name.size() == 3 &&
      std::all_of(name.begin(), name.end(), [](char c) { return c >= '1' && c <= '9'; })) {
    plan.pipeline = name[0] - '0';
    plan.tensor = name[1] - '0';
    plan.data = name[2] - '0';
    if (plan.gpus() == gpus) return plan;
    return fail(fmt::format("the degrees make {} GPUs, expected the {} of the placement",
                            plan.gpus(), gpus));
  }
  plan.data = gpus;
  for (const std::string_view word : split_at(name, '+')) {
    if (word == "gc") {
      plan.checkpointing = true;
    } else if (word == "zero-dp") {
      plan.zero = Zero::kSharded;
    } else if (word == "zero-offload") {
      plan.zero = Zero::kOffload;
    } else if (word == "tp") {
      plan.data = 1;
      plan.tensor = gpus;
    } else if (word != "ga") {
      return fail(
          "expected ga, gc, zero-dp, zero-offload, tp, several with + between, or three "
          "digits such as 241");
    }
  }
  if (plan.split() && plan.zero != Zero::kNone) return fail("expected no ZeRO beside tp");
  return plan;
}

Result<RubickData> read_rubick(const std::string& folder) {
  RubickData out;
  const std::string fits = folder + "/perf_model_validation";
  const auto fit_names = folders_of(fits);
  if (!fit_names) return tl::unexpected(fit_names.error());
  for (const std::string& name : *fit_names) {
    auto set = read_fit_set(fits, name);
    if (!set) return tl::unexpected(set.error());
    out.fit_sets.push_back(std::move(*set));
  }
  const std::string profiles = folder + "/profiles";
  const auto names = folders_of(profiles);
  if (!names) return tl::unexpected(names.error());
  for (const std::string& name : *names) {
    auto profile = read_profile(profiles, name);
    if (!profile) return tl::unexpected(profile.error());
    out.profiles.push_back(std::move(*profile));
  }
  return out;
}

}  // namespace rubato
