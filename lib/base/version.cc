// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/version.h"

#include "rubato_config.h"

namespace rubato {

std::string_view version() { return PACKAGE_VERSION; }

}  // namespace rubato
