// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/reserve.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace rubato {
namespace {

constexpr Seconds kMinGain = 60;

// Why a job is late that had no reservation for a time.
constexpr const char* kRefusedStart = "slurmctld refused its start";
constexpr const char* kNoNodes = "no nodes could be reserved for a time";

// Reserved GPUs idle as they come free, so jobs that only waited may reserve one of this many parts
// of all GPUs. The longest waiting job may reserve more.
constexpr int kReservedParts = 8;

// An existing reservation moves only for more than a minute and a tenth of the wait.
Seconds worth_moving(Seconds wait) { return std::max(kMinGain, wait / 10); }

}  // namespace

ReservationRules::ReservationRules(const RoundInput& input, const PendingQueue& queue,
                                   const JobHistory& history, const Budget& budget,
                                   const Reserver& reserver, ReservationTable& table,
                                   Yielding yielding)
    : input_(input),
      queue_(queue),
      history_(history),
      budget_(budget),
      reserver_(reserver),
      table_(table),
      yielding_(std::move(yielding)),
      longest_(longest_waiting()) {
  for (const Node& node : input.snapshot.nodes) {
    for (const GpuGroup& group : node.gpus) all_gpus_ += group.total;
  }
}

int ReservationRules::depth() const {
  return input_.config.off(Mechanism::kReserve) ? 0 : std::max(input_.config.reserve_depth, 0);
}

bool ReservationRules::full() const { return static_cast<int>(table_.all().size()) >= depth(); }

bool ReservationRules::refused_since(const PendingEntry& entry, Seconds start) const {
  return history_.of(entry).last_try >= start;
}

void ReservationRules::add(Reservation reservation, const PendingEntry& entry) {
  // The first after a time without one.
  if (const Seconds promised = history_.of(entry).promised; reservation.promised == 0) {
    reservation.promised = promised;
    if (promised > 0 && reservation.start > promised)
      reservation.delayed_by = refused_since(entry, promised) ? kRefusedStart : kNoNodes;
  }
  const bool earlier = reservation.promised == 0 || reservation.start <= reservation.promised;
  if (is_promise(reservation) && earlier) {
    reservation.promised = reservation.start;
    reservation.delayed_by.clear();
  }
  table_.add(std::move(reservation), entry.order, entry.job->time_limit);
}

bool ReservationRules::by_backfill(const PendingEntry& entry) const {
  return left_to_backfill(input_.snapshot, *entry.job, history_.of(entry), input_.config);
}

bool ReservationRules::may_hold(const PendingEntry& entry) const {
  const Job& job = *entry.job;
  return job.managed && !job.het && job.block == Block::kNone && !budget_.runs(job.key) &&
         entry.demand.consistent() && job.reserve_from <= input_.now &&
         job.priority >= job.reserve_priority;
}

bool ReservationRules::can_reserve(const PendingEntry& entry) const {
  if (!may_hold(entry)) return false;
  return !asks_backfill(history_.of(entry)) ||
         (by_backfill(entry) && entry.job->stock_start > input_.now);
}

bool ReservationRules::starvation_due(const PendingEntry& entry) const {
  const Seconds bound = input_.config.starvation_bound;
  return bound > 0 && input_.waited(*entry.job) >= bound / 2;
}

bool ReservationRules::waited_long(const PendingEntry& entry) const {
  return input_.waited(*entry.job) >= input_.config.reserve_after;
}

const PendingEntry* ReservationRules::entry_of(const Reservation& reservation) const {
  for (const EntryIndex order : queue_.entries_of(reservation.job)) {
    const PendingEntry& entry = queue_.entries[order];
    const bool told = by_backfill(entry) || can_reserve(entry);
    if (entry.job->partition == reservation.partition && may_hold(entry) && told) return &entry;
  }
  return nullptr;
}

// Jobs that had a reservation in the round before, and jobs whose starvation bound is due. One
// reservation for each job.
std::vector<ExistingReservation> ReservationRules::candidates() const {
  std::vector<ExistingReservation> all;
  std::set<JobKey> seen;
  for (const Reservation& reservation : input_.snapshot.memory.reservations) {
    const PendingEntry* entry = entry_of(reservation);
    if (entry == nullptr || !seen.insert(reservation.job).second) continue;
    all.push_back({entry, reservation, false, starvation_due(*entry), false});
  }
  for (const PendingEntry& entry : queue_.entries) {
    if (!can_reserve(entry) || !starvation_due(entry)) continue;
    if (seen.insert(entry.job->key).second) all.push_back({&entry, {}, true, true, false});
  }
  return all;
}

