// SPDX-License-Identifier: GPL-2.0-or-later
// The document of `rubato explain`, described as those of lib/json/records.h. Nothing reads it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/core/plan.h"
#include "lib/core/snapshot.h"
#include "lib/json/decisions.h"
#include "lib/json/decisions_records.h"
#include "lib/json/record_description.h"
#include "tools/rubato/explain/explain_array.h"
#include "tools/rubato/explain/explain_ended.h"
#include "tools/rubato/explain/explain_parts.h"
#include "tools/shared/job_facts_records.h"
#include "tools/shared/pause_view.h"
#include "tools/shared/source.h"

namespace rubato::tools {

inline constexpr const char* kExplainSchema = "rubato.explain/1";

/// Core records as this document has them, under other names than the plan.
struct ExplainedSize : SizeOutcome {};
struct ExplainedStart : StartRecord {};
struct ExplainedChange : Change {};
struct ExplainedStay : Stay {};
struct ExplainedResize : AskedResize {};
struct ExplainedCosts : ProfileCosts {};
struct ExplainedHold : SizeHold {};
struct ExplainedExploration : Exploration {};

/// Expected start as an interval; 0: not known.
struct ExpectedStart {
  Seconds earliest = 0;
  Seconds latest = 0;

  bool operator==(const ExpectedStart&) const = default;
};

struct ExplainedNode {
  std::string name;
  int cores = 0;
  MiB memory = 0;
  std::map<std::string, int> gpus;  ///< by type
};

/// A job of the plan, a job that has ended, or a job as squeue shows it.
struct ExplainedJob {
  std::string source;  ///< "squeue", or "" for the decisions
  JobKey key;          ///< id 0: not known
  JobId array_id = 0;
  std::string label;
  std::string partition;
  // Of the plan.
  std::optional<Job> job;
  std::string scheduled_by;
  std::string unmanaged_because;
  std::optional<Progress> progress;
  std::optional<ProgressHistory> history;
  std::vector<ExplainedNode> nodes;  ///< of a running job
  std::optional<Explanation> told;
  std::optional<ExplainedResize> resize;
  std::optional<ExplainedHold> hold;
  std::optional<ExplainedExploration> exploration;
  std::optional<ExplainedCosts> costs;
  std::optional<ExplainedChange> change;  ///< of a running job in mode elastic
  std::optional<ExplainedStay> stay;      ///< of a running job in mode elastic
  // Of the plan and of ended jobs.
  std::optional<ExplainedStart> decision;
  bool ended = false;
  // Of squeue and of ended jobs.
  std::optional<SqueueJob> squeue;
  std::optional<JobEnd> end;
  // Of the plan and of squeue.
  ExpectedStart expected;
};

struct ExplainedArray {
  JobId id = 0;
  TaskCounts tasks;
};

/// The document. Without decisions it has the jobs alone.
struct ExplainAnswer {
  std::string mode{};
  std::optional<std::uint64_t> round{};
  std::optional<Seconds> made{};
  bool old = false;
  std::vector<ExplainedJob> jobs{};
  std::optional<ExplainedArray> array{};
  std::optional<Pause> pause{};  ///< in effect
};

}  // namespace rubato::tools

