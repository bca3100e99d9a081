// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/set_text.h"

#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

void set_text(char*& to, const std::string& text) {
  xfree(to);
  if (!text.empty()) to = xstrdup(text.c_str());
}

std::string take_text(char* text) {
  std::string out = text != nullptr ? text : "";
  xfree(text);
  return out;
}

}  // namespace rubato
