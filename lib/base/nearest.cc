// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/base/nearest.h"

#include <algorithm>
#include <array>
#include <vector>

namespace rubato {
namespace {

// Longer words are no typing errors of an option, and the distance costs the product of the
// lengths.
constexpr std::size_t kMaxWordLength = 64;

int allowed_changes(std::size_t longest) {
  if (longest < 4) return 1;
  return std::max(2, static_cast<int>(longest / 3));
}

// The beginning that all of a family of names have says nothing about which of them is meant:
// RUBATO_DL_ in RUBATO_DL_GPUS.
std::size_t family(std::string_view a, std::string_view b) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i)
    if (a[i] == '_') end = i + 1;
  return end;
}

}  // namespace

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

int edit_distance(std::string_view a, std::string_view b) {
  const std::size_t rows = a.size();
  const std::size_t cols = b.size();
  const int far = static_cast<int>(rows + cols);
  // One row and one column of `far` stand before the table of the plain distance, so that a swap
  // that has no earlier partner never wins.
  std::vector<int> table((rows + 2) * (cols + 2), far);
  const auto at = [&](std::size_t i, std::size_t j) -> int& { return table[i * (cols + 2) + j]; };
  for (std::size_t i = 0; i <= rows; ++i) at(i + 1, 1) = static_cast<int>(i);
  for (std::size_t j = 0; j <= cols; ++j) at(1, j + 1) = static_cast<int>(j);

  std::array<std::size_t, 256> last_row{};  // last row of `a` that holds this byte
  for (std::size_t i = 1; i <= rows; ++i) {
    std::size_t last_col = 0;  // last column of this row that matched
    for (std::size_t j = 1; j <= cols; ++j) {
      const std::size_t swap_row = last_row[static_cast<unsigned char>(b[j - 1])];
      const std::size_t swap_col = last_col;
      const bool same = a[i - 1] == b[j - 1];
      if (same) last_col = j;
      const int swapped = at(swap_row, swap_col) + static_cast<int>(i - swap_row - 1) + 1 +
                          static_cast<int>(j - swap_col - 1);
      at(i + 1, j + 1) =
          std::min({at(i, j) + (same ? 0 : 1), at(i + 1, j) + 1, at(i, j + 1) + 1, swapped});
    }
    last_row[static_cast<unsigned char>(a[i - 1])] = i;
  }
  return at(rows + 1, cols + 1);
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> choices) {
  if (word.empty() || word.size() > kMaxWordLength) return std::nullopt;
  const std::string given = lower(word);
  const std::string* best = nullptr;
  int best_distance = 0;
  for (const std::string& choice : choices) {
    const std::string name = lower(choice);
    const int distance = edit_distance(given, name);
    const std::size_t longest = std::max(given.size(), name.size()) - family(given, name);
    const bool near = distance <= allowed_changes(longest) && distance < static_cast<int>(longest);
    if (near && (best == nullptr || distance < best_distance)) {
      best = &choice;
      best_distance = distance;
    }
  }
  if (best != nullptr) return *best;
  for (const std::string& choice : choices) {
    if (given.size() >= 2 && lower(choice).starts_with(given)) return choice;
  }
  return std::nullopt;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> choices) {
  const auto choice = nearest(word, choices);
  return choice ? "; did you mean " + *choice + "?" : "";
}

}  // namespace rubato
