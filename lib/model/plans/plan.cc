// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/plans/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "lib/base/nearest.h"
#include "lib/hints/values.h"

namespace rubato {
namespace {

constexpr std::array kKinds{PlanKind::kDp, PlanKind::kZero, PlanKind::kZeroOffload, PlanKind::kTp,
                            PlanKind::kPp, PlanKind::kGa,   PlanKind::kGc};

PlanKind kind_of(Zero zero) {
  if (zero == Zero::kSharded) return PlanKind::kZero;
  return zero == Zero::kOffload ? PlanKind::kZeroOffload : PlanKind::kDp;
}

struct Word {
  PlanKind kind = PlanKind::kDp;
  std::optional<int> degree;
};

Result<Word> read_word(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const auto* kind =
      std::find_if(kKinds.begin(), kKinds.end(), [&](PlanKind k) { return name == to_string(k); });
  if (kind == kKinds.end()) {
    std::vector<std::string> names;
    names.reserve(kKinds.size());
    for (const PlanKind k : kKinds) names.emplace_back(to_string(k));
    return fail(fmt::format("\"{}\" is not part of a plan; choose {}{}", name,
                            fmt::join(names, ", "), did_you_mean(name, names)));
  }
  Word word{*kind, std::nullopt};
  if (equals == std::string_view::npos) return word;
  const std::string_view number = text.substr(equals + 1);
  int degree = 0;
  const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), degree);
  if (*kind == PlanKind::kGc) return fail(fmt::format("\"{}\": gc takes no number", text));
  if (code != std::errc() || end != number.data() + number.size() || degree < 1 ||
      degree > kMaxGpus) {
    return fail(
        fmt::format("\"{}\": \"{}\" is not a whole number from 1 to {}", text, number, kMaxGpus));
  }
  word.degree = degree;
  return word;
}

class PlanReader {
 public:
  explicit PlanReader(int gpus) : gpus_(gpus) {}

  Result<void> take(const Word& word) {
    if (!seen_.insert(word.kind).second) {
      return fail(fmt::format("\"{}\" stands twice", to_string(word.kind)));
    }
    switch (word.kind) {
      case PlanKind::kDp:
        return replicas(word, Zero::kNone);
      case PlanKind::kZero:
        return replicas(word, Zero::kSharded);
      case PlanKind::kZeroOffload:
        return replicas(word, Zero::kOffload);
      case PlanKind::kTp:
        return degree(word, plan_.tensor);
      case PlanKind::kPp:
        return degree(word, plan_.pipeline);
      case PlanKind::kGa:
        if (!word.degree) return fail("\"ga\" needs its number of micro-batches: write ga=2");
        plan_.steps = *word.degree;
        return {};
      case PlanKind::kGc:
        plan_.checkpointing = true;
        return {};
    }
    return {};
  }

  Result<ExecutionPlan> finish() {
    const bool replicas_said = seen_.contains(PlanKind::kDp) || seen_.contains(PlanKind::kZero) ||
                               seen_.contains(PlanKind::kZeroOffload);
    if (!replicas_said && open_ == nullptr && gpus_ > 0) open("dp", plan_.data);
    if (open_ != nullptr) {
      const std::int64_t rest = plan_.gpus();
      if (gpus_ < 1) return fail(fmt::format("\"{}\" needs its degree: write {}=2", name_, name_));
      if (gpus_ % rest != 0) {
        return fail(
            fmt::format("the other degrees make {}, which does not divide {} GPUs", rest, gpus_));
      }
      *open_ = static_cast<int>(gpus_ / rest);
    }
    if (gpus_ > 0 && plan_.gpus() != gpus_) {
      return fail(fmt::format("the degrees make {} GPUs, not {}", plan_.gpus(), gpus_));
    }
    if (plan_.gpus() > kMaxGpus) {
      return fail(fmt::format("the degrees make more than {} GPUs", kMaxGpus));
    }
    return plan_;
  }

 private:
  Result<void> replicas(const Word& word, Zero zero) {
    for (const PlanKind kind : {PlanKind::kDp, PlanKind::kZero, PlanKind::kZeroOffload}) {
      if (kind != word.kind && seen_.contains(kind)) {
        return fail(fmt::format("\"{}\" and \"{}\" exclude each other", to_string(kind),
                                to_string(word.kind)));
      }
    }
    plan_.zero = zero;
    return degree(word, plan_.data);
  }

  Result<void> degree(const Word& word, int& into) {
    if (word.degree) {
      into = *word.degree;
      return {};
    }
    if (open_ != nullptr) {
      return fail(
          fmt::format("\"{}\" and \"{}\" both lack their degree", name_, to_string(word.kind)));
    }
    open(to_string(word.kind), into);
    return {};
  }

  void open(std::string_view name, int& into) {
    name_ = name;
    open_ = &into;
  }

  int gpus_;
  ExecutionPlan plan_;
  std::set<PlanKind> seen_;
  std::string_view name_;
  int* open_ = nullptr;  ///< the degree that gets the remaining GPUs
};

