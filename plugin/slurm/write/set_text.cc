// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/set_text.h"

#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

void set_text(char*& to, const std::string& text) {
  xfree(to);
  if (!text.empty()) to = xstrdup(text.c_str());
}

}  // namespace rubato
