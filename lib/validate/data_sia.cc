// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/validate/data_sia.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "lib/base/csv.h"

namespace rubato {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxGpus = 1'000'000;

/// The part between PREFIX and ".csv", without the leading dash.
std::optional<std::string> middle(const std::string& name, std::string_view prefix) {
  constexpr std::string_view kEnd = ".csv";
  if (!name.starts_with(prefix) || !name.ends_with(kEnd)) return std::nullopt;
  if (name.size() < prefix.size() + kEnd.size()) return std::nullopt;
  std::string text = name.substr(prefix.size(), name.size() - prefix.size() - kEnd.size());
  if (text.empty()) return text;
  if (text.front() != '-') return std::nullopt;
  return text.substr(1);
}

Result<std::vector<std::string>> entries(const fs::path& folder) {
  std::error_code error;
  std::vector<std::string> names;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  if (error) {
    return tl::unexpected(Error{fmt::format("{}: {}", folder.string(), error.message())});
  }
  std::ranges::sort(names);
  return names;
}

/// Columns of a file of step times: placement, or nodes and gpus.
class StepReader {
 public:
  static Result<std::vector<SiaStep>> read(const fs::path& path) {
    auto table = CsvTable::read(path.string());
    if (!table) return tl::unexpected(table.error());
    StepReader reader(*table);
    for (auto& [heading, column] : reader.columns_) {
      const auto found = table->column(heading);
      if (!found) return tl::unexpected(found.error());
      column = *found;
    }
    std::vector<SiaStep> steps;
    for (std::size_t row = 0; row < table->rows(); ++row) {
      auto step = reader.step(row);
      if (!step) return tl::unexpected(step.error());
      steps.push_back(std::move(*step));
    }
    return steps;
  }

 private:
  explicit StepReader(const CsvTable& table) : table_(table) {
    columns_ = {{"local_bsz", 0}, {"step_time", 0}, {"sync_time", 0}};
    if (table.has("num_nodes")) {
      columns_["num_nodes"] = columns_["num_replicas"] = 0;
    } else {
      columns_["placement"] = 0;
    }
  }

  [[nodiscard]] std::size_t column(const std::string& heading) const {
    return columns_.at(heading);
  }

  [[nodiscard]] Result<SiaStep> step(std::size_t row) const {
    SiaStep step;
    if (const auto bad = shape(row, step); !bad) return tl::unexpected(bad.error());
    const auto batch = table_.amount(row, column("local_bsz"));
    if (!batch) return tl::unexpected(batch.error());
    if (*batch <= 0) return table_.error(row, column("local_bsz"), "expected a number above 0");
    const auto time = table_.amount(row, column("step_time"));
    if (!time) return tl::unexpected(time.error());
    if (*time <= 0) return table_.error(row, column("step_time"), "expected seconds above 0");
    const auto sync = table_.amount(row, column("sync_time"));
    if (!sync) return tl::unexpected(sync.error());
    step.local_batch = *batch;
    step.step_time = *time;
    step.sync_time = *sync;
    return step;
  }

  [[nodiscard]] Result<void> shape(std::size_t row, SiaStep& step) const {
    if (columns_.contains("placement")) {
      const std::size_t at = column("placement");
      step.gpus = 0;
      for (const char digit : table_.text(row, at)) {
        if (digit < '1' || digit > '9') break;
        step.placement.push_back(digit - '0');
        step.gpus += digit - '0';
      }
      step.nodes = static_cast<int>(step.placement.size());
      if (step.placement.empty() || step.placement.size() != table_.text(row, at).size()) {
        return table_.error(row, at, "expected a digit from 1 to 9 for each node, its GPUs");
      }
      return {};
    }
    const auto nodes = count(row, "num_nodes");
    if (!nodes) return tl::unexpected(nodes.error());
    const auto gpus = count(row, "num_replicas");
    if (!gpus) return tl::unexpected(gpus.error());
    if (*gpus < *nodes) {
      return table_.error(row, column("num_replicas"), "expected at least one GPU a node");
    }
    step.nodes = *nodes;
    step.gpus = *gpus;
    return {};
  }

  [[nodiscard]] Result<int> count(std::size_t row, const std::string& heading) const {
    const auto value = table_.whole(row, column(heading));
    if (!value) return tl::unexpected(value.error());
    if (*value < 1 || *value > kMaxGpus) {
      return table_.error(row, column(heading), "expected a number of at least 1");
    }
    return static_cast<int>(*value);
  }

