// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/spank/client.h"

#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string_view>

#include "lib/hints/table.h"
#include "plugin/spank/carried.h"

namespace rubato {
namespace {

constexpr std::string_view kVariable = "RUBATO_DL_";
constexpr std::string_view kFromEnvironment = "RUBATO_DLENV_";
constexpr std::string_view kUnset = "_UNSET";
// Slurm's variables: those that sbatch and salloc leave in a job's environment for srun (the
// control environment and each option), and those that the step daemon reads (plugstack.c,
// _opt_env_name).
constexpr std::string_view kOptionVariable = "_SLURM_SPANK_OPTION_rubato_";
constexpr std::string_view kOfEnclosingJob[] = {
    "SLURM_SPANK_RUBATO_DL", "SLURM_SPANK__SLURM_SPANK_OPTION_rubato_", kOptionVariable};

std::vector<OptionPair>& options_so_far() {
  static std::vector<OptionPair> options;
  return options;
}

bool values_are_checked = true;

void say_errors(const Error& error) {
  std::string_view rest = error.text;
  while (!rest.empty()) {
    const std::string line(rest.substr(0, rest.find('\n')));
    slurm_error("%s", line.c_str());
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
}

/// Slurm calls this for each option on the command line or in the script.
int on_option(int index, const char* value, int remote) noexcept {
  // In the step daemon, slurmctld has the hints already.
  if (remote != 0 || !values_are_checked) return 0;
  try {
    const OptionPair option{hint_options().at(static_cast<std::size_t>(index)).name,
                            value == nullptr ? "" : value};
    if (const auto good = parse_options(std::span(&option, 1)); !good) {
      say_errors(good.error());
      return -1;
    }
    options_so_far().push_back(option);
    return 0;
  } catch (...) {
    return 0;  // slurmctld checks again
  }
}

/// Names of environment variables that begin with `prefix`.
std::vector<std::string> variables_with(std::string_view prefix) {
  std::vector<std::string> names;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with(prefix)) names.emplace_back(text.substr(0, text.find('=')));
  }
  return names;
}

std::string from_environment(std::string_view variable) {
  return std::string(kFromEnvironment).append(variable.substr(kVariable.size()));
}

/// Removes hints of an enclosing srun or of an earlier component of a heterogeneous job.
void clear_control(spank_t spank) {
  for (const HintDef& def : hint_table()) {
    for (const std::string& name :
         {def.variable, def.variable + std::string(kUnset), from_environment(def.variable)}) {
      spank_job_control_unsetenv(spank, name.c_str());
    }
  }
}

void set_control(spank_t spank, const std::string& name, const std::string& value) {
  if (spank_job_control_setenv(spank, name.c_str(), value.c_str(), 1) != ESPANK_SUCCESS) {
    slurm_error("rubato: %s could not be handed to slurmctld; say it in --comment", name.c_str());
  }
}

}  // namespace

void register_options(spank_t spank) {
  static std::vector<spank_option> table;  // Slurm keeps pointers to it
  const std::vector<HintOption>& options = hint_options();
  table.clear();
  table.reserve(options.size());
  for (const HintOption& option : options) {
    // Slurm's struct is not const, but Slurm never writes to it.
    const auto text = [](const std::string& s) { return const_cast<char*>(s.c_str()); };
    table.push_back({text(option.name), option.argument.empty() ? nullptr : text(option.argument),
                     text(option.usage), option.argument.empty() ? 0 : 1,
                     static_cast<int>(table.size()), on_option});
    if (spank_option_register(spank, &table.back()) != ESPANK_SUCCESS) {
      slurm_error("rubato: --%s could not be registered", option.name.c_str());
    }
  }
}

void check_values(bool check) { values_are_checked = check; }

const std::vector<OptionPair>& given_options() { return options_so_far(); }
void forget_options() { options_so_far().clear(); }

void forget_enclosing_job() {
  for (const std::string_view prefix : kOfEnclosingJob) {
    for (const std::string& name : variables_with(prefix)) unsetenv(name.c_str());
  }
}

void forget_enclosing_start() {
  for (const char* name : kTaskVariables) unsetenv(name);
  unsetenv(kKeptRequest);
  unsetenv("RUBATO_REPORT_FILE");
}

std::vector<std::string> take_variables() {
  std::vector<std::string> taken;
  for (const std::string& name : variables_with(kVariable)) {
    const char* value = getenv(name.c_str());
    if (value == nullptr) continue;  // a duplicate name
    taken.push_back(name + "=" + value);
    unsetenv(name.c_str());
  }
  return taken;
}

void hand_over(spank_t spank, std::span<const OptionPair> options,
               const std::vector<std::string>& variables) {
  if (const auto good = parse_hints({.options = options, .environment = variables}); !good) {
    // Slurm ignores an error from an optional plugin here. So exit, as Slurm does for a wrong
    // option of its own.
    say_errors(good.error());
    std::exit(1);
  }
  clear_control(spank);
  for (const std::string& entry : variables) {
    const std::size_t equals = entry.find('=');
    if (equals + 1 < entry.size()) {
      set_control(spank, from_environment(entry.substr(0, equals)), entry.substr(equals + 1));
    }
  }
  std::map<std::string, const OptionPair*> last;
  for (const OptionPair& option : options) {
    for (const HintOption& known : hint_options()) {
      if (known.name == option.first) last[known.def->variable] = &option;
    }
  }
  for (const auto& [variable, option] : last) {
    if (option->first.starts_with("no-")) {
      set_control(spank, variable + std::string(kUnset), "1");
    } else {
      set_control(spank, variable, option->second.empty() ? "yes" : option->second);
    }
  }
}

}  // namespace rubato
