// SPDX-License-Identifier: GPL-2.0-or-later
// Base of visitors that take only the columns of a description (records.h): members have none.
#pragma once

namespace rubato::json {

class ColumnVisitor {
 public:
  [[nodiscard]] bool rest(bool present) { return present; }
  template <typename... Args>
  void note(Args&&... /*args*/) {}
  template <typename... Args>
  void above_zero(Args&&... /*args*/) {}
  template <typename... Args>
  void not_negative(Args&&... /*args*/) {}
  template <typename... Args>
  void text(Args&&... /*args*/) {}
  template <typename... Args>
  void texts(Args&&... /*args*/) {}
  template <typename... Args>
  void yes(Args&&... /*args*/) {}
  template <typename... Args>
  void count(Args&&... /*args*/) {}
  template <typename... Args>
  void number(Args&&... /*args*/) {}
  template <typename... Args>
  void real(Args&&... /*args*/) {}
  template <typename... Args>
  void past(Args&&... /*args*/) {}
  template <typename... Args>
  void required_word(Args&&... /*args*/) {}
  template <typename... Args>
  void values_by_name(Args&&... /*args*/) {}
  template <typename... Args>
  void list(Args&&... /*args*/) {}
  template <typename... Args>
  void object(Args&&... /*args*/) {}
};

}  // namespace rubato::json
