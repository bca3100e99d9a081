// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/select/admit.h"

namespace rubato {

bool admits(Gate& gate, const PlacementTest& test) {
  const std::shared_ptr<const Config> config = gate.config();
  if (config == nullptr) return true;  // slurmd, or the loop has not started yet
  if (!test.record_fits()) {
    gate.set_records_checked(false);
    return true;
  }
  const GateAnswer answer = gate.answer(test.question(*config));
  switch (answer.kind) {
    case GateAnswer::Kind::kPass:
      return true;
    case GateAnswer::Kind::kRefuse:
      if (answer.backfill_test) test.uncount_backfill_try();
      return false;
    case GateAnswer::Kind::kNarrow:
      return test.narrow(*answer.scope);
    case GateAnswer::Kind::kMask:
      return test.remove(answer.masked);
  }
  return true;
}

bool repairs_resized(const Gate& gate) {
  const std::shared_ptr<const Config> config = gate.config();
  return config == nullptr || !config->off(Mechanism::kShrinkRepair);
}

bool merges_jobs(const Gate& gate) {
  const std::shared_ptr<const Config> config = gate.config();
  return config == nullptr || !config->off(Mechanism::kGrow);
}

}  // namespace rubato
