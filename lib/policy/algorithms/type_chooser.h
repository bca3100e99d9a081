// SPDX-License-Identifier: GPL-2.0-or-later
// Chooses the GPU types of the jobs of a queue (type_choice.h).
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "lib/policy/algorithms/capacity.h"
#include "lib/policy/algorithms/empty_fit.h"
#include "lib/policy/algorithms/forecast.h"
#include "lib/policy/algorithms/forecasts.h"
#include "lib/policy/algorithms/match.h"
#include "lib/policy/algorithms/pending_queue.h"
#include "lib/policy/algorithms/pools.h"
#include "lib/policy/algorithms/round_input.h"

namespace rubato {

/// Used once: run() sets the types of every entry.
class TypeChooser {
 public:
  TypeChooser(const RoundInput& input, const Forecasts& forecasts, const Capacity& capacity,
              PendingQueue& queue)
      : input_(input),
        forecasts_(forecasts),
        capacity_(capacity),
        queue_(queue),
        empty_fit_(capacity),
        types_(capacity.types().size()),
        free_(free_types()) {}

  void run();

 private:
  /// For a job whose run time is unknown, when no other is known and no job holds GPUs: then no
  /// wait is weighed against it.
  static constexpr double kUsualSeconds = 3600;

  struct MatchCandidate {
    PendingEntry* entry = nullptr;
    bool known = false;  ///< a forecast that rests on its own profile
    int gpus = 1;        ///< it asks for
    TypeChoice choice;
    std::vector<int> group;        ///< by TypeId: place of the type's group in the hint, -1: never
    std::optional<double> left;    ///< efficient samples
    double work = 0;               ///< efficient samples, a guess where `left` is empty
    double start_seconds = 0;      ///< with GPUs and without progress, at its next start
    QueuePosition queue_position;  ///< among those that wait
    bool sized = true;             ///< may start at another size

    [[nodiscard]] bool matched() const { return choice.matched.valid(); }
    /// Run time at that many efficient samples/s.
    [[nodiscard]] double seconds_at(double goodput) const { return start_seconds + work / goodput; }
  };

  // type_choice.cc: the candidates, their forecasts, and the order of their types.
  static bool free_to_choose(const PendingEntry& entry);
  void add(PendingEntry& entry);
  /// Finds the types that the job accepts and that could carry it on empty nodes.
  void accept(const PendingEntry& entry, MatchCandidate& candidate);
  void forecast(const Job& job, MatchCandidate& candidate);
  /// Efficient samples/s; without a profile of its own only the ratios between types mean anything.
  /// Adds hope to an uncertain forecast where trying it delays no other job.
  [[nodiscard]] double hoped(const Forecast& f, TypeId type) const;
  /// By type: some of its GPUs are free.
  [[nodiscard]] std::vector<bool> free_types() const;
  /// Waits for what suits all best. A job of which only the speed of types is known does not for
  /// long; no job once it could starve.
  [[nodiscard]] bool patient(const MatchCandidate& candidate) const;
  /// The order of its types, and the choice into the entry.
  void finalise(MatchCandidate& candidate);

  // type_choice_match.cc: all candidates together, and their queues.
  [[nodiscard]] static double best_speed(const MatchCandidate& candidate);
  /// Run time on the best type of a job of which nothing is told: the median of the candidates
  /// whose work is told. Without any the mean of the jobs that hold GPUs, each as long as it has
  /// run and is expected to (docs/results/sizing.md).
  [[nodiscard]] double usual_seconds() const;
  void match_all();
  [[nodiscard]] Contender contender_of(const MatchCandidate& candidate) const;
  /// Where each job of the queue stands among those that wait for the same type. A job that was not
  /// matched waits for the type it is fastest on.
  void fill_queues();
  QueuePosition enqueue(const PendingEntry& entry, const MatchCandidate* candidate);
  [[nodiscard]] TypeId type_of(const MatchCandidate& candidate) const;
  [[nodiscard]] TypeId type_asked(const Job& job) const;

  // type_choice_sizes.cc: what a type costs a candidate at each of its sizes.
  /// The types by what they cost. One that is to wait for the type it was matched to takes no other
  /// that costs more.
  void score_configurations(MatchCandidate& candidate, bool patient);
  /// At the size it asks for.
  [[nodiscard]] double own_cost(const MatchCandidate& candidate, TypeId type) const;
  /// What a size costs those who will come counts against what the size it asks for does on that
  /// type: between types only those who wait count, for who will come can be matched to another.
  [[nodiscard]] double cost(const MatchCandidate& candidate, TypeId type, int gpus,
                            double speed) const;
  /// At that size: with the probability that it costs no job a wait.
  [[nodiscard]] double hoped(const MatchCandidate& candidate, const Forecast& f, TypeId type,
                             int gpus) const;
  /// The ways to start a job that runs at several sizes, best first, and why others are none.
  void add_variants(MatchCandidate& candidate) const;
  /// A size that no job has measured may turn out to be many times slower, and what is learnt from
  /// it is of no use where no job grows.
  [[nodiscard]] bool may_try(TypeId type) const;
  /// Within its time limit, with some to spare, also if it is slower than forecast.
  [[nodiscard]] static bool surely_ends(const MatchCandidate& candidate, double goodput,
                                        double stddev);
  [[nodiscard]] SizeObstacle too_small(const MatchCandidate& candidate, const Forecast& f) const;
  /// It would run so for longer than it waits for the requested size on the type that it is matched
  /// to, and twice as long as on that.
  [[nodiscard]] bool too_slow(const MatchCandidate& candidate, const Forecast& f) const;
  /// Known work on another type than the matched one, and too slow.
  [[nodiscard]] bool slower_type(const MatchCandidate& candidate, TypeId type) const;
  void add_variant(MatchCandidate& candidate, const Forecast& f, SizeTrial& trial) const;
  /// Whether it may start without GPUs: its work is told, jobs of its type were measured on CPUs,
  /// and it ends no later so than on GPUs for which it waits first.
  void add_cpus(MatchCandidate& candidate) const;

  const RoundInput& input_;
  const Forecasts& forecasts_;
  const Capacity& capacity_;
  PendingQueue& queue_;
  EmptyFit empty_fit_;
  std::size_t types_;
  std::vector<bool> free_;  ///< by TypeId
  std::vector<MatchCandidate> candidates_;
  double usual_ = kUsualSeconds;     ///< run time of a job of which nothing is known
  std::optional<TypeQueues> lines_;  ///< once somebody is matched
};

}  // namespace rubato
