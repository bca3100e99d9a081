// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/version.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>

namespace rubato {
namespace {

TEST(Version, HasThreeNumbers) {
  EXPECT_TRUE(std::regex_match(std::string(version()), std::regex(R"(\d+\.\d+\.\d+)")))
      << version();
}

}  // namespace
}  // namespace rubato
