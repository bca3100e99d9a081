// SPDX-License-Identifier: GPL-2.0-or-later
// Prints what is generated from the tables of hints: `hints_docs man|help|wrong`.
#include <cstdio>
#include <string>
#include <string_view>

#include "lib/hints/render.h"
#include "lib/hints/wrong_hints.h"
#include "tools/generate/hints_man.h"

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  std::string text;
  if (what == "man") {
    text = rubato::man_page_hints();
  } else if (what == "help") {
    text = rubato::help_hints();
  } else if (what == "wrong") {
    text = rubato::wrong_hints_json();
  } else {
    std::fputs("usage: hints_docs man|help|wrong\n", stderr);
    return 2;
  }
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written ? 0 : 1;
}
