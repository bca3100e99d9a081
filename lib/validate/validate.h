// SPDX-License-Identifier: GPL-2.0-or-later
// What `rubato validate` finds: the errors of the models on measured data, a section a data set.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rubato {

/// Errors of one fit on rows that it did not see. Errors are relative: |predicted / measured - 1|.
struct ValidatedObservation {
  std::string source;  ///< data set, as the section is called
  std::string model;   ///< as the data name it
  std::string plan;    ///< execution plan, GPU type or another group of the model's rows; may be ""
  int fit_samples = 0;
  int test_rows = 0;
  double mean_error = 0;
  double max_error = 0;
};

/// `summary` and `gates` in the order in which they are printed; names of gates are unique over all
/// sections. `notes` are sentences for a person: rows left out, figures to compare with.
struct ValidateSection {
  std::vector<ValidatedObservation> observations;
  std::vector<std::pair<std::string, double>> summary;
  std::vector<std::pair<std::string, bool>> gates;
  std::vector<std::string> notes;
};

}  // namespace rubato
