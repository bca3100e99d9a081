// SPDX-License-Identifier: GPL-2.0-or-later
// A small cluster with its jobs, as slurmctld would keep them. It knows what is true; rounds see
// snapshots of it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/core/plan.h"
#include "test/fault/draws.h"

namespace rubato::test {

/// A change of a running job on its way: signal, checkpoint, requeue, start in its place.
struct ChangeInFlight {
  Change change;
  Seconds exits = 0;    ///< true time at which the job has ended after its signal
  Seconds expires = 0;  ///< true time at which its place is given up
  bool requeued = false;
  bool lost = false;  ///< does not come back before that
};

struct SiteJob {
  Job job;
  bool consents = false;  ///< what its user says now
  bool held = false;
  bool cancelled = false;
  bool ended = false;
  bool due = false;     ///< it ended by its work, its limit or its user
  double attained = 0;  ///< service that a round remembered of it
  Seconds arrives = 0;  ///< true time
  Seconds began = 0;    ///< true time of the present run
  Seconds counted = 0;  ///< true time up to which `done` counts
  Seconds reported = 0;
  double work = 0;  ///< samples
  double done = 0;
  double setup = 0;  ///< seconds of the present start without progress
  std::optional<ChangeInFlight> flight;
};

class Site {
 public:
  /// Draws a cluster and a workload.
  explicit Site(std::uint64_t seed);

  /// Unix seconds as slurmctld sees them.
  [[nodiscard]] Seconds wall() const { return time + offset; }
  [[nodiscard]] Snapshot snapshot(const Memory& memory) const;
  /// Next end, arrival or deadline after `time`.
  [[nodiscard]] Seconds next_event() const;
  /// Goes on to `to`: progress, ends, time limits.
  void advance(Seconds to);
  /// "" if `shares` are free on usable nodes, else why not.
  [[nodiscard]] std::string trouble_at(const std::vector<NodeShare>& shares) const;
  void start(SiteJob& job, const std::vector<NodeShare>& shares, Seconds limit);
  /// Ends the run; the job waits again with another submit time.
  void requeue(SiteJob& job);
  void end(SiteJob& job);
  [[nodiscard]] SiteJob* find(const JobKey& key);
  /// What is free, below zero if allocations exceed the nodes; places of restarts count as taken.
  [[nodiscard]] std::vector<Node> free_nodes() const;
  [[nodiscard]] double throughput(const SiteJob& job) const;
  [[nodiscard]] bool done() const;

  Seconds time = 1'800'000'000;
  Seconds offset = 0;
  std::vector<Node> nodes;  ///< totals; `usable` is true of the present
  std::vector<SiteJob> jobs;
};

[[nodiscard]] std::vector<NodeShare> place_of(const SiteJob& job);

}  // namespace rubato::test
