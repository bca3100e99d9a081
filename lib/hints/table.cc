// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/hints/table.h"

#include "lib/base/nearest.h"

namespace rubato {
namespace {

std::vector<HintDef> rows_of_size_and_type() {
  std::vector<HintDef> rows;
  rows.push_back({.field = HintField::kJobType,
                  .type = HintType::kName,
                  .key = "job-type",
                  .argument = "NAME",
                  .default_text = "none: the job shares no measurements",
                  .example = "resnet50",
                  .help = "name of the jobs that share measured throughput",
                  .text = "Jobs of one account and job type share a profile: how fast they run on "
                          "each GPU type. Name it after what determines the throughput: the "
                          "model and its data set, not the run."});
  rows.push_back({.field = HintField::kGpus,
                  .type = HintType::kSizes,
                  .key = "gpus",
                  .argument = "SIZES",
                  .default_text = "the size of the request",
                  .example = "1,2,4,8",
                  .help = "numbers of GPUs that the job can run on",
                  .text = "Numbers and ranges separated by commas, such as 2-16 or 1,2,4-8. They "
                          "must include the size of the Slurm request. Tasks, CPUs and memory "
                          "scale with the GPUs."});
  rows.push_back({.field = HintField::kGpuTypes,
                  .type = HintType::kTypes,
                  .key = "gpu-types",
                  .argument = "TYPES",
                  .default_text = "as requested, or any type if the request names none",
                  .example = "h100/a100,v100",
                  .help = "GPU types that the job accepts, best first",
                  .text =
                      "A slash separates a better type from a worse one, a comma separates equal "
                      "types: h100/a100,v100 is h100 first, then a100 or v100. The sign > "
                      "means the same as the slash and must be quoted in a shell. If the Slurm "
                      "request names a type, the job gets that type; request GPUs without a "
                      "type to allow others."});
  rows.push_back({.field = HintField::kBatch,
                  .type = HintType::kBatch,
                  .key = "batch",
                  .argument = "SAMPLES",
                  .default_text = "fixed by the job",
                  .example = "256-1024",
                  .help = "global batch, fixed or a range that does not harm accuracy",
                  .text =
                      "Samples per iteration over all GPUs. Rubato changes the batch only if it "
                      "is a range."});
  return rows;
}

std::vector<HintDef> rows_of_work() {
  const std::string one =
      "A job gives its total work in samples, in steps or as a target loss, but in only one of "
      "them. The no- option of any of them unsets it.";
  std::vector<HintDef> rows;
  rows.push_back({.field = HintField::kWork,
                  .type = HintType::kCount,
                  .key = "samples",
                  .argument = "COUNT",
                  .default_text = "not known",
                  .example = "1.28e8",
                  .help = "total work in samples",
                  .text = one});
  rows.push_back({.field = HintField::kWork,
                  .type = HintType::kCount,
                  .key = "steps",
                  .argument = "COUNT",
                  .default_text = "not known",
                  .example = "90000",
                  .help = "total work in iterations",
                  .text = "Instead of samples. Not with a range as batch, because a step is then "
                          "not a fixed amount of work."});
  rows.push_back({.field = HintField::kWork,
                  .type = HintType::kLoss,
                  .key = "target-loss",
                  .argument = "LOSS",
                  .default_text = "not known",
                  .example = "2.1",
                  .help = "training loss at which the job ends",
                  .text = "Instead of samples. Rubato forecasts the remaining work from the losses "
                          "that the job reports."});
  return rows;
}

std::vector<HintDef> rows_of_plans() {
  std::vector<HintDef> rows;
  rows.push_back({.field = HintField::kModel,
                  .type = HintType::kModel,
                  .key = "model",
                  .argument = "SHAPE",
                  .default_text = "none",
                  .words = {{"params", "number of parameters; required"},
                            {"hidden", "hidden size"},
                            {"layers", "number of layers"},
                            {"seq", "tokens per sequence"},
                            {"heads", "attention heads"}},
                  .example = "params=7e9,hidden=4096,layers=32,seq=2048,heads=32",
                  .help = "shape of the model, for execution plans",
                  .text = "In any order. params alone is enough for plans without tp and pp."});
  rows.push_back({.field = HintField::kPlans,
                  .type = HintType::kPlans,
                  .key = "plans",
                  .argument = "PLANS",
                  .default_text = "as submitted",
                  .words = {{"dp", "data parallel"},
                            {"zero", "data parallel with sharded optimiser state (ZeRO)"},
                            {"zero-offload", "ZeRO with the optimiser in the memory of the host"},
                            {"tp", "tensor parallel"},
                            {"pp", "pipeline parallel"},
                            {"ga", "gradient accumulation"},
                            {"gc", "gradient checkpointing"}},
                  .example = "dp,zero,ga",
                  .help = "execution plans that the job can run",
                  .text = "The word auto for every plan that the shape of the model allows, or "
                          "words below separated by commas. The variable RUBATO_PLAN of the job "
                          "has the chosen plan. Requires model."});
  return rows;
}

std::vector<HintDef> rows_of_change() {
  std::vector<HintDef> rows;
  rows.push_back({.field = HintField::kCheckpoint,
                  .type = HintType::kSignal,
                  .key = "checkpoint",
                  .argument = "SIGNAL",
                  .default_text = "none: Rubato never restarts the job",
                  .example = "B:USR1@60",
                  .help = "signal before a restart; allows Rubato to restart the job",
                  .text =
                      "As for sbatch --signal: [R|B:]SIGNAL[@SECONDS], with the name or number of "
                      "a signal that can be caught, and how long before the restart it is "
                      "sent (0 to 65535 seconds, default 60). B: sends it to the batch shell "
                      "only, without B: only job steps (srun) receive it. With "
                      "resize=live it also comes before the job loses nodes. The word none forbids "
                      "every restart. Without this hint Rubato never restarts the job."});
  rows.push_back(
      {.field = HintField::kResize,
       .type = HintType::kChoice,
       .key = "resize",
       .argument = "HOW",
       .default_text = "none",
       .words = {{"none", "keeps its size while it runs"},
                 {"restart", "checkpoints, ends and starts again; requires checkpoint"},
                 {"live",
                  "gets GPUs and gives back nodes while it runs; restarts only with checkpoint"}},
       .example = "restart",
       .help = "how the size of the job can change while it runs",
       .text = "Without it Rubato chooses one of gpus only when the job starts."});
  rows.push_back({.field = HintField::kDevice,
                  .type = HintType::kChoice,
                  .key = "device",
                  .argument = "KIND",
                  .default_text = "gpu",
                  .words = {{"gpu", "runs on GPUs only"},
                            {"cpu", "runs on CPUs only; the request has no GPUs"},
                            {"any", "runs on either; the request has GPUs"}},
                  .example = "any",
                  .help = "kind of nodes that the job can run on",
                  .text =
                      "With any it starts on CPUs where, by the reports of jobs of its type from "
                      "CPUs, it ends no later so than after the wait for GPUs; for that its "
                      "hints must tell its work. Mode elastic restarts it on GPUs once that "
                      "pays."});
  rows.push_back({.field = HintField::kMixTypes,
                  .type = HintType::kFlag,
                  .key = "mix-types",
                  .default_text = "no",
                  .words = {{"yes", "one allocation may have several GPU types"},
                            {"no", "all GPUs have the same type"}},
                  .example = "yes",
                  .help = "whether one allocation may have several GPU types",
                  .text = "Without it all GPUs of the job have the same type. With it the job "
                          "starts on GPUs of several types where no single type has room for all "
                          "of it, at its requested size. If gpu-types names types, it gets GPUs "
                          "of these only. RUBATO_BATCH_SHARES tells it how to split its global "
                          "batch."});
  return rows;
}

std::string variable_name(const std::string& key) {
  std::string out = "RUBATO_DL_";
  for (const char c : key) {
    out += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return out;
}

std::vector<HintDef> make_table() {
  std::vector<HintDef> table;
  for (auto* rows : {rows_of_size_and_type, rows_of_work, rows_of_plans, rows_of_change}) {
    for (HintDef& def : rows()) {
      def.option = "dl-" + def.key;
      def.off_option = "no-" + def.option;
      def.variable = variable_name(def.key);
      table.push_back(std::move(def));
    }
  }
  return table;
}

std::vector<HintOption> make_options() {
  std::vector<HintOption> out;
  for (const HintDef& def : hint_table()) {
    out.push_back({def.option, def.argument, "[rubato] " + def.help, &def, false});
    out.push_back({def.off_option, "", "[rubato] unsets --" + def.option, &def, true});
  }
  return out;
}

}  // namespace

const std::vector<HintDef>& hint_table() {
  static const std::vector<HintDef> table = make_table();
  return table;
}

const HintDef* find_hint(std::string_view key) {
  const std::string wanted = lower(key);
  for (const HintDef& def : hint_table()) {
    if (def.key == wanted) return &def;
  }
  return nullptr;
}

const HintDef& hint_of(HintField field) {
  for (const HintDef& def : hint_table()) {
    if (def.field == field) return def;
  }
  return hint_table().front();
}

std::vector<std::string> hint_keys() {
  std::vector<std::string> keys;
  for (const HintDef& def : hint_table()) keys.push_back(def.key);
  return keys;
}

std::vector<std::string> word_names(const HintDef& def) {
  std::vector<std::string> names;
  for (const HintWord& word : def.words) names.push_back(word.name);
  return names;
}

const std::vector<HintOption>& hint_options() {
  static const std::vector<HintOption> list = make_options();
  return list;
}

}  // namespace rubato
