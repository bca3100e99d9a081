// SPDX-License-Identifier: GPL-2.0-or-later
// Binds an untyped GPU request to one type, on nodes that have several.
#pragma once

#include <string>

#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

/// During its lifetime, the job's GPU request names `type`. The destructor undoes this unless
/// keep() was called. Otherwise Slurm itself chooses among a node's types, maybe not as planned.
/// Does nothing if `type` is empty or the request already names a type.
class BoundGpuType {
 public:
  BoundGpuType(job_record_t& job, const std::string& type);
  ~BoundGpuType();
  BoundGpuType(const BoundGpuType&) = delete;
  BoundGpuType& operator=(const BoundGpuType&) = delete;

  /// Call after the job started: its steps need the type. Other tasks of an array, whose request
  /// slurmctld copied, lose the type again.
  void keep();

 private:
  job_record_t& job_;
  std::uint32_t array_id_;
  bool bound_ = false;
};

/// Removes the type that an earlier start bound to a pending job's request (a requeued job keeps
/// its parsed request).
void forget_bound_type(job_record_t& job);

}  // namespace rubato
