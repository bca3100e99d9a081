// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/common/host.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace rubato {

namespace {

namespace fs = std::filesystem;

std::string file_of(const void* inside) {
  Dl_info info{};
  if (dladdr(inside, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code ignored;
  const fs::path real = fs::canonical(info.dli_fname, ignored);
  return ignored ? std::string(info.dli_fname) : real.string();
}

}  // namespace

std::string directory_of(const void* inside) {
  return fs::path(file_of(inside)).parent_path().string();
}

Result<std::string> find_stock(const std::string& plugin_dir, const std::string& own_directory,
                               const std::string& name) {
  bool behind = false;
  std::size_t from = 0;
  while (from <= plugin_dir.size()) {
    std::size_t to = plugin_dir.find(':', from);
    if (to == std::string::npos) to = plugin_dir.size();
    const fs::path part = plugin_dir.substr(from, to - from);
    from = to + 1;
    std::error_code ignored;
    const fs::path real = fs::canonical(part, ignored);
    if (!ignored && real == own_directory) {
      behind = true;
      continue;
    }
    if (behind && fs::exists(part / name, ignored)) return (part / name).string();
  }
  if (!behind) return fail(fmt::format("PluginDir={} does not name {}", plugin_dir, own_directory));
  return fail(fmt::format("no {} after {} in PluginDir={}; set PluginDir={}:<directory of Slurm>",
                          name, own_directory, plugin_dir, own_directory));
}

Result<StockPlugin> StockPlugin::open(const std::string& path) {
  StockPlugin plugin(nullptr, path);  // nothing fails after the file is open
  plugin.handle_ = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (plugin.handle_ == nullptr)
    return fail(
        fmt::format("cannot open {}: {}", path, dlerror()));  // NOLINT(concurrency-mt-unsafe)
  return plugin;
}

Result<void*> StockPlugin::find(const char* symbol) const {
  void* address = dlsym(handle_, symbol);
  if (address == nullptr) return fail(fmt::format("{} has no {}", path_, symbol));
  return address;
}

void StockPlugin::close() {
  if (handle_ != nullptr) dlclose(handle_);
  handle_ = nullptr;
}

void pin(const void* inside) {
  const std::string file = file_of(inside);
  if (!file.empty()) (void)dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace rubato
