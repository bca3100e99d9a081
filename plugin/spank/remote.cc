// SPDX-License-Identifier: GPL-2.0-or-later
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>

#include "lib/hints/numbers.h"
#include "plugin/spank/carried.h"
#include "plugin/spank/client.h"
#include "plugin/spank/contexts.h"
#include "plugin/spank/forwarder_process.h"
#include "plugin/spank/last_line.h"
#include "plugin/spank/report_file.h"

namespace rubato {
namespace {

// Step ids of slurm.h, equal in every release.
constexpr std::uint32_t kBatchStep = 0xfffffffb;
constexpr std::uint32_t kExternStep = 0xfffffffc;

std::optional<ReportFile> report_file;
std::optional<ForwarderProcess> forwarder;
std::optional<ForwarderCall> forwarder_call;  ///< of `forwarder`
bool line_checked = false;                    ///< the last line, by the first task that ended

/// Jobs without a report file have this one, so that `>> $RUBATO_REPORT_FILE` works in all jobs.
constexpr const char* kNoReportFile = "/dev/null";
/// Only root can create this folder.
constexpr const char* kReportFolder = "/var/spool/rubato";

/// The arguments in plugstack.conf.
struct Settings {
  std::string folder;
  std::string interval = "60";
  std::string scontrol;
  bool ignore = false;  ///< hints=ignore
};

Settings read_settings(const PluginArguments& arguments) {
  Settings settings;
  settings.folder = geteuid() == 0 ? kReportFolder : "/tmp/rubato-" + std::to_string(geteuid());
  settings.ignore = ignores_hints(arguments);
  for (const std::string_view word : arguments) {
    const std::size_t equals = word.find('=');
    const std::string_view key = word.substr(0, equals);
    const std::string value(equals == std::string_view::npos ? "" : word.substr(equals + 1));
    if (key == "report_dir" && value.starts_with('/')) {
      settings.folder = value;
    } else if (key == "interval" && parse_count(value, 1, 86400)) {
      settings.interval = value;
    } else if (key == "scontrol" && value.starts_with('/')) {
      settings.scontrol = value;
    } else if (word != kIgnoreHints) {
      slurm_error(
          "rubato: plugstack.conf: \"%s\" is not report_dir=/DIR, interval=SECONDS, "
          "scontrol=/FILE or hints=ignore",
          std::string(word).c_str());
    }
  }
  return settings;
}

/// The forwarder's path: a program in the folder of this file.
std::string forwarder_program() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<void*>(&forwarder_program), &info) == 0) return "";
  const std::string file = info.dli_fname;
  const std::string program = file.substr(0, file.rfind('/') + 1) + "rubato_forwarder";
  return access(program.c_str(), X_OK) == 0 ? program : "";
}

struct Step {
  std::uint32_t job = 0, step = 0, node = 0;
  uid_t uid = 0;
  gid_t gid = 0;
};

std::optional<Step> this_step(spank_t spank) {
  Step step;
  const bool known = spank_get_item(spank, S_JOB_ID, &step.job) == ESPANK_SUCCESS &&
                     spank_get_item(spank, S_JOB_STEPID, &step.step) == ESPANK_SUCCESS &&
                     spank_get_item(spank, S_JOB_NODEID, &step.node) == ESPANK_SUCCESS &&
                     spank_get_item(spank, S_JOB_UID, &step.uid) == ESPANK_SUCCESS &&
                     spank_get_item(spank, S_JOB_GID, &step.gid) == ESPANK_SUCCESS;
  return known ? std::optional(step) : std::nullopt;
}

/// Sets the variables that srun passed around --export for the tasks. True if Rubato started the
/// job.
bool take_decisions(spank_t spank) {
  bool any = false;
  for (const char* name : kTaskVariables) {
    std::array<char, 1024> value = {};
    const std::string carried = carried_name(name);
    const int size = static_cast<int>(value.size());
    if (spank_getenv(spank, carried.c_str(), value.data(), size) == ESPANK_SUCCESS) {
      spank_setenv(spank, name, value.data(), 0);
      spank_unsetenv(spank, carried.c_str());
    }
    any = any || spank_getenv(spank, name, value.data(), size) == ESPANK_SUCCESS;
  }
  return any;
}

