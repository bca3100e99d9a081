// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/models/models_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/base/json_value.h"
#include "lib/base/nearest.h"
#include "tools/rubato/models/read_input.h"
#include "tools/rubato/models/site_store.h"
#include "tools/shared/own_fields.h"
#include "tools/shared/published.h"

namespace rubato::tools {

bool chosen(const ModelsOptions& options, const store::ProfileRow& row) {
  return (row.type.shared || wanted(options.account, row.type.account)) &&
         wanted(options.type, row.type.name) && wanted(options.gpu_type, row.gpu_type);
}

Result<ModelsFit> fit_to_show(const ModelsOptions& options, const Site& site) {
  if (options.file.empty()) {
    auto fit = read_models_fit(site);
    if (fit) fit->ready = false;  // options may give a shape that no job has
    return fit;
  }
  const auto rows = rows_to_fit(options, site);
  if (!rows) return tl::unexpected<Error>(rows.error());
  ModelsFit fit;
  fit.speeds = site.config.speeds();
  fit.observations = observations_of(*rows);
  fit.rows = measured_rows(*rows);
  fit.memory = site.config.gpu_memory();
  fit.links = site.config.gpu_links();
  fit.curves = StepTimeModels(fit.rows, fit.memory, fit.links).curve_points();
  return fit;
}

std::map<std::string, ModelShape> shapes_of(const Config& config) {
  std::map<std::string, ModelShape> shapes;
  for (const JobTypeConfig& type : config.job_types) {
    if (type.hints.model) shapes.emplace(type.name, *type.hints.model);
  }
  return shapes;
}

Result<std::vector<store::ProfileRow>> rows_to_fit(const ModelsOptions& options, const Site& site) {
  if (!options.file.empty()) {
    return read_bounded_file(options.file).and_then([&](const std::string& text) {
      return store::profiles_from(text, options.file);
    });
  }
  return read_profiles(site).map([](SiteProfiles profiles) { return std::move(profiles.rows); });
}

std::string no_such_type(const std::string& type, const std::set<std::string>& names) {
  const std::vector<std::string> list(names.begin(), names.end());
  const std::string mean = did_you_mean(type, list);
  const std::string known =
      list.empty() ? "; none is known" : fmt::format("; known: {}", fmt::join(list, ", "));
  return fmt::format("no profile of job type '{}'{}", type, mean.empty() ? known : mean);
}

std::set<std::string> types_of(const std::vector<store::ProfileRow>& rows) {
  std::set<std::string> names;
  for (const store::ProfileRow& row : rows) names.insert(row.type.name);
  return names;
}

std::vector<ThroughputObservation> observations_of(const std::vector<store::ProfileRow>& rows) {
  std::vector<ThroughputObservation> cells;
  for (const store::ProfileRow& row : rows) {
    const store::JobTypeGroup& group = row.group;
    if (row.gpus < 1 || group.samples <= group.flagged) continue;
    cells.push_back({.profile = {row.type.shared ? "" : row.type.account, row.type.name},
                     .gpu_type = row.gpu_type,
                     .gpus = row.gpus,
                     .throughput = group.mean_throughput,
                     .samples = group.samples - group.flagged,
                     .nodes = group.nodes,
                     .batch = group.batch,
                     .plan = group.plan});
  }
  return cells;
}

std::set<std::string> gpu_types_of(const std::vector<ThroughputObservation>& cells,
                                   const Config& config) {
  std::set<std::string> types;
  for (const GpuTypeConfig& type : config.gpu_types) types.insert(type.name);
  for (const ThroughputObservation& cell : cells)
    if (cell.gpu_type.find('+') == std::string::npos) types.insert(cell.gpu_type);
  return types;
}

namespace {

/// What each flag means, in the words of rubato-files(5).
std::string meaning_of(const std::string& flag) {
  if (flag == "not-monotone") return "fewer samples, or an earlier time, than the report before";
  if (flag == "wall-time") return "samples/s contradict the samples done since the last report";
  if (flag == "above-best")
    return "more than three times the best throughput of this configuration";
  if (flag == "unlike-others")
    return "far from the measurements of other jobs in this configuration";
  return "";
}

}  // namespace

std::string flag_text(const std::string& flag, std::int64_t reports) {
  const std::string meaning = meaning_of(flag);
  return fmt::format("{} {}{}", reports, flag, meaning.empty() ? "" : ": " + meaning);
}

void print_most_informative(const std::vector<InformativeMeasurement>& most_informative) {
  if (most_informative.empty()) return;
  fmt::print("\nMost informative measurements:\n");
  for (const InformativeMeasurement& measurement : most_informative) {
    fmt::print("  {} on {} {}: would cut the mean STDDEV of the job type from {:.0f}% to {:.0f}%\n",
               measurement.profile.job_type, measurement.gpus,
               measurement.gpu_type.empty() ? kUnknown : measurement.gpu_type,
               100 * std::expm1(measurement.mean),
               100 * std::expm1(std::max(measurement.mean - measurement.reduction, 0.0)));
  }
}

}  // namespace rubato::tools
