// SPDX-License-Identifier: GPL-2.0-or-later
// Cost of the submit hook under slurmctld's locks, without Slurm: a message, and hints at submit.
#include <benchmark/benchmark.h>

#include "lib/hints/comment.h"
#include "lib/hints/facts.h"
#include "lib/hints/read.h"
#include "lib/runtime/message_queue.h"

namespace rubato {
namespace {

constexpr const char* kReport =
    "rubato!report samples=1.28e6;rate=850.5;batch=256;loss=2.31;iteration=0.301";
constexpr const char* kComment =
    "night run rubato: job-type=resnet50; gpus=1,2,4,8; gpu-types=h100/a100; batch=256-1024; "
    "samples=1.28e8; checkpoint=USR1@60; resize=restart";

// A report of each of `jobs` jobs in turn; the queue is emptied as in the loop.
void heard_message(benchmark::State& state) {
  const auto jobs = static_cast<JobId>(state.range(0));
  MessageQueue box;
  JobId job = 0;
  Seconds now = 1'800'000'000;
  for (auto _ : state) {
    auto message = parse_message(kReport);
    if (++job == jobs) {
      job = 0;
      now += 60;
      benchmark::DoNotOptimize(box.take());
    }
    benchmark::DoNotOptimize(box.post(
        {.job = {job + 1, 1}, .uid = 1, .time = now, .restarts = 0, .message = *message}, 60));
  }
}
BENCHMARK(heard_message)->Arg(1)->Arg(200)->Arg(5000);

void checked_submission(benchmark::State& state) {
  RequestFacts facts;
  facts.per_job = "gres:gpu:4";
  facts.time_limit = 3600;
  facts.cluster_types = {"a100", "h100", "v100"};
  for (auto _ : state) {
    const auto said = parse_comment(kComment);
    benchmark::DoNotOptimize(resolve_hints(*said, {}, hint_request(facts), Spelling::kComment));
  }
}
BENCHMARK(checked_submission);

void submission_without_hints(benchmark::State& state) {
  const std::string comment = "night run 17 of the group";
  for (auto _ : state) benchmark::DoNotOptimize(split_comment(comment).hints);
}
BENCHMARK(submission_without_hints);

}  // namespace
}  // namespace rubato

BENCHMARK_MAIN();
