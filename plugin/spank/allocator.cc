// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/spank/client.h"
#include "plugin/spank/contexts.h"

namespace rubato {
namespace {

std::vector<std::string> variables;  // one set for all components of a heterogeneous job

}  // namespace

void allocator_init(spank_t spank) {
  forget_enclosing_job();
  forget_enclosing_start();
  variables = take_variables();
  register_options(spank);
}

void allocator_options_done(spank_t spank) {
  hand_over(spank, given_options(), variables);
  forget_options();
}

}  // namespace rubato
