// SPDX-License-Identifier: GPL-2.0-or-later
// Every rule of the table of refused combinations: just broken, and just kept.
#include <gtest/gtest.h>

#include <set>

#include "lib/hints/comment.h"
#include "lib/hints/rules.h"
#include "lib/hints/values.h"

namespace rubato {
namespace {

Hints said(const std::string& pairs) {
  const auto hints = parse_comment("rubato:" + pairs);
  EXPECT_TRUE(hints) << hints.error().text;
  return hints.value_or(Hints{});
}

/// Names of the rules that `hints` break.
std::set<std::string> broken(const Hints& hints, const HintRequest& request) {
  std::set<std::string> out;
  for (const HintRule& rule : hint_rules()) {
    std::vector<std::string> errors;
    rule.check({hints, request, Spelling::kOption}, errors);
    if (!errors.empty()) out.insert(rule.name);
    if (!errors.empty() && rule.ends) break;
  }
  return out;
}

struct RuleTest {
  const char* rule;
  const char* hints;
  HintRequest request;
  const char* error;   // the whole error of resolve_hints
  const char* better;  // the same hints corrected: no rule is broken; null: with `fixed`
  HintRequest fixed = {};
};

constexpr HintRequest gpus(int count) {
  HintRequest request;
  request.gpus = count;
  return request;
}

/// -N MIN-MAX --gpus-per-node=GPUS.
HintRequest nodes(int min, int max, int gpus_per_node) {
  HintRequest request;
  request.min_nodes = min;
  request.max_nodes = max;
  request.gpus_per_node = gpus_per_node;
  return request;
}

HintRequest with(HintRequest request, void (*change)(HintRequest&)) {
  change(request);
  return request;
}

std::vector<RuleTest> tests_of_place() {
  const auto het = [](HintRequest& r) { r.het = true; };
  const auto shared = [](HintRequest& r) { r.shared_gpus = true; };
  const auto typed = [](HintRequest& r) { r.gpu_types = {"a100"}; };
  const auto known = [](HintRequest& r) { r.cluster_types = {"a100", "h100"}; };
  return {
      {"het", "job-type=x", with(gpus(4), het),
       "--dl-job-type: Rubato does not manage heterogeneous jobs; remove the hint", "",
       with(gpus(4), het)},
      {"shared-gpus", "job-type=x;gpus=1-4;device=any", with(gpus(1), shared),
       "--dl-gpus: Rubato does not manage shards, MPS and slices of GPUs; request whole GPUs "
       "(--gpus=1) "
       "or remove the hint\n"
       "--dl-device: Rubato does not manage shards, MPS and slices of GPUs; request whole GPUs "
       "(--gpus=1) or remove the hint",
       "job-type=x;resize=none;device=gpu", with(gpus(1), shared)},
      {"cpu-with-gpus", "device=cpu", gpus(4),
       "--dl-device: cpu, but the request has 4 GPUs; remove them, or write "
       "--dl-device=any",
       "device=any", gpus(4)},
      {"gpu-without-gpus",
       "device=any",
       {},
       "--dl-device: any, but the request has no GPUs; add --gpus=1 to it, or write "
       "--dl-device=cpu",
       "device=cpu",
       {}},
      {"no-gpus",
       "gpus=2-4",
       {},
       "--dl-gpus: the request has no GPUs; add --gpus=2 to it, or remove the hint",
       "gpus=2-4",
       gpus(2)},
      {"no-gpus",
       "device=cpu;mix-types;resize=restart;checkpoint=USR1",
       {},
       "--dl-resize: the request has no GPUs; remove the hint\n"
       "--dl-mix-types: the request has no GPUs; remove the hint",
       "device=cpu;mix-types=no;resize=none;batch=8;checkpoint=USR1",
       {}},
      {"typed", "gpu-types=a100", with(gpus(4), typed),
       "--dl-gpu-types: the request already names type a100; request GPUs without a type "
       "(--gpus=4), or "
       "remove the hint",
       "gpu-types=a100", gpus(4)},
      {"unknown-type", "gpu-types=h10/v100,a100", with(gpus(4), known),
       "--dl-gpu-types: \"h10\" is not a GPU type of this cluster; did you mean h100?\n"
       "--dl-gpu-types: \"v100\" is not a GPU type of this cluster; did you mean a100?",
       "gpu-types=h100/a100", with(gpus(4), known)},
      {"mix-typed", "mix-types", with(gpus(4), typed),
       "--dl-mix-types: the request already names type a100; request GPUs without a type "
       "(--gpus=4), or "
       "remove the hint",
       "mix-types=no", with(gpus(4), typed)},
      {"mix-one-type", "mix-types;gpu-types=a100", gpus(4),
       "--dl-mix-types: a100 is the only type, so nothing can be mixed; add another to "
       "--dl-gpu-types or remove the hint",
       "mix-types;gpu-types=a100,h100", gpus(4)},
      {"mix-one-gpu", "mix-types", gpus(1),
       "--dl-mix-types: a job with one GPU has one type; remove the hint, or write --dl-gpus=1-4",
       "mix-types;gpus=1-4", gpus(1)},
  };
}

std::vector<RuleTest> tests_of_size() {
  const auto salloc = [](HintRequest& r) { r.batch = false; };
  const auto per_task = [](HintRequest& r) { r.gpus_per_task = 2; };
  const auto four_tasks = [](HintRequest& r) { r.tasks = 4; };
  const auto three_tasks = [](HintRequest& r) { r.tasks = 3; };
  return {
      {"open-size", "gpus=8-16;resize=restart;checkpoint=USR1", nodes(2, 4, 4),
       "--dl-gpus: -N 2-4 with --gpus-per-node=4 gives no fixed size but 8 to 16 GPUs; write -N 2 "
       "or "
       "--gpus=8 in the request\n"
       "--dl-resize: -N 2-4 with --gpus-per-node=4 gives no fixed size but 8 to 16 GPUs; write -N "
       "2 "
       "or --gpus=8 in the request",
       "gpus=8-16;resize=restart;checkpoint=USR1", nodes(2, 2, 4)},
      {"size-not-listed", "gpus=1,2,4,8", gpus(3),
       "--dl-gpus: the request is for 3 GPUs, which is not one of 1,2,4,8; request 2 GPUs, "
       "or "
       "write --dl-gpus=1,2,3,4,8",
       "gpus=1,2,3,4,8", gpus(3)},
      {"size-not-listed", "gpus=4-16", nodes(1, 0, 2),
       "--dl-gpus: the request is for 2 GPUs, which is not one of 4-16; request 4 GPUs, or "
       "write "
       "--dl-gpus=2,4-16",
       "gpus=2,4-16", nodes(1, 0, 2)},
      {"whole-nodes", "gpus=2-16", nodes(2, 2, 4),
       "--dl-gpus: 2 is not a multiple of 4: -N 2 with --gpus-per-node=4 allows only whole nodes; "
       "write --dl-gpus=4-16",
       "gpus=4-16", nodes(2, 2, 4)},
      {"whole-nodes", "gpus=4-99", nodes(1, 1, 4),
       "--dl-gpus: 99 is not a multiple of 4: -N 1 with --gpus-per-node=4 allows only whole nodes; "
       "write --dl-gpus=4-96",
       "gpus=4-96", nodes(1, 1, 4)},
      {"gpus-per-task", "gpus=2,3,4", with(gpus(4), per_task),
       "--dl-gpus: 3 is not a multiple of 2: --gpus-per-task=2 allows only whole tasks; write "
       "--dl-gpus=2,4",
       "gpus=2,4", with(gpus(4), per_task)},
      {"tasks", "gpus=2,4,6", with(gpus(4), three_tasks),
       "--dl-gpus: 2 is not a multiple of 4: 3 tasks on 4 GPUs scale with the GPUs, and their "
       "number must be whole; write --dl-gpus=4",
       "gpus=4,8", with(gpus(4), three_tasks)},
      {"tasks", "gpus=7-8", with(gpus(8), four_tasks),
       "--dl-gpus: 7 is not a multiple of 2: 4 tasks on 8 GPUs scale with the GPUs, and their "
       "number must be whole; write --dl-gpus=8",
       "gpus=2-8", with(gpus(8), four_tasks)},
      {"interactive-size", "gpus=1-4", with(gpus(4), salloc),
       "--dl-gpus: an interactive job starts at the requested size; submit with sbatch, or write "
       "--dl-gpus=4",
       "gpus=4", with(gpus(4), salloc)},
  };
}

std::vector<RuleTest> tests_of_change() {
  const auto salloc = [](HintRequest& r) { r.batch = false; };
  const auto stays = [](HintRequest& r) { r.requeue = false; };
  const auto minute = [](HintRequest& r) { r.time_limit = 60; };
  const auto longer = [](HintRequest& r) { r.time_limit = 61; };
  const auto unlimited = [](HintRequest& r) { r.time_limit = kForever; };
  const auto exclusive = [](HintRequest& r) { r.exclusive = true; };
  const auto array = [](HintRequest& r) { r.array = true; };
  return {
      {"interactive", "resize=live;checkpoint=USR1;device=any", with(gpus(4), salloc),
       "--dl-resize: an interactive job is never resized; submit with sbatch, or write "
       "--dl-resize=none\n"
       "--dl-checkpoint: an interactive job is never interrupted; submit with sbatch, or write "
       "--dl-checkpoint=none\n"
       "--dl-device: an interactive job starts as requested; submit with sbatch, or write "
       "--dl-device=gpu",
       "resize=none;checkpoint=none;device=gpu;gpu-types=a/b", with(gpus(4), salloc)},
      {"restart-needs-checkpoint", "resize=restart", gpus(4),
       "--dl-resize: restart interrupts the job, which requires --dl-checkpoint; write "
       "--dl-checkpoint=B:USR1@60",
       "resize=restart;checkpoint=USR1@60", gpus(4)},
      {"restart-needs-checkpoint", "resize=restart;checkpoint=none", gpus(4),
       "--dl-resize: restart interrupts the job, which requires --dl-checkpoint; write "
       "--dl-checkpoint=B:USR1@60",
       "resize=none;checkpoint=none", gpus(4)},
      {"checkpoint-needs-requeue", "checkpoint=USR1", with(gpus(4), stays),
       "--dl-checkpoint: an interrupted job is requeued, but the request does not allow it; add "
       "--requeue, or write --dl-checkpoint=none",
       "checkpoint=none", with(gpus(4), stays)},
      {"lead-above-limit", "checkpoint=B:USR1", with(gpus(4), minute),
       "--dl-checkpoint: 60 seconds is not less than the time limit, 00:01:00; write "
       "--dl-checkpoint=B:USR1@30",
       "checkpoint=B:USR1", with(gpus(4), longer)},
      {"lead-above-limit", "checkpoint=USR1@65535", with(gpus(4), longer),
       "--dl-checkpoint: 65535 seconds is not less than the time limit, 00:01:01; write "
       "--dl-checkpoint=USR1@30",
       "checkpoint=USR1@65535", with(gpus(4), unlimited)},
      {"live-one-size", "resize=live", gpus(4),
       "--dl-resize: the job has only one size, 4; write --dl-gpus=4,8", "resize=live;gpus=4,8",
       gpus(4)},
      {"live-one-size", "resize=live;gpus=4-7", nodes(1, 1, 4),
       "--dl-gpus: 7 is not a multiple of 4: -N 1 with --gpus-per-node=4 allows only whole nodes; "
       "write --dl-gpus=4\n"
       "--dl-resize: the job has only one size, 4; write --dl-gpus=4,8",
       "resize=live;gpus=4-8", nodes(1, 1, 4)},
      {"live-mix-types", "resize=live;gpus=4,8;mix-types", gpus(4),
       "--dl-resize: a job that spans GPU types cannot be resized while it runs; write "
       "--dl-resize=restart",
       "resize=restart;gpus=4,8;mix-types;checkpoint=USR1", gpus(4)},
      {"live-exclusive", "resize=live;gpus=4,8", with(gpus(4), exclusive),
       "--dl-resize: an exclusive job cannot be resized while it runs; write "
       "--dl-resize=restart",
       "resize=restart;gpus=4,8;checkpoint=USR1", with(gpus(4), exclusive)},
      {"live-array", "resize=live;gpus=4,8", with(gpus(4), array),
       "--dl-resize: an array task cannot be resized while it runs; write "
       "--dl-resize=restart",
       "resize=restart;gpus=4,8;checkpoint=USR1", with(gpus(4), array)},
  };
}

std::vector<RuleTest> tests_of_work() {
  return {
      {"plans-need-model", "plans=auto", gpus(4),
       "--dl-plans: plans require the shape of the model; write "
       "--dl-model=params=COUNT",
       "plans=auto;model=params=7e9", gpus(4)},
      {"plans-need-shape", "plans=dp,tp;model=params=7e9,layers=32", gpus(4),
       "--dl-plans: tp requires the complete shape of the model; write "
       "--dl-model=params=7e9,layers=32,hidden=COUNT,seq=COUNT,heads=COUNT",
       "plans=dp,zero,ga;model=params=7e9,layers=32", gpus(4)},
      {"plans-need-shape", "plans=pp;model=params=7e9,layers=32,hidden=8,seq=8", gpus(4),
       "--dl-plans: pp requires the complete shape of the model; write "
       "--dl-model=params=7e9,hidden=8,layers=32,seq=8,heads=COUNT",
       "plans=pp;model=params=7e9,layers=32,hidden=8,seq=8,heads=8", gpus(4)},
      {"steps-with-batch-range", "steps=9;batch=256-1024", gpus(4),
       "--dl-steps: with a batch of 256-1024 a step is not a fixed amount of work; write "
       "--dl-samples=COUNT, or --dl-batch=256",
       "steps=9;batch=256", gpus(4)},
  };
}

std::vector<RuleTest> all_tests() {
  std::vector<RuleTest> out;
  for (auto* part : {tests_of_place, tests_of_size, tests_of_change, tests_of_work}) {
    for (RuleTest& test : part()) out.push_back(std::move(test));
  }
  return out;
}

TEST(HintRules, EachIsBrokenByItsCaseAndHoldsForTheBetterOne) {
  std::set<std::string> seen;
  for (const RuleTest& test : all_tests()) {
    SCOPED_TRACE(std::string(test.rule) + ": " + test.hints);
    EXPECT_TRUE(broken(said(test.hints), test.request).contains(test.rule));
    const auto refused = resolve_hints(said(test.hints), {}, test.request);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text, test.error);
    EXPECT_EQ(broken(said(test.better), test.fixed), std::set<std::string>{});
    EXPECT_TRUE(resolve_hints(said(test.better), {}, test.fixed));
    seen.insert(test.rule);
  }
  for (const HintRule& rule : hint_rules()) EXPECT_TRUE(seen.contains(rule.name)) << rule.name;
}

TEST(HintRules, ErrorsAreSpelledAsTheHintsWere) {
  for (const RuleTest& test : all_tests()) {
    SCOPED_TRACE(test.error);
    const auto refused = resolve_hints(said(test.hints), {}, test.request, Spelling::kComment);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text.find("--dl-"), std::string::npos) << refused.error().text;
    std::string expected = test.error;
    for (auto at = expected.find("--dl-"); at != std::string::npos; at = expected.find("--dl-")) {
      expected.erase(at, 5);
    }
    EXPECT_EQ(refused.error().text, expected);
  }
}

