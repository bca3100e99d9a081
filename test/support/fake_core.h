// SPDX-License-Identifier: GPL-2.0-or-later
// A fake slurmctld: answers the loop's calls to plugin/slurm and plugin/actuate from a value that a
// test sets. For faults and races that a real daemon cannot be made to show.
#pragma once

#include <atomic>
#include <mutex>
#include <set>
#include <string>

#include "lib/core/snapshot.h"
#include "lib/json/notice.h"
#include "plugin/slurm/write/live_growth.h"

namespace rubato::test {

struct FakeCore {
  std::mutex mutex;
  Snapshot snapshot;   // under mutex
  std::string folder;  // slurm.conf and StateSaveLocation
  bool records_fit = true;
  bool reconfigured = false;
  bool has_jobs = true;  ///< a job record can be compared
  std::atomic<bool> shutting_down{false};
  std::atomic<int> cycles{0};  // each first tests whether slurmctld shuts down
  std::atomic<int> looks_reading{0};
  std::atomic<int> looks_writing{0};
  std::atomic<int> commits{0};
  std::atomic<int> starts{0};  // of all plans committed
  std::atomic<int> writes_back{0};
  std::atomic<int> clears{0};
  std::atomic<int> reserves{0};
  std::atomic<int> full_looks{0};
  std::atomic<int> peeks{0};
  std::atomic<int> coming{0};  // completing nodes
  std::atomic<Seconds> partitions_changed{0};
  std::atomic<bool> quiet{true};  // slurmctld serves no request
  std::atomic<int> max_rpcs{0};   // SchedulerParameters=max_rpc_cnt
  std::atomic<int> rpcs{0};
  std::atomic<int> segments{0};
  std::atomic<int> segment_clears{0};
  std::atomic<int> stock_woken{0};
  std::atomic<int> signals{0};
  std::atomic<int> requeues{0};
  std::atomic<int> made_eligible{0};
  std::atomic<Seconds> eligible_at{0};   ///< what make_eligible() answers; 0: none
  std::atomic<bool> ends_well{true};     ///< jobs end by themselves, with exit code 0
  std::atomic<int> summaries{0};         ///< of ended jobs, for AdminComment
  std::vector<Notice> notices;           ///< shown to the job since the last was removed
  bool has_steps = true;                 ///< a signal to steps reaches the job
  bool runs_on = false;                  ///< no job was requeued
  bool has_ended = false;                ///< the job that was requeued is over for good
  std::vector<int> shrunk_to;            ///< nodes of the last shrink_job()
  std::vector<AddedShare> grown_by;      ///< of the last grow_job()
  std::string grown_type;                ///< its GPU type
  std::string growth_error;              ///< of grow_job(); "" if it succeeds
  std::vector<std::string> asked_nodes;  ///< which jobs they have
  std::set<std::string> silent_nodes;    ///< do not respond
  std::string requeue_error;             ///< of RunningJob::requeue(); "" if it succeeds
};

FakeCore& core();

}  // namespace rubato::test
