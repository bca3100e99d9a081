// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/line_search.h"

#include <algorithm>
#include <cmath>

namespace rubato::sim {
namespace {

constexpr double kDecrease = 1e-3;
constexpr double kCurvature = .9;
constexpr double kInterval = .1;
constexpr double kShrink = .66;
constexpr double kMaxGrowth = 4;
constexpr double kMinGrowth = 1.1;

}  // namespace

LineSearch::LineSearch(double value, double slope, double step, double max_step)
    : start_value_(value),
      start_slope_(slope),
      step_(step),
      max_step_(max_step),
      width_(max_step),
      width_before_(2 * max_step),
      high_(step + kMaxGrowth * step),
      best_{0, value, slope},
      other_{0, value, slope} {}

bool LineSearch::done(double value, double slope) {
  const double wanted_slope = kDecrease * start_slope_;
  const double wanted = start_value_ + step_ * wanted_slope;
  if (first_stage_ && value <= wanted && slope >= 0) first_stage_ = false;
  const bool stuck = bracketed_ && (step_ <= low_ || step_ >= high_);
  const bool narrow = bracketed_ && high_ - low_ <= kInterval * high_;
  const bool longest = step_ == max_step_ && value <= wanted && slope <= wanted_slope;
  const bool shortest = step_ == 0 && (value > wanted || slope >= wanted_slope);
  const bool good = value <= wanted && std::abs(slope) <= kCurvature * -start_slope_;
  if (stuck || narrow || longest || shortest || good) return true;
  const double tilt = first_stage_ && value <= best_.value && value > wanted ? wanted_slope : 0;
  const auto tilted = [&](End end, double by) {
    return End{end.step, end.value + by * end.step, end.slope + by};
  };
  End best = tilted(best_, -tilt);
  End other = tilted(other_, -tilt);
  shorten(best, other, tilted({step_, value, slope}, -tilt));
  best_ = tilted(best, tilt);
  other_ = tilted(other, tilt);
  if (bracketed_) {
    const double width = std::abs(other_.step - best_.step);
    if (width >= kShrink * width_before_) step_ = best_.step + .5 * (other_.step - best_.step);
    width_before_ = width_;
    width_ = width;
    low_ = std::min(best_.step, other_.step);
    high_ = std::max(best_.step, other_.step);
  } else {
    low_ = step_ + kMinGrowth * (step_ - best_.step);
    high_ = step_ + kMaxGrowth * (step_ - best_.step);
  }
  step_ = std::clamp(step_, 0.0, max_step_);
  if (bracketed_ && (step_ <= low_ || step_ >= high_ || high_ - low_ <= kInterval * high_)) {
    step_ = best_.step;
  }
  return false;
}

/// The next step, from cubics and secants through the ends of the interval and the tried point, and
/// the new ends (`dcstep` of MINPACK-2).
void LineSearch::shorten(End& best, End& other, End tried) {
  const double sign = tried.slope * (best.slope / std::abs(best.slope));
  const double span = tried.step - best.step;
  const double theta = 3 * (best.value - tried.value) / span + best.slope + tried.slope;
  const double scale = std::max({std::abs(theta), std::abs(best.slope), std::abs(tried.slope)});
  const double inside =
      (theta / scale) * (theta / scale) - (best.slope / scale) * (tried.slope / scale);
  double next = 0;
  if (tried.value > best.value) {
    const double gamma = std::copysign(scale * std::sqrt(inside), span);
    const double ratio =
        ((gamma - best.slope) + theta) / (((gamma - best.slope) + gamma) + tried.slope);
    const double cubic = best.step + ratio * span;
    const double secant =
        best.step + best.slope / ((best.value - tried.value) / span + best.slope) / 2 * span;
    next = std::abs(cubic - best.step) < std::abs(secant - best.step)
               ? cubic
               : cubic + (secant - cubic) / 2;
    bracketed_ = true;
  } else if (sign < 0) {
    const double gamma = std::copysign(scale * std::sqrt(inside), -span);
    const double ratio =
        ((gamma - tried.slope) + theta) / (((gamma - tried.slope) + gamma) + best.slope);
    const double cubic = tried.step - ratio * span;
    const double secant = tried.step - tried.slope / (tried.slope - best.slope) * span;
    next = std::abs(cubic - tried.step) > std::abs(secant - tried.step) ? cubic : secant;
    bracketed_ = true;
  } else if (std::abs(tried.slope) < std::abs(best.slope)) {
    const double gamma = std::copysign(scale * std::sqrt(std::max(0.0, inside)), -span);
    const double ratio =
        ((gamma - tried.slope) + theta) / ((gamma + (best.slope - tried.slope)) + gamma);
    const double limit = span > 0 ? high_ : low_;
    const double cubic = ratio < 0 && gamma != 0 ? tried.step - ratio * span : limit;
    const double secant = tried.step - tried.slope / (tried.slope - best.slope) * span;
    const bool cubic_nearer = std::abs(cubic - tried.step) < std::abs(secant - tried.step);
    if (bracketed_) {
      next = cubic_nearer ? cubic : secant;
      const double most = tried.step + kShrink * (other.step - tried.step);
      next = span > 0 ? std::min(most, next) : std::max(most, next);
    } else {
      next = std::clamp(cubic_nearer ? secant : cubic, low_, high_);
    }
  } else if (bracketed_) {
    const double far = other.step - tried.step;
    const double bend = 3 * (tried.value - other.value) / far + other.slope + tried.slope;
    const double size = std::max({std::abs(bend), std::abs(other.slope), std::abs(tried.slope)});
    const double root = (bend / size) * (bend / size) - (other.slope / size) * (tried.slope / size);
    const double gamma = std::copysign(size * std::sqrt(root), far);
    const double ratio =
        ((gamma - tried.slope) + bend) / (((gamma - tried.slope) + gamma) + other.slope);
    next = tried.step + ratio * far;
  } else {
    next = span > 0 ? high_ : low_;
  }
  if (tried.value > best.value) {
    other = tried;
  } else {
    if (sign < 0) other = best;
    best = tried;
  }
  step_ = next;
}

}  // namespace rubato::sim
