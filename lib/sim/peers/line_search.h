// SPDX-License-Identifier: GPL-2.0-or-later
// The line search of Moré and Thuente, ACM TOMS 20(3), 1994, as L-BFGS-B uses it.
#pragma once

namespace rubato::sim {

/// Searches a step that reduces a function enough and flattens it enough.
class LineSearch {
 public:
  /// `value`, `slope`: at step 0; the slope is negative. `step`: the first one to try.
  LineSearch(double value, double slope, double step, double max_step);

  [[nodiscard]] double step() const { return step_; }
  /// Value and slope at step(). True: the search ends here; else step() is the next one to try.
  [[nodiscard]] bool done(double value, double slope);

 private:
  struct End {
    double step = 0;
    double value = 0;
    double slope = 0;
  };
  void shorten(End& best, End& other, End tried);

  double start_value_;
  double start_slope_;
  double step_;
  double max_step_;
  bool bracketed_ = false;
  bool first_stage_ = true;
  double width_;
  double width_before_;
  double low_ = 0;
  double high_;
  End best_;
  End other_;
};

}  // namespace rubato::sim
