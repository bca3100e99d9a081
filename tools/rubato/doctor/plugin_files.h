// SPDX-License-Identifier: GPL-2.0-or-later
// Plugins in the directories of PluginDir.
#pragma once

#include <array>
#include <optional>
#include <string>

namespace rubato::tools {

inline constexpr std::array<const char*, 3> kPluginFiles{"sched_backfill.so", "select_cons_tres.so",
                                                         "job_submit_logging.so"};

/// The text in each plugin file of Rubato: "RUBATO_PLUGIN_FOR_SLURM=22.05.8 RUBATO_VERSION=0.1.0
/// BUILD=...".
struct PluginMarker {
  std::string slurm_version;
  std::string rubato_version;
  std::string build;  ///< equal in files of one build

  bool operator==(const PluginMarker&) const = default;
};

enum class PluginKind { kMissing, kUnreadable, kStock, kRubato };

struct PluginFile {
  std::string path;
  PluginKind kind = PluginKind::kMissing;
  PluginMarker marker;  ///< for kRubato
};

/// The marker in the bytes of a file; nullopt if there is none.
[[nodiscard]] std::optional<PluginMarker> find_marker(const std::string& bytes);

[[nodiscard]] PluginFile look_at_plugin(const std::string& folder, const std::string& name);

[[nodiscard]] bool is_folder(const std::string& path);

}  // namespace rubato::tools
