// SPDX-License-Identifier: GPL-2.0-or-later
// Binding an untyped GPU request to one type, for nodes that have several.
#pragma once

#include <string>

#include "plugin/slurm/stock/slurm_headers.h"

namespace rubato {

/// While it lives, the job's GPU request names `type`; taken back unless keep() is called. Slurm
/// chooses among the types of a node by itself otherwise, and not the one the plan counted on.
/// An empty `type` or a request that names a type itself changes nothing.
class BoundGpuType {
 public:
  BoundGpuType(job_record_t& job, const std::string& type);
  ~BoundGpuType();
  BoundGpuType(const BoundGpuType&) = delete;
  BoundGpuType& operator=(const BoundGpuType&) = delete;

  /// The job started: its steps need the type. The rest of an array, which slurmctld split off by
  /// copying the request, is freed from it again.
  void keep();

 private:
  job_record_t& job_;
  std::uint32_t array_id_;
  bool bound_ = false;
};

/// Frees the request of a pending job from a type that an earlier start bound (a requeued job keeps
/// its parsed request).
void forget_bound_type(job_record_t& job);

}  // namespace rubato
