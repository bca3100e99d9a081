// SPDX-License-Identifier: GPL-2.0-or-later
// Forecasts for the round from the truth of a workload, instead of models that learn.
#pragma once

#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/model/throughput_forecasts.h"
#include "lib/sim/engine/policy.h"

namespace rubato::sim {

/// The time of a job's remaining work, also where the throughput changes on the way
/// (Truth::next_change).
class RemainingTime {
 public:
  /// With the fastest of `settings` at each time; of equal ones the first.
  RemainingTime(const Truth& truth, const SimJob& job, const std::vector<Setting>& settings);

  /// Seconds from `done` units on, without start costs. Infinity: it does not end.
  [[nodiscard]] double seconds(double done) const;
  /// Mean units/s over the work after `done`. If it is constant there, exactly that of the truth.
  [[nodiscard]] double throughput(double done) const;
  /// The index of the setting that is the fastest now.
  [[nodiscard]] std::size_t setting(double done) const { return stretches_[at(done)].setting; }

 private:
  /// Of constant throughput.
  struct Stretch {
    double from = 0;          ///< units done
    double to = 0;            ///< units done
    double rate = 0;          ///< units/s
    std::size_t setting = 0;  ///< index of the fastest
    double seconds = 0;       ///< of this and all later ones
  };
  /// The index of the stretch that contains `done`.
  [[nodiscard]] std::size_t at(double done) const;

  std::vector<Stretch> stretches_;
};

/// For one run and one thread. Everything is certain: no standard deviation, nothing to explore.
/// throughput() is at the user's plan and batch, choice() at the best ones.
class ExactThroughput final : public ThroughputForecasts {
 public:
  /// `types`: the name of each GPU type in the round. `work`: the work of jobs is known, so their
  /// throughput is the mean over what is left of it; otherwise it is the present one. A batch and a
  /// plan are chosen by that throughput, since a job keeps them to its end; with `rechooses` the
  /// batch is the best one now, and the mean is over the batches that are best in turn.
  ExactThroughput(std::vector<std::string> types, bool work, bool rechooses = false)
      : types_(std::move(types)), work_(work), rechooses_(rechooses) {}

  /// Call before a round. `state` must outlive it; keys[i] is the key of state.jobs[i].
  void look(const PolicyState& state, std::span<const JobKey> keys);

  [[nodiscard]] bool measured() const override { return true; }
  [[nodiscard]] double speed(const std::string& gpu_type) const override;
  [[nodiscard]] Forecast throughput(const JobKey& job, const JobSpec& spec,
                                    const Resources& at) const override;
  /// Among the plans of the truth that the hints allow, and batches of the range by steps of a
  /// factor of the square root of 2.
  [[nodiscard]] std::optional<Prediction> choice(const JobKey& job, const JobSpec& spec,
                                                 const Resources& at) const override;
  [[nodiscard]] double start_seconds(const JobKey& job) const override;
  [[nodiscard]] std::optional<double> work_left(const JobKey& job) const override;
  [[nodiscard]] std::optional<double> seconds_left(const JobKey& job) const override;

 private:
  [[nodiscard]] TypeIndex type_of(const std::string& gpu_type) const;
  [[nodiscard]] const JobView* view_of(const JobKey& job) const;
  /// Units/s with this setting, over the work that is left if that is known.
  /// Now, or with `ahead` the mean over the work that is left.
  [[nodiscard]] double units_per_s(const JobView& view, const Setting& setting, bool ahead) const;
  [[nodiscard]] Prediction best(const JobView& view, const JobSpec& spec, const Resources& at,
                                Setting setting) const;
  /// Takes `setting` into `best` if it is faster.
  void offer(const JobView& view, const Setting& setting, double units, Prediction& best) const;
  /// The best batch now, and the mean over the batches that will be best.
  void rechoose(const JobView& view, Setting setting, const std::vector<double>& batches,
                Prediction& best) const;

  std::vector<std::string> types_;
  bool work_;
  bool rechooses_;
  const PolicyState* state_ = nullptr;
  std::map<JobKey, const JobView*> views_;
  std::vector<double> speeds_;  ///< by type
  mutable std::map<JobIndex, std::pair<Setting, RemainingTime>> running_;
  /// The rest of a job with a type, GPUs on a number of nodes, batch and plan.
  using ChoiceKey = std::tuple<JobIndex, TypeIndex, int, int, double, std::string>;
  mutable std::map<ChoiceKey, RemainingTime> choices_;
};

}  // namespace rubato::sim
