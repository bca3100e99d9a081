// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/shared/slurm_conf.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "lib/base/lex.h"
#include "lib/base/nearest.h"

namespace rubato::tools {
namespace {

constexpr int kMaxIncludeDepth = 10;

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
}

Result<void> read_into(SlurmConf& conf, const std::string& path, int depth) {
  if (depth > kMaxIncludeDepth) return fail(fmt::format("{}: included too deeply", path));
  const Result<std::string> text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  for (const ConfigLine& line : lex_config(*text)) {
    if (line.include) {
      std::string file = *line.include;
      if (const std::size_t at = file.find("%c"); at != std::string::npos) {
        file.replace(at, 2, lower(conf.get_or("ClusterName", "")));
      }
      // As slurmctld: relative to the folder of slurm.conf, not of the file that includes.
      if (!file.starts_with('/')) file = fmt::format("{}/{}", directory_of(conf.path), file);
      if (auto done = read_into(conf, file, depth + 1); !done) {
        return fail(
            fmt::format("{} (included by {}:{})", done.error().text, path, line.include_line));
      }
      continue;
    }
    if (line.pairs.empty()) continue;
    ConfRecord record{path, line.pairs.front().line, {}};
    for (const ConfigPair& pair : line.pairs) {
      record.pairs.emplace_back(lower(pair.key), pair.value);
    }
    conf.records.push_back(std::move(record));
  }
  return {};
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (const std::string_view part = trim(text.substr(0, end)); !part.empty()) {
      parts.emplace_back(part);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

Result<std::string> read_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (file == nullptr) return fail(fmt::format("{}: {}", path, std::strerror(errno)));
  std::string text;
  char buffer[65536];
  while (true) {
    const std::size_t got = std::fread(buffer, 1, sizeof(buffer), file.get());
    text.append(buffer, got);
    if (got < sizeof(buffer)) break;
  }
  if (std::ferror(file.get()) != 0) return fail(fmt::format("{}: {}", path, std::strerror(errno)));
  return text;
}

std::optional<std::string> ConfRecord::get(std::string_view lower_case_key) const {
  for (const auto& [key, value] : pairs) {
    if (key == lower_case_key) return value;
  }
  return std::nullopt;
}

std::string ConfPartition::get(const std::string& lower_case_key) const {
  const auto it = values.find(lower_case_key);
  return it == values.end() ? "" : it->second;
}

std::optional<std::string> SlurmConf::get(std::string_view key) const {
  const std::string wanted = lower(key);
  std::optional<std::string> value;
  for (const ConfRecord& record : records) {
    const std::string& first = record.pairs.front().first;
    // The pairs of a node or partition line are about that node or partition.
    if (first == "nodename" || first == "partitionname" || first == "nodeset" ||
        first == "downnodes" || first == "frontendname") {
      continue;
    }
    for (const auto& [name, text] : record.pairs) {
      if (name == wanted) value = text;
    }
  }
  return value;
}

std::string SlurmConf::get_or(std::string_view key, std::string fallback) const {
  return get(key).value_or(std::move(fallback));
}

std::vector<std::string> SlurmConf::list(std::string_view key, char separator) const {
  return split(get_or(key, ""), separator);
}

std::vector<ConfPartition> SlurmConf::partitions() const {
  std::map<std::string, std::string> defaults;
  std::vector<ConfPartition> partitions;
  for (const ConfRecord& record : records) {
    if (record.pairs.front().first != "partitionname") continue;
    const std::string& names = record.pairs.front().second;
    const bool is_default = lower(names) == "default";
    std::map<std::string, std::string> values = defaults;
    for (const auto& [key, value] : record.pairs) values[key] = value;
    if (is_default) {
      defaults = std::move(values);
      continue;
    }
    for (const std::string& name : split(names, ',')) {
      const auto same = std::find_if(partitions.begin(), partitions.end(),
                                     [&](const ConfPartition& p) { return p.name == name; });
      if (same != partitions.end()) {
        for (const auto& [key, value] : record.pairs) same->values[key] = value;
      } else {
        partitions.push_back({name, values});
      }
    }
  }
  return partitions;
}

std::string slurm_conf_path() {
  if (const char* path = std::getenv("SLURM_CONF"); path != nullptr && *path != '\0') return path;
  std::string standard = "/etc/slurm/slurm.conf";
  std::string configless = "/run/slurm/conf/slurm.conf";
  if (access(standard.c_str(), F_OK) != 0 && access(configless.c_str(), F_OK) == 0) {
    return configless;
  }
  return standard;
}

Result<SlurmConf> read_slurm_conf(const std::string& path) {
  SlurmConf conf;
  conf.path = path;
  if (auto done = read_into(conf, path, 0); !done) return tl::unexpected(done.error());
  return conf;
}

}  // namespace rubato::tools
