// SPDX-License-Identifier: GPL-2.0-or-later
// JSON Schemas of the documents about models, made from the descriptions in lib/json/.
#pragma once

#include <string>

namespace rubato {

/// docs/schema/rubato.models.1.json.
[[nodiscard]] std::string models_schema();

/// docs/schema/rubato.models-change.1.json.
[[nodiscard]] std::string models_change_schema();

/// docs/schema/rubato.models-fit.1.json.
[[nodiscard]] std::string models_fit_schema();

/// docs/schema/rubato.models-fits.1.json.
[[nodiscard]] std::string models_fits_schema();

/// docs/schema/rubato.models-curve.1.json.
[[nodiscard]] std::string models_curve_schema();

/// docs/schema/rubato.profiles.1.json.
[[nodiscard]] std::string profiles_schema();

}  // namespace rubato
