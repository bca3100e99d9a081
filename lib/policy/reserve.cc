// SPDX-License-Identifier: GPL-2.0-or-later
// Stage 6: who has a reservation, and how it lives from round to round (see reserve.h).
#include <algorithm>
#include <tuple>
#include <utility>

#include "lib/policy/place.h"

namespace rubato {
namespace {

constexpr Seconds kMinGain = 60;

// Jobs that only waited may keep one of so many parts of all GPUs, the longest waiting more: what
// is reserved stands idle as it comes free.
constexpr int kReservedParts = 8;

// A standing reservation moves only for more than a minute and a tenth of the wait.
Seconds worth_moving(Seconds wait) { return std::max(kMinGain, wait / 10); }

}  // namespace

int SchedulingPass::depth() const {
  return context_.config.off(Mechanism::kReserve) ? 0 : std::max(context_.config.reserve_depth, 0);
}

bool SchedulingPass::can_reserve(const PendingEntry& entry) const {
  const Job& job = *entry.job;
  return job.managed && !job.het && job.block == Block::kNone && !budget_.runs(job.key) &&
         entry.demand.consistent() && history_.of(entry).refusals < kMaxRefusals;
}

bool SchedulingPass::starvation_due(const PendingEntry& entry) const {
  const Seconds bound = context_.config.starvation_bound;
  return bound > 0 && context_.waited(*entry.job) >= bound / 2;
}

bool SchedulingPass::waited_long(const PendingEntry& entry) const {
  return context_.waited(*entry.job) >= context_.config.reserve_after;
}

const PendingEntry* SchedulingPass::entry_of(const Reservation& reservation) const {
  for (const int order : context_.entries_of(reservation.job)) {
    const PendingEntry& entry = context_.queue[static_cast<std::size_t>(order)];
    if (entry.job->partition == reservation.partition && can_reserve(entry)) return &entry;
  }
  return nullptr;
}

// Those that may have one before the walk, most urgent first: starvation bound due, longest wait
// first; then what stood in the round before, by order. One a job.
std::vector<SchedulingPass::ExistingReservation> SchedulingPass::existing_reservations() const {
  std::vector<ExistingReservation> all;
  std::set<JobKey> seen;
  for (const Reservation& reservation : context_.snapshot.memory.reservations) {
    const PendingEntry* entry = entry_of(reservation);
    if (entry == nullptr || !seen.insert(reservation.job).second) continue;
    all.push_back({entry, reservation, false, starvation_due(*entry), false});
  }
  for (const PendingEntry& entry : context_.queue) {
    if (!can_reserve(entry) || !starvation_due(entry)) continue;
    if (seen.insert(entry.job->key).second) all.push_back({&entry, {}, true, true, false});
  }
  std::sort(all.begin(), all.end(), [](const ExistingReservation& a, const ExistingReservation& b) {
    const auto key = [](const ExistingReservation& s) {
      return std::tuple(!s.due, s.due ? s.entry->job->eligible : 0, s.entry->order);
    };
    return key(a) < key(b);
  });
  const auto kept = std::min(all.size(), static_cast<std::size_t>(depth()));
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(kept), all.end());
  for (ExistingReservation& one : all) {
    if (one.due) {
      one.reservation.reason = ReserveReason::kStarvation;
    } else if (one.reservation.reason == ReserveReason::kFirst && waited_long(*one.entry)) {
      // From now on it does not yield any more, or a stream of jobs above it would starve it.
      one.reservation.reason = ReserveReason::kWaited;
    }
    if (one.fresh) one.reservation.made = context_.now;
  }
  return all;
}

// A job that came to be first keeps its place from the jobs below it, not from a job that an admin
// or a higher partition has put above it since: it is booked when the walk comes to it.
bool SchedulingPass::yields(const ExistingReservation& one) {
  return !one.fresh && !one.due && one.reservation.reason == ReserveReason::kFirst;
}

void SchedulingPass::restore_existing(const PendingEntry& entry) {
  // By whichever entry of the job comes first.
  const auto at = yielding_.find(entry.job->key);
  if (at == yielding_.end()) return;
  const ExistingReservation one = at->second;
  yielding_.erase(at);
  if (static_cast<int>(reservation_table_.all().size()) >= depth()) return;
  if (still_valid(one)) {
    reservation_table_.add(one.reservation, one.entry->order, one.entry->job->time_limit);
  } else {
    relocate(one);
  }
  placer_.forget();
}

bool SchedulingPass::still_valid(const ExistingReservation& one) const {
  return !one.fresh && one.reservation.start < kForever &&
         reserver_.matches(*one.entry, one.reservation) &&
         reserver_.still_valid(*one.entry, one.reservation);
}

// What yields to jobs above it does not to `one` if that is below it.
void SchedulingPass::relocate_below(const ExistingReservation& one) {
  std::vector<JobKey> above;
  for (const auto& [key, other] : yielding_) {
    if (one.due || other.entry->order > one.entry->order || !still_valid(other)) continue;
    reservation_table_.add(other.reservation, other.entry->order, other.entry->job->time_limit);
    above.push_back(key);
  }
  relocate(one);
  for (const JobKey& key : above) reservation_table_.remove(key);
}

