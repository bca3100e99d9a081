// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/simulate/simulate_outputs.h"

#include <fmt/format.h>

#include "tools/shared/output.h"
#include "tools/shared/write_file.h"

namespace rubato::tools {
namespace {

struct NamedFile {
  const char* option;
  std::string path;
};

std::vector<NamedFile> outputs_of(const SimulateOptions& options) {
  std::vector<NamedFile> files;
  const auto add = [&files](const char* option, const std::string& path) {
    if (!path.empty() && path != "-") files.push_back({option, path});
  };
  if (!options.json.empty()) add("--json", options.json.front());
  add("--csv", options.csv);
  add("--report", options.report);
  add("--write-workload", options.write_workload);
  return files;
}

std::vector<NamedFile> inputs_of(const SimulateOptions& options) {
  std::vector<NamedFile> files;
  if (!options.workload.empty()) {
    files.push_back({options.from_sacct ? "--from-sacct" : "--workload", options.workload});
  }
  if (!options.profiles.empty()) files.push_back({"--profiles", options.profiles});
  if (!options.config.empty()) files.push_back({"--config", options.config});
  if (options.cluster.size() > 1 && options.cluster.front() == '@') {
    files.push_back({"--cluster", options.cluster.substr(1)});
  }
  return files;
}

}  // namespace

int check_outputs(const Globals& globals, const char* schema, const SimulateOptions& options) {
  std::vector<NamedFile> taken = inputs_of(options);
  for (const NamedFile& file : outputs_of(options)) {
    for (const NamedFile& other : taken) {
      if (!same_file(file.path, other.path)) continue;
      return report_failure(
          globals, schema, kUsage,
          fmt::format("simulate: {}: {}: same file as {}", file.option, file.path, other.option));
    }
    if (const auto good = check_writable(file.path); !good) {
      return report_failure(globals, schema, kFailed,
                            fmt::format("simulate: {}: {}", file.option, good.error().text));
    }
    taken.push_back(file);
  }
  return kOk;
}

}  // namespace rubato::tools
