// SPDX-License-Identifier: GPL-2.0-or-later
// Prints what is generated from the table of options: `config_docs man|example|help|tests`.
#include <cstdio>
#include <string>
#include <string_view>

#include "lib/config/render.h"
#include "lib/config/test_options.h"
#include "tools/generate/config_man.h"

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  std::string text;
  if (what == "man") {
    text = rubato::man_page_config();
  } else if (what == "example") {
    text = rubato::example_config();
  } else if (what == "help") {
    text = rubato::help_config();
  } else if (what == "tests") {
    text = rubato::test_options_markdown();
  } else {
    std::fputs("usage: config_docs man|example|help|tests\n", stderr);
    return 2;
  }
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written ? 0 : 1;
}
