// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm's lists and association locks, given back at the end of a scope: also when an exception
// ends it. An iterator that is left behind stays in its list.
#pragma once

#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

/// The items of a list, in order: `for (ListWalk<part_record_t> parts(list); auto* part =
/// parts.next();)`.
template <typename Item>
class ListWalk {
 public:
  explicit ListWalk(list_t* list) : iterator_(list_iterator_create(list)) {}
  ~ListWalk() { list_iterator_destroy(iterator_); }
  ListWalk(const ListWalk&) = delete;
  ListWalk& operator=(const ListWalk&) = delete;

  /// Null after the last item.
  [[nodiscard]] Item* next() { return static_cast<Item*>(list_next(iterator_)); }

 private:
  list_itr_t* iterator_;
};

/// A list that belongs to the scope.
class OwnedList {
 public:
  explicit OwnedList(list_t* list) : list_(list) {}
  ~OwnedList() { FREE_NULL_LIST(list_); }
  OwnedList(const OwnedList&) = delete;
  OwnedList& operator=(const OwnedList&) = delete;

  [[nodiscard]] list_t* get() const { return list_; }

 private:
  list_t* list_;
};

/// Locks of the association manager.
class AssocLocks {
 public:
  explicit AssocLocks(const assoc_mgr_lock_t& locks) : locks_(locks) { assoc_mgr_lock(&locks_); }
  ~AssocLocks() { assoc_mgr_unlock(&locks_); }
  AssocLocks(const AssocLocks&) = delete;
  AssocLocks& operator=(const AssocLocks&) = delete;

 private:
  assoc_mgr_lock_t locks_;
};

}  // namespace rubato
