// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/size.h"

#include <algorithm>

namespace rubato {

Request size_of(const Job& job) {
  Request request = job.request;
  request.min_nodes = std::max(request.min_nodes, 1);
  request.max_nodes = std::max(request.max_nodes, 0);
  request.gpu_quantum = std::max(request.gpu_quantum, 1);
  request.cores = std::max(request.cores, 1);
  return request;
}

}  // namespace rubato
