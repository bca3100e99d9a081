// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/page/lanes.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <numeric>
#include <tuple>
#include <utility>

#include "tools/page/html.h"

namespace rubato::tools {
namespace {

/// The chart's own width; the page stretches it.
constexpr double kWidth = 1000;
/// Pixels between nodes.
constexpr int kGap = 4;
/// Height of a node's row at the least, for its name.
constexpr int kNameHeight = 15;
/// A label is drawn in a bar of at least this share of the width, and this height.
constexpr double kLabelShare = 0.07;
constexpr int kLabelHeight = 11;
constexpr int kMaxTicks = 5;

/// Consecutive GPUs of a bar.
struct Piece {
  const LaneBar* bar = nullptr;
  int first = 0;
  int count = 0;
};

double to_x(const LaneChart& chart, Seconds time) {
  const double share = static_cast<double>(std::clamp(time, chart.from, chart.until) - chart.from) /
                       static_cast<double>(chart.until - chart.from);
  return share * kWidth;
}

int height_of(const LaneChart& chart, const LaneNode& node) {
  return std::max(node.gpus * chart.row, kNameHeight);
}

/// The `count` GPUs of a node that become free first, the lowest ones first.
std::vector<int> take_lanes(std::vector<Seconds>& free_at, const LaneBar& bar) {
  std::vector<int> order(free_at.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int gpu) {
    const Seconds free = free_at[static_cast<std::size_t>(gpu)];
    return free <= bar.from ? Seconds{0} : free;
  });
  order.resize(std::min(order.size(), static_cast<std::size_t>(std::max(bar.gpus, 0))));
  for (const int gpu : order) free_at[static_cast<std::size_t>(gpu)] = bar.until;
  std::ranges::sort(order);
  return order;
}

std::vector<Piece> pieces_of(const LaneChart& chart) {
  std::vector<std::vector<Seconds>> free_at;
  free_at.reserve(chart.nodes.size());
  for (const LaneNode& node : chart.nodes)
    free_at.emplace_back(static_cast<std::size_t>(std::max(node.gpus, 0)), Seconds{0});
  std::vector<const LaneBar*> bars;
  for (const LaneBar& bar : chart.bars)
    if (bar.node < chart.nodes.size() && bar.until > bar.from) bars.push_back(&bar);
  std::ranges::stable_sort(bars, {}, &LaneBar::from);
  std::vector<Piece> pieces;
  for (const LaneBar* bar : bars) {
    for (const int gpu : take_lanes(free_at[bar->node], *bar)) {
      const bool joins = !pieces.empty() && pieces.back().bar == bar &&
                         pieces.back().first + pieces.back().count == gpu;
      if (joins)
        ++pieces.back().count;
      else
        pieces.push_back({bar, gpu, 1});
    }
  }
  return pieces;
}

/// Full hours or parts of them, in local time.
std::vector<Seconds> ticks_of(const LaneChart& chart) {
  static constexpr std::array<Seconds, 11> kSteps{60,    300,   900,   1800,  3600,  7200,
                                                  10800, 21600, 43200, 86400, 604800};
  const Seconds span = chart.until - chart.from;
  Seconds step = kSteps.back();
  for (const Seconds one : kSteps) {
    if (span / one <= kMaxTicks) {
      step = one;
      break;
    }
  }
  const std::time_t begin = chart.from;
  std::tm parts{};
  localtime_r(&begin, &parts);
  const Seconds local = chart.from + parts.tm_gmtoff;
  std::vector<Seconds> ticks;
  for (Seconds at = (local + step - 1) / step * step; at - parts.tm_gmtoff <= chart.until;
       at += step)
    ticks.push_back(at - parts.tm_gmtoff);
  return ticks;
}

std::string tick_label(Seconds time, Seconds span) {
  const std::time_t at = time;
  std::tm parts{};
  localtime_r(&at, &parts);
  return span > 2 * Seconds{86400} ? fmt::format("{:%m-%d}", parts)
                                   : fmt::format("{:%H:%M}", parts);
}

std::string axis_html(const LaneChart& chart) {
  std::string html = "<div class=\"ticks\" aria-hidden=\"true\">";
  for (const Seconds tick : ticks_of(chart)) {
    const double share = to_x(chart, tick) / kWidth * 100;
    if (share > 95) continue;
    html += fmt::format("<span style=\"left:{:.2f}%\">{}</span>", share,
                        tick_label(tick, chart.until - chart.from));
  }
  return html + "</div>\n";
}

/// The held or the expected part of a bar.
struct Part {
  double x = 0;
  double width = 0;
  bool planned = false;
};

std::vector<Part> parts_of(const LaneChart& chart, const LaneBar& bar) {
  const double from = to_x(chart, bar.from);
  const double held = to_x(chart, std::clamp(bar.held, bar.from, bar.until));
  const double until = to_x(chart, bar.until);
  std::vector<Part> parts;
  if (held > from) parts.push_back({from, std::max(held - from, 1.0), false});
  if (until > held) parts.push_back({held, std::max(until - held, 1.0), true});
  return parts;
}

std::string bar_svg(const LaneChart& chart, const Piece& piece, int top) {
  std::string html;
  for (const Part& part : parts_of(chart, *piece.bar)) {
    html += fmt::format(
        "<rect class=\"bar s{}{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">"
        "<title>{}</title></rect>\n",
        piece.bar->style, part.planned ? " planned" : "", part.x,
        top + piece.first * chart.row + 0.5, part.width,
        std::max(piece.count * chart.row - 1.0, 0.5), html_text(piece.bar->about));
  }
  return html;
}

/// In the wider part of the bar.
std::string label_html(const LaneChart& chart, const Piece& piece, int top) {
  const std::vector<Part> parts = parts_of(chart, *piece.bar);
  const auto widest = std::ranges::max_element(parts, {}, &Part::width);
  const int height = piece.count * chart.row;
  if (widest == parts.end() || widest->width < kLabelShare * kWidth || height < kLabelHeight ||
      piece.bar->label.empty())
    return "";
  return fmt::format(
      "<span class=\"tag s{}{}\" style=\"left:{:.2f}%;width:{:.2f}%;top:{}px;height:{}px\">{}"
      "</span>",
      piece.bar->style, widest->planned ? " planned" : "", widest->x / kWidth * 100,
      widest->width / kWidth * 100, top + piece.first * chart.row, height,
      html_text(piece.bar->label));
}

}  // namespace

