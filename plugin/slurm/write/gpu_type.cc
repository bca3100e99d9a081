// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/gpu_type.h"

#include "plugin/slurm/read/job_view.h"

namespace rubato {

namespace {

void set_type(gres_job_state_t& gpu, const char* type) {
  xfree(gpu.type_name);
  gpu.type_name = xstrdup(type);
  gpu.type_id = type != nullptr ? gres_build_id(gpu.type_name) : 0;
}

}  // namespace

BoundGpuType::BoundGpuType(job_record_t& job, const std::string& type)
    : job_(job), array_id_(job.array_job_id) {
  forget_bound_type(job);
  gres_job_state_t* gpu = gpu_request(job.gres_list_req);
  if (type.empty() || gpu == nullptr || gpu->type_name != nullptr) return;
  set_type(*gpu, type.c_str());
  bound_ = true;
}

BoundGpuType::~BoundGpuType() {
  if (bound_) forget_bound_type(job_);
}

void BoundGpuType::keep() {
  bound_ = false;
  if (array_id_ == 0) return;
  job_record_t* rest = find_job_record(array_id_);
  if (rest != nullptr && rest != &job_ && IS_JOB_PENDING(rest)) forget_bound_type(*rest);
}

void forget_bound_type(job_record_t& job) {
  gres_job_state_t* gpu = gpu_request(job.gres_list_req);
  if (gpu != nullptr && gpu->type_name != nullptr && !names_gpu_type(job)) set_type(*gpu, nullptr);
}

}  // namespace rubato
