// SPDX-License-Identifier: GPL-2.0-or-later
// Effective elastic scaling (Saxena et al., MASCOTS 2020). Every ten minutes a dynamic program sets
// the GPUs of all admitted jobs. It maximises the sum of throughputs, each relative to that at the
// job's fewest GPUs. Waiting jobs are admitted in order as long as all fit; an admitted job is
// never dropped. elastic-var takes the fastest batch at each size, elastic-fixed the user's. For
// one GPU type.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "lib/model/data_parallel/best_batch.h"
#include "lib/sim/engine/policy_help.h"
#include "lib/sim/policies/elastic_dp.h"

namespace rubato::sim {
namespace {

constexpr double kPeriod = 600;
/// Maximum relative difference between a single pass and its whole iteration on one device.
constexpr double kSame = 0.01;

/// What a job can do at a size.
struct Option {
  SizeValue size;
  double batch = 0;  ///< 0: the user's
};

class Elastic final : public Policy {
 public:
  explicit Elastic(bool variable) : variable_(variable) {}

  [[nodiscard]] double period() const override { return kPeriod; }

  [[nodiscard]] std::vector<Grant> decide(const PolicyState& state) override {
    ElasticProgram linear_program(free_pool(state, false).free(0));
    std::vector<std::size_t> admitted;
    const auto admit = [&](bool running) {
      for (std::size_t i = 0; i < state.jobs.size(); ++i) {
        if (state.jobs[i].now.holds() != running) continue;
        const std::vector<Option>& options = options_of(state, state.jobs[i]);
        if (options.empty()) continue;  // it cannot run at all
        std::vector<SizeValue> sizes;
        sizes.reserve(options.size());
        for (const Option& option : options) sizes.push_back(option.size);
        if (linear_program.add(sizes)) {
          admitted.push_back(i);
        } else if (!running) {
          return;  // first in, first out
        }
      }
    };
    admit(true);
    admit(false);
    std::vector<Grant> grants(state.jobs.size());
    const std::vector<int> sizes = linear_program.sizes();
    for (std::size_t at = 0; at < admitted.size(); ++at) {
      const JobView& view = state.jobs[admitted[at]];
      const std::vector<Option>& options = options_of(state, view);
      const auto option = std::find_if(options.begin(), options.end(), [&](const Option& one) {
        return one.size.gpus == sizes[at];
      });
      Grant& grant = grants[admitted[at]];
      grant.type = 0;
      grant.gpus = sizes[at];
      grant.batch = option->batch;
    }
    settle(state, grants);
    return grants;
  }

 private:
  /// Options are computed once, when the job arrives.
  const std::vector<Option>& options_of(const PolicyState& state, const JobView& view) {
    const auto known = options_.find(view.index);
    if (known != options_.end()) return known->second;
    std::vector<Option> options;
    if (may_use(*view.job, state.cluster, 0)) {
      options = by_tables(state, view);
      if (options.empty()) options = by_speeds(state, view);
    }
    return options_.emplace(view.index, std::move(options)).first->second;
  }

  static int most_gpus(const PolicyState& state, const JobView& view) {
    return std::min(view.job->max_gpus, state.cluster.gpus(0));
  }
  static bool has_size(const SimJob& job, int gpus) {
    return gpus >= job.min_gpus && gpus <= job.max_gpus &&
           (job.sizes.empty() ||
            std::find(job.sizes.begin(), job.sizes.end(), gpus) != job.sizes.end());
  }

  /// The job scalability analyser: a few local batches on one GPU, and the exchange at each size.
  [[nodiscard]] std::vector<Option> by_tables(const PolicyState& state, const JobView& view) const {
    const SimJob& job = *view.job;
    if (!(job.batch >= 1)) return {};
    BatchRange range;
    range.one_pass = true;
    range.least = range.most = std::llround(job.batch);
    if (variable_ && job.min_batch >= 1 && job.max_batch > job.min_batch) {
      range.least = std::llround(job.min_batch);
      range.most = std::llround(job.max_batch);
    }
    std::vector<BatchTime> rows = passes(state, job, range.most, range.max_local);
    if (rows.empty()) return {};
    const int most = most_gpus(state, view);
    std::vector<CommunicationTime> exchanges;
    for (int gpus = 2; gpus <= most; ++gpus) {
      const double batch =
          std::min<double>(static_cast<double>(range.most), rows.back().local_batch * gpus);
      const Observation seen = observe(state, job, gpus, batch);
      if (seen.step_s > 0) exchanges.push_back({1, gpus, std::max(seen.sync_s, kNoTime)});
    }
    // Exchange tables are keyed by bytes; here a job's table has one row per size.
    const JobScalability analyser(BatchTable(rows), CommunicationTable(exchanges), 1, range, most);
    std::vector<Option> options;
    for (int gpus = 1; gpus <= most; ++gpus) {
      const auto best = analyser.at(gpus);
      if (!best || !has_size(job, gpus)) continue;
      const auto batch = variable_ ? static_cast<double>(best->batch) : 0.0;
      Setting setting = packed(state.cluster, 0, gpus);
      setting.batch = batch;
      if (!(state.truth->throughput(job, setting, view.done) > 0)) continue;
      options.push_back({{gpus, analyser.scaling(gpus)}, batch});
    }
    return options;
  }

