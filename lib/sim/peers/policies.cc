// SPDX-License-Identifier: GPL-2.0-or-later
// Makers of the policies that are the rules of a peer's own simulator and nothing beside them.
#include "lib/sim/policy.h"

namespace rubato::sim {

std::unique_ptr<Policy> make_only_by_rules(const PolicyContext& /*context*/) { return nullptr; }

}  // namespace rubato::sim
