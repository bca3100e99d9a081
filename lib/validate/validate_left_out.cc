// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/validate/validate_left_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "lib/base/statistics.h"
#include "lib/validate/left_out_gavel.h"
#include "lib/validate/step_errors.h"

namespace rubato {
namespace {

constexpr std::size_t kRows = 10;

double mean_of(const std::vector<double>& errors) {
  return errors.empty() ? 0 : sorted_mean(errors);
}

class Section {
 public:
  /// `set` such as "gavel", `kind` "type" or "model".
  void add(const std::string& set, const std::string& kind, const std::vector<LeftOut>& all) {
    std::vector<double> ours;
    std::vector<double> near;
    for (const LeftOut& one : all) {
      ours.push_back(mean_of(one.ours));
      near.push_back(mean_of(one.nearest));
      out_.observations.push_back({.source = "left-out",
                                   .model = set,
                                   .plan = fmt::format("{} {}", kind, one.name),
                                   .fit_samples = static_cast<int>(one.chosen),
                                   .test_rows = static_cast<int>(one.ours.size()),
                                   .mean_error = ours.back(),
                                   .max_error = *std::ranges::max_element(one.ours)});
    }
    if (all.empty()) return;
    out_.summary.emplace_back(fmt::format("{}_{}_mean", set, kind), mean_of(ours));
    out_.summary.emplace_back(fmt::format("{}_{}_nearest", set, kind), mean_of(near));
    out_.gates.emplace_back(fmt::format("left_out_{}_{}", set, kind),
                            mean_of(ours) <= mean_of(near));
    std::vector<std::string> pairs;
    for (std::size_t i = 0; i < all.size(); ++i)
      pairs.push_back(fmt::format("{} {:.1f} ({:.1f})", all[i].name, 100 * ours[i], 100 * near[i]));
    out_.notes.push_back(fmt::format("{}, {} left out, % (nearest measured configuration): {}", set,
                                     kind, fmt::join(pairs, ", ")));
  }

  void note(std::string text) { out_.notes.push_back(std::move(text)); }
  [[nodiscard]] ValidateSection take() { return std::move(out_); }

 private:
  ValidateSection out_;
};

/// Of each application on each GPU type, with nothing of other types and applications.
void add_steps(Section& section, const std::string& set, const SiaData& data) {
  std::map<std::string, std::vector<LeftOut>> types;
  std::map<std::string, std::vector<LeftOut>> models;
  for (const SiaApp& app : data.apps) {
    for (const SiaProfile& profile : app.profiles) {
      if (std::ranges::find(data.gpu_types, profile.gpu_type) == data.gpu_types.end()) continue;
      const StepErrors errors = step_errors(profile.placements, kRows, false);
      if (errors.ours.empty()) continue;
      const LeftOut one{profile.gpu_type, errors.chosen, errors.ours, errors.nearest};
      types[profile.gpu_type].push_back(one);
      models[app.name].push_back(one);
    }
  }
  const auto joined = [](const std::map<std::string, std::vector<LeftOut>>& groups) {
    std::vector<LeftOut> all;
    for (const auto& [name, parts] : groups) {
      LeftOut one{name.empty() ? "only" : name, 0, {}, {}};
      for (const LeftOut& part : parts) {  // each application on a type counts alike
        one.chosen = std::max(one.chosen, part.chosen);
        one.ours.push_back(mean_of(part.ours));
        one.nearest.push_back(mean_of(part.nearest));
      }
      all.push_back(std::move(one));
    }
    return all;
  };
  section.add(set, "type", joined(types));
  section.add(set, "model", joined(models));
}

void add_plans(Section& section, const RubickData& data) {
  LeftOut all{"only", 0, {}, {}};
  std::vector<LeftOut> models;
  for (const SplitErrors& errors : split_errors(data)) {
    models.push_back({errors.model, errors.chosen, errors.ours, errors.nearest});
    all.chosen = std::max(all.chosen, errors.chosen);
    all.ours.push_back(mean_of(errors.ours));
    all.nearest.push_back(mean_of(errors.nearest));
  }
  if (models.empty()) return;
  section.add("rubick", "type", {all});
  section.add("rubick", "model", models);
}

}  // namespace

Result<ValidateSection> validate_left_out(const std::string& data_dir) {
  Section section;
  const auto gavel = read_gavel(data_dir);
  if (!gavel) return tl::unexpected(gavel.error());
  section.add("gavel", "type", gavel_types_left_out(*gavel, kRows));
  section.add("gavel", "model", gavel_models_left_out(*gavel, kRows));
  const auto sia = read_sia(data_dir);
  if (!sia) return tl::unexpected(sia.error());
  add_steps(section, "sia", *sia);
  const std::string pollux = data_dir + "/pollux/traces";
  if (std::filesystem::is_directory(pollux)) {
    const auto data = read_sia_traces(pollux);
    if (!data) return tl::unexpected(data.error());
    add_steps(section, "pollux", *data);
  } else {
    section.note("pollux: no files; nothing is tested");
  }
  const auto rubick = read_rubick(data_dir + "/rubick");
  if (!rubick) return tl::unexpected(rubick.error());
  add_plans(section, *rubick);
  section.note(
      "MEAN and MAX of sia, pollux and rubick types and of sia and pollux models are over "
      "applications; they have no hyperparameters of other rows");
  return section.take();
}

}  // namespace rubato
