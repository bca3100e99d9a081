// SPDX-License-Identifier: GPL-2.0-or-later
// An admin's orders about profiles: import or forget. Only the writer of the store carries them
// out; while slurmctld runs, that is its thread, which finds orders in a folder.
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

/// Imports rows; replaces earlier imported rows with the same key.
struct ImportOrder {
  std::vector<ProfileRow> rows;

  bool operator==(const ImportOrder&) const = default;
};

/// Deletes all data of a job type: samples, imported rows, fits.
struct ForgetOrder {
  std::string job_type;
  std::optional<std::string> account{};   ///< nullopt: all accounts
  std::optional<std::string> gpu_type{};  ///< nullopt: all types; fits of other types stay
  std::optional<Seconds> before{};        ///< only older data

  bool operator==(const ForgetOrder&) const = default;
};

using Order = std::variant<ImportOrder, ForgetOrder>;

/// The result of an order.
struct OrderDone {
  std::int64_t imported = 0;  ///< imported rows
  std::int64_t samples = 0;   ///< samples removed, or to be removed
  std::int64_t rows = 0;      ///< imported rows removed
  std::int64_t fits = 0;      ///< fits removed

  bool operator==(const OrderDone&) const = default;
};

/// Each is one JSON document, checked completely. Errors name the member.
[[nodiscard]] std::string order_to_json(const Order& order);
[[nodiscard]] Result<Order> order_from_json(std::string_view text);
[[nodiscard]] std::string answer_to_json(const Result<OrderDone>& answer);
/// Reads an answer; a refusal becomes the error.
[[nodiscard]] Result<OrderDone> answer_from_json(std::string_view text);

/// The folder of orders, below that of the store, mode 0700, owned by the writer. An order is a
/// file NAME.order, created by rename. The writer renames it to NAME.taken, carries it out, and
/// writes NAME.answer.
inline constexpr const char* kOrdersFolder = "orders";

/// Orders in the folder of a store.
class OrderFolder {
 public:
  explicit OrderFolder(const std::string& store_folder)
      : path_(store_folder + "/" + kOrdersFolder) {}

  /// Makes the folder. Resumes orders of a killed writer; removes answers that were not fetched for
  /// a day.
  [[nodiscard]] Result<void> prepare(Seconds now) const;

  struct Taken {
    std::string name;
    Result<Order> order;  ///< the error if it is refused: not a plain file that only root or this
                          ///< user can write, too large, or not an order
  };
  /// Takes the first order by name; nullopt if there is none.
  [[nodiscard]] std::optional<Taken> take() const;
  /// Writes the answer and removes the order.
  [[nodiscard]] Result<void> answer(const std::string& name, const Result<OrderDone>& answer) const;

  // For the sender of an order.

  /// Adds an order and returns its name. Fails if the folder is missing or not writable.
  [[nodiscard]] Result<std::string> give(const Order& order) const;
  /// Returns and removes the answer; nullopt if there is none yet.
  [[nodiscard]] std::optional<Result<OrderDone>> fetch(const std::string& name) const;
  /// Withdraws an order; false if the store has already taken it.
  [[nodiscard]] bool take_back(const std::string& name) const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace rubato::store
