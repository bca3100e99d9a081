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
                  .default_text = "none: the speed is not known",
                  .example = "resnet50",
                  .help = "family of jobs that share measured speeds",
                  .text = "Jobs of one account and job type learn from each other how fast they "
                          "run on each kind of GPU. Name it after what decides the speed: the "
                          "model and its data set, not the run."});
  rows.push_back({.field = HintField::kGpus,
                  .type = HintType::kSizes,
                  .key = "gpus",
                  .argument = "SIZES",
                  .default_text = "the size of the request",
                  .example = "1,2,4,8",
                  .help = "numbers of GPUs it can run at",
                  .text = "Numbers and ranges with commas between, such as 2-16 or 1,2,4-8. The "
                          "size that the job asks Slurm for must be among them; tasks, CPUs and "
                          "memory scale with the GPUs."});
  rows.push_back({.field = HintField::kGpuTypes,
                  .type = HintType::kTypes,
                  .key = "gpu-types",
                  .argument = "TYPES",
                  .default_text = "as requested: any type when the request names none",
                  .example = "h100/a100,v100",
                  .help = "GPU types it accepts, best first",
                  .text =
                      "A slash stands between a better type and a worse one, a comma between "
                      "equal ones: h100/a100,v100 is h100 first, then a100 or v100. The sign > "
                      "means the same as the slash, and must be quoted in a shell. A type in "
                      "the Slurm request binds; ask for GPUs without a type to leave a choice."});
  rows.push_back({.field = HintField::kBatch,
                  .type = HintType::kBatch,
                  .key = "batch",
                  .argument = "SAMPLES",
                  .default_text = "fixed, at what the job chose",
                  .example = "256-1024",
                  .help = "global batch, fixed or a range that is safe for accuracy",
                  .text = "Samples of one iteration over all GPUs. Only with a range is another "
                          "batch ever chosen for the job."});
  return rows;
}

std::vector<HintDef> rows_of_work() {
  const std::string one =
      "A job says its total work in samples, in steps or by a target loss, "
      "in one of the three; the no- twin of any of them takes it back.";
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
                  .text = "Stands instead of samples. Not with a range as batch, where a step "
                          "is no fixed amount of work."});
  rows.push_back({.field = HintField::kWork,
                  .type = HintType::kLoss,
                  .key = "target-loss",
                  .argument = "LOSS",
                  .default_text = "not known",
                  .example = "2.1",
                  .help = "loss at which the job ends",
                  .text = "Stands instead of samples. The rest of the work is then forecast from "
                          "the losses that the job reports."});
  return rows;
}

std::vector<HintDef> rows_of_plans() {
  std::vector<HintDef> rows;
  rows.push_back(
      {.field = HintField::kModel,
       .type = HintType::kModel,
       .key = "model",
       .argument = "SHAPE",
       .default_text = "none",
       .words = {{"params", "parameters of the model; must be there"},
                 {"hidden", "hidden size"},
                 {"layers", "number of layers"},
                 {"seq", "tokens of a sequence"},
                 {"heads", "attention heads"}},
       .example = "params=7e9,hidden=4096,layers=32,seq=2048,heads=32",
       .help = "shape of the model, for execution plans",
       .text = "Members in any order; params alone is enough for plans without tp and pp."});
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
                  .help = "execution plans it can run",
                  .text = "The word auto, for every plan that the shape of the model allows, or "
                          "some of the words below with commas between. The job finds the chosen "
                          "plan in RUBATO_PLAN. Needs model."});
  return rows;
}

std::vector<HintDef> rows_of_change() {
  std::vector<HintDef> rows;
  rows.push_back({.field = HintField::kCheckpoint,
                  .type = HintType::kSignal,
                  .key = "checkpoint",
                  .argument = "SIGNAL",
                  .default_text = "none: the job is never interrupted",
                  .example = "B:USR1@60",
                  .help = "signal before a restart; the only consent to be interrupted",
                  .text = "Written as the value of sbatch --signal: [R|B:]SIGNAL[@SECONDS], a name "
                          "or a number of a signal that can be caught, and how long before the "
                          "restart it is sent (0 to 65535 seconds, 60 when it is not said). B: "
                          "sends it to the batch shell alone. The word none refuses every "
                          "interruption."});
  rows.push_back({.field = HintField::kResize,
                  .type = HintType::kChoice,
                  .key = "resize",
                  .argument = "HOW",
                  .default_text = "none",
                  .words = {{"none", "keeps its size from start to end"},
                            {"restart", "checkpoints, ends and starts again; needs checkpoint"},
                            {"live", "takes up and gives back GPUs while it runs"}},
                  .example = "restart",
                  .help = "how it can change while it runs",
                  .text = "Without it Rubato chooses among gpus when the job starts, and not "
                          "again."});
  rows.push_back({.field = HintField::kDevice,
                  .type = HintType::kChoice,
                  .key = "device",
                  .argument = "KIND",
                  .default_text = "gpu",
                  .words = {{"gpu", "runs on GPUs only"},
                            {"cpu", "runs on CPUs only; the request has no GPUs"},
                            {"any", "runs on either; the request asks for GPUs"}},
                  .example = "any",
                  .help = "kind of nodes it can compute on",
                  .text = "For jobs in the style of a parameter server, which can run on nodes "
                          "without GPUs."});
  rows.push_back({.field = HintField::kMixTypes,
                  .type = HintType::kFlag,
                  .key = "mix-types",
                  .default_text = "no",
                  .words = {{"yes", "may span GPU types in one allocation"},
                            {"no", "all its GPUs are of one type"}},
                  .example = "yes",
                  .help = "may span GPU types in one allocation",
                  .text = "Without it all its GPUs are of one type."});
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
    out.push_back({def.off_option, "", "[rubato] takes --" + def.option + " back", &def, true});
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
