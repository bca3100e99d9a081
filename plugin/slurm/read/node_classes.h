// SPDX-License-Identifier: GPL-2.0-or-later
// Which nodes a pending job may use. Jobs that agree in partition, features, named nodes and the
// like are of one class and share the answer, which is worked out once a look.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "lib/core/snapshot.h"
#include "plugin/slurm/read/node_view.h"
#include "plugin/slurm/read/queue.h"

namespace rubato {

class NodeClasses {
 public:
  /// Indices into Snapshot::node_sets.
  struct Sets {
    int now = -1;    ///< where the job may start now
    int later = -1;  ///< where it could start at some time
    bool reservation_closed = false;
  };

  /// Begins a look; `index` and `sets` must outlive it. True if the classes of earlier looks are
  /// void, since another property of jobs tells them apart now.
  bool begin(const NodeIndex& index, std::vector<NodeSet>& sets);
  /// The class of a job, valid until begin() returns true.
  [[nodiscard]] int class_of(const SlurmQueueEntry& entry);
  /// Where jobs of the class may start; `entry` is any of them.
  [[nodiscard]] const Sets& sets_of(int class_id, const SlurmQueueEntry& entry);
  /// The index of a set of nodes, which is added if it is new.
  [[nodiscard]] int set_index(const bitstr_t* bitmap);

 private:
  using Key = std::tuple<const part_record_t*, std::string, std::string, std::string, const void*,
                         std::uint32_t, std::uint32_t, std::string, std::uint32_t, bool>;

  [[nodiscard]] Sets add(const SlurmQueueEntry& entry);
  bool apply_reservations(job_record_t& copy, bitstr_t* nodes) const;

  bool any_reservation_ = false;
  bool any_owner_ = false;
  const NodeIndex* index_ = nullptr;
  std::vector<NodeSet>* node_sets_ = nullptr;
  std::map<Key, int> ids_;
  std::vector<std::optional<Sets>> sets_;  // by class, of this look
  std::map<NodeSet, int> set_indices_;     // of this look
};

}  // namespace rubato
