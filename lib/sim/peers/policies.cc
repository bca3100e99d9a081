// SPDX-License-Identifier: GPL-2.0-or-later
// Policies that exist only as rules of a peer's own simulator: the messages for suites where these
// rules do not apply. (Where they apply, Suite::rules handles them first.)
#include "lib/sim/engine/policy.h"

namespace rubato::sim {
namespace {

constexpr const char* kMeasured =
    "needs measured step times and gradients; it runs in the suites sia-het64 and pollux-t4-64, "
    "and on workloads of format sia or pollux";

}  // namespace

std::unique_ptr<Policy> make_only_by_rules(const PolicyContext& /*context*/) { return nullptr; }

std::string pollux_unfit(const PolicyContext& /*context*/) { return kMeasured; }

std::string rubick_unfit(const PolicyContext& /*context*/) {
  return "needs the execution plans of Rubick's models; it runs in the suite rubick-a800-64, and "
         "on workloads of format rubick";
}

std::string sia_unfit(const PolicyContext& /*context*/) { return kMeasured; }

}  // namespace rubato::sim
