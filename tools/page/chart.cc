// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/page/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/page/html.h"

namespace rubato::tools {
namespace {

constexpr double kWidth = 640;
constexpr double kHeight = 300;
constexpr double kLeft = 62;
constexpr double kRight = 14;
constexpr double kTop = 12;
constexpr double kBottom = 48;
/// From this ratio on, a time axis is logarithmic.
constexpr double kWide = 30;
constexpr int kColours = 8;

/// Distance of ticks: 1, 2 or 5 times a power of ten, at most `most` of them in `span`.
double nice_step(double span, int most) {
  const double rough = span / most;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (power * factor >= rough * (1 - 1e-9)) return power * factor;
  }
  return power * 10;
}

struct Unit {
  double seconds;
  const char* name;
};

Unit unit_for(double span) {
  if (span <= 180) return {1, "s"};
  if (span <= 3 * 3600) return {60, "min"};
  if (span <= 4 * 86400) return {3600, "h"};
  return {86400, "d"};
}

double to_x(const Axis& axis, double value) {
  return kLeft + (kWidth - kLeft - kRight) * axis.share(value);
}

double to_y(const Axis& axis, double value) {
  return kTop + (kHeight - kTop - kBottom) * (1 - axis.share(value));
}

std::string grid(const Chart& chart) {
  std::string svg;
  const double bottom = kHeight - kBottom;
  for (const Tick& tick : chart.x.ticks) {
    svg += fmt::format(
        R"(<path class="grid" d="M{0:.1f} {1:.0f}V{2:.0f}"/><text x="{0:.1f}" y="{3:.0f}" text-anchor="middle">{4}</text>)",
        to_x(chart.x, tick.at), kTop, bottom, bottom + 21, html_text(tick.label));
  }
  for (const Tick& tick : chart.y.ticks) {
    const double y = to_y(chart.y, tick.at);
    svg += fmt::format(
        R"(<path class="grid" d="M{:.0f} {:.1f}H{:.0f}"/><text x="{:.0f}" y="{:.1f}" text-anchor="end">{}</text>)",
        kLeft, y, kWidth - kRight, kLeft - 7, y + 4, html_text(tick.label));
  }
  svg += fmt::format(R"(<text class="quiet" x="{:.0f}" y="{:.0f}" text-anchor="middle">{}</text>)",
                     (kLeft + kWidth - kRight) / 2, kHeight - 8, html_text(chart.x.title));
  return svg;
}

std::string path_of(const Chart& chart, const Line& line) {
  std::string path;
  for (const auto& [x, y] : line.points) {
    const double at_x = to_x(chart.x, x);
    const double at_y = to_y(chart.y, y);
    if (path.empty()) {
      path = fmt::format("M{:.1f} {:.1f}", at_x, at_y);
    } else if (line.steps) {
      path += fmt::format("H{:.1f}V{:.1f}", at_x, at_y);
    } else {
      path += fmt::format("L{:.1f} {:.1f}", at_x, at_y);
    }
  }
  return path;
}

std::string classes(int style) {
  return fmt::format("line s{} dash{}", style % kColours, (style + style / 4) % 4);
}

}  // namespace

double Axis::share(double value) const {
  const double part = log ? std::log(std::max(value, low) / low) / std::log(high / low)
                          : (value - low) / (high - low);
  return std::clamp(part, 0.0, 1.0);
}

Axis time_axis(double high, const std::string& title) {
  Axis axis;
  axis.high = std::max(high, 1.0);
  const Unit unit = unit_for(axis.high);
  const double step = nice_step(axis.high / unit.seconds, 7);
  for (double mark = 0; mark * unit.seconds <= axis.high * (1 + 1e-9); mark += step) {
    axis.ticks.push_back({mark * unit.seconds, fmt::format("{:g}", mark)});
  }
  axis.title = fmt::format("{} ({})", title, unit.name);
  axis.time = true;
  return axis;
}

Axis wide_time_axis(double low, double high, const std::string& title) {
  if (!(low > 0) || high / low < kWide) return time_axis(high, title);
  static const std::array<Tick, 10> marks{{{1, "1 s"},
                                           {10, "10 s"},
                                           {60, "1 min"},
                                           {600, "10 min"},
                                           {3600, "1 h"},
                                           {36000, "10 h"},
                                           {4 * 86400.0, "4 d"},
                                           {40 * 86400.0, "40 d"},
                                           {400 * 86400.0, "400 d"},
                                           {4000 * 86400.0, "4000 d"}}};
  Axis axis;
  axis.low = low;
  axis.high = high;
  axis.log = axis.time = true;
  axis.title = title + ", logarithmic";
  for (const Tick& mark : marks) {
    if (mark.at >= low && mark.at <= high) axis.ticks.push_back(mark);
  }
  return axis;
}

Axis ratio_axis(double high, const std::string& title) {
  Axis axis;
  axis.low = 1;
  axis.high = std::max(high, 2.0);
  axis.log = true;
  axis.title = title + ", logarithmic";
  double power = 1;
  while (power <= axis.high) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (power * factor > axis.high) break;
      // On a wide axis powers of ten suffice.
      if (factor > 1 && axis.high > 2000) continue;
      axis.ticks.push_back({power * factor, fmt::format("{:g}", power * factor)});
    }
    power *= 10;
  }
  return axis;
}

Axis share_axis(const std::string& title) {
  Axis axis;
  axis.title = title;
  for (const int percent : {0, 25, 50, 75, 100}) {
    axis.ticks.push_back({percent / 100.0, fmt::format("{} %", percent)});
  }
  return axis;
}

Axis count_axis(double most, const std::string& title) {
  Axis axis;
  axis.title = title;
  const double step = std::max(1.0, nice_step(std::max(most, 1.0), 5));
  axis.high = std::max(step, std::ceil(most / step) * step);
  const auto marks = std::lround(axis.high / step);
  for (long i = 0; i <= marks; ++i) {
    const double mark = static_cast<double>(i) * step;
    axis.ticks.push_back({mark, fmt::format("{:.0f}", mark)});
  }
  return axis;
}

std::string length_text(double seconds) {
  const Unit unit = unit_for(seconds);
  return fmt::format("{:.{}f} {}", seconds / unit.seconds, unit.seconds < 3600 ? 1 : 2, unit.name);
}

std::string chart_svg(const Chart& chart) {
  std::string svg = fmt::format(
      R"(<svg class="plot" viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}: {}" data-box="{:.0f} {:.0f} {:.0f} {:.0f}" data-x="{:.9g} {:.9g} {} {}" data-y="{:.9g} {}">)",
      kWidth, kHeight, html_text(chart.title), html_text(chart.about), kLeft, kTop, kWidth - kRight,
      kHeight - kBottom, chart.x.low, chart.x.high, chart.x.log ? "log" : "linear",
      chart.x.time ? "time" : "ratio", chart.y.high, chart.unit);
  svg += grid(chart);
  for (const Line& line : chart.lines) {
    svg += fmt::format(R"(<path class="{}" data-name="{}" d="{}"><title>{}</title></path>)",
                       classes(line.style), html_text(line.name), path_of(chart, line),
                       html_text(line.name));
  }
  return svg + "</svg>";
}

std::string swatch_svg(int style) {
  return fmt::format(
      R"(<svg class="swatch" viewBox="0 0 28 14" aria-hidden="true"><path class="{}" d="M0 7H28"/></svg>)",
      classes(style));
}

}  // namespace rubato::tools
