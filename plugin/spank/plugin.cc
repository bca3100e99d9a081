// SPDX-License-Identifier: GPL-2.0-or-later
// The entry points that Slurm calls. Each one calls the file of its context. None makes Slurm's
// program fail: a plugin that cannot work does nothing.
#include "plugin/spank/spank_header.h"

#include <algorithm>
#include <exception>

#include "plugin/common/exported.h"
#include "plugin/spank/client.h"
#include "plugin/spank/contexts.h"

// Slurm looks these up by name.
// NOLINTBEGIN(readability-identifier-naming,readability-redundant-declaration)
extern "C" {
RUBATO_EXPORTED extern const char plugin_name[];
RUBATO_EXPORTED extern const char plugin_type[];
RUBATO_EXPORTED extern const unsigned int plugin_version;
RUBATO_EXPORTED extern const unsigned int spank_plugin_version;
// This name is part of the variables in which Slurm stores options: kOptionVariable in client.cc.
const char plugin_name[] = "rubato";
const char plugin_type[] = "spank";
const unsigned int plugin_version = SLURM_VERSION_NUMBER;
const unsigned int spank_plugin_version = 1;
}
// NOLINTEND(readability-identifier-naming,readability-redundant-declaration)

namespace rubato {
namespace {

template <typename Body>
int guarded(const char* entry, Body body) noexcept {
  try {
    body();
  } catch (const std::exception& e) {
    slurm_error("rubato: %s: %s", entry, e.what());
  } catch (...) {
    slurm_error("rubato: %s: not a std::exception", entry);
  }
  return 0;
}

void init(spank_t spank, int count, char** words) {
  const PluginArguments arguments(words, words + count);
  check_values(!ignores_hints(arguments));
  switch (spank_context()) {
    case S_CTX_ALLOCATOR:
      return allocator_init(spank);
    case S_CTX_LOCAL:
      return local_init(spank);
    case S_CTX_REMOTE:
      return remote_init(spank, arguments);
    default:
      return;  // slurmd, prolog and epilog
  }
}

void options_done(spank_t spank, const PluginArguments& arguments) {
  if (ignores_hints(arguments)) return forget_options();
  switch (spank_context()) {
    case S_CTX_ALLOCATOR:
      return allocator_options_done(spank);
    case S_CTX_LOCAL:
      return local_options_done(spank);
    default:
      return;
  }
}

}  // namespace

bool ignores_hints(const PluginArguments& arguments) {
  return std::find(arguments.begin(), arguments.end(), kIgnoreHints) != arguments.end();
}

}  // namespace rubato

extern "C" {

RUBATO_EXPORTED int slurm_spank_init(spank_t spank, int count, char** words) {
  return rubato::guarded("init", [&] { rubato::init(spank, count, words); });
}

RUBATO_EXPORTED int slurm_spank_init_post_opt(spank_t spank, int count, char** words) {
  return rubato::guarded("init_post_opt", [&] {
    rubato::options_done(spank, rubato::PluginArguments(words, words + count));
  });
}

RUBATO_EXPORTED int slurm_spank_task_exit(spank_t spank, int /*count*/, char** /*words*/) {
  return rubato::guarded("task_exit", [&] { rubato::remote_task_exit(spank); });
}

RUBATO_EXPORTED int slurm_spank_exit(spank_t /*spank*/, int /*count*/, char** /*words*/) {
  return rubato::guarded("exit", [] {
    if (spank_context() == S_CTX_REMOTE) rubato::remote_exit();
  });
}

}  // extern "C"
