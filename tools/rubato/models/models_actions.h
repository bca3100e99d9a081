// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato models show|fit|export|import|forget`: what is behind the list.
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
  std::vector<std::string> words;  ///< the action and what it is about
  std::string format;
  std::string output;
  std::string file;
  std::string before;
  bool dry_run = false;
  int gpus = 0;       ///< of curve: the most; 0: not said
  std::string batch;  ///< of curve, and the next two: hints of the job
  std::string plans;
  std::string model;
};

/// Schema of what import and forget say with --json.
inline constexpr const char* kModelsChangeSchema = "rubato.models-change/1";
/// Schema of what show and fit say with --json.
inline constexpr const char* kModelsFitsSchema = "rubato.models-fits/1";
/// And curve.
inline constexpr const char* kModelsCurveSchema = "rubato.models-curve/1";

/// Whether `word` stands between the commas of `list`; yes for an empty list.
[[nodiscard]] bool wanted(const std::string& list, const std::string& word);

/// What is wrong with action, words and options together; "" if nothing is.
[[nodiscard]] std::string wrong_action(const ModelsOptions& options);

int show_fits(const Globals& globals, const ModelsOptions& options, const Site& site);
int show_curve(const Globals& globals, const ModelsOptions& options, const Site& site);
int export_profiles(const Globals& globals, const ModelsOptions& options, const Site& site);
int import_profiles(const Globals& globals, const ModelsOptions& options, const Site& site);
int forget_profiles(const Globals& globals, const ModelsOptions& options, const Site& site);

}  // namespace rubato::tools
