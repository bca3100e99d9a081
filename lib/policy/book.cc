// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/book.h"

#include <algorithm>
#include <tuple>

namespace rubato {
namespace {

bool before_key(const Booked& booked, const JobKey& key) { return booked.reservation.job < key; }

}  // namespace

Book::Book(Capacity& capacity)
    : capacity_(capacity), on_node_(static_cast<std::size_t>(capacity.node_count()), 0) {}

void Book::add(Reservation reservation, int order, Seconds time_limit) {
  Booked booked;
  booked.order = order;
  booked.from = std::max(reservation.start, capacity_.now());
  booked.to = add_seconds(booked.from, time_limit);
  booked.reservation = std::move(reservation);
  restore(std::move(booked));
}

void Book::restore(Booked booked) {
  for (const NodeShare& share : booked.reservation.shares) {
    capacity_.take(share, booked.from, booked.to);
    ++on_node_[static_cast<std::size_t>(share.node)];
  }
  const auto at =
      std::lower_bound(booked_.begin(), booked_.end(), booked.reservation.job, before_key);
  booked_.insert(at, std::move(booked));
}

Booked Book::remove(const JobKey& job) {
  const auto at = std::lower_bound(booked_.begin(), booked_.end(), job, before_key);
  Booked booked = std::move(*at);
  booked_.erase(at);
  for (const NodeShare& share : booked.reservation.shares) {
    capacity_.give_back(share, booked.from, booked.to);
    --on_node_[static_cast<std::size_t>(share.node)];
  }
  return booked;
}

const Booked* Book::find(const JobKey& job) const {
  const auto at = std::lower_bound(booked_.begin(), booked_.end(), job, before_key);
  return at != booked_.end() && at->reservation.job == job ? &*at : nullptr;
}

const Booked* Book::in_the_way(int node, const JobKey& job, Seconds end, int before) const {
  if (on_node_[static_cast<std::size_t>(node)] == 0) return nullptr;
  const Booked* first = nullptr;
  for (const Booked& booked : booked_) {
    const bool later = end <= booked.from && end < kForever;
    if (booked.reservation.job == job || later || booked.order >= before) continue;
    const auto& shares = booked.reservation.shares;
    const bool here = std::any_of(shares.begin(), shares.end(),
                                  [&](const NodeShare& share) { return share.node == node; });
    if (here && (first == nullptr || booked.from < first->from)) first = &booked;
  }
  return first;
}

}  // namespace rubato
