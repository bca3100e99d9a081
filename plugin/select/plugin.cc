// SPDX-License-Identifier: GPL-2.0-or-later
// select/cons_tres with Rubato's gate in front: only the symbols that Slurm looks up.
#include <atomic>
#include <cstring>

#include "plugin/common/exported.h"
#include "plugin/common/guard.h"
#include "plugin/common/host.h"
#include "plugin/common/release.h"
#include "plugin/common/slurm_log.h"
#include "plugin/select/host.h"
#include "plugin/slurm/stock/controller.h"

// Slurm looks these up by name.
// NOLINTBEGIN(readability-identifier-naming,readability-redundant-declaration)
extern "C" {
RUBATO_EXPORTED extern const char plugin_name[];
RUBATO_EXPORTED extern const char plugin_type[];
RUBATO_EXPORTED extern const uint32_t plugin_version;
RUBATO_EXPORTED extern const uint32_t plugin_id;
const char plugin_name[] = "Rubato in front of select/cons_tres";
const char plugin_type[] = "select/cons_tres";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;
const uint32_t plugin_id = SELECT_PLUGIN_CONS_TRES;
}
// NOLINTEND(readability-identifier-naming,readability-redundant-declaration)

namespace rubato {

namespace {

SelectOps loaded_ops;
std::atomic<bool> in_use{false};  // the last init() succeeded

Result<SelectOps> load_stock() {
  const std::string own = directory_of(plugin_type);
  return find_stock(plugin_dir(), own, "select_cons_tres.so")
      .and_then([](const std::string& path) { return StockPlugin::open(path); })
      .and_then([](const StockPlugin& plugin) { return SelectOps::load(plugin); });
}

}  // namespace

const SelectOps& stock_ops() { return loaded_ops; }

Gate& gate() {
  static Gate one;  // never destroyed in practice: the file is pinned
  return one;
}

}  // namespace rubato

extern "C" {

// Without the stock plugin no call can be forwarded: the daemon must not start.
RUBATO_EXPORTED int init() {
  static rubato::EntryPoint entry{"select/cons_tres init"};
  return rubato::guard_start(
      entry,
      []() -> int {
        // Later calls of C code may not fail: the gate allocates when it is made.
        (void)rubato::gate();
        rubato::pin(plugin_type);
        const auto ops = rubato::load_stock();
        if (!ops) {
          rubato::slurm_log(rubato::LogLevel::kError, "rubato: %s", ops.error().text.c_str());
          return SLURM_ERROR;
        }
        rubato::loaded_ops = *ops;
        rubato::slurm_log(rubato::LogLevel::kDebug, "%s", rubato::kPluginMarker);
        const int rc = rubato::loaded_ops.init();
        rubato::in_use = rc == SLURM_SUCCESS;
        return rc;
      },
      []() -> int { return SLURM_ERROR; });
}

RUBATO_EXPORTED void fini() {
  rubato::in_use = false;
  rubato::gate().forget_nodes();
  if (rubato::loaded_ops.fini != nullptr) rubato::loaded_ops.fini();
}

// If init() failed, Slurm has loaded the stock plugin in place of this file, which is still in
// memory: a loop with this gate would start jobs that stock Slurm starts too.
RUBATO_EXPORTED rubato::Pair* rubato_pair(const char* build) {
  const bool usable = rubato::in_use && std::strcmp(build, rubato::build_id()) == 0;
  return usable ? &rubato::gate() : nullptr;
}

}  // extern "C"
