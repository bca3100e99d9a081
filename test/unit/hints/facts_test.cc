// SPDX-License-Identifier: GPL-2.0-or-later
// Conversion of Slurm's texts and numbers to the request that hints are checked against.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "lib/hints/comment.h"
#include "lib/hints/facts.h"
#include "lib/hints/passed.h"
#include "lib/hints/rules.h"
#include "lib/hints/wrong_hints.h"

namespace rubato {
namespace {

using Types = std::vector<std::string>;

struct TresTest {
  const char* tres;
  int count;
  Types types;
  bool shared = false;
};

TEST(HintFacts, GpusOfEveryForm) {
  for (const TresTest& test : std::vector<TresTest>{
           {"", 0, {}},
           {"gres:gpu", 1, {}},
           {"gres:gpu:4", 4, {}},
           {"gpu:4", 4, {}},
           {"gres/gpu:4", 4, {}},
           {"gres/gpu=4", 4, {}},
           {"gres:gpu:a100", 1, {"a100"}},
           {"gres:gpu:a100:4", 4, {"a100"}},
           {"gres/gpu:a100=4", 4, {"a100"}},
           {"gres:gpu:2080ti:4", 4, {"2080ti"}},
           {"gres:gpu:a100:2,gres:gpu:v100:1", 3, {"a100", "v100"}},
           {"gres:gpu:a100:2,gpu:a100:2", 4, {"a100"}},
           {"cpu:4,gres:gpu:2,license:x", 2, {}},
           {"craynetwork:2", 0, {}},
           {"gpux:2", 0, {}},
           {"gres:gpu:0", 0, {}},
           {"gres:gpu:1k", 1024, {}},
           {"gres:gpu:1K", 1024, {}},
           {"gres:gpu:99999999999999999999", kMaxGpus, {}},
           {"gres:gpu:9p", kMaxGpus, {}},
           {"gres:gpu:a100:", 1, {"a100:"}},
           {"gres:mps:50", 0, {}, true},
           {"gres:shard:1", 0, {}, true},
           {"gres:gpu:1g.5gb:2", 2, {"1g.5gb"}, true},
           {"gres:gpu:g.gb:2", 2, {"g.gb"}},
           {",,:=,", 0, {}},
           {"gpu:", 1, {}},
       }) {
    const TresGpus found = gpus_in(test.tres);
    EXPECT_EQ(found.count, test.count) << test.tres;
    EXPECT_EQ(found.types, test.types) << test.tres;
    EXPECT_EQ(found.shared, test.shared) << test.tres;
  }
}

TEST(HintFacts, WhatFollowsFromTheRestIsFilledIn) {
  RequestFacts facts;
  facts.per_job = "gres:gpu:8";
  facts.per_node = "gres:gpu:4";
  HintRequest request = hint_request(facts);
  EXPECT_EQ(request.min_nodes, 2);
  EXPECT_TRUE(request.nodes_fixed());
  EXPECT_EQ(request.size_unit(), 4);
  // In Slurm's form afterwards.
  facts.min_nodes = 2;
  facts.max_nodes = 2;
  EXPECT_EQ(hint_request(facts).size_unit(), request.size_unit());

  facts = {};
  facts.per_job = "gres:gpu:8";
  facts.per_task = "gres:gpu:2";
  request = hint_request(facts);
  EXPECT_EQ(request.tasks, 4);
  EXPECT_EQ(request.total_gpus(), 8);
  facts.tasks = 4;
  EXPECT_EQ(hint_request(facts).size_unit(), request.size_unit());
}

TEST(HintFacts, TasksThatFollowTheNodesBindNothing) {
  RequestFacts facts;
  facts.per_job = "gres:gpu:4";
  facts.tasks_per_node = 3;
  facts.min_nodes = 1;
  facts.max_nodes = 1;
  facts.tasks = 3;
  EXPECT_EQ(hint_request(facts).size_unit(), 1);
  facts.tasks_per_node = 0;
  EXPECT_EQ(hint_request(facts).size_unit(), 4) << "-n 3";
  // -n 8 --ntasks-per-node=4 without -N: Slurm makes it two nodes.
  facts = {};
  facts.per_job = "gres:gpu:4";
  facts.tasks = 8;
  facts.tasks_per_node = 4;
  const HintRequest before = hint_request(facts);
  facts.min_nodes = 2;
  const HintRequest after = hint_request(facts);
  EXPECT_EQ(before.size_unit(), after.size_unit());
  EXPECT_EQ(before.min_nodes, 2);
}

TEST(HintFacts, OneTaskIsNoTask) {
  RequestFacts facts;
  facts.per_job = "gres:gpu:4";
  facts.tasks = 1;  // slurmctld's value for a job without -n
  EXPECT_EQ(hint_request(facts).size_unit(), hint_request({.per_job = "gres:gpu:4"}).size_unit());
}

TEST(HintFacts, GpusPerSocketAreLeftToSlurm) {
  EXPECT_TRUE(hint_request({.per_socket = "gres:gpu:1"}).shared_gpus);
  EXPECT_TRUE(hint_request({.per_node = "gres:shard:1"}).shared_gpus);
  EXPECT_FALSE(hint_request({.per_node = "gres:gpu:1"}).shared_gpus);
}

TEST(PassedHints, EveryVariableOfTheClientIsOneStatement) {
  const std::vector<std::string_view> variables{
      "PATH=/bin",
      "RUBATO_DL_GPUS=1-8",
      "SPANK_RUBATO_DL_GPU_TYPES=h100/a100",
      "RUBATO_DL_MIX_TYPES=",
      "RUBATO_DL_RESIZE_UNSET=1",
      "RUBATO_DLENV_BATCH=256",
      "SPANK_RUBATO_DLENV_SAMPLES=1e6",
      "RUBATO_DLENV_NOTHING",
      "_SLURM_SPANK_OPTION_rubato_dl_gpus=9",
  };
  const PassedHints passed = passed_hints(variables);
  EXPECT_EQ(passed.options, (std::vector<OptionPair>{{"dl-gpus", "1-8"},
                                                     {"dl-gpu-types", "h100/a100"},
                                                     {"dl-mix-types", ""},
                                                     {"no-dl-resize", ""}}));
  EXPECT_EQ(passed.environment,
            (std::vector<std::string>{"RUBATO_DL_BATCH=256", "RUBATO_DL_SAMPLES=1e6"}));
  const auto said = parse_hints({passed.options, passed.environment, "rubato:gpus=4;plans=dp"});
  ASSERT_TRUE(said) << said.error().text;
  EXPECT_EQ(render_hints(*said),
            "gpus=1-8;gpu-types=h100/a100;batch=256;samples=1e6;plans=dp;no-resize;mix-types=yes");
  EXPECT_TRUE(passed_hints({}).empty());
}

TEST(PassedHints, AnUnknownOneIsAnErrorAndNotLost) {
  const std::vector<std::string_view> variables{"RUBATO_DL_GPU=1", "RUBATO_DLENV_BACH=2"};
  const PassedHints passed = passed_hints(variables);
  const auto said = parse_hints({passed.options, passed.environment, ""});
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().text,
            "--dl-gpu: unknown option; did you mean --dl-gpus?\n"
            "RUBATO_DL_BACH: unknown variable; did you mean RUBATO_DL_BATCH?");
}

TEST(WrongHints, EveryRuleAndEveryKeyHasAnExample) {
  std::set<std::string> rules;
  std::set<std::string> words;
  for (const WrongHint& wrong : wrong_hints()) {
    EXPECT_NE(wrong.error(), "") << wrong.hints;
    const auto said = parse_comment(wrong.comment());
    EXPECT_EQ(said.has_value(), !wrong.rule.empty()) << wrong.hints;
    if (!said) {
      for (const HintDef& def : hint_table()) {
        if (wrong.error().starts_with("comment: " + def.key + ": ")) words.insert(def.key);
      }
      continue;
    }
    rules.insert(wrong.rule);
    const HintRequest request = hint_request(wrong.facts);
    const auto& table = hint_rules();
    const auto rule = std::find_if(table.begin(), table.end(),
                                   [&](const HintRule& one) { return one.name == wrong.rule; });
    ASSERT_NE(rule, table.end()) << wrong.rule;
    std::vector<std::string> errors;
    rule->check({*said, request, Spelling::kComment}, errors);
    EXPECT_FALSE(errors.empty()) << wrong.rule << " is not broken by " << wrong.hints;
    for (const std::string& line : errors) {
      EXPECT_NE(wrong.error().find(line), std::string::npos) << wrong.rule;
    }
  }
  for (const HintRule& rule : hint_rules()) EXPECT_TRUE(rules.contains(rule.name)) << rule.name;
  for (const HintDef& def : hint_table()) EXPECT_TRUE(words.contains(def.key)) << def.key;
}

TEST(WithGpus, ChangesTheCountAndNothingElse) {
  EXPECT_EQ(with_gpus("gres:gpu:4", 2), "gres:gpu:2");
  EXPECT_EQ(with_gpus("gpu:a100:4", 8), "gpu:a100:8");
  EXPECT_EQ(with_gpus("gres/gpu:a100=4", 8), "gres/gpu:a100:8");
  EXPECT_EQ(with_gpus("gpu", 3), "gpu:3");
  EXPECT_EQ(with_gpus("gpu:a100", 3), "gpu:a100:3");
  EXPECT_EQ(with_gpus("gres:craynetwork:1,gres:gpu:4,gres:x", 1),
            "gres:craynetwork:1,gres:gpu:1,gres:x");
  EXPECT_EQ(with_gpus("gres:gpu:2k", 1), "gres:gpu:1");
}

TEST(WithGpus, AddsOrTakesOut) {
  EXPECT_EQ(with_gpus("", 2), "gres:gpu:2");
  EXPECT_EQ(with_gpus("gres:x:1", 2, "v100"), "gres:x:1,gres:gpu:v100:2");
  EXPECT_EQ(with_gpus("gres:x:1,gres:gpu:v100:2", 0), "gres:x:1");
  EXPECT_EQ(with_gpus("gres:gpu:2", 0), "");
  EXPECT_EQ(with_gpus("", 0), "");
}

TEST(WrongHints, TheJsonIsWhatTheTableSays) {
  const auto json = nlohmann::json::parse(wrong_hints_json());
  ASSERT_EQ(json.size(), wrong_hints().size());
  const auto salloc = std::find_if(json.begin(), json.end(), [](const nlohmann::json& one) {
    return one.at("rule") == "interactive-size";
  });
  ASSERT_NE(salloc, json.end());
  EXPECT_EQ(salloc->at("program"), "salloc");
  EXPECT_EQ(salloc->at("options"), "--gpus=4");
  EXPECT_EQ(salloc->at("comment"), "rubato:gpus=1-4");
}

}  // namespace
}  // namespace rubato
