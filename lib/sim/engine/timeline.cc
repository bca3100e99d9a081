// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/engine/timeline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace rubato::sim {
namespace {

/// Start and end.
using Span = std::pair<double, double>;

/// Sums of `amount` x time in each bin of the timeline.
class Bins {
 public:
  Bins(double from, double bin, std::size_t count) : from_(from), bin_(bin), sums_(count) {}

  void add(double from, double to, double amount) {
    from = std::max(from - from_, 0.0);
    to = std::min(to - from_, bin_ * static_cast<double>(sums_.size()));
    if (!(to > from)) return;
    const std::size_t first = place(from);
    const std::size_t last = place(to);
    for (std::size_t i = first; i <= last; ++i) {
      const double begin = std::max(from, bin_ * static_cast<double>(i));
      const double end = std::min(to, bin_ * static_cast<double>(i + 1));
      if (end > begin) sums_[i] += (end - begin) * amount;
    }
  }

  [[nodiscard]] std::vector<double> means() const {
    std::vector<double> means;
    for (const double sum : sums_) means.push_back(sum / bin_);
    return means;
  }

 private:
  [[nodiscard]] std::size_t place(double time) const {
    const double at = std::clamp(time / bin_, 0.0, static_cast<double>(sums_.size() - 1));
    return static_cast<std::size_t>(at);
  }

  double from_;
  double bin_;
  std::vector<double> sums_;
};

/// The periods in which each job held GPUs, sorted and without overlap.
std::vector<std::vector<Span>> held_spans(const RunMetrics& record) {
  std::vector<std::vector<Span>> spans(record.jobs.size());
  for (const AllocationInterval& one : record.intervals) {
    spans[one.job].emplace_back(one.from, one.to);
  }
  for (std::vector<Span>& of_job : spans) {
    std::sort(of_job.begin(), of_job.end());
    std::vector<Span> joined;
    for (const Span& span : of_job) {
      if (joined.empty() || span.first > joined.back().second) {
        joined.push_back(span);
      } else {
        joined.back().second = std::max(joined.back().second, span.second);
      }
    }
    of_job = std::move(joined);
  }
  return spans;
}

/// The periods in which a job waits: from its arrival to its end, without the periods it held GPUs.
std::vector<Span> waits(const JobResult& job, const std::vector<Span>& held, bool recorded,
                        double end) {
  double until = job.finished() ? job.finish : end;
  if (job.dropped && recorded) until = held.empty() ? job.arrival : held.back().second;
  if (!recorded) return {{job.arrival, std::min(until, job.first_start)}};
  std::vector<Span> found;
  double from = job.arrival;
  for (const Span& span : held) {
    if (span.first > from) found.emplace_back(from, std::min(span.first, until));
    from = std::max(from, span.second);
  }
  if (until > from) found.emplace_back(from, until);
  return found;
}

/// Maximum number of intervals open at once.
int max_at_once(const std::vector<Span>& spans) {
  std::vector<std::pair<double, int>> steps;
  for (const Span& span : spans) {
    if (!(span.second > span.first)) continue;
    steps.emplace_back(span.first, 1);
    steps.emplace_back(span.second, -1);
  }
  std::sort(steps.begin(), steps.end());
  int now = 0;
  int most = 0;
  for (const auto& [time, step] : steps) most = std::max(most, now += step);
  return most;
}

}  // namespace

Timeline timeline(const RunMetrics& record, double from, double to, std::size_t bins) {
  Timeline found;
  found.from = from;
  found.bin = (to - from) / static_cast<double>(bins);
  const bool recorded = !record.intervals.empty();
  Bins held(from, found.bin, bins);
  for (const AllocationInterval& one : record.intervals) {
    held.add(one.from, one.to, one.gpus);
    found.held_gpu_seconds += (one.to - one.from) * one.gpus;
  }
  const auto spans = held_spans(record);
  Bins waiting(from, found.bin, bins);
  std::vector<Span> all;
  for (std::size_t i = 0; i < record.jobs.size(); ++i) {
    for (const Span& span : waits(record.jobs[i], spans[i], recorded, record.end)) {
      waiting.add(span.first, span.second, 1);
      all.push_back(span);
    }
  }
  if (recorded) found.held = held.means();
  found.waiting = waiting.means();
  found.max_waiting = max_at_once(all);
  return found;
}

namespace {

/// Rows for an interval: those of its node, or of its type.
class Rows {
 public:
  /// `first`: the chart's row that is row 0 here.
  Rows(std::size_t first, std::size_t count)
      : first_(first), free_at_(count, -kNever), last_(count) {}

