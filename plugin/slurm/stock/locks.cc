// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/stock/locks.h"

#include <chrono>
#include <ctime>

namespace rubato {

namespace {

constexpr slurmctld_lock_t kLookLocks = {READ_LOCK, READ_LOCK, READ_LOCK, READ_LOCK, READ_LOCK};
constexpr slurmctld_lock_t kActLocks = {READ_LOCK, WRITE_LOCK, WRITE_LOCK, READ_LOCK, READ_LOCK};

constexpr slurmctld_lock_t kConfLocks = {READ_LOCK, NO_LOCK, NO_LOCK, NO_LOCK, NO_LOCK};
constexpr slurmctld_lock_t kNodeLocks = {NO_LOCK, NO_LOCK, READ_LOCK, NO_LOCK, NO_LOCK};

slurmctld_lock_t locks_of(LockKind kind) {
  switch (kind) {
    case LockKind::kLook:
      return kLookLocks;
    case LockKind::kAct:
      return kActLocks;
    case LockKind::kConf:
      return kConfLocks;
    case LockKind::kNodes:
      break;
  }
  return kNodeLocks;
}

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

double thread_cpu_ms() {
  timespec used{};
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) * 1e-6;
}

}  // namespace

HeldLocks::HeldLocks(LockKind kind, LockUse use, LockTimes& times, bool count)
    : locks_(locks_of(kind)), use_(use), times_(times), count_(count) {
  if (!enter_as_server_thread(count_)) return;
  lock_slurmctld(locks_);
  if (slurmctld_config.shutdown_time != 0) {  // while this waited
    unlock_slurmctld(locks_);
    if (count_) leave_as_server_thread();
    return;
  }
  since_ = times_.clock->steady();
  cpu_since_ = thread_cpu_ms();
  held_ = true;
}

HeldLocks::~HeldLocks() {
  if (!held_) return;
  const double ms = held_ms();
  const double cpu = thread_cpu_ms() - cpu_since_;
  unlock_slurmctld(locks_);
  if (count_) leave_as_server_thread();
  times_.add(use_, ms, cpu);
}

double HeldLocks::held_ms() const {
  return std::chrono::duration<double, std::milli>(times_.clock->steady() - since_).count();
}

}  // namespace rubato
