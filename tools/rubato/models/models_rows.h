// SPDX-License-Identifier: GPL-2.0-or-later
// Shared input and output of the actions of `rubato models`.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lib/json/models_fit.h"
#include "lib/model/throughput/acquisition.h"
#include "lib/store/profiles.h"
#include "tools/rubato/models/models_actions.h"
#include "tools/shared/output.h"

namespace rubato::tools {

/// Whether the row has a selected account, job type and GPU type.
[[nodiscard]] bool chosen(const ModelsOptions& options, const store::ProfileRow& row);
/// Rows of an exported file, or of the site's store.
[[nodiscard]] Result<std::vector<store::ProfileRow>> rows_to_fit(const ModelsOptions& options,
                                                                 const Site& site);
/// The models that the last round had; those of a file are fitted now. Any shape may be asked.
[[nodiscard]] Result<ModelsFit> fit_to_show(const ModelsOptions& options, const Site& site);
/// Model shapes of the job types in rubato.conf.
[[nodiscard]] std::map<std::string, ModelShape> shapes_of(const Config& config);
[[nodiscard]] std::set<std::string> types_of(const std::vector<store::ProfileRow>& rows);
/// "no profile of job type 'resnt'; did you mean resnet?"
[[nodiscard]] std::string no_such_type(const std::string& type, const std::set<std::string>& names);

/// Observations of the measured rows of jobs with GPUs.
[[nodiscard]] std::vector<ThroughputObservation> observations_of(
    const std::vector<store::ProfileRow>& rows);
/// GPU types of rubato.conf and of the observations.
[[nodiscard]] std::set<std::string> gpu_types_of(const std::vector<ThroughputObservation>& cells,
                                                 const Config& config);

/// "3 wall-time: samples/s contradict the samples done since the last report"
[[nodiscard]] std::string flag_text(const std::string& flag, std::int64_t reports);

void print_most_informative(const std::vector<InformativeMeasurement>& most_informative);

}  // namespace rubato::tools
