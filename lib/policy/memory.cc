// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/memory.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <set>
#include <utility>

#include "lib/model/progress/ended_work.h"
#include "lib/model/progress/statements.h"
#include "lib/policy/algorithms/overrun.h"
#include "lib/policy/algorithms/pools.h"
#include "lib/policy/algorithms/restarts.h"
#include "lib/policy/algorithms/service.h"
#include "lib/policy/algorithms/size_history.h"
#include "lib/policy/algorithms/size_holds.h"
#include "lib/policy/market/closing.h"

namespace rubato {
namespace {

JobMemory* record_of(std::vector<JobMemory>& jobs, const JobKey& job) {
  const auto at = std::ranges::lower_bound(jobs, job, {}, &JobMemory::job);
  return at != jobs.end() && at->job == job ? &*at : nullptr;
}

// What a job was promised outlives its reservation, but not a time in which Slurm holds the job.
void keep_promises(const PendingQueue& queue, const std::vector<BookedReservation>& booked,
                   std::vector<JobMemory>& jobs) {
  for (const PendingEntry& entry : queue.entries) {
    const Block block = entry.job->block;
    if (block == Block::kNone || block == Block::kLeftOut || block == Block::kPlace) continue;
    if (JobMemory* memory = record_of(jobs, entry.job->key)) memory->promised = 0;
  }
  for (const BookedReservation& one : booked)
    if (JobMemory* memory = record_of(jobs, one.reservation.job))
      memory->promised = one.reservation.promised;
}

std::vector<JobMemory> jobs_after(const JobHistory& history, const PendingQueue& queue,
                                  const Placements& placements, Seconds now) {
  std::vector<JobMemory> jobs = history.jobs();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (placements.passed[i] > 0 && jobs[i].passed == 0) jobs[i].passed_since = now;
    jobs[i].passed += placements.passed[i];
  }
  keep_promises(queue, placements.reservations, jobs);
  return jobs;
}

// Jobs that are here, or may come back after a requeue: then what they did counts.
std::set<JobKey> remembered_jobs(const std::vector<Job>& jobs,
                                 const std::vector<Service>& service) {
  std::set<JobKey> keys;
  for (const Job& job : jobs) keys.insert(job.key);
  for (const Service& one : service) keys.insert(one.job);
  return keys;
}

std::vector<Reservation> reservations_of(const std::vector<BookedReservation>& booked) {
  std::vector<Reservation> reservations;
  reservations.reserve(booked.size());
  for (const BookedReservation& one : booked) reservations.push_back(one.reservation);
  return reservations;
}

}  // namespace

std::vector<ArrivalTime> last_arrivals(const RoundInput& input) {
  std::set<Seconds> times;
  for (const ArrivalTime& known : input.snapshot.memory.arrivals) times.insert(known.time);
  for (const Job& job : input.snapshot.jobs) {
    const bool counts = job.managed && job.request.wants_gpus() && job.eligible > 0;
    if (counts && job.eligible <= input.now) times.insert(job.eligible);
  }
  while (times.size() > kArrivalsCounted + 1) times.erase(times.begin());
  std::vector<ArrivalTime> arrivals;
  for (const Seconds time : times) arrivals.push_back({time});
  return arrivals;
}

Memory next_memory(const RoundInput& input, const Forecasts& forecasts, const PendingQueue& queue,
                   const Capacity& capacity, const JobHistory& history,
                   const Placements& placements, const Trades& trades) {
  const Memory& before = input.snapshot.memory;
  CountedArrivals counted = count_arrivals(input, queue, capacity, forecasts.service);

  Memory memory;
  memory.round = before.round + 1;
  memory.jobs = jobs_after(history, queue, placements, input.now);
  memory.reservations = reservations_of(placements.reservations);
  memory.service = std::move(counted.service);
  const std::set<JobKey> remembered = remembered_jobs(input.snapshot.jobs, memory.service);
  const auto over = [&](const JobKey& job, Seconds last) {
    return input.now - last >= kRequeueTime && !remembered.contains(job);
  };
  memory.progress = before.progress;
  std::erase_if(memory.progress, [&](const Progress& one) { return over(one.job, one.time); });
  memory.progress_histories = before.progress_histories;
  std::erase_if(memory.progress_histories,
                [&](const ProgressHistory& one) { return over(one.job, one.updated); });
  memory.types = before.types;
  memory.noises = before.noises;
  memory.works = before.works;
  memory.change_costs = before.change_costs;
  memory.loads = std::move(counted.loads);
  memory.overruns = next_overruns(input);
  memory.statements = before.statements;
  if (input.config.mode == Mode::kElastic) memory.arrivals = last_arrivals(input);
  memory.prices = trades.mean_prices;
  memory.explorations = trades.explorations;
  memory.asked_resizes = before.asked_resizes;
  memory.size_histories = follow_sizes(input.snapshot, remembered);
  memory.size_holds = kept_holds(before, remembered, input.now);
  note_restarts(input, trades.changes, remembered, memory);
  return memory;
}

