// SPDX-License-Identifier: GPL-2.0-or-later
// The limits of acct_policy.c, acct_policy_job_runnable_post_select(), but for those that need the
// chosen nodes.
#include "plugin/slurm/read/limit_room.h"

#include <limits>

#include "lib/base/hash.h"
#include "plugin/slurm/release/lists.h"

namespace rubato {

namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

std::size_t tres_count() { return static_cast<std::size_t>(slurmctld_tres_cnt); }

class RoomMaker {
 public:
  RoomMaker() { room_.most.assign(tres_count(), kNoLimit); }

  // Each limit bounds use and request together; null `used`: the request alone.
  void bound(const std::uint64_t* limits, const std::uint64_t* used) {
    if (limits == nullptr) return;
    for (std::size_t i = 0; i < tres_count(); ++i) {
      if (limits[i] == INFINITE64) continue;
      const std::uint64_t in_use = used != nullptr ? used[i] : 0;
      hash_.add(i).add(limits[i]).add(in_use);
      room_.most[i] = std::min(room_.most[i], limits[i] > in_use ? limits[i] - in_use : 0);
    }
  }
  void minutes(const std::uint64_t* limits) {
    if (limits == nullptr) return;
    for (std::size_t i = 0; i < tres_count(); ++i) {
      if (limits[i] == INFINITE64) continue;
      hash_.add(i).add(limits[i]);
      room_.timed = true;
    }
  }
  void wall(std::uint32_t limit) {
    hash_.add(limit);
    if (limit != INFINITE) room_.timed = true;
  }
  void use_factor() { room_.timed = true; }
  // Limits on minutes change with what runs.
  void running(const std::uint64_t* used) {
    if (!room_.timed) return;
    for (std::size_t i = 0; used != nullptr && i < tres_count(); ++i) hash_.add(used[i]);
  }
  [[nodiscard]] LimitRoom done() {
    room_.state = hash_.value();
    return std::move(room_);
  }

 private:
  LimitRoom room_;
  Hasher hash_;
};

const std::uint64_t* used_by_user(list_t* all, std::uint32_t uid) {
  if (all == nullptr) return nullptr;
  const auto same = [](void* one, void* key) -> int {
    return static_cast<int>(static_cast<slurmdb_used_limits_t*>(one)->uid ==
                            *static_cast<std::uint32_t*>(key));
  };
  const auto* found = static_cast<slurmdb_used_limits_t*>(list_find_first_ro(all, same, &uid));
  return found != nullptr ? found->tres : nullptr;
}

const std::uint64_t* used_by_account(list_t* all, const slurmdb_assoc_rec_t* assoc) {
  if (all == nullptr || assoc == nullptr) return nullptr;
  const auto same = [](void* one, void* key) -> int {
    return static_cast<int>(
        xstrcmp(static_cast<slurmdb_used_limits_t*>(one)->acct, static_cast<char*>(key)) == 0);
  };
  const auto* found =
      static_cast<slurmdb_used_limits_t*>(list_find_first_ro(all, same, assoc->acct));
  return found != nullptr ? found->tres : nullptr;
}

void add_qos(RoomMaker& room, const slurmdb_qos_rec_t* qos, const job_record_t& job) {
  if (qos == nullptr || qos->usage == nullptr) return;
  const slurmdb_qos_usage_t& usage = *qos->usage;
  room.bound(qos->grp_tres_ctld, usage.grp_used_tres);
  room.bound(qos->max_tres_pj_ctld, nullptr);
  room.bound(qos->max_tres_pu_ctld, used_by_user(usage.user_limit_list, job.user_id));
  room.bound(qos->max_tres_pa_ctld, used_by_account(usage.acct_limit_list, job.assoc_ptr));
  room.minutes(qos->grp_tres_mins_ctld);
  room.minutes(qos->grp_tres_run_mins_ctld);
  room.minutes(qos->max_tres_mins_pj_ctld);
  room.minutes(qos->max_tres_run_mins_pa_ctld);
  room.minutes(qos->max_tres_run_mins_pu_ctld);
  room.wall(qos->grp_wall);
  room.running(usage.grp_used_tres);
  if (!fuzzy_equal(qos->limit_factor, INFINITE)) room.use_factor();
}

void add_association(RoomMaker& room, const slurmdb_assoc_rec_t* assoc) {
  for (; assoc != nullptr && assoc->usage != nullptr; assoc = assoc->usage->parent_assoc_ptr) {
    room.bound(assoc->grp_tres_ctld, assoc->usage->grp_used_tres);
    room.bound(assoc->max_tres_ctld, nullptr);
    room.minutes(assoc->grp_tres_mins_ctld);
    room.minutes(assoc->grp_tres_run_mins_ctld);
    room.minutes(assoc->max_tres_mins_ctld);
    room.minutes(assoc->max_tres_run_mins_ctld);
    room.wall(assoc->grp_wall);
    room.running(assoc->usage->grp_used_tres);
  }
}

}  // namespace

bool LimitRoom::surely_allows(const std::uint64_t* tres) const {
  if (timed) return false;
  for (std::size_t i = 0; i < most.size(); ++i) {
    const std::uint64_t wanted = i == TRES_ARRAY_NODE && tres[i] == 0 ? 1 : tres[i];
    if (most[i] != kNoLimit && wanted > most[i]) return false;
  }
  return true;
}

const LimitRoom& LimitRooms::of(const job_record_t& job, const part_record_t& part) {
  const Key key{job.assoc_ptr, job.qos_ptr, part.qos_ptr, job.user_id};
  const auto known = rooms_.find(key);
  if (known != rooms_.end()) return known->second;
  RoomMaker room;
  assoc_mgr_lock_t locks = {};
  locks.assoc = READ_LOCK;
  locks.qos = READ_LOCK;
  locks.tres = READ_LOCK;
  {
    const AssocLocks held(locks);
    add_qos(room, job.qos_ptr, job);
    add_qos(room, part.qos_ptr, job);
    add_association(room, job.assoc_ptr);
  }
  return rooms_.emplace(key, room.done()).first->second;
}

}  // namespace rubato