int lane_row(int gpus) {
  for (const auto& [most, row] : {std::pair{128, 12}, {256, 8}, {512, 5}, {1024, 3}, {2048, 2}})
    if (gpus <= most) return row;
  return 0;
}

std::string lanes_html(const LaneChart& chart) {
  std::vector<int> tops;
  int height = 0;
  for (const LaneNode& node : chart.nodes) {
    tops.push_back(height);
    height += height_of(chart, node) + kGap;
  }
  height -= height > 0 ? kGap : 0;
  std::string names;
  std::string lanes;
  for (std::size_t i = 0; i < chart.nodes.size(); ++i) {
    const LaneNode& node = chart.nodes[i];
    names += fmt::format("<span style=\"height:{}px\">{}</span>", height_of(chart, node) + kGap,
                         html_text(node.name));
    lanes += fmt::format("<rect class=\"lane\" x=\"0\" y=\"{}\" width=\"{:.0f}\" height=\"{}\"/>\n",
                         tops[i], kWidth, std::max(node.gpus * chart.row, 1));
  }
  std::string bars;
  std::string tags;
  for (const Piece& piece : pieces_of(chart)) {
    bars += bar_svg(chart, piece, tops[piece.bar->node]);
    tags += label_html(chart, piece, tops[piece.bar->node]);
  }
  for (const Seconds tick : ticks_of(chart))
    lanes += fmt::format("<path class=\"grid\" d=\"M{:.1f} 0V{}\"/>", to_x(chart, tick), height);
  const double now = to_x(chart, chart.now);
  return fmt::format(
      "<div class=\"lanes\"><div class=\"names\" aria-hidden=\"true\">{0}</div>"
      "<div class=\"rows\">{1}<svg viewBox=\"0 0 {2:.0f} {3}\" style=\"height:{3}px\" "
      "preserveAspectRatio=\"none\" role=\"img\"><title>{4}</title><desc>{5}</desc>\n{6}{7}"
      "<path class=\"now\" d=\"M{8:.1f} 0V{3}\"/></svg>"
      "<div class=\"tags\" aria-hidden=\"true\">{9}</div></div></div>\n",
      names, axis_html(chart), kWidth, std::max(height, 1), html_text(chart.title),
      html_text(chart.about), lanes, bars, now, tags);
}

}  // namespace rubato::tools
