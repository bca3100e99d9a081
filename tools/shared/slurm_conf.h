// SPDX-License-Identifier: GPL-2.0-or-later
// A small reader of slurm.conf, so that the tools run beside any Slurm without its library.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"

namespace rubato::tools {

/// One line of slurm.conf: its pairs in order, keys in lower case. "PartitionName=a Nodes=n1" is
/// one record of two pairs.
struct ConfRecord {
  std::string file;
  int line = 0;
  std::vector<std::pair<std::string, std::string>> pairs;

  [[nodiscard]] std::optional<std::string> get(std::string_view lower_case_key) const;
};

/// A partition with what it inherits from the PartitionName=DEFAULT lines before it.
struct ConfPartition {
  std::string name;
  std::map<std::string, std::string> values;  ///< keys in lower case

  [[nodiscard]] std::string get(const std::string& lower_case_key) const;
};

/// The lines of slurm.conf and of the files it includes.
struct SlurmConf {
  std::string path;
  std::vector<ConfRecord> records;

  /// The last value of a key at the beginning of a line; case does not matter.
  [[nodiscard]] std::optional<std::string> get(std::string_view key) const;
  [[nodiscard]] std::string get_or(std::string_view key, std::string fallback) const;
  /// A value split at `separator`, empty parts left out.
  [[nodiscard]] std::vector<std::string> list(std::string_view key, char separator = ',') const;
  /// In the order of the file, DEFAULT left out.
  [[nodiscard]] std::vector<ConfPartition> partitions() const;
};

/// SLURM_CONF; else /etc/slurm/slurm.conf; else what slurmd keeps of it where Slurm is configless.
std::string slurm_conf_path();

/// Reads `path` and the files it includes; "%c" in the name of an included file is ClusterName.
/// What it cannot make sense of is left out, for slurmctld judges its own file. Fails if a file
/// cannot be read.
[[nodiscard]] Result<SlurmConf> read_slurm_conf(const std::string& path);

/// Parts of `text` between `separator`s, empty ones left out.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);
/// The contents of a file, or the reason of the failure ("PATH: Permission denied").
[[nodiscard]] Result<std::string> read_file(const std::string& path);

}  // namespace rubato::tools
