// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/common/pair.h"

#include <dlfcn.h>

#include "plugin/common/host.h"
#include "plugin/common/release.h"
#include "plugin/common/slurm_log.h"

namespace rubato {

const char* build_id() { return kPluginMarker; }

Pair* find_pair(const void* inside) {
  const std::string file = directory_of(inside) + "/select_cons_tres.so";
  // The select plugin is already loaded; this only finds it.
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr) {
    slurm_log(LogLevel::kError, "rubato: %s is not loaded; stock Slurm schedules", file.c_str());
    return nullptr;
  }
  const auto get = reinterpret_cast<PairFunction>(dlsym(handle, kPairSymbol));
  Pair* pair = get == nullptr ? nullptr : get(build_id());
  if (pair == nullptr)
    slurm_log(LogLevel::kError,
              "rubato: %s was not started or comes from another build; stock Slurm schedules",
              file.c_str());
  dlclose(handle);  // releases only the reference taken here
  return pair;
}

}  // namespace rubato