  static Observation observe(const PolicyState& state, const SimJob& job, int gpus, double batch) {
    Setting setting = packed(state.cluster, 0, gpus);
    setting.batch = batch;
    return state.truth->observe(job, setting, 0);
  }

  /// Local batches of 1, 2, 4, ... on one GPU, and the largest that fits, up to `most`.
  static std::vector<BatchTime> passes(const PolicyState& state, const SimJob& job,
                                       std::int64_t most, std::int64_t& largest) {
    std::vector<BatchTime> rows;
    const auto measure = [&](std::int64_t local) -> std::optional<BatchTime> {
      const auto batch = static_cast<double>(local);
      const Observation seen = observe(state, job, 1, batch);
      if (!(seen.step_s > 0) || seen.batch != batch || seen.passes > 1) return std::nullopt;
      // The batch does not fit in one pass.
      if (std::abs(batch / seen.samples_per_s / seen.step_s - 1) > kSame) return std::nullopt;
      return BatchTime{batch, seen.step_s};
    };
    largest = 0;
    std::int64_t beyond = most + 1;
    for (std::int64_t local = 1; local <= most; local *= 2) {
      if (const auto row = measure(local)) {
        rows.push_back(*row);
        largest = local;
      } else if (largest > 0) {
        beyond = local;
        break;
      }
    }
    if (largest == 0) return {};
    while (beyond - largest > 1) {
      const std::int64_t middle = largest + (beyond - largest) / 2;
      if (const auto row = measure(middle)) {
        rows.push_back(*row);
        largest = middle;
      } else {
        beyond = middle;
      }
    }
    return rows;
  }

  /// For jobs without batches or iteration times: throughput at each size.
  static std::vector<Option> by_speeds(const PolicyState& state, const JobView& view) {
    std::vector<Option> options;
    double first = 0;
    for (int gpus = view.job->min_gpus; gpus <= most_gpus(state, view); ++gpus) {
      if (!has_size(*view.job, gpus)) continue;
      const double throughput = speed(state, view, 0, gpus);
      if (!(throughput > 0)) continue;
      if (first == 0) first = throughput;
      options.push_back({{gpus, throughput / first}, 0});
    }
    return options;
  }

  static constexpr double kNoTime = 1e-12;  ///< s; tables accept only values above 0

  bool variable_;
  std::map<JobIndex, std::vector<Option>> options_;
};

}  // namespace

std::string elastic_unfit(const PolicyContext& context) {
  if (context.cluster.types() == 1) return {};
  return fmt::format(
      "needs a cluster with GPUs of one type, and this one has {}; it runs in the suites elastic, "
      "aiturbo-mix, pollux-t4-64, rubick-a800-64 and muri-v100-64",
      context.cluster.types());
}

std::string elastic_var_unfit(const PolicyContext& context) {
  if (std::string why = elastic_unfit(context); !why.empty()) return why;
  const bool range = std::any_of(context.jobs.begin(), context.jobs.end(), [](const SimJob& job) {
    return job.min_batch >= 1 && job.max_batch > job.min_batch;
  });
  if (range) return {};
  return "needs jobs with a range of batches (min_batch and max_batch), and no job has one; it "
         "runs "
         "in the suites elastic and pollux-t4-64";
}

std::unique_ptr<Policy> make_elastic_fixed(const PolicyContext& /*context*/) {
  return std::make_unique<Elastic>(false);
}
std::unique_ptr<Policy> make_elastic_var(const PolicyContext& /*context*/) {
  return std::make_unique<Elastic>(true);
}

}  // namespace rubato::sim