// The most urgent ones, at most depth(): jobs whose starvation bound is due, longest wait first,
// then the others in queue order.
std::vector<ExistingReservation> ReservationRules::existing_reservations() const {
  std::vector<ExistingReservation> all = candidates();
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
      // From now on it does not yield. Otherwise a stream of jobs above it could starve it.
      one.reservation.reason = ReserveReason::kWaited;
    }
    if (one.fresh) one.reservation.made = input_.now;
  }
  return all;
}

// The reservation of the first job holds against jobs below it only. It yields to a job that an
// admin or a partition with a higher tier has put above it since.
bool ReservationRules::yields(const ExistingReservation& one) {
  return !one.fresh && !one.due && one.reservation.reason == ReserveReason::kFirst;
}

bool ReservationRules::restore_existing(const PendingEntry& entry) {
  // Whichever entry of the job comes first.
  const auto at = yielding_.find(entry.job->key);
  if (at == yielding_.end()) return false;
  const ExistingReservation one = at->second;
  yielding_.erase(at);
  if (full()) return false;
  if (still_valid(one)) {
    add(one.reservation, *one.entry);
  } else {
    relocate(one);
  }
  return true;
}

bool ReservationRules::still_valid(const ExistingReservation& one) const {
  const Reservation& reservation = one.reservation;
  if (one.fresh || reservation.start >= kForever) return false;
  if (!by_backfill(*one.entry)) {
    return reserver_.matches(*one.entry, reservation) &&
           reserver_.still_valid(*one.entry, reservation);
  }
  // The model does not know the form of what backfill found. Slurm refused what was tried since.
  const bool tried = refused_since(*one.entry, reservation.start);
  return reservation.backfill && !tried && reserver_.nodes_stay(reservation) &&
         reserver_.still_valid(*one.entry, reservation);
}

// A reservation that yields to jobs above it does not yield to `one` below it.
void ReservationRules::relocate_below(const ExistingReservation& one) {
  std::vector<JobKey> above;
  for (const auto& [key, other] : yielding_) {
    if (one.due || other.entry->order > one.entry->order || !still_valid(other)) continue;
    add(other.reservation, *other.entry);
    above.push_back(key);
  }
  relocate(one);
  for (const JobKey& key : above) table_.remove(key);
}

// Earliest start first: a round that is some seconds late delays what comes behind.
void ReservationRules::book_valid(std::vector<ExistingReservation>& all) {
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
    if (one->stays) add(one->reservation, *one->entry);
  }
}

// Valid reservations stay, so that none of them is ever delayed. The others find new nodes beside
// them.
void ReservationRules::carry_over() {
  std::vector<ExistingReservation> all = existing_reservations();
  for (const ExistingReservation& one : all)
    if (yields(one)) yielding_.emplace(one.entry->job->key, one);
  std::erase_if(all, yields);
  book_valid(all);
  for (const ExistingReservation& one : all) {
    if (!one.stays) relocate_below(one);
  }
}

void ReservationRules::relocate(const ExistingReservation& one) {
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
  found->promised = old.promised;
  found->delayed_by = old.delayed_by;
  note_delay(one, *found);
  add(std::move(*found), entry);
}

// Why a reservation is later than what the job was promised. A later cause replaces an earlier one.
void ReservationRules::note_delay(const ExistingReservation& one, Reservation& moved) const {
  if (one.fresh || moved.promised == 0 || moved.start <= moved.promised) return;
  if (!reserver_.nodes_stay(one.reservation)) {
    moved.delayed_by = reserver_.lost_node(one.reservation) + " is not available";
  } else if (!by_backfill(*one.entry) && !reserver_.matches(*one.entry, one.reservation)) {
    moved.delayed_by = "its request or its nodes changed";
  } else if (one.reservation.backfill && refused_since(*one.entry, one.reservation.start)) {
    moved.delayed_by = kRefusedStart;
  } else {
    moved.delayed_by = reserver_.in_the_way(*one.entry, one.reservation);
  }
}