/// True if the job was submitted with --dl- options or RUBATO_DL_ variables.
bool has_hints(spank_t spank) {
  char** entry = nullptr;
  if (spank_get_item(spank, S_JOB_ENV, &entry) != ESPANK_SUCCESS) return false;
  for (; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::string_view(*entry).starts_with("SLURM_SPANK_RUBATO_DL")) return true;
  }
  return false;
}

ForwarderCall call_for(spank_t spank, const Step& step, const Settings& settings,
                       const std::string& path) {
  ForwarderCall call;
  call.program = forwarder_program();
  call.arguments = {std::to_string(step.job), path, settings.interval};
  if (!settings.scontrol.empty()) call.arguments.push_back(settings.scontrol);
  call.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C"};
  if (const char* conf = getenv("SLURM_CONF")) {
    call.environment.push_back(std::string("SLURM_CONF=") + conf);
  }
  call.uid = step.uid;
  call.gid = step.gid;
  gid_t* groups = nullptr;
  int count = 0;
  if (spank_get_item(spank, S_JOB_SUPPLEMENTARY_GIDS, &groups, &count) == ESPANK_SUCCESS &&
      groups != nullptr && count > 0) {
    call.groups.assign(groups, groups + count);
  } else {
    call.groups = {step.gid};
  }
  return call;
}

/// Starts the forwarder, unless another step of the job has one on this host.
void start_forwarder(const ForwarderCall& call) {
  Descriptor claim = call.program.empty() ? Descriptor() : report_file->claim();
  if (!claim.open()) return;
  auto process = ForwarderProcess::start(call, std::move(claim));
  if (process) {
    forwarder.emplace(std::move(*process));
    forwarder_call = call;
  } else {
    slurm_error("rubato: reports are not forwarded: %s", process.error().text.c_str());
  }
}

/// Ends the forwarder once it has sent the last report. Slurm kills it with the step's processes
/// where it counts as one of them (cgroup v2): a second one then sends what remains.
void end_forwarder() {
  if (forwarder->end()) return;
  forwarder.reset();
  start_forwarder(*forwarder_call);
  if (forwarder) forwarder->end();
}

}  // namespace

void remote_init(spank_t spank, const PluginArguments& arguments) {
  register_options(spank);  // otherwise Slurm warns of unknown options
  const auto step = this_step(spank);
  if (!step || step->step == kExternStep) return;
  spank_setenv(spank, "RUBATO_REPORT_FILE", kNoReportFile, 1);
  const Settings settings = read_settings(arguments);
  const bool batch = step->step == kBatchStep;
  // Other jobs get neither a file nor an extra process.
  if ((!take_decisions(spank) && !has_hints(spank)) || settings.ignore) return;
  auto file = ReportFile::open(settings.folder, step->job, {step->uid, step->gid}, batch);
  if (!file) {
    slurm_error("rubato: no report file: %s", file.error().text.c_str());
    return;
  }
  report_file.emplace(std::move(*file));
  spank_setenv(spank, "RUBATO_REPORT_FILE", report_file->path().c_str(), 1);
  // Rank 0 reports; it runs beside the batch script or on the first node of a step.
  if (!batch && step->node != 0) return;
  start_forwarder(call_for(spank, *step, settings, report_file->path()));
}

// slurmstepd's log goes to the job's standard error too.
void remote_task_exit(spank_t spank) {
  if (!report_file || line_checked) return;
  const auto step = this_step(spank);
  const auto line = step ? read_last_line(report_file->path(), step->uid) : std::nullopt;
  if (!line) return;
  line_checked = true;
  const auto message = message_of_line(line->text);
  if (!message) {
    slurm_error("rubato: the last line of $RUBATO_REPORT_FILE is not a report: %s",
                message.error().text.c_str());
  }
}

void remote_exit() {
  if (forwarder) end_forwarder();
  forwarder.reset();
  if (report_file) report_file->leave();
  report_file.reset();
}

}  // namespace rubato
