// SPDX-License-Identifier: GPL-2.0-or-later
// Results of `rubato validate`: the errors of the models on measured data, one section per data
// set.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rubato {

/// Errors of one fit on rows that were not used in the fit. Errors are relative: |predicted /
/// measured - 1|.
struct ValidatedObservation {
  std::string source;  ///< data set: the name of the section
  std::string model;   ///< as named in the data
  std::string plan;    ///< execution plan, GPU type or another group of the model's rows; may be ""
  int fit_samples = 0;
  int test_rows = 0;
  double mean_error = 0;
  double max_error = 0;
};

/// `summary` and `gates` in print order; names of gates are unique over all sections. `notes` are
/// sentences for users: omitted rows, figures to compare with.
struct ValidateSection {
  std::vector<ValidatedObservation> observations;
  std::vector<std::pair<std::string, double>> summary;
  std::vector<std::pair<std::string, bool>> gates;
  std::vector<std::string> notes;
};

}  // namespace rubato
