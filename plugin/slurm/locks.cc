// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/locks.h"

namespace rubato {

namespace {

constexpr slurmctld_lock_t kLookLocks = {READ_LOCK, READ_LOCK, READ_LOCK, READ_LOCK, READ_LOCK};
constexpr slurmctld_lock_t kActLocks = {READ_LOCK, WRITE_LOCK, WRITE_LOCK, READ_LOCK, READ_LOCK};

bool enter_as_server_thread(bool count) {
  slurm_mutex_lock(&slurmctld_config.thread_count_lock);
  const bool going_on = slurmctld_config.shutdown_time == 0;
  if (going_on && count) ++slurmctld_config.server_thread_count;
  slurm_mutex_unlock(&slurmctld_config.thread_count_lock);
  return going_on;
}

void leave_as_server_thread() {
  slurm_mutex_lock(&slurmctld_config.thread_count_lock);
  --slurmctld_config.server_thread_count;
  slurm_cond_broadcast(&slurmctld_config.thread_count_cond);
  slurm_mutex_unlock(&slurmctld_config.thread_count_lock);
}

}  // namespace

HeldLocks::HeldLocks(LockKind kind, LockTimes& times, bool count)
    : locks_(kind == LockKind::kLook ? kLookLocks : kActLocks), times_(times), count_(count) {
  if (!enter_as_server_thread(count_)) return;
  lock_slurmctld(locks_);
  since_ = std::chrono::steady_clock::now();
  held_ = true;
}

HeldLocks::~HeldLocks() {
  if (!held_) return;
  const double ms = held_ms();
  unlock_slurmctld(locks_);
  if (count_) leave_as_server_thread();
  ++times_.holds;
  times_.total_ms += ms;
  times_.last_ms = ms;
  times_.longest_ms = std::max(times_.longest_ms, ms);
}

double HeldLocks::held_ms() const {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - since_)
      .count();
}

}  // namespace rubato
