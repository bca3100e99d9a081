// SPDX-License-Identifier: GPL-2.0-or-later
#include <gmock/gmock.h>

#include "test/support/cunit_listener.h"

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  rubato::test::add_listeners(argc, argv);
  return RUN_ALL_TESTS();
}
