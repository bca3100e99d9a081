// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/reservation_table.h"

#include <algorithm>
#include <utility>

namespace rubato {
namespace {

bool before_key(const BookedReservation& booked, const JobKey& key) {
  return booked.reservation.job < key;
}

}  // namespace

const BookedReservation* reservation_of(const std::vector<BookedReservation>& reservations,
                                        const JobKey& job) {
  const auto at = std::lower_bound(reservations.begin(), reservations.end(), job, before_key);
  return at != reservations.end() && at->reservation.job == job ? &*at : nullptr;
}

ReservationTable::ReservationTable(Capacity& capacity)
    : capacity_(capacity), on_node_(capacity.node_count(), 0) {}

ReservationTable::ReservationTable(Capacity& capacity, std::vector<BookedReservation> booked)
    : ReservationTable(capacity) {
  booked_ = std::move(booked);
  for (const BookedReservation& one : booked_) {
    for (const NodeShare& share : one.reservation.shares) ++on_node_[share.node];
  }
}

void ReservationTable::add(Reservation reservation, EntryIndex order, Seconds time_limit) {
  BookedReservation booked;
  booked.order = order;
  booked.from = std::max(reservation.start, capacity_.now());
  booked.to = add_seconds(booked.from, time_limit);
  booked.reservation = std::move(reservation);
  restore(std::move(booked));
}

void ReservationTable::restore(BookedReservation booked) {
  for (const NodeShare& share : booked.reservation.shares) {
    capacity_.take(share, booked.from, booked.to);
    ++on_node_[share.node];
  }
  const auto at =
      std::lower_bound(booked_.begin(), booked_.end(), booked.reservation.job, before_key);
  booked_.insert(at, std::move(booked));
}

BookedReservation ReservationTable::remove(const JobKey& job) {
  const auto at = std::lower_bound(booked_.begin(), booked_.end(), job, before_key);
  BookedReservation booked = std::move(*at);
  booked_.erase(at);
  for (const NodeShare& share : booked.reservation.shares) {
    capacity_.give_back(share, booked.from, booked.to);
    --on_node_[share.node];
  }
  return booked;
}

const BookedReservation* ReservationTable::find(const JobKey& job) const {
  return reservation_of(booked_, job);
}

const BookedReservation* ReservationTable::conflicting_reservation(NodeIndex node,
                                                                   const JobKey& job, Seconds end,
                                                                   EntryIndex before) const {
  if (on_node_[node] == 0) return nullptr;
  const BookedReservation* first = nullptr;
  for (const BookedReservation& booked : booked_) {
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
