// SPDX-License-Identifier: GPL-2.0-or-later
// The actions of `rubato models`: show, fit, export, import, forget, curve.
#pragma once

#include <string>
#include <vector>

#include "tools/shared/command.h"
#include "tools/shared/site.h"

namespace rubato::tools {

/// Options of `rubato models`, as typed.
struct ModelsOptions {
  std::string account;
  std::string type;
  std::string gpu_type;
  std::vector<std::string> words;  ///< the action and its argument
  std::string format;
  std::string output;
  std::string file;
  std::string before;
  bool dry_run = false;
  int gpus = 0;       ///< curve: maximum number of GPUs; 0: default
  std::string batch;  ///< curve, like the next two: hints of the job
  std::string plans;
  std::string model;
};

/// Schema of the JSON output of import and forget.
inline constexpr const char* kModelsChangeSchema = "rubato.models-change/1";
/// Schema of the JSON output of show and fit.
inline constexpr const char* kModelsFitsSchema = "rubato.models-fits/1";
/// Schema of the JSON output of curve.
inline constexpr const char* kModelsCurveSchema = "rubato.models-curve/1";

/// Whether the comma-separated `list` contains `word`; true for an empty list.
[[nodiscard]] bool wanted(const std::string& list, const std::string& word);

/// Error in the combination of action, words and options; "" if there is none.
[[nodiscard]] std::string wrong_action(const ModelsOptions& options);

int show_fits(const Globals& globals, const ModelsOptions& options, const Site& site);
int show_curve(const Globals& globals, const ModelsOptions& options, const Site& site);
int export_profiles(const Globals& globals, const ModelsOptions& options, const Site& site);
int import_profiles(const Globals& globals, const ModelsOptions& options, const Site& site);
int forget_profiles(const Globals& globals, const ModelsOptions& options, const Site& site);

}  // namespace rubato::tools
