// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rqueue/rqueue_layout.h"

#include <algorithm>
#include <string_view>

#include "tools/shared/output.h"

namespace rubato::tools {
namespace {

constexpr std::size_t kMinLast = 12;
// The longest reason that Rubato gives is as long; other columns make room for it.
constexpr std::size_t kWholeReason = std::string_view("(RubatoKeptForOthers)").size();

using Cells = std::vector<std::string>;

/// Replaces line ends and control bytes, which would break the table.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7F) c = '?';
  }
  return text;
}

Cells heading_cells(const Layout& layout) {
  Cells cells;
  for (const LayoutColumn& column : layout) cells.emplace_back(column.heading);
  return cells;
}

Cells row_cells(const Layout& layout, const SqueueRow& row, const JobFacts& facts) {
  Cells cells;
  std::size_t next = 0;
  for (const LayoutColumn& column : layout) {
    const std::string name = column.field;
    const OwnField* own = name.starts_with("dl") ? own_field(name) : nullptr;
    std::string text = own != nullptr ? text_or_unknown(*own, facts) : row.fields[next++];
    cells.push_back(text == "(null)" ? kUnknown : one_line(std::move(text)));
  }
  return cells;
}

std::size_t sum_of(const std::vector<std::size_t>& widths) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) sum += widths[i] == 0 ? 0 : widths[i] + 1;
  return sum;
}

/// Narrows the columns with the most spare width, then drops optional columns. `least`: width that
/// the last column keeps.
void narrow(const Layout& layout, std::vector<std::size_t>& widths, std::size_t width,
            std::size_t least) {
  const std::size_t last = layout.size() - 1;
  std::vector<std::size_t> whole = widths;
  const auto slack = [&](std::size_t i) {
    return widths[i] > layout[i].least ? widths[i] - layout[i].least : 0;
  };
  while (sum_of(widths) + least > width) {
    std::size_t widest = 0;
    for (std::size_t i = 1; i < last; ++i) {
      if (slack(i) > slack(widest)) widest = i;
    }
    if (slack(widest) > 0) {
      --widths[widest];
      continue;
    }
    std::size_t first = last;
    for (std::size_t i = 0; i < last; ++i) {
      const bool can = layout[i].drop > 0 && widths[i] > 0;
      if (can && (first == last || layout[i].drop < layout[first].drop)) first = i;
    }
    if (first == last) return;
    whole[first] = 0;
    widths = whole;  // the dropped columns' width is free now
  }
}

/// Width of each column except the last; 0: dropped.
std::vector<std::size_t> column_widths(const Layout& layout, const std::vector<Cells>& lines,
                                       const TableOptions& options) {
  const std::size_t last = layout.size() - 1;
  std::vector<std::size_t> widths(layout.size(), 0);
  for (const Cells& cells : lines) {
    for (std::size_t i = 0; i < layout.size(); ++i) {
      widths[i] = std::max(widths[i], columns(cells[i]));
    }
  }
  const auto used = [&] { return sum_of(widths); };
  if (options.width && used() + widths[last] > *options.width) {
    for (std::size_t i = 0; i < last; ++i) {
      if (layout[i].extra) widths[i] = 0;
      widths[i] = std::min(widths[i], layout[i].most);
    }
  }
  std::size_t reason = 0;  // without the heading, the first line
  for (std::size_t i = 1; i < lines.size(); ++i) reason = std::max(reason, columns(lines[i][last]));
  if (options.width)
    narrow(layout, widths, *options.width, std::clamp(reason, kMinLast, kWholeReason));
  widths[last] =
      !options.width ? 0 : std::max(kMinLast, *options.width - std::min(*options.width, used()));
  return widths;
}

Color color_of_state(const std::string& state) {
  if (state == "R" || state == "RUNNING") return Color::kGreen;
  if (state == "PD" || state == "PENDING") return Color::kYellow;
  return Color::kPlain;
}

