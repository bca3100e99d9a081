// SPDX-License-Identifier: GPL-2.0-or-later
// The nodes that a pending job may use. Jobs with equal partition, features, named nodes and
// similar fields form a class. The nodes of a class are computed once per look.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "lib/core/snapshot.h"
#include "plugin/slurm/read/job_cache.h"
#include "plugin/slurm/read/node_view.h"
#include "plugin/slurm/read/queue.h"

namespace rubato {

class NodeClasses {
 public:
  struct Sets {
    NodeSetIndex now;    ///< nodes where the job may start now
    NodeSetIndex later;  ///< nodes where it could start at some time
    bool reservation_closed = false;
  };

  /// Starts a look; `index` and `sets` must outlive it. True if earlier classes are void, because
  /// another property of jobs now distinguishes them.
  bool begin(const NodeNumbers& index, std::vector<NodeSet>& sets);
  /// The class of a job, valid until begin() returns true.
  [[nodiscard]] NodeClassIndex class_of(const SlurmQueueEntry& entry);
  /// Nodes for jobs of the class; `entry` is any such job.
  [[nodiscard]] const Sets& sets_of(NodeClassIndex class_id, const SlurmQueueEntry& entry);
  /// The index of a node set; adds the set if it is new.
  [[nodiscard]] NodeSetIndex set_index(const bitstr_t* bitmap);

 private:
  /// What Slurm's node filter reads of a job and the capacity model does not: all zero for most.
  struct NodeMinimum {
    std::uint32_t tmp_disk = 0;  ///< MB
    std::uint16_t sockets = 0;
    std::uint16_t cores = 0;    ///< per socket
    std::uint16_t threads = 0;  ///< per core

    auto operator<=>(const NodeMinimum&) const = default;  // NOLINT(modernize-use-nullptr)
    [[nodiscard]] bool any() const { return *this != NodeMinimum{}; }
  };
  /// Who asks, where that makes a difference: for nodes with an owner, and in the access list of
  /// the job's own reservation.
  struct Access {
    std::uint32_t user = 0;
    std::uint32_t association = 0;
    std::uint32_t leaves_reservation = 0;  ///< --signal=R: seconds of warning and 1; 0: not given

    auto operator<=>(const Access&) const = default;  // NOLINT(modernize-use-nullptr)
  };
  using Key = std::tuple<const part_record_t*, std::string, std::string, std::string, const void*,
                         Access, std::string, std::uint32_t, bool, std::uint8_t, NodeMinimum>;
  /// The number of reservations that begin before a job's time limit ends: jobs of a class differ
  /// in no other way in what Slurm's reservations keep from them.
  using Window = std::size_t;

  [[nodiscard]] static NodeMinimum minimum_of(const job_details_t& details);

  [[nodiscard]] Access access_of(const SlurmQueueEntry& entry, bool own_nodes) const;
  [[nodiscard]] Window window_of(const job_record_t& job, const part_record_t& part) const;
  void read_windows();
  [[nodiscard]] Sets add(const SlurmQueueEntry& entry);
  bool apply_reservations(job_record_t& copy, bitstr_t* nodes) const;

  bool any_reservation_ = false;
  std::set<std::uint32_t> owners_;  // of nodes, now or earlier; all other users see the same nodes
  time_t now_ = 0;                  // of this look
  std::vector<time_t> begins_;      // of the reservations of this look, sorted
  const NodeNumbers* index_ = nullptr;
  std::vector<NodeSet>* node_sets_ = nullptr;
  std::map<Key, NodeClassIndex> ids_;
  std::vector<std::map<Window, Sets>> sets_;     // of this look, by class
  std::map<NodeSet, NodeSetIndex> set_indices_;  // of this look
};

}  // namespace rubato
