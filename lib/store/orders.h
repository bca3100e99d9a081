// SPDX-License-Identifier: GPL-2.0-or-later
// What an admin asks of the profiles: take some in, or forget some. Only the writer of the store
// does either; while slurmctld runs that is its thread, which finds the orders in a folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lib/base/error.h"
#include "lib/store/profiles.h"

namespace rubato::store {

/// Takes rows in; those that were imported before with the same key are replaced.
struct ImportOrder {
  std::vector<ProfileRow> rows;

  bool operator==(const ImportOrder&) const = default;
};

/// Deletes all data of a job type: samples, imported rows, fits.
struct ForgetOrder {
  std::string job_type;
  std::optional<std::string> account{};   ///< none: of all
  std::optional<std::string> gpu_type{};  ///< none: on all; fits of other types stay
  std::optional<Seconds> before{};        ///< only older data

  bool operator==(const ForgetOrder&) const = default;
};

using Order = std::variant<ImportOrder, ForgetOrder>;

/// What became of an order.
struct OrderDone {
  std::int64_t imported = 0;  ///< rows taken in
  std::int64_t samples = 0;   ///< forgotten, or to be forgotten
  std::int64_t rows = 0;      ///< imported rows forgotten
  std::int64_t fits = 0;      ///< forgotten

  bool operator==(const OrderDone&) const = default;
};

/// One JSON document each, checked as a whole. Errors name the member.
[[nodiscard]] std::string order_to_json(const Order& order);
[[nodiscard]] Result<Order> order_from_json(std::string_view text);
[[nodiscard]] std::string answer_to_json(const Result<OrderDone>& answer);
/// The error of an answer that says why not.
[[nodiscard]] Result<OrderDone> answer_from_json(std::string_view text);

/// The folder of orders below that of the store: 0700, the writer's. An order is a file NAME.order
/// that appears in one rename; the writer renames it to NAME.taken, does it, and leaves
/// NAME.answer.
inline constexpr const char* kOrdersFolder = "orders";

/// Orders in the folder of a store, for its writer.
class OrderFolder {
 public:
  explicit OrderFolder(const std::string& store_folder)
      : path_(store_folder + "/" + kOrdersFolder) {}

  /// Makes the folder; takes up what a writer that was killed had taken; removes answers that
  /// nobody fetched for a day.
  [[nodiscard]] Result<void> prepare(Seconds now) const;

  struct Taken {
    std::string name;
    Result<Order> order;  ///< why it is refused: not a plain file of root or of this user that only
                          ///< they can write, too large, or not an order
  };
  /// The first order by name, which is now taken; nothing if there is none.
  [[nodiscard]] std::optional<Taken> take() const;
  /// Leaves the answer and removes the order.
  [[nodiscard]] Result<void> answer(const std::string& name, const Result<OrderDone>& answer) const;

  // For who gives an order.

  /// Puts it there; the name. Fails where the folder is not there or may not be written.
  [[nodiscard]] Result<std::string> give(const Order& order) const;
  /// The answer, removed; nothing while there is none.
  [[nodiscard]] std::optional<Result<OrderDone>> fetch(const std::string& name) const;
  /// Withdraws an order; false if the store has taken it.
  [[nodiscard]] bool take_back(const std::string& name) const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace rubato::store
