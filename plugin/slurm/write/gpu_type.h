// SPDX-License-Identifier: GPL-2.0-or-later
// Binds an untyped GPU request to one type, for nodes that have several.
#pragma once

#include <string>

#include "plugin/slurm/stock/slurm_headers.h"

namespace rubato {

/// During its lifetime, the job's GPU request names `type`; the destructor undoes it unless keep()
/// was called. Otherwise Slurm chooses among the types of a node itself, maybe not as planned. An
/// empty `type` or a request that names a type itself changes nothing.
class BoundGpuType {
 public:
  BoundGpuType(job_record_t& job, const std::string& type);
  ~BoundGpuType();
  BoundGpuType(const BoundGpuType&) = delete;
  BoundGpuType& operator=(const BoundGpuType&) = delete;

  /// To be called when the job started: its steps need the type. The other tasks of an array, whose
  /// request slurmctld copied, lose it again.
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
