// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/placement_test.h"

#include <algorithm>
#include <type_traits>

#include "plugin/slurm/read/job_view.h"
#include "plugin/slurm/read/kept_request.h"
#include "plugin/slurm/read/records.h"
#include "plugin/slurm/stock/backfill_depth.h"

namespace rubato {

namespace {

static_assert(std::is_same_v<bitstr_t, std::int64_t>);

GateQuestion::Kind kind_of(uint16_t mode) {
  switch (mode & SELECT_MODE_BASE) {
    case SELECT_MODE_RUN_NOW:
      return GateQuestion::Kind::kRunNow;
    case SELECT_MODE_TEST_ONLY:
      return GateQuestion::Kind::kTestOnly;
    case SELECT_MODE_WILL_RUN:
      return GateQuestion::Kind::kWillRun;
    default:
      return GateQuestion::Kind::kOther;
  }
}

}  // namespace

bool PlacementTest::record_fits() const { return job_record_fits(job_); }

GateQuestion PlacementTest::question(const Config& config) const {
  GateQuestion question;
  question.kind = kind_of(mode_);
  question.zero_nodes = min_nodes_ == 0 && max_nodes_ == 0;
  // Slurm also tests reservations with temporary job records (reservation.c) that are in no list.
  // The other record of a requeued job passes too, as does a running job tested for preemption.
  const job_record_t* record = &job_;
  question.real_job = job_.details != nullptr && job_.part_ptr != nullptr &&
                      IS_JOB_PENDING(record) && find_job_record(job_.job_id) == &job_;
  if (!question.real_job) return question;
  question.managed = why_unmanaged(job_, *job_.part_ptr, config) == nullptr;
  question.owed = owes_request(job_) && !config.off(Mechanism::kRestore);
  question.uid = job_.user_id;
  question.job = job_.job_id;
  question.now = time(nullptr);
  question.submit = job_.details->submit_time;
  question.end = add_seconds(question.now, time_limit_of(job_, *job_.part_ptr));
  question.tier = job_.part_ptr->priority_tier;
  question.priority = job_.priority;
  return question;
}

bool PlacementTest::remove(const std::vector<int>& masked) const {
  bitstr_t* required = job_.details->req_node_bitmap;
  for (const int index : masked) {
    if (index >= bit_size(nodes_)) continue;
    if (required != nullptr && bit_test(required, index)) return false;
    bit_clear(nodes_, index);
  }
  return true;
}

bool PlacementTest::narrow(const StartScope& scope) const {
  if (scope.only != nullptr) {
    bitstr_t* required = job_.details->req_node_bitmap;
    for (int index = 0; index < bit_size(nodes_); ++index) {
      if (!bit_test(nodes_, index) ||
          std::binary_search(scope.only->begin(), scope.only->end(), index))
        continue;
      if (required != nullptr && bit_test(required, index)) return false;
      bit_clear(nodes_, index);
    }
  }
  return scope.never == nullptr || remove(*scope.never);
}

void PlacementTest::uncount_backfill_try() const { rubato::uncount_backfill_try(job_); }

}  // namespace rubato