/// A value that a rule refuses in a job is dropped if it comes only from the JobType= line.
TEST(HintRules, WhatAJobTypeLineSaysNeverRefusesAJob) {
  for (const RuleTest& test : all_tests()) {
    SCOPED_TRACE(test.error);
    const auto resolved = resolve_hints({}, said(test.hints), test.request);
    ASSERT_TRUE(resolved) << resolved.error().text;
    EXPECT_FALSE(resolved->notes.empty());
  }
}

/// Every split of a case's hints between job and line: hints valid without the line are valid with
/// it.
TEST(HintRules, NoPartOfACombinationInAJobTypeLineRefusesAJob) {
  int good = 0;
  for (const RuleTest& test : all_tests()) {
    const Hints all = said(test.hints);
    std::vector<HintField> fields;
    for_each_field(all, [&](HintField field, const auto& member) {
      if (member) fields.push_back(field);
    });
    for (unsigned split = 0; split < 1U << fields.size(); ++split) {
      Hints job = all;
      Hints line = all;
      for (unsigned i = 0; i < fields.size(); ++i) {
        forget((split >> i & 1U) != 0 ? job : line, fields[i]);
      }
      if (!resolve_hints(job, {}, test.request)) continue;
      ++good;
      const auto resolved = resolve_hints(job, line, test.request);
      EXPECT_TRUE(resolved) << test.rule << ": " << render_hints(job) << " and "
                            << render_hints(line) << ": " << resolved.error().text;
    }
  }
  EXPECT_GT(good, static_cast<int>(all_tests().size()));  // the job without hints, and more
}

