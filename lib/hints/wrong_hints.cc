// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/hints/wrong_hints.h"

#include <fmt/format.h>

#include "lib/base/json_reader.h"
#include "lib/hints/comment.h"

namespace rubato {
namespace {

RequestFacts gpus(int count) {
  RequestFacts out;
  if (count > 0) out.per_job = fmt::format("gres:gpu:{}", count);
  return out;
}

RequestFacts nodes(int min, int max, int gpus_per_node) {
  RequestFacts out;
  out.per_node = fmt::format("gres:gpu:{}", gpus_per_node);
  out.min_nodes = min;
  out.max_nodes = max;
  return out;
}

template <typename Change>
RequestFacts with(RequestFacts facts, Change change) {
  change(facts);
  return facts;
}

std::vector<WrongHint> wrong_values() {
  std::vector<WrongHint> out;
  for (const char* hints : {
           "gpu=1-4",
           "gpus",
           "gpus=1,2;gpus=4",
           "gpus=4;no-gpus",
           "no-gpus=4",
           "gpus=1,2 batch=256",
           "job-type=res net",
           "gpus=0-4",
           "gpus=8-2",
           "gpu-types=h100//a100",
           "gpu-types=a100,a100",
           "batch=big",
           "samples=1.5",
           "target-loss=low",
           "samples=1e6;steps=500",
           "model=hidden=4096",
           "plans=fast",
           "plans=auto,dp",
           "checkpoint=KILL",
           "checkpoint=USR1@90000",
           "resize=yes",
           "device=tpu",
           "mix-types=maybe",
           "gpus=1-4 rubato:batch=256",
       }) {
    out.push_back({"", gpus(2), hints});
  }
  return out;
}

void add_place(std::vector<WrongHint>& out) {
  const auto a100 = [](RequestFacts& f) { f.per_job = "gres:gpu:a100:4"; };
  const auto types = [](RequestFacts& f) { f.cluster_types = {"a100", "h100", "v100"}; };
  out.push_back({"het", with(gpus(1), [](RequestFacts& f) { f.het = true; }), "job-type=resnet50"});
  out.push_back({"shared-gpus",
                 with(gpus(0), [](RequestFacts& f) { f.per_job = "gres:gpu:1g.5gb:1"; }),
                 "gpus=1-4"});
  out.push_back({"cpu-with-gpus", gpus(4), "device=cpu"});
  out.push_back({"gpu-without-gpus", gpus(0), "device=any"});
  out.push_back({"no-gpus", gpus(0), "gpus=2-4"});
  out.push_back({"typed", with(gpus(0), a100), "gpu-types=h100/a100"});
  out.push_back({"unknown-type", with(gpus(4), types), "gpu-types=h10/a100"});
  out.push_back({"mix-typed", with(gpus(0), a100), "mix-types"});
  out.push_back({"mix-one-type", gpus(4), "mix-types;gpu-types=a100"});
  out.push_back({"mix-one-gpu", gpus(1), "mix-types"});
}

void add_size(std::vector<WrongHint>& out) {
  const auto per_task = [](RequestFacts& f) {
    f.per_task = "gres:gpu:2";
    f.tasks = 2;
  };
  out.push_back({"open-size", nodes(1, 2, 4), "gpus=4-8"});
  out.push_back({"size-not-listed", gpus(3), "gpus=1,2,4,8"});
  out.push_back({"whole-nodes", nodes(2, 2, 4), "gpus=2-16"});
  out.push_back({"gpus-per-task", with(gpus(0), per_task), "gpus=2,3,4"});
  out.push_back({"tasks", with(gpus(4), [](RequestFacts& f) { f.tasks = 3; }), "gpus=2,4"});
  out.push_back(
      {"interactive-size", with(gpus(4), [](RequestFacts& f) { f.batch = false; }), "gpus=1-4"});
}

void add_change(std::vector<WrongHint>& out) {
  const auto minute = [](RequestFacts& f) { f.time_limit = 60; };
  out.push_back(
      {"interactive", with(gpus(4), [](RequestFacts& f) { f.batch = false; }), "checkpoint=USR1"});
  out.push_back({"restart-needs-checkpoint", gpus(4), "resize=restart"});
  out.push_back({"checkpoint-needs-requeue",
                 with(gpus(4), [](RequestFacts& f) { f.requeue = false; }), "checkpoint=USR1"});
  out.push_back({"lead-above-limit", with(gpus(4), minute), "checkpoint=USR1@60"});
  out.push_back({"live-one-size", gpus(4), "resize=live"});
  out.push_back({"live-mix-types", gpus(4), "resize=live;gpus=4,8;mix-types"});
  out.push_back({"live-exclusive", with(gpus(4), [](RequestFacts& f) { f.exclusive = true; }),
                 "resize=live;gpus=4,8"});
  out.push_back({"live-array", with(gpus(4), [](RequestFacts& f) { f.array = true; }),
                 "resize=live;gpus=4,8"});
  out.push_back({"plans-need-model", gpus(4), "plans=auto"});
  out.push_back({"plans-need-shape", gpus(4), "plans=dp,tp;model=params=7e9,layers=32"});
  out.push_back({"steps-with-batch-range", gpus(4), "steps=500;batch=256-1024"});
}

std::vector<WrongHint> make_table() {
  std::vector<WrongHint> out = wrong_values();
  add_place(out);
  add_size(out);
  add_change(out);
  return out;
}

/// "gpu:a100:4" -> "a100:4".
std::string count_of(const std::string& tres) {
  constexpr std::string_view kGpu = "gpu:";
  return tres.substr(tres.find(kGpu) + kGpu.size());
}

}  // namespace

std::string WrongHint::options() const {
  std::vector<std::string> out;
  if (!facts.per_job.empty()) out.push_back("--gpus=" + count_of(facts.per_job));
  if (facts.min_nodes > 0) {
    out.push_back(facts.min_nodes == facts.max_nodes
                      ? fmt::format("-N {}", facts.min_nodes)
                      : fmt::format("-N {}-{}", facts.min_nodes, facts.max_nodes));
  }
  if (!facts.per_node.empty()) out.push_back("--gpus-per-node=" + count_of(facts.per_node));
  if (facts.tasks > 0) out.push_back(fmt::format("-n {}", facts.tasks));
  if (!facts.per_task.empty()) out.push_back("--gpus-per-task=" + count_of(facts.per_task));
  if (facts.time_limit > 0) out.push_back(fmt::format("-t {}", facts.time_limit / 60));
  if (facts.exclusive) out.emplace_back("--exclusive");
  if (!facts.requeue) out.emplace_back("--no-requeue");
  if (facts.array) out.emplace_back("--array=1-2");
  return fmt::format("{}", fmt::join(out, " "));
}

std::string WrongHint::error() const {
  const auto said = parse_comment(comment());
  if (!said) return said.error().text;
  const auto resolved = resolve_hints(*said, {}, hint_request(facts), Spelling::kComment);
  return resolved ? "" : resolved.error().text;
}

const std::vector<WrongHint>& wrong_hints() {
  static const std::vector<WrongHint> table = make_table();
  return table;
}

std::string wrong_hints_json() {
  JsonValue out = JsonValue::array();
  for (const WrongHint& wrong : wrong_hints()) {
    out.push_back({{"rule", wrong.rule},
                   {"program", wrong.program()},
                   {"options", wrong.options()},
                   {"het", wrong.facts.het},
                   {"comment", wrong.comment()},
                   {"error", wrong.error()}});
  }
  return json_text(out, 1) + "\n";
}

}  // namespace rubato
