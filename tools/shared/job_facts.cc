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

void take_annotation(const JobAnnotation& annotation, JobFacts& facts) {
  facts.published = true;
  if (!annotation.job_type.empty()) facts.job_type = annotation.job_type;
  if (!annotation.gpu_type.empty()) facts.gpu_type = annotation.gpu_type;
  if (annotation.gpus > 0) facts.gpus = annotation.gpus;
  if (!annotation.sizes.empty()) facts.sizes = annotation.sizes;
  facts.level = annotation.level;
  facts.plan = annotation.plan;
  facts.throughput = annotation.throughput;
  if (annotation.throughput >= 0 || annotation.samples > 0) facts.samples = annotation.samples;
  facts.remaining = annotation.remaining;
  facts.left_low = annotation.left_low;
  facts.left_high = annotation.left_high;
  facts.predictable = annotation.predictable;
  facts.start = annotation.start;
  facts.wait = annotation.wait;
}

void take_slurm(const JobTexts& texts, JobFacts& facts) {
  GpusOfTres gpus = gpus_of_tres(texts.tres_alloc);
  const GpusOfTres of_job = gpus_of_tres(texts.tres_per_job);
  const GpusOfTres of_node = gpus_of_tres(texts.tres_per_node);
  if (gpus.count == 0) gpus = of_job;
  if (gpus.count == 0) gpus = {of_node.count * count_of(texts.nodes).value_or(1), of_node.type};
  if (gpus.type.empty()) gpus.type = of_job.count > 0 ? of_job.type : of_node.type;
  facts.gpus = gpus.count;
  facts.gpu_type = gpus.type;
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

JobFacts facts_of(const JobTexts& texts) {
  JobFacts facts;
  take_slurm(texts, facts);
  take_hints(texts.comment, facts);
  if (const auto annotation = find_annotation(texts.system_comment))
    take_annotation(*annotation, facts);
  return facts;
}

}  // namespace rubato::tools
