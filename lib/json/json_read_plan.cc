// SPDX-License-Identifier: GPL-2.0-or-later
// JSON to a plan and to the memory of earlier rounds.
#include <string>
#include <tuple>

#include "lib/hints/types.h"
#include "lib/json/json_documents.h"
#include "lib/json/json_progress_histories.h"

namespace rubato::json {

JobMemory Reader::job_memory(const JsonItem& item) {
  JobMemory memory;
  JsonObject object(item);
  job_key(object, memory.job);
  object.time("first_seen", memory.first_seen);
  object.count("passed", memory.passed);
  object.time("passed_since", memory.passed_since);
  object.time("last_try", memory.last_try);
  object.count("refusals", memory.refusals);
  object.text("refusal", memory.refusal);
  object.text("refused_request", memory.refused_request);
  object.count("refused_free", memory.refused_free);
  object.finish();
  return memory;
}

namespace {

void amount_of(JsonObject& object, const char* name, double& to) {
  constexpr double kMaxAmount = 1e18;
  object.optional(name, [&](const JsonItem& value) {
    to = value.real();
    if (!(to >= 0 && to <= kMaxAmount)) value.error("must be from 0 to 1e18");
  });
}

}  // namespace

Service Reader::service(const JsonItem& item) {
  JsonObject object(item);
  Service service;
  job_key(object, service.job);
  const auto amount = [&](const char* name, double& to) { amount_of(object, name, to); };
  amount("attained", service.attained);
  amount("since_promotion", service.since_promotion);
  object.time("executed", service.executed);
  object.time("waiting_since", service.waiting_since);
  object.time("updated", service.updated);
  amount("held", service.held);
  object.count("level", service.level);
  object.yes("predictable", service.predictable);
  object.count("level_unpredictable", service.level_unpredictable);
  object.yes("counted", service.counted);
  object.finish();
  return service;
}

TypeLoad Reader::load(const JsonItem& item) {
  JsonObject object(item);
  TypeLoad load;
  object.text("gpu_type", load.gpu_type);
  object.time("updated", load.updated);
  amount_of(object, "seconds", load.seconds);
  amount_of(object, "jobs", load.jobs);
  amount_of(object, "gpus", load.gpus);
  amount_of(object, "told_gpus", load.told_gpus);
  amount_of(object, "told_gpu_seconds", load.told_gpu_seconds);
  object.finish();
  return load;
}

Progress Reader::progress(const JsonItem& item) {
  constexpr auto kMax = static_cast<std::uint64_t>(kMaxWork);
  Progress progress;
  JsonObject object(item);
  job_key(object, progress.job);
  object.count("restarts", progress.restarts);
  object.time("time", progress.time);
  object.optional("samples", [&](const JsonItem& samples) {
    progress.samples = static_cast<std::int64_t>(samples.number(kMax));
  });
  object.optional("rate",
                  [&](const JsonItem& throughput) { progress.throughput = throughput.real(); });
  object.optional("batch", [&](const JsonItem& batch) {
    progress.batch = static_cast<std::int64_t>(batch.number(kMax));
  });
  object.optional("loss", [&](const JsonItem& loss) { progress.loss = loss.real(); });
  object.finish();
  return progress;
}

Reservation Reader::reservation(const JsonItem& item, bool& known) {
  Reservation reservation;
  JsonObject object(item);
  job_key(object, reservation.job);
  object.text("partition", reservation.partition);
  object.time("start", reservation.start);
  object.time("made", reservation.made);
  word<ReserveReason>(object, "reason", reserve_reason_from, reservation.reason);
  object.text("gpu_type", reservation.gpu_type);
  object.optional("shares",
                  [&](const JsonItem& kept) { reservation.shares = shares(kept, &known); });
  object.finish();
  return reservation;
}

std::vector<Reservation> Reader::reservations(const JsonItem& item, bool drop) {
  std::vector<Reservation> kept;
  item.elements([&](const JsonItem& element) {
    bool known = true;
    Reservation one = reservation(element, known);
    if (!known && !drop) element.error("names a node that is not there");
    if (known) kept.push_back(std::move(one));
  });
  return kept;
}

Memory Reader::memory(JsonObject& object, bool drop) {
  Memory memory;
  object.optional("round",
                  [&](const JsonItem& round) { memory.round = round.number(kJsonMaxTime); });
  list(object, "jobs", memory.jobs, [&](const JsonItem& item) { return job_memory(item); });
  object.optional("reservations",
                  [&](const JsonItem& item) { memory.reservations = reservations(item, drop); });
  list(object, "service", memory.service, [&](const JsonItem& item) { return service(item); });
  if (!ascending(memory.service, [](const auto& a, const auto& b) { return a.job < b.job; })) {
    object.error_at("service", "must be sorted by id and submit, each once");
  }
  list(object, "progress", memory.progress, [&](const JsonItem& item) { return progress(item); });
  if (!ascending(memory.progress, [](const auto& a, const auto& b) { return a.job < b.job; })) {
    object.error_at("progress", "must be sorted by id and submit, each once");
  }
  list(object, "courses", memory.progress_histories, [&](const JsonItem& item) {
    ProgressHistory progress_history;
    JsonObject members(item);
    job_key(members, progress_history.job);
    read_progress_history(members, progress_history);
    members.finish();
    return progress_history;
  });
  if (!ascending(memory.progress_histories,
                 [](const auto& a, const auto& b) { return a.job < b.job; })) {
    object.error_at("courses", "must be sorted by id and submit, each once");
  }
  list(object, "types", memory.types,
       [](const JsonItem& item) { return read_type_predictability(item); });
  if (!ascending(memory.types, [](const auto& a, const auto& b) {
        return std::tie(a.account, a.job_type) < std::tie(b.account, b.job_type);
      })) {
    object.error_at("types", "must be sorted by account and job type, each once");
  }
  list(object, "loads", memory.loads, [](const JsonItem& item) { return load(item); });
  if (!ascending(memory.loads,
                 [](const auto& a, const auto& b) { return a.gpu_type < b.gpu_type; })) {
    object.error_at("loads", "must be sorted by gpu_type, each once");
  }
  if (!ascending(memory.jobs, [](const auto& a, const auto& b) { return a.job < b.job; })) {
    object.error_at("jobs", "must be sorted by id and submit, each once");
  }
  if (!ascending(memory.reservations, [](const auto& a, const auto& b) {
        return std::tie(a.job, a.partition) < std::tie(b.job, b.partition);
      })) {
    object.error_at("reservations", "must be sorted by id, submit and partition, each once");
  }
  return memory;
}

Start Reader::start(const JsonItem& item) {
  Start start;
  JsonObject object(item);
  job_key(object, start.job);
  object.text("partition", start.partition);
  object.text("reservation", start.reservation);
  object.yes("managed", start.managed);
  object.text("gpu_type", start.gpu_type);
  object.count("gpus", start.gpus);
  object.yes("on_cpus", start.on_cpus);
  object.text("plan", start.plan);
  object.optional("batch", [&](const JsonItem& batch) {
    start.batch = static_cast<std::int64_t>(batch.number(static_cast<std::uint64_t>(kMaxBatch)));
  });
  object.optional("shares", [&](const JsonItem& where) { start.shares = shares(where); });
  object.yes("elsewhere", start.elsewhere);
  object.finish();
  return start;
}

Explanation Reader::explanation(const JsonItem& item) {
  Explanation explanation;
  JsonObject object(item);
  job_key(object, explanation.job);
  object.text("label", explanation.label);
  object.text("partition", explanation.partition);
  object.required("verdict", [](const JsonItem&) {});
  word<Verdict>(object, "verdict", verdict_from, explanation.verdict);
  object.count("order", explanation.order);
  object.text("reason", explanation.reason);
  object.text("gpu_type", explanation.gpu_type);
  list(object, "nodes", explanation.nodes, [](const JsonItem& name) { return name.text(); });
  object.time("start_earliest", explanation.start_earliest);
  object.time("start_latest", explanation.start_latest);
  list(object, "facts", explanation.facts, [](const JsonItem& fact) {
    std::vector<std::string> pair;
    fact.elements([&](const JsonItem& part) { pair.push_back(part.text()); });
    if (!fact.failed() && pair.size() != 2) fact.error("expected a name and a value");
    pair.resize(2);
    return std::pair{pair[0], pair[1]};
  });
  object.finish();
  return explanation;
}

Plan Reader::plan(JsonObject& object) {
  Plan plan;
  object.optional("round", [&](const JsonItem& round) { plan.round = round.number(kJsonMaxTime); });
  object.time("made", plan.made);
  object.text("snapshot_fingerprint", plan.snapshot_fingerprint);
  object.text("models_fingerprint", plan.models_fingerprint);
  list(object, "starts", plan.starts, [&](const JsonItem& item) { return start(item); });
  object.optional("reservations",
                  [&](const JsonItem& item) { plan.reservations = reservations(item, false); });
  list(object, "explanations", plan.explanations,
       [&](const JsonItem& item) { return explanation(item); });
  object.optional("memory", [&](const JsonItem& item) {
    JsonObject inner(item);
    plan.memory = memory(inner, false);
    inner.finish();
  });
  return plan;
}

}  // namespace rubato::json
