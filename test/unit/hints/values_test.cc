// SPDX-License-Identifier: GPL-2.0-or-later
// Every hint: valid values, invalid values, both ends of its range; and the table itself.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "lib/base/nearest.h"
#include "lib/hints/numbers.h"
#include "lib/hints/render.h"
#include "lib/hints/table.h"
#include "lib/hints/values.h"

namespace rubato {
namespace {

struct Good {
  const char* key;
  const char* value;
  const char* shown;  // the output of show_hint
};

const Good kGood[] = {
    {"job-type", "resnet50", "resnet50"},
    {"job-type", "GPT2_7b.v1+x:y@z-1", "GPT2_7b.v1+x:y@z-1"},
    {"job-type", " a ", "a"},
    {"gpus", "1", "1"},
    {"gpus", "100000", "100000"},
    {"gpus", "2-16", "2-16"},
    {"gpus", "8,4,2,1", "1,2,4,8"},
    {"gpus", "1,2,4-8", "1,2,4-8"},
    {"gpus", "1-4,3-8,9", "1-8,9"},
    {"gpus", "5-6,6", "5-6"},
    {"gpus", "7,5,6", "5,6,7"},
    {"gpus", "4,4", "4"},
    {"gpus", " 2 - 16 , 20 ", "2-16,20"},
    {"gpu-types", "h100", "h100"},
    {"gpu-types", "h100/a100,v100", "h100/a100,v100"},
    {"gpu-types", "h100>v100,a100", "h100/a100,v100"},
    {"gpu-types", "b, a / c", "a,b/c"},
    {"gpu-types", "nvidia_a100_3g.20gb", "nvidia_a100_3g.20gb"},
    {"gpu-types", "A100,a100", "A100,a100"},  // names are unchanged
    {"batch", "1", "1"},
    {"batch", "256", "256"},
    {"batch", "256-1024", "256-1024"},
    {"batch", "256-256", "256"},
    {"batch", "1e9", "1e9"},
    {"batch", "1e3-2e3", "1000-2000"},
    {"samples", "1", "1"},
    {"samples", "1e18", "1e18"},
    {"samples", "1.28e8", "1.28e8"},
    {"samples", "128000000", "1.28e8"},
    {"samples", "1234567", "1234567"},
    {"samples", "50.0", "50"},
    {"steps", "90000", "90000"},
    {"steps", "9E+4", "90000"},
    {"steps", "1500e-1", "150"},
    {"target-loss", "2.1", "2.1"},
    {"target-loss", "0", "0"},
    {"target-loss", "-0", "0"},
    {"target-loss", "-1.5", "-1.5"},
    {"target-loss", "+3e-5", "3e-05"},
    {"model", "params=7e9", "params=7e9"},
    {"model", "heads=32,params=7000000000,seq=2048,hidden=4096,layers=32",
     "params=7e9,hidden=4096,layers=32,seq=2048,heads=32"},
    {"model", "PARAMS = 1 , hidden=1e9", "params=1,hidden=1e9"},
    {"plans", "auto", "auto"},
    {"plans", "AUTO", "auto"},
    {"plans", "dp", "dp"},
    {"plans", "gc,ga,pp,tp,zero-offload,zero,dp", "dp,zero,zero-offload,tp,pp,ga,gc"},
    {"checkpoint", "none", "none"},
    {"checkpoint", "None", "none"},
    {"checkpoint", "USR1", "USR1@60"},
    {"checkpoint", "usr2@0", "USR2@0"},
    {"checkpoint", "SIGTERM@65535", "TERM@65535"},
    {"checkpoint", "10@90", "USR1@90"},
    {"checkpoint", "34", "34@60"},
    {"checkpoint", "64", "64@60"},
    {"checkpoint", "B:USR1@60", "B:USR1@60"},
    {"checkpoint", "r:HUP", "R:HUP@60"},
    {"checkpoint", "BR:INT@5", "RB:INT@5"},
    {"checkpoint", "B : USR1 @ 60", "B:USR1@60"},
    {"resize", "none", "none"},
    {"resize", "Restart", "restart"},
    {"resize", "live", "live"},
    {"device", "gpu", "gpu"},
    {"device", "CPU", "cpu"},
    {"device", "any", "any"},
    {"mix-types", "", "yes"},
    {"mix-types", "yes", "yes"},
    {"mix-types", "No", "no"},
};

TEST(HintValues, GoodValuesAreTakenAndShown) {
  std::set<std::string> seen;
  for (const auto& [key, value, shown] : kGood) {
    const HintDef* def = find_hint(key);
    ASSERT_NE(def, nullptr) << key;
    Hints hints;
    const auto set = set_hint(*def, value, hints);
    ASSERT_TRUE(set) << key << "=" << value << ": " << set.error().text;
    EXPECT_EQ(show_hint(*def, hints), shown) << key << "=" << value;
    Hints again;
    ASSERT_TRUE(set_hint(*def, shown, again)) << key << "=" << shown;
    EXPECT_EQ(again, hints) << key << "=" << value;
    seen.insert(key);
  }
  for (const HintDef& def : hint_table()) EXPECT_TRUE(seen.contains(def.key)) << def.key;
}

struct Bad {
  const char* key;
  const char* value;
  const char* error;
};

const Bad kBad[] = {
    {"job-type", "", "no value; write one such as resnet50"},
    {"job-type", "a b", "\"a b\" is not a name; use letters, digits and . _ + : @ -"},
    {"job-type", "caf\xc3\xa9",
     "\"caf\xc3\xa9\" is not a name; use letters, digits and . _ + : @ -"},
    {"job-type", "a/b", "\"a/b\" is not a name; use letters, digits and . _ + : @ -"},
    {"job-type", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...\" is longer than 64 "
     "characters"},
    {"gpus", "", "no value; write one such as 1,2,4,8"},
    {"gpus", "0", "\"0\" is out of range; choose a whole number from 1 to 100000"},
    {"gpus", "100001", "\"100001\" is out of range; choose a whole number from 1 to 100000"},
    {"gpus", "-4", "\"-4\" is out of range; choose a whole number from 1 to 100000"},
    {"gpus", "16-2", "\"16-2\" is in the wrong order; write 2-16"},
    {"gpus", "2-", "\"2-\" has no upper end; write a range such as 2-16"},
    {"gpus", "2-4-8", "\"4-8\" is not a whole number; choose a whole number from 1 to 100000"},
    {"gpus", "1,,2", "\"1,,2\" has an empty list item"},
    {"gpus", "1,2,", "\"1,2,\" has an empty list item"},
    {"gpus", "four", "\"four\" is not a whole number; choose a whole number from 1 to 100000"},
    {"gpus", "1.5", "\"1.5\" is not a whole number; choose a whole number from 1 to 100000"},
    {"gpus", "a100:4", "\"a100:4\" is not a whole number; choose a whole number from 1 to 100000"},
    {"gpu-types", "h100/", "\"h100/\" has an empty list item"},
    {"gpu-types", "h100//a100", "\"h100//a100\" has an empty list item"},
    {"gpu-types", "h100,a100/h100", "\"h100\" is listed twice"},
    {"gpu-types", "a 100", "\"a 100\" is not a GPU type; use letters, digits and . _ + -"},
    {"gpu-types", "a100:2", "\"a100:2\" is not a GPU type; use letters, digits and . _ + -"},
    {"batch", "0", "\"0\" is out of range; choose a whole number from 1 to 1e9"},
    {"batch", "1000000001", "\"1000000001\" is out of range; choose a whole number from 1 to 1e9"},
    {"batch", "1024-256", "\"1024-256\" is in the wrong order; write 256-1024"},
    {"batch", "256,512", "\"256,512\" is not a whole number; choose a whole number from 1 to 1e9"},
    {"batch", "256-", "\"256-\" has no upper end; write a range such as 256-1024"},
    {"samples", "0", "\"0\" is out of range; choose a whole number from 1 to 1e18"},
    {"samples", "1000000000000000001",
     "\"1000000000000000001\" is out of range; choose a whole number from 1 to 1e18"},
    {"samples", "1e19", "\"1e19\" is out of range; choose a whole number from 1 to 1e18"},
    {"samples", "1e9999", "\"1e9999\" is out of range; choose a whole number from 1 to 1e18"},
    {"samples", "5M", "\"5M\" is not a whole number; write 5e6"},
    {"samples", "1e-1", "\"1e-1\" is not a whole number; choose a whole number from 1 to 1e18"},
    {"samples", "nan", "\"nan\" is not a whole number; choose a whole number from 1 to 1e18"},
    {"samples", "0x10", "\"0x10\" is not a whole number; choose a whole number from 1 to 1e18"},
    {"steps", "0", "\"0\" is out of range; choose a whole number from 1 to 1e18"},
    {"steps", "90k", "\"90k\" is not a whole number; write 90e3"},
    {"steps", "1.", "\"1.\" is not a whole number; choose a whole number from 1 to 1e18"},
    {"target-loss", "low", "\"low\" is not a number; write a loss such as 2.1"},
    {"target-loss", "inf", "\"inf\" is not a number; write a loss such as 2.1"},
    {"target-loss", "1e400", "\"1e400\" is out of range; write a loss such as 2.1"},
    {"model", "layers=32", "params is missing; add it, for example params=7e9"},
    {"model", "params", "params has no value; write params=COUNT"},
    {"model", "params=7B", "params: \"7B\" is not a whole number; write 7e9"},
    {"samples", "1,280,000", "\"1,280,000\" is not a whole number; write 1.28e6"},
    {"samples", "1_280", "\"1_280\" is not a whole number; write 1280"},
    {"samples", "1,28", "\"1,28\" is not a whole number; choose a whole number from 1 to 1e18"},
    {"batch", "256..1024", "\"256..1024\" is not a range; write 256-1024"},
    {"batch", "256 to 1024", "\"256 to 1024\" is not a range; write 256-1024"},
    {"gpus", "2:16", "\"2:16\" is not a range; write 2-16"},
    {"gpus", "16..2", "\"16..2\" is not a whole number; choose a whole number from 1 to 100000"},
    {"model", "params=0", "params: \"0\" is out of range; choose a whole number from 1 to 1e18"},
    {"model", "params=1,layers=1000000001",
     "layers: \"1000000001\" is out of range; choose a whole number from 1 to 1e9"},
    {"model", "params=1,layer=2",
     "\"layer\" is not one of params, hidden, layers, seq, heads; did you mean layers?"},
    {"model", "params=1,params=1", "params is set twice"},
    {"model", "params=1,", "\"params=1,\" has an empty list item"},
    {"model", "7e9", "\"7e9\" is not one of params, hidden, layers, seq, heads"},
    {"plans", "ddp",
     "\"ddp\" is not a plan; choose dp, zero, zero-offload, tp, pp, ga, gc or auto; did you mean "
     "dp?"},
    {"plans", "auto,dp", "auto cannot be combined with other plans"},
    {"plans", "dp,dp", "\"dp\" is listed twice"},
    {"plans", "dp,", "\"dp,\" has an empty list item"},
    {"plans", "fsdp-full",
     "\"fsdp-full\" is not a plan; choose dp, zero, zero-offload, tp, pp, ga, gc or auto"},
    {"checkpoint", "KILL", "KILL cannot be caught by a job; write USR1"},
    {"checkpoint", "19", "STOP cannot be caught by a job; write USR1"},
    {"checkpoint", "0", "\"0\" is out of range; choose a whole number from 1 to 64"},
    {"checkpoint", "65", "\"65\" is out of range; choose a whole number from 1 to 64"},
    {"checkpoint", "USR3", "\"USR3\" is not a signal; did you mean USR1?"},
    {"checkpoint", "reload",
     "\"reload\" is not a signal; write USR1, USR2, TERM or another name of kill -l"},
    {"checkpoint", "@60", "no signal; write one such as USR1@60"},
    {"checkpoint", "USR1@",
     "lead time: \"\" is not a whole number; choose a whole number from 0 to 65535"},
    {"checkpoint", "USR1@65536",
     "lead time: \"65536\" is out of range; choose a whole number from 0 to 65535"},
    {"checkpoint", "USR1@-1",
     "lead time: \"-1\" is out of range; choose a whole number from 0 to 65535"},
    {"checkpoint", "X:USR1", "\"X\" before the colon is not R or B"},
    {"checkpoint", "BB:USR1", "\"BB\" before the colon is not R or B"},
    {"checkpoint", ":USR1", "nothing before the colon; write B:USR1@60 or USR1@60"},
    {"resize", "shrink", "\"shrink\" is not one of none, restart, live"},
    {"resize", "restrat", "\"restrat\" is not one of none, restart, live; did you mean restart?"},
    {"resize", "", "no value; write one such as restart"},
    {"device", "gpus", "\"gpus\" is not one of gpu, cpu, any; did you mean gpu?"},
    {"device", "tpu-v4", "\"tpu-v4\" is not one of gpu, cpu, any"},
    {"mix-types", "maybe", "\"maybe\" is not one of yes, no"},
    {"mix-types", "yess", "\"yess\" is not one of yes, no; did you mean yes?"},
};

TEST(HintValues, BadValuesAreRefusedWithTheValidOnes) {
  std::set<std::string> seen;
  for (const auto& [key, value, error] : kBad) {
    const HintDef* def = find_hint(key);
    ASSERT_NE(def, nullptr) << key;
    Hints hints;
    const auto set = set_hint(*def, value, hints);
    ASSERT_FALSE(set) << key << "=" << value;
    EXPECT_EQ(set.error().text, error) << key << "=" << value;
    EXPECT_EQ(hints, Hints{}) << key << "=" << value;
    seen.insert(key);
  }
  for (const HintDef& def : hint_table()) EXPECT_TRUE(seen.contains(def.key)) << def.key;
}

TEST(HintTable, KeysOptionsAndVariablesAreMadeFromOneAnother) {
  std::set<std::string> names;
  for (const HintDef& def : hint_table()) {
    EXPECT_TRUE(names.insert(def.key).second) << def.key;
    EXPECT_EQ(def.key, lower(def.key));
    EXPECT_EQ(def.option, "dl-" + def.key);
    EXPECT_EQ(def.off_option, "no-dl-" + def.key);
    EXPECT_EQ(find_hint(def.key), &def);
    EXPECT_FALSE(def.help.empty() || def.help.ends_with('.')) << def.key;
    EXPECT_TRUE(def.text.ends_with('.')) << def.key;
    EXPECT_FALSE(def.default_text.empty()) << def.key;
    EXPECT_EQ(def.argument.empty(), def.type == HintType::kFlag) << def.key;
  }
  EXPECT_EQ(find_hint("gpu-types")->variable, "RUBATO_DL_GPU_TYPES");
  EXPECT_EQ(find_hint("GPU-Types"), find_hint("gpu-types"));
  EXPECT_EQ(find_hint("gpu_types"), nullptr);
}

TEST(HintTable, ExamplesAreGood) {
  for (const HintDef& def : hint_table()) {
    Hints hints;
    const auto set = set_hint(def, def.example, hints);
    EXPECT_TRUE(set) << def.key << ": " << set.error().text;
  }
}

TEST(HintTable, EveryFieldHasARow) {
  const Hints none;
  int fields = 0;
  for_each_field(none, [&](HintField field, const auto&) {
    EXPECT_EQ(hint_of(field).field, field);
    ++fields;
  });
  EXPECT_EQ(fields, 11);
  EXPECT_EQ(hint_table().size(), 13U);  // the total work has three rows
}

TEST(HintTable, OptionsForSpankFitItsLimits) {
  std::set<std::string> names;
  for (const HintOption& option : hint_options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_TRUE(option.usage.starts_with("[rubato] ")) << option.name;
    EXPECT_LT(option.name.size(), 40U);  // the column width in sbatch --help
    EXPECT_EQ(option.usage.find('\n'), std::string::npos);
    if (option.off) {
      EXPECT_EQ(option.argument, "");
    }
  }
  EXPECT_EQ(names.size(), 2 * hint_table().size());
  EXPECT_TRUE(names.contains("dl-mix-types") && names.contains("no-dl-mix-types"));
}

TEST(HintTable, HelpNamesEveryHintAndFitsATerminal) {
  const std::string help = help_hints();
  for (const HintDef& def : hint_table()) {
    EXPECT_NE(help.find("--" + def.option), std::string::npos) << def.key;
    for (const HintWord& word : def.words) {
      EXPECT_NE(help.find("      " + word.name + ": "), std::string::npos) << word.name;
    }
  }
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 79U) << line;
}

TEST(HintNumbers, CountsAreShownShort) {
  EXPECT_EQ(show_count(0), "0");
  EXPECT_EQ(show_count(999999), "999999");
  EXPECT_EQ(show_count(1000000), "1e6");
  EXPECT_EQ(show_count(1280000), "1.28e6");
  EXPECT_EQ(show_count(1234000), "1.234e6");
  EXPECT_EQ(show_count(1234500), "1234500");
  EXPECT_EQ(show_count(100001), "100001");
  EXPECT_EQ(show_count(kMaxWork), "1e18");
}

TEST(GpuSizes, NearestIsTheSmallerOfTwo) {
  const GpuSizes sizes({{1, 1}, {4, 8}, {16, 16}});
  EXPECT_EQ(sizes.nearest(1), 1);
  EXPECT_EQ(sizes.nearest(2), 1);
  EXPECT_EQ(sizes.nearest(3), 4);
  EXPECT_EQ(sizes.nearest(6), 6);
  EXPECT_EQ(sizes.nearest(12), 8);
  EXPECT_EQ(sizes.nearest(13), 16);
  EXPECT_EQ(sizes.nearest(99), 16);
}

TEST(GpuSizes, MultiplesOfAUnit) {
  const GpuSizes sizes({{2, 9}, {16, 16}});
  EXPECT_EQ(sizes.multiples(1), sizes);
  EXPECT_EQ(to_text(sizes.multiples(4)), "4,8,16");
  EXPECT_EQ(to_text(sizes.multiples(3)), "3,6,9");
  EXPECT_TRUE(sizes.multiples(1'000'000'000'000).empty());
  EXPECT_TRUE(sizes.contains(9) && !sizes.contains(10) && sizes.contains(16));
  EXPECT_FALSE(GpuSizes().contains(1));
  EXPECT_FALSE(GpuSizes().single());
  EXPECT_TRUE(GpuSizes({{4, 4}}).single());
}

}  // namespace
}  // namespace rubato