std::optional<Reservation> ReservationRules::find_reservation(const PendingEntry& entry) const {
  if (by_backfill(entry)) return reserver_.of_backfill(entry);
  if (!reserver_.possible(entry)) return std::nullopt;
  std::optional<Reservation> found = reserver_.earliest(entry, kForever);
  return found ? found : reserver_.drain(entry);
}

int ReservationRules::reserve_for(const PendingEntry& entry, std::optional<BookedReservation> own) {
  const bool eligible = can_reserve(entry);
  const bool first = eligible && !first_seen_;
  if (first) first_seen_ = true;
  if (own) {
    restore_or_improve(entry, std::move(*own));
    return 0;
  }
  const bool wanted = first || waited_long(entry);
  if (!eligible || !wanted || table_.find(entry.job->key) != nullptr) return 0;
  if (!full() && !first && !room_to_reserve(entry)) return reserved_gpus();
  reserve_new(entry, first);
  return 0;
}

// `own` is out of the table, and the entry cannot start now.
void ReservationRules::restore_or_improve(const PendingEntry& entry, BookedReservation own) {
  const Seconds start = own.reservation.start;
  const bool same = own.reservation.partition == entry.job->partition;
  if (same && start > input_.now && start < kForever) {
    const Seconds until = start - worth_moving(start - input_.now);
    std::optional<Reservation> better;
    if (until > input_.now) {
      better = by_backfill(entry) ? reserver_.of_backfill(entry) : reserver_.earliest(entry, until);
    }
    if (better && better->start < until) {
      better->made = own.reservation.made;
      better->reason = own.reservation.reason;
      better->promised = own.reservation.promised;
      add(std::move(*better), entry);
      return;
    }
  }
  table_.restore(std::move(own));
}

int ReservationRules::reserved_gpus() const {
  int sum = 0;
  for (const BookedReservation& booked : table_.all()) {
    for (const NodeShare& share : booked.reservation.shares) sum += share.gpu_count();
  }
  return sum;
}

// Of the jobs with GPUs that may have a reservation the one that has waited longest.
std::optional<JobKey> ReservationRules::longest_waiting() const {
  std::optional<std::pair<Seconds, JobKey>> longest;
  for (const PendingEntry& entry : queue_.entries) {
    if (!can_reserve(entry) || !entry.demand.wants_gpus() || entry.job->eligible <= 0) continue;
    const std::pair one(entry.job->eligible, entry.job->key);
    if (!longest || one < *longest) longest = one;
  }
  return longest ? std::optional(longest->second) : std::nullopt;
}

// Whether it may have a reservation because it waited. The job that waited longest always may.
// Gangs get theirs one after the other: two sets of nodes that drain side by side start neither
// gang sooner.
bool ReservationRules::room_to_reserve(const PendingEntry& entry) const {
  if (!entry.demand.wants_gpus() || starvation_due(entry)) return true;
  if (longest_ && *longest_ == entry.job->key) return true;
  const int reserved = reserved_gpus();
  return reserved == 0 || reserved + entry.demand.total() <= all_gpus_ / kReservedParts;
}

// The earliest of all entries of the job; of equally early ones the first of the order.
void ReservationRules::reserve_new(const PendingEntry& entry, bool first) {
  if (full()) return;
  std::optional<Reservation> best;
  const PendingEntry* best_entry = nullptr;
  for (const EntryIndex order : queue_.entries_of(entry.job->key)) {
    const PendingEntry& other = queue_.entries[order];
    if (!can_reserve(other)) continue;
    std::optional<Reservation> found = find_reservation(other);
    if (!found || (best && best->start <= found->start)) continue;
    best = std::move(found);
    best_entry = &other;
  }
  if (!best) return;
  best->made = input_.now;
  // A job that has waited long enough does not yield from the start on.
  best->reason = first && !waited_long(entry) ? ReserveReason::kFirst : ReserveReason::kWaited;
  add(std::move(*best), *best_entry);
}

ExistingReservations reserve(const RoundInput& input, const Forecasts& forecasts,
                             const PendingQueue& queue, const JobHistory& history,
                             const Budget& budget, Capacity capacity) {
  ReservationTable table(capacity);
  const Placer placer(input, forecasts, queue, capacity, table);
  const Reserver reserver(input, capacity, placer);
  ReservationRules rules(input, queue, history, budget, reserver, table);
  rules.carry_over();
  return {std::move(capacity), table.all(), rules.yielding()};
}

}  // namespace rubato
