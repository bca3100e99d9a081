// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/shared/job_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "lib/hints/comment.h"
#include "lib/json/annotation.h"
#include "tools/shared/slurm_conf.h"

namespace rubato::tools {
namespace {

std::optional<int> count_of(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

void take_hints(std::string_view comment, JobFacts& facts) {
  const auto hints = parse_comment(comment);
  if (!hints) return;
  if (hints->job_type) facts.job_type = *hints->job_type;
  if (hints->gpus) facts.sizes = *hints->gpus;
  if (!hints->work) return;
  if (hints->work->unit == WorkUnit::kSamples) {
    facts.work = hints->work->count;
  } else if (hints->work->unit == WorkUnit::kSteps && hints->batch && hints->batch->fixed() &&
             hints->work->count <= kMaxWork / hints->batch->max) {
    facts.work = hints->work->count * hints->batch->max;
  }
}

/// An annotation of a pending job says why it waits.
bool of_pending(const JobAnnotation& annotation) { return !annotation.wait.empty(); }

void take_gpus(const JobAnnotation& annotation, bool allocated, JobPhase phase, JobFacts& facts) {
  const bool started = phase == JobPhase::kRunning || phase == JobPhase::kEnded;
  // What was planned before the start is not what the job holds.
  const bool planned = started && of_pending(annotation);
  const bool slurm_knows = facts.gpus > 0 && (planned || (started && allocated));
  if (annotation.gpus > 0 && !slurm_knows) facts.gpus = annotation.gpus;
  if (annotation.gpu_type.empty()) return;
  if (!slurm_knows || facts.gpu_type.empty()) facts.gpu_type = annotation.gpu_type;
}

Seconds aged(Seconds remaining, Seconds age) {
  return remaining < 0 ? remaining : std::max<Seconds>(0, remaining - age);
}

void take_forecast(const JobAnnotation& annotation, JobPhase phase, Seconds now, JobFacts& facts) {
  if (phase == JobPhase::kPending || phase == JobPhase::kUnknown) {
    if (annotation.start > now) facts.start = annotation.start;
    facts.wait = annotation.wait;
  }
  if (phase == JobPhase::kEnded) return;
  const bool dated = annotation.at > 0 && now > annotation.at;
  const Seconds age = dated ? now - annotation.at : 0;
  facts.remaining = aged(annotation.remaining, age);
  facts.left_low = aged(annotation.left_low, age);
  facts.left_high = aged(annotation.left_high, age);
}

void take_annotation(const JobAnnotation& annotation, JobFacts& facts) {
  facts.published = true;
  if (!annotation.job_type.empty()) facts.job_type = annotation.job_type;
  if (!annotation.sizes.empty()) facts.sizes = annotation.sizes;
  facts.level = annotation.level;
  facts.plan = annotation.plan;
  facts.held = annotation.held;
  facts.throughput = annotation.throughput;
  if (annotation.throughput >= 0 || annotation.samples > 0) facts.samples = annotation.samples;
  facts.predictable = annotation.predictable;
}

/// True if the allocated TRES name GPUs; AccountingStorageTRES may lack them.
bool take_slurm(const JobTexts& texts, JobFacts& facts) {
  GpusOfTres gpus = gpus_of_tres(texts.tres_alloc);
  const bool allocated = gpus.count > 0;
  const GpusOfTres of_job = gpus_of_tres(texts.tres_per_job);
  const GpusOfTres of_node = gpus_of_tres(texts.tres_per_node);
  if (gpus.count == 0) gpus = of_job;
  if (gpus.count == 0) gpus = {of_node.count * count_of(texts.nodes).value_or(1), of_node.type};
  if (gpus.type.empty()) gpus.type = of_job.count > 0 ? of_job.type : of_node.type;
  facts.gpus = gpus.count;
  facts.gpu_type = gpus.type;
  return allocated;
}

}  // namespace

std::optional<double> JobFacts::progress() const {
  if (samples < 0 || work <= 0) return std::nullopt;
  return std::min(1.0, static_cast<double>(samples) / static_cast<double>(work));
}

GpusOfTres gpus_of_tres(std::string_view tres) {
  int typed = 0;
  int plain = 0;
  std::string type;
  bool several = false;
  for (const std::string& part : split(tres, ',')) {
    std::string_view word = part;
    if (!word.starts_with("gres/gpu") && !word.starts_with("gres:gpu")) continue;
    word.remove_prefix(8);
    if (!word.empty() && word.front() != ':' && word.front() != '=') continue;  // gres/gpumem
    const std::size_t mark = word.find_last_of(":=");
    std::string_view name = word.empty() ? word : word.substr(1);
    int count = 1;
    if (mark != std::string_view::npos) {
      if (const auto number = count_of(word.substr(mark + 1))) {
        count = *number;
        name = mark == 0 ? std::string_view() : word.substr(1, mark - 1);
      }
    }
    if (name.empty()) {
      plain += count;
      continue;
    }
    typed += count;
    several = several || (!type.empty() && type != name);
    type = name;
  }
  return {std::max(typed, plain), several ? "" : type};
}

std::string sizes_text(const GpuSizes& sizes) {
  std::string text;
  for (const auto& [from, to] : sizes.ranges()) {
    text += text.empty() ? "" : ",";
    // "1-2" is no shorter than "1,2" and reads as more.
    text += from == to       ? fmt::format("{}", from)
            : to == from + 1 ? fmt::format("{},{}", from, to)
                             : fmt::format("{}-{}", from, to);
  }
  return text;
}

JobPhase phase_of(std::string_view state) {
  static constexpr std::string_view kRuns[] = {"RUNNING",     "SUSPENDED",     "STOPPED",
                                               "CONFIGURING", "POWER_UP_NODE", "RESIZING",
                                               "SIGNALING",   "STAGE_OUT"};
  static constexpr std::string_view kWaits[] = {"PENDING",     "REQUEUED",     "REQUEUE_HOLD",
                                                "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"};
  if (state.empty()) return JobPhase::kUnknown;
  if (std::ranges::find(kRuns, state) != std::end(kRuns)) return JobPhase::kRunning;
  if (std::ranges::find(kWaits, state) != std::end(kWaits)) return JobPhase::kPending;
  return JobPhase::kEnded;
}

JobFacts facts_of(const JobTexts& texts, Seconds now) {
  JobFacts facts;
  const bool allocated = take_slurm(texts, facts);
  take_hints(texts.comment, facts);
  const auto annotation = find_annotation(texts.system_comment);
  if (!annotation) return facts;
  const JobPhase phase = phase_of(texts.state);
  take_annotation(*annotation, facts);
  take_gpus(*annotation, allocated, phase, facts);
  take_forecast(*annotation, phase, now, facts);
  return facts;
}

}  // namespace rubato::tools