std::string why_not_split(const ExecutionPlan& plan, const PlanConfiguration& configuration,
                          const ModelShape& shape) {
  if (plan.zero != Zero::kNone) return "TP and PP are not combined with ZeRO";
  if (!shape.whole()) return "TP and PP need hidden, layers, seq and heads of the model";
  if (shape.heads % plan.tensor != 0) {
    return fmt::format("{} heads do not divide into TP={}", shape.heads, plan.tensor);
  }
  if (shape.layers % plan.pipeline != 0) {
    return fmt::format("{} layers do not divide into PP={}", shape.layers, plan.pipeline);
  }
  // A tensor-parallel group must not span nodes, so the GPUs of each node are whole groups.
  if (configuration.min_per_node() % plan.tensor != 0 ||
      configuration.max_per_node() % plan.tensor != 0) {
    return fmt::format("TP={} does not divide the GPUs of a node", plan.tensor);
  }
  return "";
}

}  // namespace

std::string to_text(const ExecutionPlan& plan) {
  std::string text;
  const auto add = [&](PlanKind kind, int degree) {
    if (!text.empty()) text += ',';
    text += fmt::format("{}={}", to_string(kind), degree);
  };
  if (plan.data > 1 || !plan.split()) add(kind_of(plan.zero), plan.data);
  if (plan.data == 1 && plan.split() && plan.zero != Zero::kNone) add(kind_of(plan.zero), 1);
  if (plan.tensor > 1) add(PlanKind::kTp, plan.tensor);
  if (plan.pipeline > 1) add(PlanKind::kPp, plan.pipeline);
  if (plan.steps > 1) add(PlanKind::kGa, plan.steps);
  if (plan.checkpointing) text += ",gc";
  return text;
}

Result<ExecutionPlan> parse_execution_plan(std::string_view text, int gpus) {
  PlanReader reader(gpus);
  if (text.empty()) return fail("a plan is empty; write for instance dp=4,gc");
  for (;;) {
    const std::size_t comma = text.find(',');
    const auto word = read_word(text.substr(0, comma));
    if (!word) return tl::unexpected(word.error());
    if (auto taken = reader.take(*word); !taken) return tl::unexpected(taken.error());
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return reader.finish();
}

std::string canonical_plan(const std::string& text, int gpus) {
  if (text.empty()) return text;
  auto plan = parse_execution_plan(text, gpus);
  if (!plan) return text;
  if (plan->split()) {
    plan->data = 1;
    return to_text(*plan);
  }
  std::string spelled = to_text(*plan);
  const std::size_t degree = spelled.find('=');
  const std::size_t end = std::min(spelled.find(','), spelled.size());
  return spelled.erase(degree, end - degree);
}

std::set<PlanKind> kinds_of(const ExecutionPlan& plan) {
  std::set<PlanKind> kinds;
  if (plan.zero != Zero::kNone || plan.data > 1) kinds.insert(kind_of(plan.zero));
  if (plan.tensor > 1) kinds.insert(PlanKind::kTp);
  if (plan.pipeline > 1) kinds.insert(PlanKind::kPp);
  if (plan.steps > 1 && plan.pipeline == 1) kinds.insert(PlanKind::kGa);
  if (plan.checkpointing) kinds.insert(PlanKind::kGc);
  return kinds;
}

bool allows(const Plans& plans, const ExecutionPlan& plan) {
  if (plans.automatic) return true;
  const auto listed = [&](PlanKind kind) { return plans.kinds.contains(kind); };
  if (plan.zero != Zero::kNone || plan.data > 1) {
    if (!listed(kind_of(plan.zero))) return false;
  } else if (!plan.split()) {
    // A plan of one GPU without ZeRO: any of these words allows it.
    if (!listed(PlanKind::kDp) && !listed(PlanKind::kTp) && !listed(PlanKind::kPp)) return false;
  }
  return (plan.tensor == 1 || listed(PlanKind::kTp)) &&
         (plan.pipeline == 1 || listed(PlanKind::kPp)) &&
         (plan.steps == 1 || plan.pipeline > 1 || listed(PlanKind::kGa)) &&
         (!plan.checkpointing || listed(PlanKind::kGc));
}

std::string why_not(const ExecutionPlan& plan, const PlanConfiguration& configuration,
                    const ModelShape& shape, std::int64_t batch) {
  if (configuration.gpus < 1 || configuration.gpus > kMaxGpus) {
    return fmt::format("{} GPUs are not from 1 to {}", configuration.gpus, kMaxGpus);
  }
  if (configuration.nodes < 1 || configuration.nodes > configuration.gpus) {
    return fmt::format("{} GPUs cannot be on {} nodes", configuration.gpus, configuration.nodes);
  }
  if (configuration.cores_per_gpu < 1) return "a GPU needs a core";
  if (shape.params < 1) return "the number of parameters of the model is not known";
  if (plan.data < 1 || plan.tensor < 1 || plan.pipeline < 1 || plan.steps < 1) {
    return "a degree is below 1";
  }
  // Tests each factor before multiplying, to avoid overflow.
  if (plan.data > kMaxGpus || plan.tensor > kMaxGpus / plan.data ||
      plan.pipeline > kMaxGpus / (plan.data * plan.tensor) || plan.gpus() != configuration.gpus) {
    return fmt::format("the degrees do not make {} GPUs", configuration.gpus);
  }
  if (batch < 1 || batch > kMaxBatch || batch % (std::int64_t{1} * plan.data * plan.steps) != 0) {
    return fmt::format("a batch of {} does not divide into {} x {} micro-batches", batch, plan.data,
                       plan.steps);
  }
  return plan.split() ? why_not_split(plan, configuration, shape) : "";
}

}  // namespace rubato
