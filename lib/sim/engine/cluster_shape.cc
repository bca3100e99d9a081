// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/engine/cluster_shape.h"

#include <fmt/format.h>

#include <charconv>
#include <numeric>

namespace rubato::sim {
namespace {

constexpr int kMaxNodes = 100'000;
constexpr int kMaxGpus = 1024;
constexpr long kMaxMemory = 1L << 40;
constexpr const char* kForm = "TYPE:NODESxGPUS, as t4:6x4";

/// A text and a read position.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek() const { return at_end() ? '\0' : text_[at_]; }
  bool take(char c) {
    if (peek() != c || at_end()) return false;
    ++at_;
    return true;
  }
  std::string word(std::string_view end) {
    const std::size_t from = at_;
    while (!at_end() && end.find(text_[at_]) == std::string_view::npos) ++at_;
    return std::string(text_.substr(from, at_ - from));
  }
  [[nodiscard]] tl::unexpected<Error> wrong(const std::string& expected) const {
    std::string found(text_.substr(at_, text_.substr(at_).find(',')));
    const std::string what = found.empty() ? "the end" : fmt::format("'{}'", found);
    return fail(fmt::format("cluster:{}: {} where {} was expected", at_ + 1, what, expected));
  }
  Result<long> number(long most, const char* what) {
    long value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, code] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (code != std::errc{} || value < 1 || value > most) {
      return wrong(fmt::format("{}, a whole number from 1 to {}", what, most));
    }
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

Result<long> memory_of(Scanner& scan) {
  const Scanner before = scan;
  auto number = scan.number(kMaxMemory, "the memory of a node");
  if (!number) return number;
  long memory = *number;
  if (scan.take('K')) {
    memory = std::max(1L, memory >> 10);
  } else if (scan.take('G')) {
    memory <<= 10;
  } else if (scan.take('T')) {
    memory <<= 20;
  } else {
    scan.take('M');
  }
  if (memory <= kMaxMemory) return memory;
  return before.wrong(fmt::format("a memory of a node of at most {}T", kMaxMemory >> 20));
}

Result<NodeGroup> group_of(Scanner& scan) {
  NodeGroup group;
  const Scanner before = scan;
  group.type = scan.word(":,");
  if (group.type.empty() || scan.peek() != ':') return before.wrong(kForm);
  if (const auto at = group.type.find('@'); at != std::string::npos) {
    if (at == 0 || at + 1 == group.type.size() ||
        group.type.find('@', at + 1) != std::string::npos) {
      return before.wrong("a type and its class of interconnect, as a100@ib");
    }
    group.gpu = group.type.substr(0, at);
  }
  scan.take(':');
  auto nodes = scan.number(kMaxNodes, "the number of nodes");
  if (!nodes) return tl::unexpected(nodes.error());
  if (!scan.take('x')) return scan.wrong(fmt::format("'x' ({})", kForm));
  auto gpus = scan.number(kMaxGpus, "the GPUs of a node");
  if (!gpus) return tl::unexpected(gpus.error());
  group.nodes = static_cast<int>(*nodes);
  group.gpus_per_node = static_cast<int>(*gpus);
  if (scan.take('/')) {
    auto cores = scan.number(kMaxNodes, "the cores of a node");
    if (!cores) return tl::unexpected(cores.error());
    group.cores = static_cast<int>(*cores);
    if (scan.take('/')) {
      auto memory = memory_of(scan);
      if (!memory) return tl::unexpected(memory.error());
      group.memory = *memory;
    }
  }
  return group;
}

}  // namespace

int ClusterShape::gpus(TypeIndex type) const {
  const NodeGroup& group = groups[type];
  return group.nodes * group.gpus_per_node;
}

int ClusterShape::gpus() const {
  int sum = 0;
  for (const TypeIndex type : type_indices()) sum += gpus(type);
  return sum;
}

int ClusterShape::nodes() const {
  return std::accumulate(groups.begin(), groups.end(), 0,
                         [](int sum, const NodeGroup& group) { return sum + group.nodes; });
}

TypeIndex ClusterShape::type_of(std::string_view name) const {
  for (const TypeIndex type : type_indices()) {
    if (groups[type].type == name) return type;
  }
  return {};
}

std::string ClusterShape::text() const {
  std::string all;
  for (const NodeGroup& group : groups) {
    if (!all.empty()) all += ',';
    all += fmt::format("{}:{}x{}", group.type, group.nodes, group.gpus_per_node);
    if (group.cores > 0 || group.memory > 0) all += fmt::format("/{}", std::max(1, group.cores));
    if (group.memory > 0) all += fmt::format("/{}M", group.memory);
  }
  return all;
}

Result<ClusterShape> parse_cluster_shape(std::string_view text) {
  ClusterShape cluster;
  Scanner scan(text);
  do {
    const Scanner before = scan;
    auto group = group_of(scan);
    if (!group) return tl::unexpected(group.error());
    if (cluster.type_of(group->type).valid()) {
      return before.wrong("a type that was not named before");
    }
    cluster.groups.push_back(std::move(*group));
    if (cluster.nodes() > kMaxNodes) {
      return before.wrong(fmt::format("at most {} nodes in all", kMaxNodes));
    }
  } while (scan.take(','));
  if (!scan.at_end()) return scan.wrong("',' or the end");
  return cluster;
}

}  // namespace rubato::sim