std::string line_of(const Layout& layout, const std::vector<std::size_t>& widths,
                    const Cells& cells, bool color) {
  std::string line;
  const std::size_t last = layout.size() - 1;
  for (std::size_t i = 0; i < last; ++i) {
    if (widths[i] == 0) continue;
    const std::string shown = cut(cells[i], widths[i]);
    const std::string pad(widths[i] - columns(shown), ' ');
    const bool state = std::string_view(layout[i].field).starts_with("state");
    const std::string cell = paint(shown, state ? color_of_state(shown) : Color::kPlain, color);
    line += (layout[i].right ? pad + cell : cell + pad) + " ";
  }
  line += widths[last] == 0 ? cells[last] : cut(cells[last], widths[last]);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

const Layout& short_layout() {
  static const Layout layout{
      {"jobarrayid", "JOBID", 6, 12, true, false},
      {"partition", "PARTITION", 4, 9, false, true},
      {"name", "NAME", 4, 10, false, false, 4},
      {"username", "USER", 4, 8, false, false, 3},
      {"statecompact", "ST", 2, 2, false, false},
      {"timeused", "TIME", 11, 11, true, false},
      {"dljobtype", "JOBTYPE", 7, 12, false, false},
      {"dllevel", "LEVEL", 1, 5, true, true},
      {"dlgpus", "GPUS", 9, 9, false, false},
      {"dlsizes", "SIZES", 5, 9, false, false, 1},
      {"dlplan", "PLAN", 4, 8, false, true},
      {"dlrate", "RATE", 7, 7, true, false, 2},
      {"dlprogress", "PROGRESS", 4, 8, true, true},
      {"dlremaining", "LEFT", 11, 11, true, false},
      {"reasonlist", "NODELIST(REASON)", 12, 0, false, false},
  };
  return layout;
}

const Layout& long_layout() {
  static const Layout layout{
      {"jobarrayid", "JOBID", 6, 18, true, false},
      {"partition", "PARTITION", 4, 12, false, false},
      {"name", "NAME", 4, 16, false, false},
      {"username", "USER", 4, 12, false, false},
      {"state", "STATE", 8, 12, false, false},
      {"timeused", "TIME", 4, 11, true, false},
      {"timelimit", "TIME_LIMIT", 4, 11, true, false},
      {"numnodes", "NODES", 5, 6, true, false},
      {"dljobtype", "JOBTYPE", 7, 20, false, false},
      {"dllevel", "LEVEL", 1, 5, true, false},
      {"dlgpus", "GPUS", 6, 12, false, false},
      {"dlsizes", "SIZES", 5, 16, false, false},
      {"dlplan", "PLAN", 4, 16, false, false},
      {"dlrate", "RATE", 4, 8, true, false},
      {"dlprogress", "PROGRESS", 4, 8, true, false},
      {"dlremaining", "LEFT", 4, 11, true, false},
      {"dlwait", "WAIT", 4, 12, false, false},
      {"reasonlist", "NODELIST(REASON)", 12, 0, false, false},
  };
  return layout;
}

const Layout& start_layout() {
  static const Layout layout{
      {"jobarrayid", "JOBID", 6, 12, true, false},
      {"partition", "PARTITION", 4, 9, false, true},
      {"name", "NAME", 4, 8, false, false, 3},
      {"username", "USER", 4, 8, false, false, 2},
      {"statecompact", "ST", 2, 2, false, false},
      {"starttime", "START_TIME", 19, 19, true, false},
      {"dljobtype", "JOBTYPE", 7, 12, false, false},
      {"dlgpus", "GPUS", 9, 9, false, false},
      {"dlwait", "WAIT", 4, 10, false, true},
      {"schednodes", "SCHEDNODES", 6, 12, false, false, 1},
      {"reasonlist", "NODELIST(REASON)", 12, 0, false, false},
  };
  return layout;
}

std::vector<FormatField> layout_fields(const Layout& layout) {
  std::vector<FormatField> fields;
  for (const LayoutColumn& column : layout) {
    if (std::string_view(column.field).starts_with("dl")) continue;
    fields.push_back({column.field, nullptr, 0, false, ""});
  }
  return fields;
}

std::string layout_table(const Layout& layout, const std::vector<SqueueRow>& rows,
                         const std::vector<JobFacts>& facts, const TableOptions& options) {
  std::vector<Cells> lines{heading_cells(layout)};
  for (std::size_t i = 0; i < rows.size(); ++i)
    lines.push_back(row_cells(layout, rows[i], facts[i]));
  const std::vector<std::size_t> widths = column_widths(layout, lines, options);
  std::string text;
  for (std::size_t i = options.headings ? 0 : 1; i < lines.size(); ++i) {
    text += line_of(layout, widths, lines[i], options.color && i > 0);
  }
  return text;
}

}  // namespace rubato::tools
