// SPDX-License-Identifier: GPL-2.0-or-later
// squeue sorts only by its own keys. Jobs equal in the keys before one of Rubato's are then
// adjacent and are sorted among themselves. Keys after it still apply, because that sort is stable.
#include "tools/rqueue/rqueue_sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lib/base/nearest.h"
#include "tools/shared/squeue_fields.h"

namespace rubato::tools {
namespace {

std::vector<std::string> own_names() {
  std::vector<std::string> names;
  for (const OwnField& field : own_fields()) names.emplace_back(field.name);
  return names;
}

/// An item of the comma-separated list: a Rubato field, else squeue letters with signs.
Result<void> take_word(std::string_view word, SortOrder& order) {
  std::string_view name = word;
  const bool sign = name.starts_with('-') || name.starts_with('+');
  if (sign) name.remove_prefix(1);
  const bool ours = name.size() > 2 && lower(name.substr(0, 2)) == "dl";
  if (ours) {
    const OwnField* own = own_field(name);
    if (own == nullptr) {
      return fail(
          fmt::format("--sort: unknown field '{}'{}", name, did_you_mean(name, own_names())));
    }
    order.keys.push_back({own, 0, word.starts_with('-')});
    return {};
  }
  order.squeue += fmt::format("{}{}", order.squeue.empty() ? "" : ",", word);
  if (lower(name) == "cluster") return {};  // equal for all jobs of a section
  for (const char letter : word) {
    if (letter != '-' && letter != '+') order.keys.push_back({nullptr, letter, false});
  }
  return {};
}

std::size_t keys_before_last_own(const SortOrder& order) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < order.keys.size(); ++i) {
    if (order.keys[i].own != nullptr) count = i;
  }
  return count;
}

/// Known values come first in both directions.
int compare(const SortKey& key, const JobFacts& a, const JobFacts& b) {
  const int order = key.own->compare(a, b);
  const bool both = !key.own->text(a).empty() && !key.own->text(b).empty();
  return key.down && both ? -order : order;
}

}  // namespace

bool SortOrder::has_own() const {
  return std::any_of(keys.begin(), keys.end(),
                     [](const SortKey& key) { return key.own != nullptr; });
}

Result<SortOrder> parse_sort(std::string_view text) {
  SortOrder order;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    if (auto done = take_word(text.substr(0, end), order); !done) {
      return tl::unexpected(done.error());
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return order;
}

std::vector<FormatField> sort_fields(const SortOrder& order) {
  std::vector<FormatField> fields;
  if (!order.has_own()) return fields;
  const std::size_t last = keys_before_last_own(order);
  for (std::size_t i = 0; i < last; ++i) {
    const SortKey& key = order.keys[i];
    // %p prints 14 digits of a fraction; the underlying number has more.
    const SqueueField* field = field_of_letter(key.letter == 'p' ? 'Q' : key.letter);
    if (key.own == nullptr && field != nullptr) {
      fields.push_back({field->name, nullptr, 0, false, ""});
    }
  }
  return fields;
}

void sort_rows(const SortOrder& order, std::size_t first, std::vector<SqueueRow>& rows,
               std::vector<JobFacts>& facts) {
  if (!order.has_own()) return;
  std::vector<std::size_t> places(rows.size());
  std::iota(places.begin(), places.end(), 0);
  std::vector<int> group(rows.size(), 0);  // rows with equal keys so far; by row, ascending
  std::size_t text = first;
  const std::size_t last = keys_before_last_own(order);
  for (std::size_t k = 0; k <= last; ++k) {
    const SortKey& key = order.keys[k];
    if (key.own == nullptr && field_of_letter(key.letter) == nullptr) continue;
    if (key.own != nullptr) {
      std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
        return group[a] != group[b] ? group[a] < group[b] : compare(key, facts[a], facts[b]) < 0;
      });
    }
    const auto equal = [&](std::size_t a, std::size_t b) {
      return key.own != nullptr ? compare(key, facts[a], facts[b]) == 0
                                : rows[a].fields[text] == rows[b].fields[text];
    };
    std::vector<int> next(rows.size(), 0);
    for (std::size_t i = 1; i < places.size(); ++i) {
      const std::size_t a = places[i - 1];
      const std::size_t b = places[i];
      next[b] = next[a] + (group[a] != group[b] || !equal(a, b) ? 1 : 0);
    }
    group = std::move(next);
    if (key.own == nullptr) ++text;
  }
  std::vector<SqueueRow> sorted_rows;
  std::vector<JobFacts> sorted_facts;
  for (const std::size_t place : places) {
    sorted_rows.push_back(std::move(rows[place]));
    sorted_facts.push_back(std::move(facts[place]));
  }
  rows = std::move(sorted_rows);
  facts = std::move(sorted_facts);
}

}  // namespace rubato::tools
