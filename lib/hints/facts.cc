// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/hints/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "lib/base/text.h"

namespace rubato {
namespace {

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// A count in Slurm's form: digits with an optional suffix k, m, g, t or p; -1 if malformed.
int count_of(std::string_view text) {
  std::int64_t factor = 1;
  if (!text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0) {
    constexpr std::string_view kSuffixes = "kmgtp";
    const auto suffix =
        kSuffixes.find(static_cast<char>(std::tolower(static_cast<unsigned char>(text.back()))));
    if (suffix != std::string_view::npos) {
      for (std::size_t i = 0; i <= suffix; ++i) factor *= 1024;
      text.remove_suffix(1);
    }
  }
  if (!all_digits(text)) return -1;
  std::int64_t count = 0;
  for (const char c : text) count = std::min<std::int64_t>(count * 10 + (c - '0'), kMaxGpus);
  return static_cast<int>(
      std::min<std::int64_t>(count * std::min<std::int64_t>(factor, kMaxGpus), kMaxGpus));
}

/// NVIDIA names the slices of a GPU by compute share and memory: 1g.5gb, 3g.20gb.
bool names_slice(std::string_view type) {
  if (type.empty() || std::isdigit(static_cast<unsigned char>(type.front())) == 0) return false;
  return type.find("g.") != std::string_view::npos && type.find("gb") != std::string_view::npos;
}

void read_gpu(std::string_view fields, TresGpus& out) {
  // NAME, NAME:COUNT, NAME:TYPE, NAME:TYPE:COUNT; the last separator may be `=`.
  int count = 1;
  std::string_view type;
  const std::size_t last = fields.find_last_of(":=");
  const std::string_view tail = last == std::string_view::npos ? fields : fields.substr(last + 1);
  const int number = count_of(tail);
  if (number >= 0) {
    count = number;
    type = last == std::string_view::npos ? "" : fields.substr(0, last);
  } else {
    type = fields;
  }
  out.count = std::min(out.count + count, kMaxGpus);
  out.shared = out.shared || names_slice(type);
  if (type.empty()) return;
  if (std::find(out.types.begin(), out.types.end(), type) == out.types.end()) {
    out.types.emplace_back(type);
  }
}

/// The name of a TRES list entry, and the text before and after it.
struct TresEntry {
  std::string_view name;    ///< without "gres:"
  std::string_view fields;  ///< after the name and its separator
};

TresEntry entry_of(std::string_view entry) {
  if (entry.starts_with("gres:") || entry.starts_with("gres/")) entry.remove_prefix(5);
  const std::size_t end = std::min(entry.find_first_of(":="), entry.size());
  return {entry.substr(0, end), entry.substr(std::min(end + 1, entry.size()))};
}

/// Changes or adds the count in "gres:gpu:a100:2".
std::string with_count(std::string_view entry, int count) {
  const std::size_t last = entry.find_last_of(":=");
  const bool counted = last != std::string_view::npos && count_of(entry.substr(last + 1)) >= 0;
  return fmt::format("{}:{}", counted ? entry.substr(0, last) : entry, count);
}

int ceil_of(int a, int b) { return a / b + (a % b > 0 ? 1 : 0); }

}  // namespace

TresGpus gpus_in(std::string_view tres) {
  TresGpus out;
  for (std::string_view entry : split_at(tres, ',')) {
    entry = trimmed(entry);
    const auto [name, fields] = entry_of(entry);
    if (name == "mps" || name == "shard") {
      out.shared = true;
    } else if (name == "gpu") {
      read_gpu(fields, out);
    }
  }
  return out;
}

std::string with_gpus(std::string_view tres, int gpus, std::string_view type) {
  std::string out;
  const auto add = [&](std::string_view entry) {
    if (!out.empty()) out += ',';
    out += entry;
  };
  bool done = gpus == 0;
  for (std::string_view entry : split_at(tres, ',')) {
    entry = trimmed(entry);
    if (entry.empty()) continue;
    if (entry_of(entry).name != "gpu") {
      add(entry);
    } else if (!done) {
      add(with_count(entry, gpus));
      done = true;
    }
  }
  if (!done) add(fmt::format("gres:gpu:{}{}{}", type, type.empty() ? "" : ":", gpus));
  return out;
}

HintRequest hint_request(const RequestFacts& facts) {
  const TresGpus job = gpus_in(facts.per_job);
  const TresGpus node = gpus_in(facts.per_node);
  const TresGpus task = gpus_in(facts.per_task);
  const TresGpus socket = gpus_in(facts.per_socket);
  HintRequest out;
  out.gpus = job.count;
  out.gpus_per_node = node.count;
  out.gpus_per_task = task.count;
  out.shared_gpus = job.shared || node.shared || task.shared || socket.shared || socket.count > 0;
  for (const TresGpus* one : {&job, &node, &task, &socket}) {
    for (const std::string& type : one->types) {
      auto& types = out.gpu_types;
      if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
    }
  }
  out.min_nodes = std::max(facts.min_nodes, 1);
  out.max_nodes = facts.max_nodes;
  out.tasks = facts.tasks;
  if (facts.tasks_per_node > 0 && facts.min_nodes <= 1 && facts.max_nodes == 0) {
    out.min_nodes = std::max(ceil_of(facts.tasks, facts.tasks_per_node), 1);
  }
  const std::int64_t follow = std::int64_t{facts.tasks_per_node} * out.min_nodes;
  if (facts.tasks_per_node > 0 && facts.tasks == follow && out.gpus_per_task == 0) out.tasks = 0;
  if (out.gpus > 0 && out.gpus_per_node > 0 && out.max_nodes == 0) {
    out.min_nodes = std::max(out.gpus / out.gpus_per_node, 1);
    out.max_nodes = out.min_nodes;
  }
  if (out.gpus > 0 && out.gpus_per_task > 0 && out.tasks <= 1) {
    out.tasks = std::max(out.gpus / out.gpus_per_task, 1);
  }
  out.exclusive = facts.exclusive;
  out.batch = facts.batch;
  out.requeue = facts.requeue;
  out.array = facts.array;
  out.het = facts.het;
  out.time_limit = facts.time_limit;
  out.cluster_types = facts.cluster_types;
  return out;
}

}  // namespace rubato
