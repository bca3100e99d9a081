// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato models curve`: what more GPUs would bring a job type, by the models that the rounds ask.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "lib/base/json_value.h"
#include "lib/hints/values.h"
#include "lib/json/models_fit.h"
#include "lib/json/record_writer.h"
#include "lib/model/plans/plan_curve.h"
#include "tools/rubato/models/curve_records.h"
#include "tools/rubato/models/models_rows.h"
#include "tools/rubato/models/site_store.h"
#include "tools/shared/published.h"
#include "tools/shared/record_table.h"

namespace rubato::tools {
namespace {

constexpr std::size_t kInformative = 3;

/// What a job of the type says: its JobType= line, and what the options say instead.
Result<Hints> hints_of(const ModelsOptions& options, const Config& config) {
  const JobTypeConfig* line = config.job_type(options.words[1]);
  Hints hints = line != nullptr ? line->hints : Hints{};
  const std::pair<HintField, const std::string*> given[] = {{HintField::kBatch, &options.batch},
                                                            {HintField::kPlans, &options.plans},
                                                            {HintField::kModel, &options.model}};
  for (const auto& [field, text] : given) {
    if (text->empty()) continue;
    const HintDef& def = hint_of(field);
    if (const auto set = set_hint(def, *text, hints); !set)
      return fail(fmt::format("--{}: {}", def.key, set.error().text));
  }
  return hints;
}

bool is_wanted(const ModelsOptions& options, const ProfileName& profile) {
  return profile.job_type == options.words[1] &&
         (profile.account.empty() || wanted(options.account, profile.account));
}

/// Sizes and GPU types that the profile was measured on.
struct Seen {
  std::set<int> sizes;
  std::set<std::string> types;
};

std::map<ProfileName, Seen> profiles_of(const ModelsFit& fit, const ModelsOptions& options) {
  std::map<ProfileName, Seen> seen;
  const auto see = [&](const ProfileName& profile, const std::string& type, int gpus) {
    if (!is_wanted(options, profile) || gpus < 1) return;
    seen[profile].sizes.insert(gpus);
    if (type.find('+') == std::string::npos) seen[profile].types.insert(type);
  };
  for (const ThroughputObservation& observation : fit.observations)
    see(observation.profile, observation.gpu_type, observation.gpus);
  for (const MeasuredRow& row : fit.rows) see(row.profile, row.gpu_type, row.gpus);
  return seen;
}

/// Powers of two and what was measured, up to `most`.
std::vector<int> sizes_up_to(int most, const std::set<int>& measured) {
  std::set<int> sizes{most};
  for (int size = 1; size < most; size *= 2) sizes.insert(size);
  for (const int size : measured)
    if (size < most) sizes.insert(size);
  return {sizes.begin(), sizes.end()};
}

/// As many cores a GPU as most of its reports had, where they tell.
int cores_for(const StepTimeModels* step_time_models, const JobSpec& job,
              const std::string& gpu_type, int gpus) {
  if (step_time_models == nullptr) return 0;
  const rows::Rows own = rows::rows_of(step_time_models->rows(), job.profile, gpu_type);
  if (own.empty() || rows::usual(own).gpus < 1) return 0;
  return rows::usual(own).cores / rows::usual(own).gpus * gpus;
}

/// A point for each number of GPUs that the job can run on.
ScalingTables tables_of(BatchScaling scaling) {
  ScalingTables tables{.scaling = std::move(scaling), .points = {}};
  const auto& analysed = tables.scaling.analysed;
  for (int gpus = 1; analysed && gpus <= tables.scaling.max_gpus; ++gpus) {
    const auto best = analysed->at(gpus);
    if (!best) continue;
    tables.points.push_back({.gpus = gpus,
                             .batch = best->batch,
                             .local = best->local,
                             .passes = best->passes,
                             .seconds = best->seconds,
                             .scaling = analysed->scaling(gpus),
                             .effective_gpus = analysed->effective(gpus).gpus});
  }
  return tables;
}

Curve curve_of(const Models& models, JobSpec job, const std::string& gpu_type,
               const std::vector<int>& sizes, const std::map<std::string, ModelShape>& shapes) {
  const Predictor& predictor = models.predictor();
  Curve curve{.job = std::move(job), .gpu_type = gpu_type, .rows = {}, .tables = {}};
  Resources at{.gpu_type = gpu_type, .gpus = sizes.back()};
  at.cores = cores_for(predictor.step_time_models(), curve.job, gpu_type, at.gpus);
  const std::vector<Prediction> points = predictor.curve(curve.job, at, sizes);
  for (std::size_t i = 0; i < points.size(); ++i) {
    Resources whole = at;
    whole.gpus = sizes[i];
    whole.cores = cores_for(predictor.step_time_models(), curve.job, gpu_type, sizes[i]);
    curve.rows.push_back(
        {sizes[i], points[i],
         predictor.least(
             curve.job, whole,
             std::vector<int>(sizes.begin(), sizes.begin() + 1 + static_cast<std::ptrdiff_t>(i)))});
  }
  curve.tables = tables_of(predictor.scaling(curve.job, gpu_type, sizes.back(), shapes));
  return curve;
}

void print_scaling(const ScalingTables& tables, bool elastic) {
  const BatchScaling& scaling = tables.scaling;
  const bool tells = scaling.analysed && scaling.max_gpus > 1;
  if (tells) {
    std::vector<ScalingPoint> shown = tables.points;
    std::erase_if(shown, [](const ScalingPoint& point) {
      return !std::has_single_bit(static_cast<unsigned>(point.gpus));
    });
    fmt::print(
        "\nScaling from measured tables: one GPU ({} batches), interconnect ({} all-reduces):\n{}",
        scaling.batches, scaling.links, record_table(shown));
  }
  if (!tells && !elastic) return;
  for (const std::string& missing : scaling.missing)
    fmt::print("{}Missing for scaling tables: {}\n", tells ? "" : "\n", missing);
}

void print_curve(const Curve& curve) {
  fmt::print("{} on {}, account {}\n", curve.job.profile.job_type, curve.gpu_type,
             curve.job.profile.account.empty() ? "(all)" : curve.job.profile.account);
  fmt::print("{}", record_table(curve.rows));
  print_scaling(curve.tables, curve.job.batch && !curve.job.batch->fixed());
}

std::vector<InformativeMeasurement> most_informative_of(const Models& models,
                                                        const ModelsOptions& options,
                                                        const std::set<std::string>& types) {
  if (models.throughput_model() == nullptr) return {};
  std::vector<InformativeMeasurement> all =
      most_informative(*models.throughput_model(), types, kInformative);
  std::erase_if(all, [&](const InformativeMeasurement& measurement) {
    return !is_wanted(options, measurement.profile) ||
           !wanted(options.gpu_type, measurement.gpu_type);
  });
  return all;
}

}  // namespace

int show_curve(const Globals& globals, const ModelsOptions& options, const Site& site) {
  const auto refuse = [&](Exit exit, const std::string& text) {
    return report_failure(globals, kModelsCurveSchema, exit, text);
  };
  const auto hints = hints_of(options, site.config);
  if (!hints) return refuse(kUsage, "models: " + hints.error().text);
  const auto fit = fit_to_show(options, site);
  if (!fit) return refuse(kUnreachable, fit.error().text);
  const std::map<ProfileName, Seen> profiles = profiles_of(*fit, options);
  if (profiles.empty()) {
    std::set<std::string> names;
    for (const ThroughputObservation& observation : fit->observations)
      names.insert(observation.profile.job_type);
    for (const MeasuredRow& row : fit->rows) names.insert(row.profile.job_type);
    return refuse(kNoMatch, names.contains(options.words[1])
                                ? fmt::format("no profile of '{}' has that account and GPUs",
                                              options.words[1])
                                : no_such_type(options.words[1], names));
  }
  const Models models = models_of(*fit);
  const std::set<std::string> cluster = gpu_types_of(fit->observations, site.config);
  Curves answer;
  std::vector<Curve>& curves = answer.curves;
  for (const auto& [profile, seen] : profiles) {
    const int most =
        options.gpus > 0 ? options.gpus : std::min(2 * *seen.sizes.rbegin(), kMaxCurveGpus);
    const JobSpec job{.profile = profile,
                      .shape = hints->model,
                      .plans = hints->plans,
                      .batch = hints->batch,
                      .device = hints->device.value_or(Device::kGpu)};
    for (const std::string& type : cluster) {
      const bool named = !split(options.gpu_type, ',').empty() && wanted(options.gpu_type, type);
      if (!named && !(options.gpu_type.empty() && seen.types.contains(type))) continue;
      curves.push_back(
          curve_of(models, job, type, sizes_up_to(most, seen.sizes), shapes_of(site.config)));
    }
  }
  if (curves.empty()) {
    return refuse(kNoMatch, fmt::format("unknown GPU type '{}'; known: {}", options.gpu_type,
                                        fmt::join(cluster, ", ")));
  }
  answer.most_informative = most_informative_of(models, options, cluster);
  if (globals.json) {
    Json json = document(kModelsCurveSchema, "");
    json.update(json::json_of(answer));
    print_json(json);
    return kOk;
  }
  for (std::size_t i = 0; i < curves.size(); ++i) {
    if (i > 0) fmt::print("\n");
    print_curve(curves[i]);
  }
  print_most_informative(answer.most_informative);
  return kOk;
}

}  // namespace rubato::tools