  const CsvTable& table_;
  std::map<std::string, std::size_t> columns_;
};

Result<std::vector<SiaEpoch>> read_training(const fs::path& path) {
  const auto table = CsvTable::read(path.string());
  if (!table) return tl::unexpected(table.error());
  std::map<std::string, std::size_t> columns;
  for (const char* heading : {"progress", "iteration", "metric", "grad_sqr", "grad_var"}) {
    const auto found = table->column(heading);
    if (!found) return tl::unexpected(found.error());
    columns[heading] = *found;
  }
  std::vector<SiaEpoch> epochs;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const auto progress = table->amount(row, columns["progress"]);
    if (!progress) return tl::unexpected(progress.error());
    const auto iterations = table->whole(row, columns["iteration"]);
    if (!iterations) return tl::unexpected(iterations.error());
    const auto metric = table->number(row, columns["metric"]);
    if (!metric) return tl::unexpected(metric.error());
    const auto square = table->amount(row, columns["grad_sqr"]);
    if (!square) return tl::unexpected(square.error());
    const auto variance = table->amount(row, columns["grad_var"]);
    if (!variance) return tl::unexpected(variance.error());
    epochs.push_back({*progress, *iterations, *metric, *square, *variance});
  }
  return epochs;
}

Result<SiaApp> read_app(const fs::path& folder) {
  SiaApp app;
  app.name = folder.filename().string();
  const auto names = entries(folder);
  if (!names) return tl::unexpected(names.error());
  for (const std::string& name : *names) {
    if (const auto type = middle(name, "placements")) {
      auto steps = StepReader::read(folder / name);
      if (!steps) return tl::unexpected(steps.error());
      app.profiles.push_back({*type, std::move(*steps), {}});
    } else if (const auto text = middle(name, "validation")) {
      SiaTraining training;
      const auto end = text->data() + text->size();
      const auto [stop, bad] = std::from_chars(text->data(), end, training.batch);
      if (bad != std::errc() || stop != end || training.batch < 1) {
        return tl::unexpected(
            Error{fmt::format("{}: expected validation-BATCH.csv with a whole number of at least 1",
                              (folder / name).string())});
      }
      auto epochs = read_training(folder / name);
      if (!epochs) return tl::unexpected(epochs.error());
      training.epochs = std::move(*epochs);
      app.trainings.push_back(std::move(training));
    }
  }
  std::ranges::sort(app.profiles, {}, &SiaProfile::gpu_type);
  std::ranges::sort(app.trainings, {}, &SiaTraining::batch);
  for (SiaProfile& profile : app.profiles) {
    const std::string dash = profile.gpu_type.empty() ? "" : "-";
    const fs::path path = folder / ("scalability" + dash + profile.gpu_type + ".csv");
    std::error_code error;
    if (!fs::exists(path, error)) continue;
    auto steps = StepReader::read(path);
    if (!steps) return tl::unexpected(steps.error());
    profile.scalability = std::move(*steps);
  }
  return app;
}

auto row_key(const SiaStep& s) {
  return std::tie(s.placement, s.local_batch, s.step_time, s.sync_time);
}

bool same_rows(const SiaProfile& a, const SiaProfile& b) {
  return !a.placements.empty() &&
         std::ranges::equal(a.placements, b.placements, {}, row_key, row_key);
}

/// Priority of a type as representative of others: a name, then applications, then rows.
struct Standing {
  bool named = false;
  std::size_t apps = 0;
  std::size_t rows = 0;
  auto operator<=>(const Standing&) const = default;  // NOLINT(modernize-use-nullptr)
};

std::vector<std::string> distinct_types(const std::vector<SiaApp>& apps) {
  std::map<std::string, Standing> standing;
  std::map<std::string, std::string> leader;  // of the group, as a chain
  for (const SiaApp& app : apps) {
    for (const SiaProfile& p : app.profiles) {
      Standing& s = standing[p.gpu_type];
      s = {!p.gpu_type.empty(), s.apps + 1, s.rows + p.placements.size()};
      leader.emplace(p.gpu_type, p.gpu_type);
    }
  }
  const auto top = [&](std::string type) {
    while (leader[type] != type) type = leader[type];
    return type;
  };
  for (const SiaApp& app : apps) {
    for (const SiaProfile& a : app.profiles) {
      for (const SiaProfile& b : app.profiles) {
        const std::string one = top(a.gpu_type);
        const std::string other = top(b.gpu_type);
        if (one == other || !same_rows(a, b)) continue;
        const bool first = standing[one] > standing[other];
        leader[first ? other : one] = first ? one : other;
      }
    }
  }
  std::vector<std::string> types;
  for (const auto& [type, own] : leader) {
    if (type == own) types.push_back(type);
  }
  return types;
}

}  // namespace

Result<SiaData> read_sia(const std::string& data_dir) {
  return read_sia_traces((fs::path(data_dir) / "sia" / "traces").string());
}

Result<SiaData> read_sia_traces(const std::string& folder) {
  const fs::path root = folder;
  const auto names = entries(root);
  if (!names) return tl::unexpected(names.error());
  SiaData data;
  for (const std::string& name : *names) {
    std::error_code error;
    if (!fs::is_directory(root / name, error)) continue;
    auto app = read_app(root / name);
    if (!app) return tl::unexpected(app.error());
    if (!app->profiles.empty()) data.apps.push_back(std::move(*app));
  }
  if (data.apps.empty()) {
    return tl::unexpected(
        Error{fmt::format("{}: expected folders with placements-TYPE.csv", root.string())});
  }
  data.gpu_types = distinct_types(data.apps);
  return data;
}

}  // namespace rubato
