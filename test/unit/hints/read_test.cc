// SPDX-License-Identifier: GPL-2.0-or-later
// Comment, options and environment: the forms of hints, and their precedence.
#include <gtest/gtest.h>

#include "lib/hints/comment.h"
#include "lib/hints/read.h"
#include "lib/hints/table.h"
#include "lib/hints/values.h"

namespace rubato {
namespace {

using Options = std::vector<OptionPair>;
using Environment = std::vector<std::string>;

std::string shown(const Result<Hints>& hints) {
  return hints ? render_hints(*hints) : hints.error().text;
}

struct Split {
  const char* comment;
  const char* site;
  const char* hints;  // null: none
};

const Split kSplits[] = {
    {"", "", nullptr},
    {"night run", "night run", nullptr},
    {"rubato:", "", ""},
    {"rubato:gpus=2", "", "gpus=2"},
    {" rubato: gpus=2", " ", " gpus=2"},
    {"night run rubato:gpus=2;", "night run ", "gpus=2;"},
    {"night run  rubato:", "night run  ", ""},
    {"a\trubato:x", "a\t", "x"},
    {"a\nrubato:x", "a\n", "x"},
    {"norubato:gpus=2", "norubato:gpus=2", nullptr},
    {"a;rubato:gpus=2", "a;rubato:gpus=2", nullptr},
    {"Rubato: is Italian", "Rubato: is Italian", nullptr},
    {"rubato gpus=2", "rubato gpus=2", nullptr},
    {"xrubato: rubato:y", "xrubato: ", "y"},
    {"a rubato:b rubato:c", "a ", "b rubato:c"},
    {"rubato!report samples=1", "rubato!report samples=1", nullptr},
};

TEST(HintComment, IsCutAtTheMarker) {
  for (const auto& [comment, site, hints] : kSplits) {
    const CommentParts parts = split_comment(comment);
    EXPECT_EQ(parts.site, site) << comment;
    EXPECT_EQ(parts.hints.has_value(), hints != nullptr) << comment;
    if (hints == nullptr || !parts.hints) continue;
    EXPECT_EQ(*parts.hints, hints) << comment;
    EXPECT_EQ(join_comment(parts.site, *parts.hints), comment);
  }
}

TEST(HintComment, HintsAreReplacedAndTakenOut) {
  Hints two;
  two.gpus = GpuSizes({{2, 2}});
  EXPECT_EQ(with_hints("", two), "rubato:gpus=2");
  EXPECT_EQ(with_hints("night run", two), "night run rubato:gpus=2");
  EXPECT_EQ(with_hints("night run rubato: gpus=4 ; device=cpu", two), "night run rubato:gpus=2");
  EXPECT_EQ(with_hints("night run rubato: gpus=4", {}), "night run");
  EXPECT_EQ(with_hints("night run", {}), "night run");
  EXPECT_EQ(with_hints("rubato:gpus=4", {}), "");
  EXPECT_EQ(with_hints("a  rubato:gpus=4", {}), "a ");
}

struct Case {
  const char* comment;
  const char* result;
};

const Case kGood[] = {
    {"night run", ""},
    {"rubato:", ""},
    {"rubato: ; ;;", ""},
    {"rubato: gpus = 4 ;batch=\t256", "gpus=4;batch=256"},
    {"rubato: BATCH=256; GPUS=4", "gpus=4;batch=256"},
    {"rubato: mix-types", "mix-types=yes"},
    {"rubato: mix-types=no", "mix-types=no"},
    {"rubato: no-mix-types", "no-mix-types"},
    {"rubato: no-gpus;No-Plans", "no-gpus;no-plans"},
    {"rubato: no-samples", "no-samples"},
    {"rubato: no-steps; no-target-loss", "no-samples"},
    {"rubato: no-steps; samples=4", "samples=4"},
    {"rubato: model=params=7e9,layers=2", "model=params=7e9,layers=2"},
    {"rubato: job-type=x:y", "job-type=x:y"},
};

TEST(HintComment, GoodOnes) {
  for (const auto& [comment, result] : kGood) EXPECT_EQ(shown(parse_comment(comment)), result);
}

const Case kBad[] = {
    {"rubato: gpu=4", "comment: gpu: unknown hint; did you mean gpus?"},
    {"rubato: gpu_types=a", "comment: gpu_types: unknown hint; did you mean gpu-types?"},
    {"rubato: --dl-gpus=4", "comment: --dl-gpus: in a comment write gpus"},
    {"rubato: dl-batch=4", "comment: dl-batch: in a comment write batch"},
    {"rubato: no-dl-batch", "comment: no-dl-batch: in a comment write no-batch"},
    {"rubato: no-gpu", "comment: no-gpu: unknown hint; did you mean no-gpus?"},
    {"rubato: colour=red", "comment: colour: unknown hint; see rubato-hints(7)"},
    {"rubato: gpus", "comment: gpus: no value; write gpus=1,2,4,8"},
    {"rubato: gpus=", "comment: gpus: no value; write one such as 1,2,4,8"},
    {"rubato: no-gpus=4", "comment: no-gpus: takes no value; write no-gpus alone"},
    {"rubato: =4", "comment: \"=4\": no key before =; write KEY=VALUE"},
    {"rubato: gpus=4;gpus=4", "comment: gpus: set twice; keep one"},
    {"rubato: gpus=4;no-gpus", "comment: no-gpus: gpus is both set and unset; keep one"},
    {"rubato: steps=4;samples=4", "comment: steps: samples already sets the total work; keep one"},
    {"rubato: target-loss=1;samples=4",
     "comment: target-loss: samples already sets the total work; keep one"},
    {"rubato: gpus=2 rubato: batch=4",
     "comment: rubato: stands twice; write all pairs behind one of them"},
    {"rubato: gpus=0; colour=red; resize=liv",
     "comment: colour: unknown hint; see rubato-hints(7)\n"
     "comment: gpus: \"0\" is out of range; choose a whole number from 1 to 100000\n"
     "comment: resize: \"liv\" is not one of none, restart, live; did you mean live?"},
    {"rubato: gpus=4, batch = 8",
     "comment: gpus: the value contains batch=; write a semicolon before batch"},
    {"rubato: model=params=1,layers=2 resize=none",
     "comment: model: the value contains resize=; write a semicolon before resize"},
    {"rubato: gpus=\"4\"",
     "comment: gpus: \"\"4\"\" is not a whole number; choose a whole number from 1 to 100000"},
    {"rubato: \x01=4", "comment: \\x01: unknown hint; see rubato-hints(7)"},
};

TEST(HintComment, BadOnesNameWordReasonAndTheRightOne) {
  for (const auto& [comment, result] : kBad) EXPECT_EQ(shown(parse_comment(comment)), result);
}

TEST(HintComment, ManyErrorsAreCounted) {
  std::string comment = "rubato:";
  for (int i = 0; i < 25; ++i) comment += "colour=red;";
  const auto hints = parse_comment(comment);
  ASSERT_FALSE(hints);
  EXPECT_TRUE(hints.error().text.ends_with("rubato-hints(7)\nand 5 more errors"))
      << hints.error().text;
}

TEST(HintOptions, TheLastOfOneKeyCounts) {
  EXPECT_EQ(shown(parse_options(Options{{"dl-gpus", "2"}, {"--dl-gpus", "4"}})), "gpus=4");
  EXPECT_EQ(shown(parse_options(Options{{"dl-gpus", "2"}, {"no-dl-gpus", ""}})), "no-gpus");
  EXPECT_EQ(shown(parse_options(Options{{"no-dl-gpus", ""}, {"dl-gpus", "2"}})), "gpus=2");
  EXPECT_EQ(
      shown(parse_options(Options{{"dl-steps", "9"}, {"no-dl-steps", ""}, {"dl-samples", "5"}})),
      "samples=5");
  EXPECT_EQ(shown(parse_options(Options{{"dl-mix-types", ""}})), "mix-types=yes");
  EXPECT_EQ(shown(parse_options({})), "");
}

TEST(HintOptions, EveryOptionOfTheTableIsTaken) {
  for (const HintOption& option : hint_options()) {
    const Options given{{option.name, option.off ? "" : option.def->example}};
    const auto hints = parse_options(given);
    ASSERT_TRUE(hints) << option.name << ": " << hints.error().text;
    EXPECT_EQ(says(*hints, option.def->field), !option.off) << option.name;
    EXPECT_EQ(hints->unset.contains(option.def->field), option.off) << option.name;
  }
}

TEST(HintOptions, ErrorsNameTheOption) {
  EXPECT_EQ(shown(parse_options(Options{{"dl-gpu", "2"}})),
            "--dl-gpu: unknown option; did you mean --dl-gpus?");
  EXPECT_EQ(shown(parse_options(Options{{"no-dl-plan", ""}})),
            "--no-dl-plan: unknown option; did you mean --no-dl-plans?");
  EXPECT_EQ(shown(parse_options(Options{{"dl-gpus", "0"}})),
            "--dl-gpus: \"0\" is out of range; choose a whole number from 1 to 100000");
  EXPECT_EQ(shown(parse_options(Options{{"no-dl-gpus", "4"}})),
            "--no-dl-gpus: takes no value; write --no-dl-gpus alone");
  EXPECT_EQ(shown(parse_options(Options{{"dl-steps", "1"}, {"dl-target-loss", "1"}})),
            "--dl-target-loss: steps already sets the total work; keep one");
  EXPECT_EQ(shown(parse_options(Options{{"---", ""}})), "--: unknown option; see rubato-hints(7)");
}

TEST(HintEnvironment, VariablesStandForOptions) {
  EXPECT_EQ(shown(parse_environment(Environment{"PATH=/bin", "RUBATO_DL_GPUS=2-4",
                                                "RUBATO_DL_GPU_TYPES=a/b", "RUBATO_GPUS=9"})),
            "gpus=2-4;gpu-types=a/b");
  EXPECT_EQ(shown(parse_environment(Environment{"RUBATO_DL_MIX_TYPES=yes"})), "mix-types=yes");
  EXPECT_EQ(shown(parse_environment(Environment{"RUBATO_DL_GPUS="})), "");
  EXPECT_EQ(shown(parse_environment(Environment{"RUBATO_DL_GPUS=1", "RUBATO_DL_GPUS=2"})),
            "gpus=1");
  EXPECT_EQ(shown(parse_environment(Environment{"RUBATO_DL_GPUS"})), "");
}

TEST(HintEnvironment, ErrorsNameTheVariable) {
  EXPECT_EQ(shown(parse_environment(Environment{"RUBATO_DL_GPU=2"})),
            "RUBATO_DL_GPU: unknown variable; did you mean RUBATO_DL_GPUS?");
  EXPECT_EQ(shown(parse_environment(Environment{"RUBATO_DL_BATCH=x"})),
            "RUBATO_DL_BATCH: \"x\" is not a whole number; choose a whole number from 1 to 1e9");
  EXPECT_EQ(shown(parse_environment(Environment{"RUBATO_DL_STEPS=1", "RUBATO_DL_SAMPLES=2"})),
            "RUBATO_DL_STEPS: samples already sets the total work; keep one");
}

TEST(HintPrecedence, OptionEnvironmentCommentJobType) {
  const Options options{{"dl-gpus", "1"}, {"no-dl-batch", ""}};
  const Environment environment{"RUBATO_DL_GPUS=2", "RUBATO_DL_RESIZE=live"};
  const auto said = parse_hints({options, environment,
                                 "note rubato: gpus=3;batch=8;resize=none;"
                                 "device=any"});
  ASSERT_TRUE(said) << said.error().text;
  EXPECT_EQ(render_hints(*said), "gpus=1;no-batch;resize=live;device=any");
  const auto type = parse_comment("rubato: batch=16;device=cpu;job-type=x;samples=7");
  EXPECT_EQ(render_hints(merge(*said, *type)),
            "job-type=x;gpus=1;no-batch;samples=7;resize=live;device=any");
}

TEST(HintPrecedence, TheTotalWorkIsOneHint) {
  const auto strong = parse_comment("rubato: steps=5");
  const auto weak = parse_comment("rubato: samples=7");
  EXPECT_EQ(render_hints(merge(*strong, *weak)), "steps=5");
  const auto off = parse_comment("rubato: no-target-loss");
  EXPECT_EQ(render_hints(merge(*off, *weak)), "no-samples");
  EXPECT_EQ(render_hints(merge(*strong, *off, *weak)), "steps=5");
}

TEST(HintPrecedence, ErrorsOfAllLayersComeAtOnce) {
  const Options options{{"dl-gpus", "0"}};
  const Environment environment{"RUBATO_DL_RESIZE=liv"};
  EXPECT_EQ(shown(parse_hints({options, environment, "rubato: gpu=3"})),
            "--dl-gpus: \"0\" is out of range; choose a whole number from 1 to 100000\n"
            "RUBATO_DL_RESIZE: \"liv\" is not one of none, restart, live; did you mean live?\n"
            "comment: gpu: unknown hint; did you mean gpus?");
}

TEST(HintJson, OneMemberForEachHint) {
  EXPECT_EQ(hints_json({}), R"({"schema":"rubato.hints/1"})");
  const auto all = parse_comment(
      "rubato: job-type=x;gpus=1,2,4-8;gpu-types=h100/a100,v100;batch=256-1024;samples=5;"
      "model=params=7e9,seq=2;plans=dp,zero;checkpoint=B:USR1@60;resize=live;device=any;mix-types");
  ASSERT_TRUE(all) << all.error().text;
  EXPECT_EQ(hints_json(*all),
            R"({"schema":"rubato.hints/1","job_type":"x",)"
            R"("gpus":[{"from":1,"to":1},{"from":2,"to":2},{"from":4,"to":8}],)"
            R"("gpu_types":[["h100"],["a100","v100"]],"batch":{"min":256,"max":1024},)"
            R"("work":{"samples":5},"model":{"params":7000000000,"seq":2},"plans":["dp","zero"],)"
            R"("checkpoint":{"signal":"USR1","seconds":60,"batch_shell":true,"reservation":false},)"
            R"("resize":"live","device":"any","mix_types":true})");
  const auto rest =
      parse_comment("rubato: target-loss=2.5;plans=auto;checkpoint=none;no-gpus;no-device");
  EXPECT_EQ(hints_json(*rest),
            R"({"schema":"rubato.hints/1","work":{"target_loss":2.5},"plans":"auto",)"
            R"("checkpoint":"none","unset":["gpus","device"]})");
  EXPECT_EQ(hints_json(*parse_comment("rubato: steps=3;no-mix-types")),
            R"({"schema":"rubato.hints/1","work":{"steps":3},"unset":["mix_types"]})");
}

}  // namespace
}  // namespace rubato