// Those that still hold stay as they are, so that none of them is ever put off; the others find
// new nodes beside them. What starts first is looked at first: a round that comes some seconds late
// puts off what stands behind.
void SchedulingPass::carry_over_reservations() {
  std::vector<ExistingReservation> all = existing_reservations();
  for (const ExistingReservation& one : all)
    if (yields(one)) yielding_.emplace(one.entry->job->key, one);
  std::erase_if(all, yields);
  std::vector<ExistingReservation*> by_start;
  for (ExistingReservation& one : all) {
    if (!one.fresh && one.reservation.start < kForever) by_start.push_back(&one);
  }
  std::stable_sort(by_start.begin(), by_start.end(),
                   [](const ExistingReservation* a, const ExistingReservation* b) {
                     return a->reservation.start < b->reservation.start;
                   });
  for (ExistingReservation* one : by_start) {
    one->stays = still_valid(*one);
    if (!one->stays) continue;
    reservation_table_.add(one->reservation, one->entry->order, one->entry->job->time_limit);
  }
  for (const ExistingReservation& one : all) {
    if (!one.stays) relocate_below(one);
  }
}

void SchedulingPass::relocate(const ExistingReservation& one) {
  const PendingEntry& entry = *one.entry;
  std::optional<Reservation> found = find_reservation(entry);
  if (!found) return;
  const Reservation& old = one.reservation;
  const bool drains_on = !one.fresh && found->start >= kForever && old.start >= kForever &&
                         reserver_.matches(entry, old) &&
                         reserver_.lack(entry, old) <= reserver_.lack(entry, *found);
  if (drains_on) found = old;
  found->made = old.made;
  found->reason = old.reason;
  reservation_table_.add(std::move(*found), entry.order, entry.job->time_limit);
}

std::optional<Reservation> SchedulingPass::find_reservation(const PendingEntry& entry) const {
  if (!reserver_.possible(entry)) return std::nullopt;
  std::optional<Reservation> found = reserver_.earliest(entry, kForever);
  return found ? found : reserver_.drain(entry);
}

// `own` has been taken out of the book, and the entry cannot start now.
void SchedulingPass::restore_or_improve(const PendingEntry& entry, BookedReservation own) {
  const Seconds start = own.reservation.start;
  const bool same = own.reservation.partition == entry.job->partition;
  if (same && start > context_.now && start < kForever) {
    const Seconds until = start - worth_moving(start - context_.now);
    std::optional<Reservation> better;
    if (until > context_.now) better = reserver_.earliest(entry, until);
    if (better) {
      better->made = own.reservation.made;
      better->reason = own.reservation.reason;
      reservation_table_.add(std::move(*better), entry.order, entry.job->time_limit);
      return;
    }
  }
  reservation_table_.restore(std::move(own));
}

int SchedulingPass::reserved_gpus() const {
  int sum = 0;
  for (const BookedReservation& booked : reservation_table_.all()) {
    for (const NodeShare& share : booked.reservation.shares) sum += share.gpu_count();
  }
  return sum;
}

// The job with GPUs that has waited longest of those that may have a reservation.
std::optional<JobKey> SchedulingPass::longest_waiting() const {
  std::optional<std::pair<Seconds, JobKey>> longest;
  for (const PendingEntry& entry : context_.queue) {
    if (!can_reserve(entry) || !entry.demand.wants_gpus() || entry.job->eligible <= 0) continue;
    const std::pair one(entry.job->eligible, entry.job->key);
    if (!longest || one < *longest) longest = one;
  }
  return longest ? std::optional(longest->second) : std::nullopt;
}

// Whether it may have one for having waited. The one that waited longest always may. Gangs are
// better served one after the other: a second set of nodes that drains beside the first starts
// neither sooner.
bool SchedulingPass::room_to_reserve(const PendingEntry& entry) const {
  if (!entry.demand.wants_gpus() || starvation_due(entry)) return true;
  if (longest_ && *longest_ == entry.job->key) return true;
  const int reserved = reserved_gpus();
  return reserved == 0 || reserved + entry.demand.total() <= all_gpus_ / kReservedParts;
}

// The earliest of all entries of the job; of equally early ones the first of the order.
void SchedulingPass::reserve_new(const PendingEntry& entry, bool first) {
  if (static_cast<int>(reservation_table_.all().size()) >= depth()) return;
  std::optional<Reservation> best;
  const PendingEntry* best_entry = nullptr;
  for (const int order : context_.entries_of(entry.job->key)) {
    const PendingEntry& other = context_.queue[static_cast<std::size_t>(order)];
    if (!can_reserve(other)) continue;
    std::optional<Reservation> found = find_reservation(other);
    if (!found || (best && best->start <= found->start)) continue;
    best = std::move(found);
    best_entry = &other;
  }
  if (!best) return;
  best->made = context_.now;
  best->reason = first ? ReserveReason::kFirst : ReserveReason::kWaited;
  reservation_table_.add(std::move(*best), best_entry->order, best_entry->job->time_limit);
}

}  // namespace rubato