namespace rubato::json {

inline std::vector<tools::ExplainedSize> explained(const std::vector<SizeOutcome>& sizes) {
  std::vector<tools::ExplainedSize> list;
  for (const SizeOutcome& size : sizes) list.push_back({size});
  return list;
}

template <typename Visitor, Is<tools::ExplainedSize> R>
void describe(Visitor& v, R& size) {
  v.count("gpus", size.gpus, kAlways);
  v.text("gpu_type", size.gpu_type, kAlways);
  v.note("gpu_type", "where that size costs least");
  v.text("outcome", size.outcome, kAlways);
  v.one_of("outcome", {"taken", "no-room", "costs-more", "work-unknown", "uncertain", "time-limit",
                       "too-slow", "guarantee", "unmeasured", "load", "shape", "growth-cap"});
  v.real("rate", size.throughput);
  v.note("rate", "forecast in samples/s");
  v.number("cost", known_if(size.cost > 0 && size.cost < kForever, size.cost), kMaxSamples);
  v.note("cost", "seconds: its run and the delay of the jobs behind it");
}

/// The members of a decision up to the nodes, and those after the expected start.
template <typename Visitor>
void describe_verdict(Visitor& v, const Explanation& told) {
  v.required_word("verdict", told.verdict, verdict_from);
  v.count("order", told.order + 1, kAlways);
  v.text("reason", told.reason, kAlways);
  v.text("gpu_type", told.gpu_type);
  v.texts("planned_nodes", told.nodes);
}
template <typename Visitor>
void describe_figures(Visitor& v, const Explanation& told) {
  v.values_by_name("facts", told.facts);
  v.list("sizes", explained(told.sizes));
  v.note("sizes",
         "what became of each size that the hints allow; left out where the size is not open");
}

template <typename Visitor, Is<tools::ExplainedStart> R>
void describe(Visitor& v, R& start) {
  v.text("kind", start.kind, kAlways);
  v.one_of("kind", {"start", "would-start"});
  v.note("kind", "would-start: stock Slurm started it, in mode observe");
  v.past("time", start.time, kAlways);
  v.number("round", start.round, kMaxSamples, kAlways);
  describe_verdict(v, start.told);
  describe_figures(v, start.told);
}

/// Whole seconds; left out where they are hidden.
template <typename Visitor>
void describe_seconds(Visitor& v, const char* name, double seconds) {
  v.number(name, known_if(seconds > 0, tools::whole_seconds(seconds)), kMaxSamples);
}

template <typename Visitor, Is<tools::ExplainedChange> R>
void describe(Visitor& v, R& change) {
  v.required_word("action", change.action, change_action_from);
  v.text("gpu_type", change.gpu_type);
  v.count("gpus", change.gpus);
  v.note("gpus", "in total, afterwards; left out for stop");
  v.text("plan", change.plan);
  v.number("batch", change.batch, kMaxSamples);
  describe_seconds(v, "seconds_left", change.seconds_left);
  v.note("seconds_left", "forecast until its end, as it runs now");
  describe_seconds(v, "seconds_then", change.seconds_then);
  v.note("seconds_then", "forecast after the change, its cost included");
  describe_seconds(v, "cost", change.cost);
  v.note("cost", "seconds without progress");
}

template <typename Visitor, Is<tools::ExplainedStay> R>
void describe(Visitor& v, R& stay) {
  v.required_word("reason", stay.reason, stay_reason_from);
  v.text("gpu_type", stay.gpu_type);
  v.note("gpu_type", "of the best other configuration");
  v.count("gpus", stay.gpus);
  v.note("gpus",
         "of the best other configuration, in total; left out for fastest, exempt and caps on "
         "restarts");
  describe_seconds(v, "seconds_left", stay.seconds_left);
  v.note("seconds_left", "forecast until its end, as it runs now");
  describe_seconds(v, "seconds_there", stay.seconds_there);
  v.note("seconds_there", "forecast in the other configuration, the cost of the change included");
  describe_seconds(v, "cost", stay.cost);
  v.note("cost", "seconds without progress");
  v.count("available", stay.available);
  v.note("available",
         "for no-gpus: GPUs of the type that are free or held by jobs that may change");
  v.text("rule", stay.rule);
  v.note("rule", "for exempt and cap: the option of slurm.conf or rubato.conf that decides");
  v.past("until", stay.until);
  v.note("until", "for exempt and cap: when that ends; left out where it does not");
}

template <typename Visitor, Is<tools::ExplainedResize> R>
void describe(Visitor& v, R& resize) {
  v.text("how", std::string(resize.live ? "live" : "restart"), kAlways);
  v.one_of("how", {"live", "restart"});
  v.required_word("step", resize.step, resize_step_from);
  v.count("from", resize.from, kAlways);
  v.note("from", "GPUs before");
  v.count("gpus", resize.gpus, kAlways);
  v.note("gpus", "GPUs afterwards");
  v.past("asked", resize.asked, kAlways);
  v.past("since", resize.since, kAlways);
  v.note("since", "when the step began");
  v.number("due", resize.over() ? 0 : resize.due, kMaxSamples);
  v.note("due", "when the step ends at the latest, seconds since 1970");
  v.text("words", resize.words);
  v.note("words", "why it failed");
  v.real("cost", known_if(resize.measured, resize.cost));
  v.note("cost", "seconds without progress; left out until the job's reports show it");
}

template <typename Visitor, Is<tools::ExplainedHold> R>
void describe(Visitor& v, R& hold) {
  v.past("since", hold.since, kAlways);
  v.past("until", hold.until);
  v.note("until", "left out: until it is released");
}

template <typename Visitor, Is<tools::ExplainedExploration> R>
void describe(Visitor& v, R& exploration) {
  v.text("gpu_type", exploration.gpu_type, kAlways);
  v.count("gpus", exploration.gpus, kAlways);
  v.past("since", exploration.time, kAlways);
  v.note("since", "when that was decided");
}

template <typename Visitor, Is<tools::ExplainedCosts> R>
void describe(Visitor& v, R& costs) {
  v.real("restart", known_if(costs.restarts > 0, costs.restart));
  v.note("restart", "mean cost of a restart, seconds without progress");
  v.count("restarts", costs.restarts);
  v.note("restarts", "measured ones");
  v.real("resize", known_if(costs.resizes > 0, costs.resize));
  v.note("resize", "mean cost of a change while the job runs");
  v.count("resizes", costs.resizes);
  v.note("resizes", "measured ones");
}

template <typename Visitor, Is<tools::ExpectedStart> R>
void describe(Visitor& v, R& expected) {
  v.past("earliest", expected.earliest);
  v.past("latest", expected.latest);
}

template <typename Visitor, Is<tools::ExplainedNode> R>
void describe(Visitor& v, R& node) {
  v.text("name", node.name, kAlways);
  v.count("cores", node.cores, kAlways);
  v.number("memory_mib", node.memory, static_cast<std::uint64_t>(kJsonMaxMemory), kAlways);
  v.values_by_name("gpus", node.gpus);
}

/// A job of the snapshot.
template <typename Visitor>
void describe_job(Visitor& v, const tools::ExplainedJob& one, const Job& job) {
  const bool pending = job.state == JobState::kPending;
  v.text("name", job.name, kAlways);
  v.text("user", job.user, kAlways);
  v.text("account", job.account, kAlways);
  v.text("qos", job.qos, kAlways);
  v.text("state", to_string(job.state), kAlways);
  v.yes("managed", job.managed, kAlways);
  v.text("scheduled_by", one.scheduled_by, kAlways);
  v.one_of("scheduled_by", {"rubato", "slurm"});
  v.text("unmanaged_because", one.unmanaged_because);
  v.number("time_limit", known_if(job.time_limit < kForever, job.time_limit), kMaxSamples);
  v.note("time_limit", "seconds");
  v.number("eligible", known_if(pending, job.eligible), kMaxSamples);
  v.note("eligible", "seconds since 1970");
  v.text("hint_error", job.hint_error);
  const ResolvedHints hints = job.hints.value_or(ResolvedHints{});
  v.text("job_type", hints.job_type);
  const Work work = hints.work.value_or(Work{});
  v.number("work", work.unit == WorkUnit::kSamples ? work.count : 0, kMaxSamples);
}

/// What a job reported.
template <typename Visitor>
void describe_progress(Visitor& v, const Progress& progress) {
  v.real("rate", progress.throughput, kAlways);
  v.number("samples", progress.samples, kMaxSamples, kAlways);
  v.number("batch", progress.batch, kMaxSamples, kAlways);
  v.past("reported", progress.time, kAlways);
}
template <typename Visitor>
void describe_history(Visitor& v, const ProgressHistory& history, bool running) {
  if (v.rest(running && history.left >= 0)) {
    describe_remaining(v, tools::whole_seconds(history.left),
                       tools::whole_seconds(history.left_low),
                       tools::whole_seconds(history.left_high));
  }
  describe_predictable(v, history.predictable ? "P" : "U");
  v.count("forecasts_judged", history.scored, kAlways);
  v.real("forecast_quality", history.quality, kAlways);
  v.not_negative("forecast_quality", history.quality);
}

/// A running job.
template <typename Visitor>
void describe_run(Visitor& v, const tools::ExplainedJob& one, const Job& job) {
  v.past("start", job.start, kAlways);
  v.number("end_limit", known_if(job.end_limit < kForever, job.end_limit), kMaxSamples);
  v.note("end_limit", "seconds since 1970");
  v.list("nodes", one.nodes, kUnlimited, kAlways);
}

/// What the annotation of a job in squeue says.
template <typename Visitor>
void describe_annotation(Visitor& v, const tools::JobFacts& facts) {
  v.text("wait", facts.wait);
  v.text("job_type", facts.job_type);
  v.count("gpus", facts.gpus);
  v.text("gpu_type", facts.gpu_type);
  v.number("level", known_if(facts.level >= 0, facts.level), kMaxInt);
  describe_training(v, facts);
}

template <typename Visitor>
void describe_end(Visitor& v, const tools::JobEnd& end) {
  v.text("slurm_state", end.state, kAlways);
  v.note("slurm_state", "of a job that ended, as squeue shows it for MinJobAge");
  v.text("slurm_reason", end.reason);
  v.text("exit", end.exit);
  v.note("exit", "exit code or signal of a job that ended; left out for exit code 0");
}

/// A job of the plan.
template <typename Visitor>
void describe_planned(Visitor& v, const tools::ExplainedJob& one) {
  const Job job = one.job.value_or(Job{});
  const bool running = job.state == JobState::kRunning;
  if (v.rest(one.job.has_value())) describe_job(v, one, job);
  if (v.rest(one.progress.has_value())) describe_progress(v, one.progress.value_or(Progress{}));
  if (v.rest(one.history.has_value()))
    describe_history(v, one.history.value_or(ProgressHistory{}), running);
  if (v.rest(one.job.has_value() && running)) describe_run(v, one, job);
  v.object("resize", one.resize);
  v.note("resize", "another size that somebody asked for (rubato resize)");
  v.object("size_held", one.hold);
  v.note("size_held", "Rubato does not change the size (rubato hold-size)");
  v.object("exploration", one.exploration);
  v.note("exploration", "its reports show how fast its job type is there");
  v.object("costs", one.costs);
  v.note("costs", "what changes of jobs of its type cost, by their reports");
  v.object("change", one.change);
  v.note("change", "how a running job changes in this round; mode elastic only");
  v.object("stay", one.stay);
  v.note("stay", "why a running job that may change keeps its GPUs; mode elastic only");
  if (!v.rest(one.told.has_value())) return;
  const Explanation told = one.told.value_or(Explanation{});
  describe_verdict(v, told);
  v.object("expected_start", one.expected);
  describe_figures(v, told);
}

template <typename Visitor, Is<tools::ExplainedJob> R>
void describe(Visitor& v, R& one) {
  v.text("source", one.source);
  v.one_of("source", {"squeue", "store"});
  v.note("source",
         "squeue, where the decisions could not be read; store for a run that ended earlier than "
         "they tell of");
  v.number("job_id", one.key.id, kMaxUint32);
  v.number("array_id", one.array_id, kMaxUint32);
  v.text("label", one.label, kAlways);
  v.past("submit", one.key.submit);
  v.text("partition", one.partition, kAlways);
  describe_planned(v, one);
  const tools::ExplainedStart start = one.decision.value_or(tools::ExplainedStart{});
  if (v.rest(one.ended)) {
    v.text("state", "ended", kAlways);
    v.past("start", start.start, kAlways);
    v.past("end", start.end, kAlways);
    v.note("end", "of a job that has ended: when it was first seen to run no longer");
  }
  v.object("decision", start.time != 0 ? one.decision : std::optional<tools::ExplainedStart>());
  v.note("decision", "what was decided when it started, of a job that runs or has just ended");
  if (v.rest(one.ended)) {
    v.real("rate", start.throughput);
    v.number("samples", start.samples, kMaxSamples);
    v.object("summary", start.summary);
    v.note("summary", "what the run did; left out where Rubato did not see it");
  }
  const tools::SqueueJob shown = one.squeue.value_or(tools::SqueueJob{});
  if (v.rest(one.squeue.has_value())) {
    v.text("name", shown.name, kAlways);
    v.text("user", shown.user, kAlways);
    v.text("state", shown.state, kAlways);
    v.text("slurm_reason", shown.reason);
  }
  if (v.rest(one.end.has_value())) describe_end(v, one.end.value_or(tools::JobEnd{}));
  if (!v.rest(one.squeue.has_value())) return;
  describe_annotation(v, shown.facts);
  v.object("expected_start", one.expected);
}

template <typename Visitor, Is<tools::ExplainedArray> R>
void describe(Visitor& v, R& array) {
  v.number("array_id", array.id, kMaxUint32, kAlways);
  v.values_by_name("tasks", array.tasks);
  v.note("tasks", "number of tasks by state");
}

template <typename Visitor, Is<tools::ExplainAnswer> R>
void describe(Visitor& v, R& answer) {
  v.text("mode", answer.mode);
  v.number("round", answer.round, kMaxSamples);
  v.number("made", answer.made, kMaxSamples);
  v.note("made", "seconds since 1970");
  v.yes("old", answer.old);
  v.note("old",
         "true if Rubato's loop has stopped, so that the plan is no longer in effect; "
         "else left out");
  v.object("pause", answer.pause);
  v.note("pause", "the pause in effect: stock Slurm starts all jobs; left out without one");
  v.list("jobs", answer.jobs, kUnlimited, kAlways);
  v.object("array", answer.array);
  v.note("array", "counts of an array's tasks; left out for other jobs");
}

}  // namespace rubato::json
