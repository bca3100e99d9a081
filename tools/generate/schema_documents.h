// SPDX-License-Identifier: GPL-2.0-or-later
// The documents whose schemas are made from descriptions.
#pragma once

#include <string>
#include <string_view>

#include "tools/generate/models_schema.h"
#include "tools/generate/record_schema.h"
#include "tools/generate/statistics_schema.h"
#include "tools/generate/tool_schema.h"

namespace rubato {

/// `text` is the content of docs/schema/rubato.NAME.1.json.
struct SchemaDocument {
  std::string_view name;
  std::string (*text)();
};

inline constexpr SchemaDocument kSchemaDocuments[] = {
    {"decisions", &decisions_schema},
    {"doctor", &doctor_schema},
    {"explain", &explain_schema},
    {"hold-size", &hold_size_schema},
    {"models", &models_schema},
    {"models-change", &models_change_schema},
    {"models-curve", &models_curve_schema},
    {"models-fit", &models_fit_schema},
    {"models-fits", &models_fits_schema},
    {"pause", &pause_schema},
    {"plan", &plan_schema},
    {"profiles", &profiles_schema},
    {"rehearse", &rehearse_schema},
    {"report", &report_schema},
    {"resize", &resize_schema},
    {"rqueue", &rqueue_schema},
    {"simulate", &simulate_schema},
    {"snapshot", &snapshot_schema},
    {"stats", &statistics_schema},
    {"wait-resize", &wait_resize_schema},
    {"whatif", &whatif_schema},
    {"whatif-mode", &whatif_mode_schema},
};

}  // namespace rubato