  /// The chart's rows for `gpus` GPUs from time `from` on; fewer if not enough are free.
  std::vector<LaneIndex> take(JobIndex job, std::size_t gpus, double from, double to) {
    std::vector<std::size_t> chosen;
    for (std::size_t row = 0; row < last_.size() && chosen.size() < gpus; ++row) {
      if (last_[row] == job && free(row, from)) chosen.push_back(row);
    }
    if (chosen.empty()) chosen = gap(gpus, from);
    for (std::size_t row = 0; row < last_.size() && chosen.size() < gpus; ++row) {
      const bool is_in = std::find(chosen.begin(), chosen.end(), row) != chosen.end();
      if (free(row, from) && !is_in) chosen.push_back(row);
    }
    std::sort(chosen.begin(), chosen.end());
    std::vector<LaneIndex> lanes;
    for (const std::size_t row : chosen) {
      free_at_[row] = to;
      last_[row] = job;
      lanes.push_back(LaneIndex{first_ + row});
    }
    return lanes;
  }

 private:
  /// Loops have their own time steps, so intervals that follow each other may overlap by rounding.
  [[nodiscard]] bool free(std::size_t row, double from) const {
    return free_at_[row] <= from + 1e-6 * std::max(1.0, std::abs(from));
  }
  /// The smallest gap of free rows that holds `gpus`.
  [[nodiscard]] std::vector<std::size_t> gap(std::size_t gpus, double from) const {
    std::size_t best = 0;
    std::size_t best_length = free_at_.size() + 1;
    for (std::size_t row = 0; row < free_at_.size();) {
      std::size_t end = row;
      while (end < free_at_.size() && free(end, from)) ++end;
      if (end - row >= gpus && end - row < best_length) {
        best = row;
        best_length = end - row;
      }
      row = end + 1;
    }
    std::vector<std::size_t> rows;
    if (best_length > free_at_.size()) return rows;
    for (std::size_t i = 0; i < gpus; ++i) rows.push_back(best + i);
    return rows;
  }

  std::size_t first_;
  std::vector<double> free_at_;
  std::vector<JobIndex> last_;  ///< the last job on each row; not valid(): none
};

using NodeKey = std::pair<TypeIndex, GroupNodeIndex>;

/// Rows of each node, or of each type if intervals have no node.
std::map<NodeKey, Rows> rows_of(const ClusterShape& cluster, bool nodes) {
  std::map<NodeKey, Rows> rows;
  std::size_t first = 0;
  for (const TypeIndex type : cluster.type_indices()) {
    const NodeGroup& group = cluster.groups[type];
    const auto each = static_cast<std::size_t>(group.gpus_per_node);
    if (!nodes) rows.try_emplace({type, GroupNodeIndex()}, first, group.node_count() * each);
    for (const GroupNodeIndex node : group.node_indices()) {
      if (nodes) rows.try_emplace({type, node}, first, each);
      first += each;
    }
  }
  return rows;
}

/// The last bar of each job on each first row and number of rows: its index.
using LastBars = std::map<std::tuple<JobIndex, LaneIndex, int>, std::size_t>;

/// Adds bars for `rows`, which are sorted. Extends the last bar of the same job and rows if it
/// continues.
void add_bars(std::vector<LaneBar>& bars, LastBars& last, const std::vector<LaneIndex>& rows,
              const AllocationInterval& from) {
  for (std::size_t i = 0; i < rows.size();) {
    std::size_t end = i + 1;
    while (end < rows.size() && rows[end].value() == rows[end - 1].value() + 1) ++end;
    const LaneBar bar{from.job, rows[i], static_cast<int>(end - i), from.from, from.to};
    const std::tuple key{bar.job, bar.lane, bar.lanes};
    const auto before = last.find(key);
    if (before != last.end() && bars[before->second].to == bar.from) {
      bars[before->second].to = bar.to;
    } else {
      last.insert_or_assign(key, bars.size());
      bars.push_back(bar);
    }
    i = end;
  }
}

}  // namespace

Lanes lanes(const RunMetrics& record, const ClusterShape& cluster) {
  Lanes found;
  std::vector<AllocationInterval> intervals = record.intervals;
  std::sort(intervals.begin(), intervals.end(),
            [](const AllocationInterval& a, const AllocationInterval& b) {
              return std::tie(a.from, a.job, a.type, a.node, a.to, a.gpus) <
                     std::tie(b.from, b.job, b.type, b.node, b.to, b.gpus);
            });
  found.nodes_known = std::all_of(intervals.begin(), intervals.end(),
                                  [](const AllocationInterval& one) { return one.node.valid(); });
  auto rows = rows_of(cluster, found.nodes_known);
  LastBars last;
  for (const AllocationInterval& one : intervals) {
    const auto own = rows.find({one.type, found.nodes_known ? one.node : GroupNodeIndex()});
    const auto gpus = static_cast<std::size_t>(one.gpus);
    std::vector<LaneIndex> taken;
    if (own != rows.end()) taken = own->second.take(one.job, gpus, one.from, one.to);
    found.undrawn_gpu_seconds +=
        (one.to - one.from) * (one.gpus - static_cast<double>(taken.size()));
    add_bars(found.bars, last, taken, one);
  }
  return found;
}

}  // namespace rubato::sim
