// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/shared/job_match.h"

#include <fmt/format.h>

#include <charconv>

#include "tools/shared/slurm_conf.h"

namespace rubato::tools {
namespace {

/// Digits only, below 2^31.
std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

/// A piece of a task list: "4", "4-9", "0-20:5", "7..." (and what follows).
bool piece_has_task(std::string_view piece, int task) {
  if (piece == "*") return true;
  bool open = false;
  if (piece.ends_with("...")) {
    open = true;
    piece.remove_suffix(3);
    if (piece.empty()) return true;
  }
  int step = 1;
  if (const auto colon = piece.find(':'); colon != std::string_view::npos) {
    step = number(piece.substr(colon + 1)).value_or(1);
    piece = piece.substr(0, colon);
  }
  const auto dash = piece.find('-');
  const auto first = number(piece.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number(piece.substr(dash + 1));
  if (!first || !last) return false;
  if (task < *first || (task > *last && !open)) return false;
  return task > *last || step <= 1 || (task - *first) % step == 0;
}

}  // namespace

Result<JobSelector> parse_selector(const std::string& text) {
  JobSelector selector;
  selector.text = text;
  const std::size_t mark = text.find_first_of("_+");
  const auto id = number(std::string_view(text).substr(0, mark));
  bool good = id && *id > 0;
  if (good && mark != std::string::npos) {
    const auto rest = number(std::string_view(text).substr(mark + 1));
    good = rest.has_value();
    (text[mark] == '_' ? selector.task : selector.part) = rest;
  }
  if (!good) {
    return fail(
        fmt::format("invalid job id '{}'; expected 12, 12_3 (array task) or 12+1 (het job "
                    "component), as in squeue",
                    text));
  }
  selector.id = static_cast<JobId>(*id);
  return selector;
}

bool label_has_task(const std::string& label, int task) {
  const std::size_t open = label.find('[');
  if (open == std::string::npos) {
    const std::size_t mark = label.find('_');
    return mark != std::string::npos && number(std::string_view(label).substr(mark + 1)) == task;
  }
  const std::size_t end = label.find_first_of("%]", open);
  const std::string_view list =
      std::string_view(label).substr(open + 1, std::min(end, label.size()) - open - 1);
  for (const std::string& piece : split(list, ',')) {
    if (piece_has_task(piece, task)) return true;
  }
  return false;
}

bool matches(const JobSelector& selector, const Job& job) {
  if (selector.task) {
    return job.array_id == selector.id && label_has_task(job.label, *selector.task);
  }
  // The parts of a heterogeneous job have consecutive ids, from the id of the whole on.
  if (selector.part) {
    return job.het && job.key.id == selector.id + static_cast<JobId>(*selector.part);
  }
  return job.key.id == selector.id || job.array_id == selector.id;
}

}  // namespace rubato::tools
