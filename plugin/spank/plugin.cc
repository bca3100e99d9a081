// SPDX-License-Identifier: GPL-2.0-or-later
// The entry points that Slurm calls. Each one calls the file of its context. None makes Slurm's
// program fail: a plugin that cannot work does nothing.
#include "plugin/spank/spank_header.h"

#include <exception>

#include "plugin/common/exported.h"
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
  switch (spank_context()) {
    case S_CTX_ALLOCATOR:
      return allocator_init(spank);
    case S_CTX_LOCAL:
      return local_init(spank);
    case S_CTX_REMOTE:
      return remote_init(spank, PluginArguments(words, words + count));
    default:
      return;  // slurmd, prolog and epilog
  }
}

void options_done(spank_t spank) {
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
}  // namespace rubato

extern "C" {

RUBATO_EXPORTED int slurm_spank_init(spank_t spank, int count, char** words) {
  return rubato::guarded("init", [&] { rubato::init(spank, count, words); });
}

RUBATO_EXPORTED int slurm_spank_init_post_opt(spank_t spank, int /*count*/, char** /*words*/) {
  return rubato::guarded("init_post_opt", [&] { rubato::options_done(spank); });
}

RUBATO_EXPORTED int slurm_spank_exit(spank_t /*spank*/, int /*count*/, char** /*words*/) {
  return rubato::guarded("exit", [] {
    if (spank_context() == S_CTX_REMOTE) rubato::remote_exit();
  });
}

}  // extern "C"
