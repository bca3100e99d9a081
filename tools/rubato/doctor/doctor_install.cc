// SPDX-License-Identifier: GPL-2.0-or-later
// The lines that an installation adds, and how to remove them.
#include <fmt/format.h>

#include <algorithm>

#include "tools/rubato/doctor/doctor.h"
#include "tools/rubato/doctor/plugin_files.h"

namespace rubato::tools {
namespace {

/// PluginDir without the folders of Rubato; "" if no other part is left.
std::string stock_plugin_dir(const Machine& machine) {
  std::string line;
  for (const std::string& folder : machine.site.slurm.list("PluginDir", ':')) {
    const PluginKind kind = look_at_plugin(folder, "select_cons_tres.so").kind;
    if (kind == PluginKind::kRubato || folder == machine.rubato_dir) continue;
    line += (line.empty() ? "" : ":") + folder;
  }
  return line;
}

/// A list without one of its words.
std::string without_word(const SlurmConf& conf, const char* key, const std::string& word) {
  std::string line;
  for (const std::string& part : conf.list(key)) {
    if (part != word) line += (line.empty() ? "" : ",") + part;
  }
  return line;
}

bool lists(const SlurmConf& conf, const char* key, const std::string& word) {
  const std::vector<std::string> words = conf.list(key);
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string step_change(const std::string& number, const std::string& where,
                        const std::string& before, const std::string& after) {
  if (after.empty())
    return fmt::format("{}. In {} delete the line\n       {}\n", number, where, before);
  return fmt::format("{}. In {} change\n       {}\n   to\n       {}\n", number, where, before,
                     after);
}

/// The step for plugstack.conf. The SPANK plugin stays, so that scripts with --dl- options run.
std::string plugstack_step(const Machine& machine) {
  const auto line = find_plugstack_line(machine);
  if (!line) return "2. plugstack.conf does not name spank_rubato.so: nothing to change.\n";
  if (line->ignores)
    return fmt::format("2. {} has hints=ignore already: nothing to change.\n", line->conf);
  return step_change("2", line->conf, line->text, line->text + " hints=ignore") +
         "   The plugin then accepts the --dl- options and does nothing. Without this line, jobs\n"
         "   and scripts with such options are refused. Reports are never written into comments.\n";
}

/// Deletes the folder, or all but the SPANK plugin in it if plugstack.conf names that.
std::string delete_step(const Machine& machine) {
  const auto line = find_plugstack_line(machine);
  if (!line) {
    return "4. When no host uses the directory any more, delete it:\n       rm -r " +
           machine.rubato_dir + "\n";
  }
  return fmt::format(
      "4. Delete the plugins of slurmctld. Keep {} while plugstack.conf names it:\n"
      "       rm {}/{{{}}}\n",
      line->path, machine.rubato_dir, fmt::join(kPluginFiles, ","));
}

}  // namespace

std::vector<InstallLine> install_lines(const Machine& machine) {
  const SlurmConf& conf = machine.site.slurm;
  const std::vector<std::string> folders = conf.list("PluginDir", ':');
  const bool plugin_dir =
      std::find(folders.begin(), folders.end(), machine.rubato_dir) != folders.end();
  return {
      {"slurm.conf",
       fmt::format("PluginDir={}:{}", machine.rubato_dir,
                   machine.stock_dir.empty() ? "FOLDER-OF-THE-STOCK-PLUGINS" : machine.stock_dir),
       plugin_dir, "slurmctld loads Rubato's plugins, which load the stock plugins themselves",
       "harmless to stock Slurm: it skips plugins of another release and empty directories; the "
       "directory must exist on every host"},
      {"slurm.conf", "JobSubmitPlugins=logging", lists(conf, "JobSubmitPlugins", "logging"),
       "Rubato sees each submission, so salloc -I and srun -I work",
       "harmless to stock Slurm: its plugin of this name only writes log lines"},
      {"slurm.conf", "SchedulerParameters=bf_continue", has_parameter(conf, "bf_continue"),
       "a stock backfill cycle continues when Rubato starts a job during it",
       "harmless to stock Slurm: one of its own options, useful without Rubato too"},
      {"rubato.conf", fmt::format("Mode={}", rubato::to_string(machine.site.config.mode)),
       machine.site.config_present,
       "what Rubato may do; without this file or line it only observes",
       "harmless to stock Slurm: it does not read this file"},
  };
}

std::string removal_steps(const Machine& machine) {
  const Site& site = machine.site;
  const SlurmConf& conf = site.slurm;
  std::string text =
      "How to uninstall Rubato. All pending and running jobs are kept.\n\n"
      "To return all decisions to stock Slurm without a restart, set\n"
      "       Mode=observe\n"
      "in " +
      site.rubato_conf_path +
      " and run\n"
      "       scontrol reconfigure\n\n"
      "To uninstall it:\n";
  const std::string before = conf.get_or("PluginDir", "");
  const std::string stock = stock_plugin_dir(machine);
  text += before.empty() || before == stock
              ? fmt::format("1. PluginDir in {} names no directory of Rubato: nothing to change.\n",
                            conf.path)
              : step_change("1", conf.path, "PluginDir=" + before,
                            stock.empty() ? "" : "PluginDir=" + stock);
  text += plugstack_step(machine);
  text +=
      "3. Copy the changed files to all hosts. slurmctld reads PluginDir only when it starts:\n"
      "       systemctl restart slurmctld\n";
  text += delete_step(machine);
  text += "5. These are harmless to stock Slurm; keep them or remove them at any time:\n";
  if (lists(conf, "JobSubmitPlugins", "logging")) {
    const std::string rest = without_word(conf, "JobSubmitPlugins", "logging");
    text += rest.empty() ? "   - logging in JobSubmitPlugins: delete the line\n"
                         : fmt::format(
                               "   - logging in JobSubmitPlugins; without it the line is\n"
                               "       JobSubmitPlugins={}\n",
                               rest);
  }
  if (has_parameter(conf, "bf_continue")) {
    text += "   - bf_continue in SchedulerParameters\n";
  }
  text += "   - " + site.rubato_conf_path + "\n   - " + site.state_dir + "/rubato\n";
  if (!site.publish_dir.starts_with(site.state_dir + "/rubato/")) {
    text += "   - " + site.publish_dir + "\n";
  }
  return text;
}

}  // namespace rubato::tools
