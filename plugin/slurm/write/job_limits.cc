// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/job_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "plugin/slurm/release/lists.h"

namespace rubato {

namespace {

std::size_t tres_count() { return static_cast<std::size_t>(slurmctld_tres_cnt); }

// Both jobs may hold GPUs of one node.
std::uint64_t nodes_together(const job_record_t& job,
                             const std::vector<const job_record_t*>& helpers) {
  bitstr_t* all = bit_copy(job.node_bitmap);
  for (const job_record_t* helper : helpers)
    if (helper->details->req_node_bitmap != nullptr) bit_or(all, helper->details->req_node_bitmap);
  const auto count = static_cast<std::uint64_t>(bit_set_count(all));
  FREE_NULL_BITMAP(all);
  return count;
}

std::vector<std::uint64_t> tres_together(const job_record_t& job,
                                         const std::vector<const job_record_t*>& helpers,
                                         std::uint64_t nodes) {
  std::vector<std::uint64_t> sum(job.tres_alloc_cnt, job.tres_alloc_cnt + tres_count());
  for (const job_record_t* helper : helpers)
    for (std::size_t i = 0; helper->tres_req_cnt != nullptr && i < sum.size(); ++i)
      sum[i] += helper->tres_req_cnt[i];
  sum[TRES_ARRAY_NODE] = nodes;
  return sum;
}

double limit_factor(const slurmdb_qos_rec_t* first, const slurmdb_qos_rec_t* second) {
  for (const slurmdb_qos_rec_t* qos : {first, second})
    if (qos != nullptr && !fuzzy_equal(qos->limit_factor, INFINITE)) return qos->limit_factor;
  return -1;
}

std::uint64_t scaled(std::uint64_t limit, double factor) {
  return factor > 0 ? static_cast<std::uint64_t>(static_cast<double>(limit) * factor) : limit;
}

// Limits of one rank after those of a higher one, which count alone where they are set.
class JobLimits {
 public:
  explicit JobLimits(const job_record_t& job) : job_(job), limits_(tres_count(), INFINITE64) {}

  void add(const slurmdb_qos_rec_t* qos) {
    if (qos == nullptr || qos->max_tres_pj_ctld == nullptr) return;
    for (std::size_t i = 0; i < limits_.size(); ++i)
      if (limits_[i] == INFINITE64) limits_[i] = qos->max_tres_pj_ctld[i];
  }
  // All associations up to the root count, each times LimitFactor of the QOS.
  void add(const slurmdb_assoc_rec_t* assoc, double factor) {
    std::vector<std::uint64_t> least(limits_.size(), INFINITE64);
    for (; assoc != nullptr && assoc->usage != nullptr; assoc = assoc->usage->parent_assoc_ptr)
      for (std::size_t i = 0; assoc->max_tres_ctld != nullptr && i < least.size(); ++i)
        if (assoc->max_tres_ctld[i] != INFINITE64)
          least[i] = std::min(least[i], scaled(assoc->max_tres_ctld[i], factor));
    for (std::size_t i = 0; i < limits_.size(); ++i)
      if (limits_[i] == INFINITE64) limits_[i] = least[i];
  }
  [[nodiscard]] std::string passed_by(const std::vector<std::uint64_t>& wanted) const {
    for (std::size_t i = 0; i < limits_.size(); ++i) {
      const bool overridden =
          job_.limit_set.tres != nullptr && job_.limit_set.tres[i] == ADMIN_SET_LIMIT;
      if (overridden || limits_[i] == INFINITE64 || wanted[i] <= limits_[i]) continue;
      return fmt::format("MaxTRESPerJob is {}={}, and it would have {}",
                         assoc_mgr_tres_name_array[i], limits_[i], wanted[i]);
    }
    return "";
  }

 private:
  const job_record_t& job_;
  std::vector<std::uint64_t> limits_;
};

std::string over_tres_limit(const job_record_t& job, const std::vector<std::uint64_t>& wanted) {
  if ((accounting_enforce & ACCOUNTING_ENFORCE_LIMITS) == 0) return "";
  assoc_mgr_lock_t locks = {};
  locks.assoc = READ_LOCK;
  locks.qos = READ_LOCK;
  locks.tres = READ_LOCK;
  const AssocLocks held(locks);
  slurmdb_qos_rec_t* first = nullptr;
  slurmdb_qos_rec_t* second = nullptr;
  acct_policy_set_qos_order(const_cast<job_record_t*>(&job), &first, &second);
  JobLimits limits(job);
  limits.add(first);
  limits.add(second);
  limits.add(job.assoc_ptr, limit_factor(first, second));
  return limits.passed_by(wanted);
}

std::string over_node_limit(const job_record_t& job, std::uint64_t nodes) {
  const bool exempt = job.qos_ptr != nullptr && (job.qos_ptr->flags & QOS_FLAG_PART_MAX_NODE) != 0;
  const std::uint32_t limit = job.part_ptr->max_nodes;
  if (exempt || limit == INFINITE || nodes <= limit) return "";
  return fmt::format("its partition has MaxNodes={}, and it would have {}", limit, nodes);
}

}  // namespace

Result<void> fits_job_limits(const job_record_t& job,
                             const std::vector<const job_record_t*>& helpers) {
  if (job.tres_alloc_cnt == nullptr || job.node_bitmap == nullptr) return {};
  const std::uint64_t nodes = nodes_together(job, helpers);
  if (std::string why = over_node_limit(job, nodes); !why.empty()) return fail(std::move(why));
  const auto wanted = tres_together(job, helpers, nodes);
  if (std::string why = over_tres_limit(job, wanted); !why.empty()) return fail(std::move(why));
  return {};
}

}  // namespace rubato