TEST(HintRules, OnlyWhatDoesNotFitIsLeftOut) {
  const Hints type = said("gpus=1,2,4,8;batch=256;resize=live;device=gpu;checkpoint=USR1@10");
  const auto resolved = resolve_hints(said("job-type=x"), type, gpus(3));
  ASSERT_TRUE(resolved) << resolved.error().text;
  EXPECT_EQ(to_text(resolved->sizes), "3");
  EXPECT_EQ(resolved->batch, (Batch{256, 256}));
  EXPECT_EQ(resolved->resize, Resize::kNone);
  EXPECT_EQ(to_text(resolved->checkpoint), "USR1@10");
  EXPECT_EQ(resolved->notes,
            (std::vector<std::string>{"gpus=1,2,4,8 of the JobType line is ignored: gpus without "
                                      "the size of the request",
                                      "resize=live of the JobType line is ignored: resize=live "
                                      "with a single size"}));
}

TEST(HintRules, TheJobIsRefusedForItsOwnPartOfACombination) {
  // The line consents to interruption; the job revokes that.
  const Hints type = said("checkpoint=USR1");
  EXPECT_TRUE(resolve_hints(said("resize=restart"), type, gpus(4)));
  EXPECT_FALSE(resolve_hints(said("resize=restart;checkpoint=none"), type, gpus(4)));
  EXPECT_FALSE(resolve_hints(said("resize=restart;no-checkpoint"), type, gpus(4)));
  // The job refuses interruption, the line wants restarts: the job wins.
  const auto kept = resolve_hints(said("checkpoint=none"), said("resize=restart"), gpus(4));
  ASSERT_TRUE(kept) << kept.error().text;
  EXPECT_EQ(kept->resize, Resize::kNone);
}

