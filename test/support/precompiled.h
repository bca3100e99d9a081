// SPDX-License-Identifier: GPL-2.0-or-later
// The same as lib/base/precompiled.h, for test programs.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/precompiled.h"
