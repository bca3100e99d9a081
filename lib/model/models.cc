// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/models.h"

namespace rubato {

double Models::speed(const std::string& gpu_type) const {
  const auto at = speeds_.find(gpu_type);
  return at != speeds_.end() && at->second > 0 ? at->second : 1.0;
}

}  // namespace rubato
