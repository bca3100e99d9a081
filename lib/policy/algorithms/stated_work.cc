// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/stated_work.h"

#include "lib/model/progress/statements.h"

namespace rubato {

StatedWork::StatedWork(const RoundInput& input) : input_(input) {
  if (input.config.off(Mechanism::kStatements)) return;
  const std::string* first = nullptr;
  for (const Job& job : input.snapshot.jobs) {
    if (!job.managed || !job.request.wants_gpus()) continue;
    if (first == nullptr) first = &job.account;
    shared_ = shared_ || job.account != *first;
  }
}

bool StatedWork::counts(const Job& job) const {
  if (!shared_ || !job.hints || !job.hints->work) return true;
  if (job.hints->work->unit == WorkUnit::kTargetLoss) return true;
  return statement_factor(input_.snapshot.memory.statements, job.account).has_value();
}

bool believed(const std::vector<Service>& service, const JobKey& job) {
  const Service* const found = service_of(service, job);
  return found == nullptr || found->believed;
}

}  // namespace rubato
