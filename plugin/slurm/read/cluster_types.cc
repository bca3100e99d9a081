// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/read/cluster_types.h"

#include <mutex>
#include <set>
#include <string_view>

#include "lib/hints/facts.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

namespace {

// Identical nodes have identical texts, so only a few texts are parsed.
std::vector<std::string> read_types() {
  std::set<std::string_view> texts;
  for (int i = 0; i < node_record_count; ++i) {
    const node_record_t* node = node_record_table_ptr[i];
    if (node == nullptr) continue;
    const char* gres = node->gres;
    if (gres == nullptr && node->config_ptr != nullptr) gres = node->config_ptr->gres;
    if (gres != nullptr) texts.insert(gres);
  }
  std::set<std::string> types;
  for (const std::string_view text : texts) {
    for (std::string& type : gpus_in(text).types) types.insert(std::move(type));
  }
  return {types.begin(), types.end()};
}

}  // namespace

std::vector<std::string> cluster_gpu_types() {
  static std::mutex mutex;
  static std::vector<std::string> types;
  static time_t read_at = 0;
  const std::lock_guard lock(mutex);
  const time_t now = time(nullptr);
  if (now != read_at) {
    types = read_types();
    read_at = now;
  }
  return types;
}

}  // namespace rubato
