// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/round.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "lib/base/fingerprint.h"
#include "lib/json/json.h"
#include "lib/json/models_fit.h"
#include "lib/policy/algorithms/capacity.h"
#include "lib/policy/algorithms/explainer.h"
#include "lib/policy/algorithms/job_forecast.h"
#include "lib/policy/algorithms/need.h"
#include "lib/policy/algorithms/pending_queue.h"
#include "lib/policy/algorithms/pools.h"
#include "lib/policy/algorithms/service.h"
#include "lib/policy/algorithms/type_choice.h"
#include "lib/policy/place.h"

namespace rubato {
namespace {

std::vector<Reservation> reservations_of(const ReservationTable& reservation_table) {
  std::vector<Reservation> reservations;
  for (const BookedReservation& booked : reservation_table.all())
    reservations.push_back(booked.reservation);
  return reservations;
}

// Of jobs that still wait or run.
std::vector<Progress> kept_progress(const Snapshot& snapshot) {
  std::vector<JobKey> keys;
  keys.reserve(snapshot.jobs.size());
  for (const Job& job : snapshot.jobs) keys.push_back(job.key);
  std::sort(keys.begin(), keys.end());
  std::vector<Progress> kept = snapshot.memory.progress;
  std::erase_if(kept, [&](const Progress& one) {
    return !std::binary_search(keys.begin(), keys.end(), one.job);
  });
  return kept;
}

// Of jobs that still wait or run, and for a while of those that are not to be seen: a requeued job
// keeps what it had.
std::vector<ProgressHistory> kept_progress_histories(const Snapshot& snapshot, Seconds now) {
  std::vector<JobKey> keys;
  keys.reserve(snapshot.jobs.size());
  for (const Job& job : snapshot.jobs) keys.push_back(job.key);
  std::sort(keys.begin(), keys.end());
  std::vector<ProgressHistory> kept = snapshot.memory.progress_histories;
  std::erase_if(kept, [&](const ProgressHistory& one) {
    return now - one.updated >= kRequeueTime &&
           !std::binary_search(keys.begin(), keys.end(), one.job);
  });
  return kept;
}

}  // namespace

Plan round(const Snapshot& snapshot, const Models& models, const Config& config, Seconds now,
           Fingerprint print) {
  Capacity capacity(snapshot, now);
  std::vector<Service> service = update_service(snapshot, models, config, now);
  std::vector<JobNeed> needs = expected_needs(snapshot, models, config, service, now);
  RoundContext context = make_context(snapshot, config, now, std::move(service), std::move(needs));
  context.models = &models;
  context.speeds = predict_speeds(models, capacity.types());
  context.fastest = by_speed(context.speeds);

  std::vector<std::unique_ptr<const TypeChoice>> choices;
  choose_types(context, models, capacity, choices);
  std::vector<TypeLoad> loads = loads_after(context, models, capacity);

  SchedulingPass pass(context, capacity);
  pass.run();

  Plan plan;
  plan.round = snapshot.memory.round + 1;
  plan.made = now;
  if (print == Fingerprint::kTake) {
    plan.snapshot_fingerprint = fingerprint(to_json(snapshot));
    plan.models_fingerprint = fingerprint(fit_of(models));
  }
  plan.starts = std::move(pass.starts());

  Explainer explainer(context, capacity, pass.reservation_table(), pass.history());
  plan.explanations.reserve(context.queue.size());
  for (const PendingEntry& entry : context.queue) {
    plan.explanations.push_back(
        explainer.explain(entry, pass.outcomes()[static_cast<std::size_t>(entry.order)]));
  }

  plan.memory.round = plan.round;
  plan.memory.jobs = pass.history().take();
  plan.memory.service = std::move(context.service);
  plan.memory.progress = kept_progress(snapshot);
  plan.memory.progress_histories = kept_progress_histories(snapshot, now);
  plan.memory.types = snapshot.memory.types;
  plan.memory.loads = std::move(loads);
  plan.memory.reservations =
      reservations_of(pass.reservation_table());  // the book is sorted by job
  plan.reservations = plan.memory.reservations;
  std::stable_sort(plan.reservations.begin(), plan.reservations.end(),
                   [](const Reservation& a, const Reservation& b) {
                     return std::tie(a.start, a.job) < std::tie(b.start, b.job);
                   });
  return plan;
}

}  // namespace rubato
