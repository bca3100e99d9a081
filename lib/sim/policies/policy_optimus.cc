// SPDX-License-Identifier: GPL-2.0-or-later
// Optimus (Peng et al., EuroSys 2018, section 4.1). Each job gets its smallest size, in the order
// of arrival. Then each further step goes to the job whose remaining time it shortens most per GPU,
// until no GPU is left or no job gains. Remaining times have the error of the job's forecasts.
// Parameter servers stay on GPUs of their own. Sizes change every 300 s, as in the comparison with
// AITurbo. For one GPU type. In suites of Pollux and Sia its rules of their simulator apply instead
// (peers/pollux_optimus.h).
#include <algorithm>

#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/policy_help.h"

namespace rubato::sim {
namespace {

constexpr double kPeriod = 300;

class Optimus final : public Policy {
 public:
  explicit Optimus(std::uint64_t seed) : seed_(seed) {}

  [[nodiscard]] double period() const override { return kPeriod; }

  [[nodiscard]] std::vector<Grant> decide(const PolicyState& state) override {
    int free = free_pool(state, false).free(0);
    std::vector<Choice> choices;
    for (const JobView& view : state.jobs) choices.push_back(first(state, view, free));
    while (free > 0) {
      const auto best = std::ranges::max_element(choices, {}, &Choice::gain);
      if (best == choices.end() || !(best->gain > 0)) break;
      if (best->step() > free) {
        best->gain = 0;
        continue;
      }
      free -= best->step();
      ++best->at;
      rate(*best);
    }
    std::vector<Grant> grants(state.jobs.size());
    for (std::size_t i = 0; i < grants.size(); ++i) {
      if (choices[i].at < 0) continue;
      grants[i].type = 0;
      grants[i].gpus = choices[i].size();
    }
    settle(state, grants);
    return grants;
  }

 private:
  /// A size of a job, and its remaining time there.
  struct Size {
    int gpus = 0;
    double seconds = 0;
  };
  struct Choice {
    std::vector<Size> sizes;  ///< in ascending order
    int at = -1;              ///< the chosen one; below 0: it waits
    double gain = 0;          ///< seconds per GPU of the next step

    [[nodiscard]] int size() const { return sizes[static_cast<std::size_t>(at)].gpus; }
    [[nodiscard]] int step() const { return sizes[static_cast<std::size_t>(at) + 1].gpus - size(); }
  };

  static void rate(Choice& choice) {
    choice.gain = 0;
    const auto now = static_cast<std::size_t>(choice.at);
    if (choice.at < 0 || now + 1 >= choice.sizes.size()) return;
    const double saved = choice.sizes[now].seconds - choice.sizes[now + 1].seconds;
    choice.gain = saved / choice.step();
  }

  Choice first(const PolicyState& state, const JobView& view, int& free) const {
    Choice choice;
    choice.sizes = sizes_of(state, view);
    if (choice.sizes.empty() || choice.sizes.front().gpus > free) return choice;
    choice.at = 0;
    free -= choice.size();
    rate(choice);
    return choice;
  }

  [[nodiscard]] std::vector<Size> sizes_of(const PolicyState& state, const JobView& view) const {
    const SimJob& job = *view.job;
    const double wrong = forecast_factor(job, seed_, view.index);
    std::vector<Size> sizes;
    for (int gpus = job.min_gpus; gpus <= std::min(job.max_gpus, state.cluster.gpus(0)); ++gpus) {
      const bool listed =
          job.sizes.empty() || std::ranges::find(job.sizes, gpus) != job.sizes.end();
      const double left = listed ? seconds_left(state, view, 0, gpus) : kNever;
      if (left < kNever) sizes.push_back({gpus, left * wrong});
    }
    return sizes;
  }

  std::uint64_t seed_;
};

}  // namespace

std::unique_ptr<Policy> make_optimus(const PolicyContext& context) {
  return std::make_unique<Optimus>(context.seed);
}

}  // namespace rubato::sim