Memory fold_refusals(Memory memory, const std::vector<RefusedStart>& refused, Seconds tried) {
  for (const RefusedStart& start : refused) {
    auto at =
        std::lower_bound(memory.jobs.begin(), memory.jobs.end(), start.job,
                         [](const JobMemory& one, const JobKey& key) { return one.job < key; });
    if (at == memory.jobs.end() || at->job != start.job) {
      JobMemory fresh;
      fresh.job = start.job;
      fresh.first_seen = tried;
      at = memory.jobs.insert(at, std::move(fresh));
    }
    at->last_try = tried;
    ++at->refusals;
    if (!start.planned) ++at->asked;
    at->refusal = start.reason;
  }
  return memory;
}

void fold_report(const Progress& report, Memory& memory, const ReportedJob& job) {
  std::vector<Progress>& all = memory.progress;
  auto at = std::ranges::lower_bound(all, report.job, {}, &Progress::job);
  const bool same = at != all.end() && at->job == report.job;
  if (same && report.time < at->time) return;
  Progress fresh = counted(report, same ? &*at : nullptr, job);
  if (report.noise)
    fold_noise(job.profile, fresh.done(), *report.noise, report.time, memory.noises);
  if (same)
    *at = std::move(fresh);
  else
    all.insert(at, std::move(fresh));
}

void fold_forecast(const JobKey& job, const ProgressReport& report, const std::optional<Work>& work,
                   Memory& memory) {
  ProgressReport efficient = report;
  const Progress* const progress = progress_of(memory, job);
  if (progress != nullptr && progress->time == report.time) {
    efficient.samples = std::llround(progress->done());
    efficient.throughput = progress->goodput();
    efficient.steps = progress->steps;
  }
  follow(progress_history_for(memory.progress_histories, job), efficient, work);
}

void fold_ended(const JobKey& job, const std::string& account, const std::string& job_type,
                Seconds now, Memory& memory) {
  const ProgressHistory* progress_history = progress_history_of(memory, job);
  if (progress_history != nullptr) ended(*progress_history, account, job_type, now, memory.types);
}

void fold_work(const JobKey& job, const ProfileName& profile, Seconds now, Memory& memory) {
  const Progress* const progress = progress_of(memory, job);
  if (progress != nullptr) fold_ended_work(profile, progress->done(), now, memory.works);
}

void fold_statement(const JobKey& job, const EndedJob& ended, Seconds now, Memory& memory) {
  const Progress* const progress = progress_of(memory, job);
  if (progress == nullptr || !ended.work) return;
  const std::optional<double> ratio = done_of_stated(*ended.work, *progress);
  if (ratio && (ended.completed || *ratio > kStatementSlack))
    fold_statement(ended.account, *ratio, now, memory.statements);
}

void promote_predictable(Memory& memory) { promote_all(memory.progress_histories); }

int set_back(Memory& memory, Seconds now) {
  int count = 0;
  const auto set = [&](std::initializer_list<Seconds*> times) {
    for (Seconds* time : times) {
      if (*time <= now) continue;
      *time = now;
      ++count;
    }
  };
  for (JobMemory& job : memory.jobs) set({&job.first_seen, &job.passed_since, &job.last_try});
  for (Reservation& reservation : memory.reservations) set({&reservation.made});
  for (Service& service : memory.service) set({&service.waiting_since, &service.updated});
  for (TypeLoad& load : memory.loads) set({&load.updated});
  for (ProfileNoise& noise : memory.noises) set({&noise.updated});
  for (ProfileWork& work : memory.works) set({&work.updated});
  for (ProfileCosts& costs : memory.change_costs) set({&costs.updated});
  for (UserOverrun& overrun : memory.overruns) set({&overrun.last});
  for (AccountStatements& account : memory.statements) set({&account.updated});
  for (Exploration& one : memory.explorations) set({&one.time});
  for (ArrivalTime& arrival : memory.arrivals) set({&arrival.time});
  memory.arrivals.erase(std::unique(memory.arrivals.begin(), memory.arrivals.end()),
                        memory.arrivals.end());
  for (AskedResize& restart : memory.asked_resizes) {
    restart.due -= std::max<Seconds>(restart.since - now, 0);  // the step takes as long as before
    set({&restart.asked, &restart.since, &restart.requeued, &restart.reported});
  }
  for (SizeHold& hold : memory.size_holds) {
    if (hold.until > 0) hold.until -= std::max<Seconds>(hold.since - now, 0);
    set({&hold.since});
  }
  for (JobRestarts& record : memory.restarts) {
    set({&record.planned});
    for (RestartHour& hour : record.hours) set({&hour.last});
  }
  for (UserRestarts& record : memory.user_restarts) {
    for (RestartHour& hour : record.hours) set({&hour.last});
  }
  for (Progress& progress : memory.progress) set({&progress.time});
  for (ProgressHistory& progress_history : memory.progress_histories) {
    set({&progress_history.updated});
    count += static_cast<int>(
        std::erase_if(progress_history.points,
                      [now](const ProgressForecast& point) { return point.time > now; }));
  }
  return count;
}

}  // namespace rubato