TEST(HintResolve, DefaultsAreThoseOfAJobThatSaysNothing) {
  const auto resolved = resolve_hints({}, {}, gpus(4));
  ASSERT_TRUE(resolved);
  ResolvedHints expected;
  expected.request_gpus = 4;
  expected.sizes = GpuSizes({{4, 4}});
  EXPECT_EQ(*resolved, expected);
  EXPECT_FALSE(resolved->checkpoint.consents());
  const auto cpu = resolve_hints({}, {}, {});
  ASSERT_TRUE(cpu);
  EXPECT_TRUE(cpu->sizes.empty());
  EXPECT_EQ(cpu->device, Device::kCpu);
}

TEST(HintResolve, SizesAreMultiplesOfTheUnit) {
  HintRequest request = nodes(2, 2, 4);
  EXPECT_EQ(request.total_gpus(), 8);
  EXPECT_EQ(request.size_unit(), 4);
  auto resolved = resolve_hints(said("gpus=4-16"), {}, request);
  ASSERT_TRUE(resolved) << resolved.error().text;
  EXPECT_EQ(to_text(resolved->sizes), "4,8,12,16");
  EXPECT_EQ(resolved->unit, 4);
  request.tasks = 2;  // one per node: 4 GPUs per task
  EXPECT_EQ(request.size_unit(), 4);
  request.tasks = 8;
  EXPECT_EQ(request.size_unit(), 4);
  request.tasks = 3;
  EXPECT_EQ(request.size_unit(), 8);
  request.tasks = 1;
  EXPECT_EQ(request.size_unit(), 4);
}

