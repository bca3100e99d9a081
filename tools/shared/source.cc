// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/shared/source.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "tools/shared/output.h"
#include "tools/shared/process.h"

namespace rubato::tools {
namespace {

constexpr int kScontrolTimeout = 5000;

/// The value of a line "Key   = value" of `scontrol show config`.
std::string value_of(const std::string& text, const std::string& key) {
  for (const std::string& line : split(text, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::size_t end = line.find_last_not_of(' ', equals - 1);
    if (line.substr(0, end + 1) != key) continue;
    const std::size_t begin = line.find_first_not_of(' ', equals + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

/// Where clients of Slurm work without a slurm.conf (configless), slurmctld knows.
Result<Site> ask_scontrol(const Error& error) {
  const std::string path = slurm_conf_path();
  if (access(path.c_str(), F_OK) == 0 || errno != ENOENT) return tl::unexpected(error);
  const std::string scontrol = find_program("scontrol");
  if (scontrol.empty()) return tl::unexpected(error);
  const auto answer = run_program({scontrol, "show", "config"}, kScontrolTimeout);
  const std::string state = answer ? value_of(*answer, "StateSaveLocation") : "";
  if (state.empty()) return tl::unexpected(error);
  Site site;
  site.slurm.path = path;
  site.state_dir = state;
  site.rubato_conf_path = "rubato.conf";
  site.publish_dir = state + "/rubato/publish";
  return site;
}

}  // namespace

Result<Site> find_source(const std::string& publish_dir) {
  const char* variable = std::getenv("RUBATO_PUBLISH_DIR");
  const std::string chosen = !publish_dir.empty()  ? publish_dir
                             : variable == nullptr ? ""
                                                   : variable;
  auto site = find_site();
  if (!site && chosen.empty()) return ask_scontrol(site.error());
  Site found = site ? std::move(*site) : Site{};
  if (!chosen.empty()) {
    found.publish_dir = chosen;
  } else {
    found.private_dir = found.state_dir + "/rubato/private";
  }
  return found;
}

namespace {

Result<std::vector<SqueueJob>> ask_for_jobs(std::vector<std::string> arguments) {
  static constexpr const char* kFields[] = {"jobarrayid", "name",      "username", "partition",
                                            "state",      "reason",    "nodelist", "starttime",
                                            "timeused",   "timelimit", "exit_code"};
  SqueueQuery query;
  query.arguments = std::move(arguments);
  query.quiet = true;
  for (const char* name : kFields) query.fields.push_back({name, nullptr, 0, false, ""});
  const auto answer = ask_squeue(query);
  if (!answer) return tl::unexpected(answer.error());
  std::vector<SqueueJob> jobs;
  for (const SqueueSection& section : answer->sections) {
    for (const SqueueRow& row : section.rows) {
      const auto& f = row.fields;
      jobs.push_back({f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9],
                      facts_of(row.texts, now()), f[10]});
    }
  }
  return jobs;
}

}  // namespace

Result<std::vector<SqueueJob>> ask_for_job(const JobSelector& selector) {
  std::string job = fmt::format("{}", selector.id);
  if (selector.task) job += fmt::format("_{}", *selector.task);
  if (selector.part) job = fmt::format("{}", selector.id + static_cast<JobId>(*selector.part));
  return ask_for_jobs({"-j", job, "-t", "all"});
}

Result<std::vector<SqueueJob>> ask_for_tasks(JobId array) {
  return ask_for_jobs({"-r", "-j", fmt::format("{}", array), "-t", "all"});
}

}  // namespace rubato::tools
