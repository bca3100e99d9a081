// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/engine/engine.h"

#include <algorithm>
#include <cmath>

#include "lib/sim/engine/run_state.h"

namespace rubato::sim {
namespace {

/// Tolerance for a multiple of the period, relative to the period.
constexpr double kGridDust = 1e-9;
/// A Policy::wake() of this or later means: no wake-up requested.
constexpr double kNoWish = 1e299;
/// Maximum number of consecutive rounds in which a policy leaves every job waiting and no other
/// event is possible.
constexpr int kMaxIdle = 1000;

/// The first multiple of `step` at or after `time`.
double grid_time(double time, double step) { return std::ceil(time / step - kGridDust) * step; }

}  // namespace

class Engine::Impl {
 public:
  Impl(const Suite& suite, Policy& policy, std::uint64_t seed, bool intervals)
      : suite_(suite), policy_(policy), state_(suite, seed, intervals) {
    for (const auto job : indices<JobIndex>(suite.jobs)) coming_.push_back(job);
    std::ranges::stable_sort(coming_, {}, [&](JobIndex job) { return suite.jobs[job].arrival; });
  }

  Result<bool> run(const RunControl& control) {
    cut_ = false;
    while (state_.window_left() > 0) {
      const double next = next_event();
      if (next == kNever) break;
      if (control.cut(next)) {
        cut_ = true;
        const bool whole = next >= suite_.horizon && control.until >= suite_.horizon;
        if (suite_.to_horizon && whole) state_.go_to(suite_.horizon);
        break;
      }
      const bool waiting_only = next_ >= coming_.size() &&
                                next_node_ >= suite_.node_events.size() && !state_.anyone_moves();
      idle_ = waiting_only ? idle_ + 1 : 0;
      if (idle_ > kMaxIdle) break;
      state_.go_to(next);
      const bool changed = happen();
      if (auto made = decide_if_due(changed); !made) return tl::unexpected(made.error());
      if (control.progress) {
        const std::size_t jobs = state_.window_jobs();
        control.progress(state_.now(), jobs - state_.window_left(), jobs);
      }
    }
    return !cut_;
  }

  [[nodiscard]] RunMetrics record() const {
    RunMetrics record = state_.record();
    record.cut = cut_;
    record.stalled = !cut_ && state_.window_left() > 0;
    record.information = policy_.information();
    return record;
  }

 private:
  [[nodiscard]] double arrival_of(JobIndex job) const { return suite_.jobs[job].arrival; }

  [[nodiscard]] double next_event() const {
    double next = std::min(state_.next_change(), next_decision_);
    if (next_ < coming_.size()) next = std::min(next, arrival_of(coming_[next_]));
    if (next_node_ < suite_.node_events.size()) {
      next = std::min(next, suite_.node_events[next_node_].time);
    }
    return std::max(next, state_.now());
  }

  /// Handles all events that are due now. True: policies must decide again.
  bool happen() {
    bool changed = false;
    for (; next_node_ < suite_.node_events.size() &&
           suite_.node_events[next_node_].time <= state_.now();
         ++next_node_) {
      const NodeEvent& event = suite_.node_events[next_node_];
      state_.set_node(event.type, event.node, event.up);
      changed = true;
    }
    changed = state_.advance_due() || changed;
    for (; next_ < coming_.size() && arrival_of(coming_[next_]) <= state_.now(); ++next_) {
      state_.arrive(coming_[next_]);
      changed = true;
    }
    if (state_.now() <= 0) state_.resume();
    return changed;
  }

  Result<void> decide_if_due(bool changed) {
    const double period = policy_.period() > 0 ? policy_.period() : suite_.grid;
    const double now = state_.now();
    if (period > 0) {
      if (state_.active().empty()) {
        next_decision_ = kNever;
        return {};
      }
      if (next_decision_ == kNever) next_decision_ = grid_time(now, period);
      if (now < next_decision_) return {};
      next_decision_ = std::floor(now / period + kGridDust) * period + period;
      return decide();
    }
    if (!changed && now < next_decision_) return {};
    auto made = decide();
    const double wish = policy_.wake(now);
    // NOLINTNEXTLINE(bugprone-narrowing-conversions): kNever is a double, an infinite one
    next_decision_ = wish > now && wish < kNoWish ? wish : kNever;
    return made;
  }

  Result<void> decide() {
    std::vector<JobReport> reports;
    const std::vector<JobView> views = state_.look(policy_.hears(), reports);
    const std::vector<char> up = state_.nodes_up();
    const PolicyState state{
        state_.now(), suite_.cluster,
        views,        learns(policy_.information()) ? nullptr : suite_.truth.get(),
        reports,      up};
    std::vector<Grant> grants;
    {
      const RoundTimer timer(state_.round_ms());
      grants = policy_.decide(state);
    }
    return state_.apply(grants);
  }

  const Suite& suite_;
  Policy& policy_;
  RunState state_;
  std::vector<JobIndex> coming_;  ///< sorted by arrival
  std::size_t next_ = 0;
  std::size_t next_node_ = 0;
  double next_decision_ = kNever;
  int idle_ = 0;
  bool cut_ = false;
};

Engine::Engine(const Suite& suite, Policy& policy, std::uint64_t seed, bool intervals)
    : impl_(std::make_unique<Impl>(suite, policy, seed, intervals)) {}
Engine::~Engine() = default;

Result<bool> Engine::run(const RunControl& control) { return impl_->run(control); }
RunMetrics Engine::record() const { return impl_->record(); }

Result<RunMetrics> run_engine(const Suite& suite, Policy& policy, const RunControl& control) {
  Engine engine(suite, policy, control.seed, control.intervals);
  const auto done = engine.run(control);
  if (!done) return tl::unexpected(done.error());
  return engine.record();
}

}  // namespace rubato::sim