TEST(HintResolve, AListOfSizesHasAnEnd) {
  const auto resolved = resolve_hints(said("gpus=4-100000"), {}, nodes(5000, 5000, 4));
  ASSERT_TRUE(resolved) << resolved.error().text;
  EXPECT_EQ(std::ssize(resolved->sizes.ranges()), kMaxSizes + 1);
  EXPECT_TRUE(resolved->sizes.contains(4));
  EXPECT_TRUE(resolved->sizes.contains(20000)) << "the size of the request";
}

TEST(HintResolve, UnitsOfARequest) {
  HintRequest request = gpus(8);
  request.tasks = 16;
  EXPECT_EQ(request.size_unit(), 1);
  request.tasks = 6;
  EXPECT_EQ(request.size_unit(), 4);
  request.gpus_per_task = 3;
  EXPECT_EQ(request.size_unit(), 12);
  HintRequest per_task;
  per_task.gpus_per_task = 2;
  per_task.tasks = 4;
  EXPECT_EQ(per_task.total_gpus(), 8);
  EXPECT_EQ(per_task.size_unit(), 2);
  per_task.tasks = 0;
  EXPECT_EQ(per_task.total_gpus(), 2);
}

TEST(HintResolve, AnOpenRequestHasAllItsSizes) {
  const auto resolved = resolve_hints(said("batch=8"), {}, nodes(2, 4, 4));
  ASSERT_TRUE(resolved) << resolved.error().text;
  EXPECT_EQ(to_text(resolved->sizes), "8,12,16");
  EXPECT_EQ(resolved->request_gpus, 8);
}

