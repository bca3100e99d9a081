// SPDX-License-Identifier: GPL-2.0-or-later
// A model that passed through models-fit.json gives the same forecasts and the same plan, byte for
// byte.
#include "lib/json/models_fit.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <set>

#include "lib/json/json.h"
#include "lib/policy/round.h"
#include "test/support/gen_snapshot.h"

namespace rubato::test {
namespace {

const std::vector<std::string>& profiles() {
  static const std::vector<std::string> names = {"bert", "resnet50", "r\xc3\xa9seau \"x\"", "vit"};
  return names;
}

std::vector<ThroughputObservation> gen_observations(const Snapshot& snapshot) {
  std::set<std::string> types;
  for (const Node& node : snapshot.nodes)
    for (const GpuGroup& group : node.gpus) types.insert(group.type);
  std::vector<ThroughputObservation> observations;
  for (const std::string& type : types) {
    for (const std::string& profile : profiles()) {
      if (gen_chance(40)) continue;
      observations.push_back({.profile = {gen_chance(50) ? "" : "lab", profile},
                              .gpu_type = type,
                              .gpus = gen_int(1, 8),
                              .throughput = std::exp(gen_int(-3000, 9000) / 1000.0),
                              .samples = gen_int(1, 500)});
    }
  }
  return observations;
}

// Adds job types to jobs, some with observations.
Snapshot with_job_types(Snapshot snapshot) {
  for (Job& job : snapshot.jobs) {
    if (!job.request.wants_gpus() || gen_chance(20)) continue;
    job.account = gen_chance(50) ? "" : "lab";
    job.hints = ResolvedHints();
    job.hints->job_type = profiles()[static_cast<std::size_t>(gen_int(0, 3))];
  }
  return snapshot;
}

RC_GTEST_PROP(ModelsFitProperty, the_plan_is_the_same_after_a_reading, ()) {
  const Snapshot snapshot = with_job_types(*gen_snapshot());
  const std::vector<ThroughputObservation> observations = gen_observations(snapshot);
  const std::map<std::string, double> speeds = {{"a100", 1.0}, {"h100", 1.0 / 3}};
  const Models models(speeds, observations.empty() ? nullptr
                                                   : std::make_shared<const ThroughputModel>(
                                                         TypeSpeeds(speeds), observations));
  const std::string text = to_json(fit_of(models));
  const auto read = models_fit_from_json(text);
  RC_ASSERT(read.has_value());
  RC_ASSERT(to_json(*read) == text);
  const Models again = models_of(*read);
  RC_ASSERT((again.throughput_model() == nullptr) == observations.empty());
  const Config config;
  const Plan first = round(snapshot, models, config, kNow);
  RC_ASSERT(fingerprint(fit_of(models)).empty() == observations.empty());
  RC_ASSERT(to_json(first, snapshot) == to_json(round(snapshot, again, config, kNow), snapshot));
}

}  // namespace
}  // namespace rubato::test
