// SPDX-License-Identifier: GPL-2.0-or-later
// JSON Schemas of documents of the commands, made from the descriptions beside them.
#pragma once

#include <string>

namespace rubato {

/// docs/schema/rubato.doctor.1.json.
[[nodiscard]] std::string doctor_schema();

/// docs/schema/rubato.explain.1.json.
[[nodiscard]] std::string explain_schema();

/// docs/schema/rubato.pause.1.json.
[[nodiscard]] std::string pause_schema();

/// docs/schema/rubato.report.1.json.
[[nodiscard]] std::string report_schema();

/// docs/schema/rubato.hold-size.1.json.
[[nodiscard]] std::string hold_size_schema();

/// docs/schema/rubato.rehearse.1.json.
[[nodiscard]] std::string rehearse_schema();

/// docs/schema/rubato.resize.1.json.
[[nodiscard]] std::string resize_schema();

/// docs/schema/rubato.rqueue.1.json.
[[nodiscard]] std::string rqueue_schema();

/// docs/schema/rubato.simulate.1.json.
[[nodiscard]] std::string simulate_schema();

/// docs/schema/rubato.wait-resize.1.json.
[[nodiscard]] std::string wait_resize_schema();

/// docs/schema/rubato.whatif.1.json.
[[nodiscard]] std::string whatif_schema();
/// docs/schema/rubato.whatif-mode.1.json.
[[nodiscard]] std::string whatif_mode_schema();

}  // namespace rubato
