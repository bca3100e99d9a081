// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato models curve`: what more GPUs would bring a job type, by the models that the rounds ask.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "lib/hints/values.h"
#include "lib/json/models_fit.h"
#include "lib/model/batch_scaling.h"
#include "lib/model/plans/plan_curve.h"
#include "tools/rubato/models/models_rows.h"
#include "tools/rubato/models/site_store.h"
#include "tools/shared/own_fields.h"
#include "tools/shared/published.h"
#include "tools/shared/table.h"

namespace rubato::tools {
namespace {

constexpr std::size_t kInformative = 3;

/// A size of one profile on one GPU type.
struct CurveRow {
  int gpus = 0;
  Prediction found;  ///< the best within as much or less
  Resources least;   ///< that keep what the job has there as it was submitted
};

struct Curve {
  JobSpec job;
  std::string gpu_type;
  std::vector<CurveRow> rows;
  BatchScaling scaling;
};

/// The models that the last round had; those of a file are fitted now.
Result<ModelsFit> throughput_model(const ModelsOptions& options, const Site& site) {
  if (options.file.empty()) return read_models_fit(site);
  const auto rows = rows_to_fit(options, site);
  if (!rows) return tl::unexpected<Error>(rows.error());
  ModelsFit fit;
  fit.speeds = site.config.speeds();
  fit.observations = observations_of(*rows);
  fit.rows = measured_rows(*rows);
  fit.memory = site.config.gpu_memory();
  fit.curves = StepTimeModels(fit.rows, fit.memory).curve_points();
  return fit;
}

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

Curve curve_of(const Models& models, JobSpec job, const std::string& gpu_type,
               const std::vector<int>& sizes, const std::map<std::string, ModelShape>& shapes) {
  const Predictor& predictor = models.predictor();
  Curve curve{.job = std::move(job), .gpu_type = gpu_type, .rows = {}, .scaling = {}};
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
  curve.scaling = predictor.scaling(curve.job, gpu_type, sizes.back(), shapes);
  return curve;
}

/// "4 on 1 node, 16 cores"
std::string used_text(const Resources& used) {
  std::string text = fmt::format("{}", used.gpus);
  if (used.nodes > 0) text += fmt::format(" on {} node{}", used.nodes, used.nodes == 1 ? "" : "s");
  if (used.cores > 0) text += fmt::format(", {} core{}", used.cores, used.cores == 1 ? "" : "s");
  return text;
}

void print_scaling(const BatchScaling& scaling, bool elastic) {
  const bool tells = scaling.analysed && scaling.max_gpus > 1;
  if (tells) {
    Table table({{"GPUS", true},
                 {"BATCH", true},
                 {"PER_GPU", true},
                 {"PASSES", true},
                 {"SCALING", true},
                 {"USES", true}});
    for (int gpus = 1; gpus <= scaling.max_gpus; gpus *= 2) {
      const auto best = scaling.analysed->at(gpus);
      if (!best) continue;
      table.add({fmt::format("{}", gpus), fmt::format("{}", best->batch),
                 fmt::format("{}", best->local), fmt::format("{}", best->passes),
                 fmt::format("{:.2f}", scaling.analysed->scaling(gpus)),
                 fmt::format("{}", scaling.analysed->effective(gpus).gpus)});
    }
    fmt::print(
        "\nScaling from measured tables: one GPU ({} batches), interconnect ({} all-reduces):\n{}",
        scaling.batches, scaling.links, table.text());
  }
  if (!tells && !elastic) return;
  for (const std::string& missing : scaling.missing)
    fmt::print("{}Missing for scaling tables: {}\n", tells ? "" : "\n", missing);
}

void print_curve(const Curve& curve) {
  fmt::print("{} on {}, account {}\n", curve.job.profile.job_type, curve.gpu_type,
             curve.job.profile.account.empty() ? "(all)" : curve.job.profile.account);
  Table table({{"GPUS", true},
               {"THROUGHPUT", true},
               {"STDDEV", true},
               {"MODEL"},
               {"PLAN"},
               {"BATCH", true},
               {"USES"},
               {"MINIMUM"}});
  for (const CurveRow& row : curve.rows) {
    const Prediction& found = row.found;
    if (!found.feasible) {
      table.add({fmt::format("{}", row.gpus), "does not fit", kUnknown, to_string(found.model_kind),
                 kUnknown, kUnknown, kUnknown, kUnknown});
      continue;
    }
    table.add({fmt::format("{}", row.gpus),
               found.known_profile ? throughput_text(found.goodput) : kUnknown,
               fmt::format("{:.0f}%", 100 * std::expm1(found.stddev)), to_string(found.model_kind),
               found.plan.empty() ? kUnknown : found.plan,
               found.batch > 0 ? fmt::format("{}", found.batch) : kUnknown,
               used_text(found.effective), used_text(row.least)});
  }
  fmt::print("{}", table.text());
  print_scaling(curve.scaling, curve.job.batch && !curve.job.batch->fixed());
}

Json resources_json(const Resources& used) {
  return {{"gpus", used.gpus},
          {"nodes", used.nodes},
          {"cores", used.cores},
          {"memory_mib", used.memory_mib}};
}

Json row_json(const CurveRow& row) {
  const Prediction& found = row.found;
  Json json{
      {"gpus", row.gpus}, {"feasible", found.feasible}, {"model", to_string(found.model_kind)}};
  if (!found.feasible) return json;
  json["rate"] = found.throughput;
  json["goodput"] = found.goodput;
  json["within"] = std::expm1(found.stddev);
  json["samples"] = found.samples;
  json["plan"] = found.plan;
  json["batch"] = found.batch;
  json["uses"] = resources_json(found.effective);
  json["enough"] = resources_json(row.least);
  return json;
}

Json scaling_json(const BatchScaling& scaling) {
  Json json{{"most_gpus", scaling.max_gpus},
            {"batches", scaling.batches},
            {"all_reduces", scaling.links},
            {"missing", scaling.missing},
            {"points", Json::array()}};
  if (scaling.gradient_bytes > 0) json["gradient_bytes"] = scaling.gradient_bytes;
  for (int gpus = 1; scaling.analysed && gpus <= scaling.max_gpus; ++gpus) {
    const auto best = scaling.analysed->at(gpus);
    if (!best) continue;
    json["points"].push_back({{"gpus", gpus},
                              {"batch", best->batch},
                              {"local_batch", best->local},
                              {"passes", best->passes},
                              {"seconds", best->seconds},
                              {"scaling", scaling.analysed->scaling(gpus)},
                              {"uses", scaling.analysed->effective(gpus).gpus}});
  }
  return json;
}

Json curve_json(const Curve& curve) {
  Json json{{"account", curve.job.profile.account},
            {"job_type", curve.job.profile.job_type},
            {"gpu_type", curve.gpu_type},
            {"points", Json::array()}};
  for (const CurveRow& row : curve.rows) json["points"].push_back(row_json(row));
  json["tables"] = scaling_json(curve.scaling);
  return json;
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
  const auto fit = throughput_model(options, site);
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
  std::vector<Curve> curves;
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
  const std::vector<InformativeMeasurement> teach = most_informative_of(models, options, cluster);
  if (globals.json) {
    Json json = document(kModelsCurveSchema, "");
    json["curves"] = Json::array();
    for (const Curve& curve : curves) json["curves"].push_back(curve_json(curve));
    json["lessons"] = Json::array();
    for (const InformativeMeasurement& measurement : teach)
      json["lessons"].push_back(measurement_json(measurement));
    print_json(json);
    return kOk;
  }
  for (std::size_t i = 0; i < curves.size(); ++i) {
    if (i > 0) fmt::print("\n");
    print_curve(curves[i]);
  }
  print_most_informative(teach);
  return kOk;
}

}  // namespace rubato::tools