TEST(HintResolve, TypesOfTheRequestAreTheTypes) {
  HintRequest request = gpus(2);
  request.gpu_types = {"v100", "a100"};
  EXPECT_EQ(to_text(resolve_hints({}, {}, request)->gpu_types), "a100,v100");
  EXPECT_EQ(to_text(resolve_hints(said("gpu-types=b/a"), {}, gpus(2))->gpu_types), "b/a");
  EXPECT_TRUE(resolve_hints({}, {}, gpus(2))->gpu_types.empty());
}

TEST(HintResolve, AllErrorsComeAtOnce) {
  const auto refused =
      resolve_hints(said("gpus=1,2;resize=restart;plans=auto;steps=5;batch=1-2"), {}, gpus(3));
  ASSERT_FALSE(refused);
  EXPECT_EQ(std::count(refused.error().text.begin(), refused.error().text.end(), '\n'), 3)
      << refused.error().text;
}

TEST(HintRules, AreSaidInWords) {
  std::set<std::string> names;
  for (const HintRule& rule : hint_rules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
    EXPECT_FALSE(std::string(rule.summary).ends_with('.')) << rule.name;
    EXPECT_FALSE(rule.fields.empty()) << rule.name;
  }
  EXPECT_GE(names.size(), 20U);
}

}  // namespace
}  // namespace rubato
