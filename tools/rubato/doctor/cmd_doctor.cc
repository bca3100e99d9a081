// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato doctor`: checks the installation and operation of Rubato.
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "lib/config/render.h"
#include "lib/json/record_writer.h"
#include "tools/rubato/doctor/doctor.h"
#include "tools/rubato/doctor/doctor_records.h"
#include "tools/shared/command.h"
#include "tools/shared/command_line.h"
#include "tools/shared/output.h"

namespace rubato::tools {
namespace {

constexpr std::size_t kStatusWidth = 6;
constexpr std::size_t kNameWidth = 24;
constexpr std::size_t kMinTextLength = 30;
constexpr std::size_t kTextWidth = 80;

struct Options {
  bool remove = false;
  bool config = false;
  bool help_config = false;
};

Color color_of(Status status) {
  return status == Status::kOk     ? Color::kGreen
         : status == Status::kWarn ? Color::kYellow
                                   : Color::kRed;
}

void print_check(const Check& check, std::size_t width, bool color) {
  const std::size_t indent = kStatusWidth + kNameWidth;
  const std::string status = to_string(check.status);
  bool first = true;
  for (const std::string& line : wrap(check.text, std::max(kMinTextLength, width - indent))) {
    if (first) {
      fmt::print("{}{}{:<{}}{}\n", paint(status, color_of(check.status), color),
                 std::string(kStatusWidth - status.size(), ' '), check.name, kNameWidth, line);
    } else {
      fmt::print("{:<{}}{}\n", "", indent, line);
    }
    first = false;
  }
  // Not wrapped, so that it can be copied.
  if (!check.line.empty()) fmt::print("{:<{}}-> {}\n", "", indent, check.line);
}

void print_install_lines(const Machine& machine, std::size_t width) {
  fmt::print("\nLines that an installation adds:\n");
  for (const InstallLine& line : install_lines(machine)) {
    fmt::print("  {} ({}, {})\n", line.line, line.file, line.present ? "present" : "not present");
    for (const std::string& sentence : {line.effect, line.without_rubato}) {
      for (const std::string& part : wrap(sentence, width - 6)) fmt::print("      {}\n", part);
    }
  }
}

void print_text(const Machine& machine, const Checks& checks, bool color) {
  const auto width =
      std::max<std::size_t>(static_cast<std::size_t>(terminal_width().value_or(kTextWidth)), 40);
  for (const Check& check : checks) print_check(check, width, color);
  print_install_lines(machine, width);
  fmt::print("\n{} OK, {} WARN, {} FAIL\n", count_of(checks, Status::kOk),
             count_of(checks, Status::kWarn), count_of(checks, Status::kFail));
}

void print_report(const Machine& machine, const Checks& checks) {
  const std::string slurm =
      machine.running_slurm.empty() ? machine.installed_slurm : machine.running_slurm;
  Json json = document(kDoctorSchema, slurm);
  json.update(json::json_of(DoctorReport{checks, install_lines(machine)}));
  print_json(json);
}

/// Without slurm.conf no other check is possible.
int no_slurm_conf(const Globals& globals, const std::string& why) {
  // Suggest another path only if this one does not exist.
  const bool missing = access(slurm_conf_path().c_str(), F_OK) != 0 && errno == ENOENT;
  const Checks checks{
      {Status::kFail, "slurm.conf", why, missing ? "export SLURM_CONF=/path/to/slurm.conf" : ""}};
  if (globals.json) {
    Json json = document(kDoctorSchema, "", {}, {why});
    json.update(json::json_of(DoctorReport{checks}));
    print_json(json);
  } else {
    print_check(checks.front(), kTextWidth, use_color(globals));
  }
  return kFailed;
}

/// The effective rubato.conf: unset options have their defaults.
int print_config(const Globals& globals, const Site& site) {
  if (site.config_error) return report_failure(globals, kDoctorSchema, kFailed, *site.config_error);
  fmt::print("{}", globals.json ? config_json(site.config) + "\n" : dump_config(site.config));
  return kOk;
}

int run(const Globals& globals, const Options& options) {
  if (options.help_config) {
    fmt::print("{}", help_config());
    return kOk;
  }
  auto site = find_site();
  if (site && options.config) return print_config(globals, *site);
  if (!site) {
    if (!options.remove && !options.config) return no_slurm_conf(globals, site.error().text);
    return report_failure(globals, kDoctorSchema, kFailed, site.error().text);
  }
  const Machine machine = look_at_machine(std::move(*site));
  if (options.remove) {
    if (globals.json) {
      Json json = document(kDoctorSchema, machine.installed_slurm);
      json.update(json::json_of(DoctorReport{.removal = removal_steps(machine)}));
      print_json(json);
    } else {
      fmt::print("{}", removal_steps(machine));
    }
    return kOk;
  }
  Checks checks{{Status::kOk, "slurm.conf", machine.site.slurm.path + " was read", ""}};
  check_plugins(machine, checks);
  check_spank(machine, checks);
  check_slurm_conf(machine, checks);
  check_rubato_conf(machine, checks);
  check_running(machine, checks);
  if (globals.json) {
    print_report(machine, checks);
  } else {
    print_text(machine, checks, use_color(globals));
  }
  return count_of(checks, Status::kFail) == 0 ? kOk : kFailed;
}

std::function<int()> setup(CommandLine& line, const Globals& globals) {
  auto options = std::make_shared<Options>();
  line.flag("--remove", options->remove, "Print how to uninstall Rubato; change nothing");
  line.flag("--config", options->config, "Print rubato.conf with all defaults filled in");
  line.flag("--help-config", options->help_config, "Print the options of rubato.conf");
  return [options, &globals] { return run(globals, *options); };
}

}  // namespace

Command doctor_command() {
  return {"doctor", "Check the installation and print fixes", "", &setup};
}

}  // namespace rubato::tools
