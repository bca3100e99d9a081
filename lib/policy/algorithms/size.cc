// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/size.h"

#include <algorithm>

#include "lib/core/resize_request.h"

namespace rubato {

namespace {

// Sizes that a test forces; jobs that do not offer them keep theirs.
std::optional<Job> forced(const Job& job, const Config& config) {
  const auto size = config.injected(Fault::kStartSize);
  const bool on_cpus = config.injected(Fault::kStartCpu).has_value();
  if (!size && !on_cpus) return std::nullopt;
  const int gpus = on_cpus ? 0 : static_cast<int>(*size);
  if (gpus == requested_gpus(job)) return std::nullopt;
  auto out = at_size(job, gpus, "");
  if (!out) return std::nullopt;
  return std::move(*out);
}

}  // namespace

std::optional<Job> sized(const Job& job, const Config& config) {
  if (!job.managed || !job.hints) return std::nullopt;
  return forced(job, config);
}

std::vector<int> sizes_to_try(const Job& job) {
  const auto own = static_cast<int>(requested_gpus(job));
  std::vector<int> sizes{own};
  if (!job.managed || !job.batch || !job.hints || job.array_id != 0) return sizes;
  for (const auto& [from, to] : job.hints->sizes.ranges()) {
    sizes.push_back(from);
    sizes.push_back(to);
    for (int size = 1; size <= to / 2; size *= 2) {
      if (size > from) sizes.push_back(size);
    }
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

Request size_of(const Job& job) {
  Request request = job.request;
  request.min_nodes = std::max(request.min_nodes, 1);
  request.max_nodes = std::max(request.max_nodes, 0);
  request.gpu_quantum = std::max(request.gpu_quantum, 1);
  request.cores = std::max(request.cores, 1);
  return request;
}

}  // namespace rubato
