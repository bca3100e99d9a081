// SPDX-License-Identifier: GPL-2.0-or-later
// The records of Memory, described as those of records.h.
#pragma once

#include "lib/core/snapshot.h"
#include "lib/hints/message.h"
#include "lib/json/record_description.h"

namespace rubato::json {

template <typename Visitor, Is<JobMemory> R>
void describe(Visitor& v, R& memory) {
  describe(v, memory.job);
  v.time("first_seen", memory.first_seen);
  v.count("passed", memory.passed);
  v.time("passed_since", memory.passed_since);
  v.time("last_try", memory.last_try);
  v.count("refusals", memory.refusals);
  v.count("asked", memory.asked);
  v.text("refusal", memory.refusal);
  v.text("refused_request", memory.refused_request);
  v.count("refused_free", memory.refused_free);
  v.time("promised", memory.promised);
}

template <typename Visitor, Is<Reservation> R>
void describe(Visitor& v, R& reservation) {
  describe(v, reservation.job);
  v.text("partition", reservation.partition);
  v.time("start", reservation.start);
  v.time("made", reservation.made);
  v.word("reason", reservation.reason, reserve_reason_from);
  v.text("gpu_type", reservation.gpu_type);
  v.shares("shares", reservation.shares);
  v.time("promised", reservation.promised);
  v.text("delayed_by", reservation.delayed_by);
  v.yes("backfill", reservation.backfill);
}

template <typename Visitor, Is<Service> R>
void describe(Visitor& v, R& service) {
  describe(v, service.job);
  v.amount("attained", service.attained);
  v.amount("since_promotion", service.since_promotion);
  v.time("executed", service.executed);
  v.time("waiting_since", service.waiting_since);
  v.time("updated", service.updated);
  v.amount("held", service.held);
  v.count("level", service.level);
  v.yes("predictable", service.predictable);
  v.count("level_unpredictable", service.level_unpredictable);
  v.yes("believed", service.believed, true);
  v.yes("counted", service.counted);
}

template <typename Visitor, Is<TypeLoad> R>
void describe(Visitor& v, R& load) {
  v.text("gpu_type", load.gpu_type);
  v.time("updated", load.updated);
  v.amount("seconds", load.seconds);
  v.amount("jobs", load.jobs);
  v.amount("gpus", load.gpus);
  v.amount("told_gpus", load.told_gpus);
  v.amount("told_gpu_seconds", load.told_gpu_seconds);
}

template <typename Visitor, Is<UserOverrun> R>
void describe(Visitor& v, R& overrun) {
  v.number("uid", overrun.uid, kMaxUint32);
  v.time("last", overrun.last);
  v.id("job", overrun.job);
}

template <typename Visitor, Is<Progress> R>
void describe(Visitor& v, R& progress) {
  describe(v, progress.job);
  v.count("restarts", progress.restarts);
  v.time("time", progress.time);
  v.number("samples", progress.samples, kMaxSamples);
  v.real("rate", progress.throughput);
  v.number("batch", progress.batch, kMaxSamples);
  v.count("gpus", progress.gpus);
  v.real("loss", progress.loss);
  v.real("noise", progress.noise);
  v.real("efficiency", progress.efficiency, 1.0);
  v.note("efficiency", "statistical efficiency of its samples; 1 if left out");
  v.amount("discounted", progress.discounted);
  v.note("discounted", "of the samples: what they lack to efficient samples");
  v.amount("steps", progress.steps);
  v.note("steps", "iterations done, of a job whose work is in steps");
}

template <typename Visitor, Is<ProgressForecast> R>
void describe(Visitor& v, R& point) {
  v.time("time", point.time);
  v.number("samples", point.samples, kMaxSamples);
  v.known_amount("left", point.left);
}

template <typename Visitor, Is<LossPoint> R>
void describe(Visitor& v, R& point) {
  v.amount("samples", point.samples);
  v.real("loss", point.loss);
  v.count("count", point.count, 1);
}

template <typename Visitor, Is<ProgressHistory> R>
void describe(Visitor& v, R& history) {
  describe(v, history.job);
  v.count("restarts", history.restarts);
  v.count("gpus", history.gpus);
  v.time("start", history.start);
  v.time("updated", history.updated);
  v.list("points", history.points, kMaxPoints);
  v.note("points", "its last forecasts");
  v.list("losses", history.losses, kMaxPoints);
  v.amount("total", history.total);
  v.amount("total_low", history.total_low);
  v.amount("total_high", history.total_high);
  v.known_amount("left", history.left);
  v.known_amount("left_low", history.left_low);
  v.known_amount("left_high", history.left_high);
  v.count("judged", history.scored);
  v.fraction("quality", history.quality);
  v.yes("due", history.due);
  v.yes("predictable", history.predictable);
}

template <typename Visitor, Is<TypePredictability> R>
void describe(Visitor& v, R& type) {
  v.text("account", type.account);
  v.text("job_type", type.job_type);
  v.count("jobs", type.jobs);
  v.fraction("quality", type.quality);
  v.yes("predictable", type.predictable, true);
  v.time("updated", type.updated);
}

template <typename Visitor, Is<NoisePoint> R>
void describe(Visitor& v, R& point) {
  v.count("doublings", point.doublings);
  v.note("doublings", "floor of log2(1 + efficient samples done)");
  v.amount("noise", point.noise);
  v.count("reports", point.reports);
}

template <typename Visitor, Is<ProfileNoise> R>
void describe(Visitor& v, R& profile) {
  v.text("account", profile.account);
  v.text("job_type", profile.job_type);
  v.time("updated", profile.updated);
  v.list("points", profile.points, kMaxPoints);
  v.note("points", "mean gradient noise, sorted by doublings");
}

template <typename Visitor, Is<EndedWork> R>
void describe(Visitor& v, R& work) {
  v.amount("samples", work.samples);
}

template <typename Visitor, Is<ProfileWork> R>
void describe(Visitor& v, R& profile) {
  v.text("account", profile.account);
  v.text("job_type", profile.job_type);
  v.time("updated", profile.updated);
  v.list("ended", profile.ended, kMaxPoints);
  v.note("ended", "efficient samples of its last ended jobs, in the order of their ends");
}

template <typename Visitor, Is<EndedStatement> R>
void describe(Visitor& v, R& statement) {
  v.amount("ratio", statement.ratio);
}

template <typename Visitor, Is<AccountStatements> R>
void describe(Visitor& v, R& account) {
  v.text("account", account.account);
  v.time("updated", account.updated);
  v.list("ended", account.ended, kMaxPoints);
  v.note("ended", "work done over work stated of its last ended jobs, in the order of their ends");
}

template <typename Visitor, Is<ProfileCosts> R>
void describe(Visitor& v, R& profile) {
  v.text("account", profile.account);
  v.text("job_type", profile.job_type);
  v.time("updated", profile.updated);
  v.amount("restart", profile.restart);
  v.note("restart", "mean measured cost of a restart, seconds without progress");
  v.count("restarts", profile.restarts);
  v.note("restarts", "measured ones");
  v.amount("resize", profile.resize);
  v.note("resize", "mean measured cost of a change while the job runs");
  v.count("resizes", profile.resizes);
  v.note("resizes", "measured ones");
}

template <typename Visitor, Is<Exploration> R>
void describe(Visitor& v, R& exploration) {
  describe(v, exploration.job);
  v.text("account", exploration.account);
  v.text("job_type", exploration.job_type);
  v.text("gpu_type", exploration.gpu_type);
  v.count("gpus", exploration.gpus);
  v.time("time", exploration.time);
  v.amount("gpu_seconds", exploration.gpu_seconds);
  v.note("gpu_seconds", "what that takes beyond its cheapest GPUs, in mean GPUs");
}

template <typename Visitor, Is<TypePrice> R>
void describe(Visitor& v, R& price) {
  v.text("gpu_type", price.gpu_type);
  v.amount("price", price.price);
  v.note("price", "what a GPU is worth; only ratios mean anything");
}

template <typename Visitor, Is<AskedResize> R>
void describe(Visitor& v, R& resize) {
  describe(v, resize.job);
  v.number("uid", resize.uid, kMaxUint32);
  v.yes("by_round", resize.by_round);
  v.note("by_round", "the round decided it; else somebody asked");
  v.yes("live", resize.live);
  v.note("live", "it gets or gives back GPUs and runs on; else it is restarted");
  v.yes("starts", resize.starts);
  v.note("starts", "it waits, and gets a place that changes of others free");
  v.required_word("step", resize.step, resize_step_from);
  v.count("from", resize.from);
  v.note("from", "GPUs before");
  v.count("gpus", resize.gpus);
  v.note("gpus", "GPUs afterwards; 0: it waits again");
  v.text("gpu_type", resize.gpu_type);
  v.text("plan", resize.plan);
  v.note("plan", "execution plan for that size");
  v.number("batch", resize.batch, static_cast<std::uint64_t>(kMaxBatch));
  v.note("batch", "global batch for that size, samples");
  v.count("runs", resize.runs);
  v.note("runs", "restarts of the job before this one");
  v.time("asked", resize.asked);
  v.time("since", resize.since);
  v.note("since", "when the step began");
  v.time("due", resize.due);
  v.note("due", "when the step ends at the latest");
  v.time("requeued", resize.requeued);
  v.shares("shares", resize.shares);
  v.yes("elsewhere", resize.elsewhere);
  v.note("elsewhere", "once requeued: its place has none of the nodes that it held");
  v.list("after", resize.after);
  v.note("after", "jobs whose changes free its place");
  v.text("words", resize.words);
  v.number("notice", resize.notice, static_cast<std::uint64_t>(kMaxNotice));
  v.note("notice", "number of the last notice that told the job");
  v.time("answered", resize.answered);
  v.note("answered", "when the job said that it is ready");
  v.yes("rehearsal", resize.rehearsal);
  v.note("rehearsal", "a restart at the same size that somebody asked for");
  v.time("reported", resize.reported);
  v.note("reported", "its last report before this one was asked for");
  v.number("samples", resize.samples, kMaxSamples);
  v.note("samples", "done at that report");
  v.amount("throughput", resize.throughput);
  v.note("throughput", "samples/s at that report");
  v.yes("measured", resize.measured);
  v.note("measured", "a report afterwards showed the cost");
  v.amount("cost", resize.cost);
  v.note("cost", "seconds without progress, if measured");
  v.amount("gain", resize.gain);
  v.note("gain", "forecast: seconds by which the job ends earlier");
}

template <typename Visitor, Is<SizeHistory> R>
void describe(Visitor& v, R& history) {
  describe(v, history.job);
  v.count("gpus", history.gpus);
  v.note("gpus", "held when it was last seen to run");
  v.count("resizes", history.resizes);
  v.note("resizes", "how often that number changed since its first start");
  v.word_unless("reason", history.reason, RestartReason::kNone, restart_reason_from);
  v.note("reason", "of the last restart by Rubato");
  v.count("restarts", history.restarts);
  v.note("restarts", "restarts of the job, with that one");
  v.text("plan", history.plan);
  v.note("plan", "execution plan that it was told last");
  v.number("batch", history.batch, static_cast<std::uint64_t>(kMaxBatch));
  v.note("batch", "global batch that it was told last, samples");
  v.time("told", history.told);
  v.note("told", "when it was told these");
}

template <typename Visitor, Is<SizeHold> R>
void describe(Visitor& v, R& hold) {
  describe(v, hold.job);
  v.number("uid", hold.uid, kMaxUint32);
  v.time("since", hold.since);
  v.time("until", hold.until);
  v.note("until", "left out: until it is released");
}

template <typename Visitor, Is<ArrivalTime> R>
void describe(Visitor& v, R& arrival) {
  v.time("time", arrival.time);
}

template <typename Visitor, Is<RestartHour> R>
void describe(Visitor& v, R& hour) {
  v.time("last", hour.last);
  v.count("count", hour.count);
}

template <typename Visitor, Is<JobRestarts> R>
void describe(Visitor& v, R& record) {
  describe(v, record.job);
  v.count("count", record.count);
  v.time("planned", record.planned);
  v.note("planned", "when a restart was planned that may still come");
  v.count("restarts", record.restarts);
  v.note("restarts", "how often slurmctld had requeued the job then");
  v.list("hours", record.hours, kMaxPoints);
  v.note("hours", "restarts of the last day by hour");
}

template <typename Visitor, Is<UserRestarts> R>
void describe(Visitor& v, R& record) {
  v.number("uid", record.uid, kMaxUint32);
  v.list("hours", record.hours, kMaxPoints);
  v.note("hours", "restarts of the last day by hour");
}

template <typename Visitor, Is<Memory> R>
void describe(Visitor& v, R& memory) {
  v.number("round", memory.round, static_cast<std::uint64_t>(kJsonMaxTime));
  v.list("jobs", memory.jobs);
  v.list("reservations", memory.reservations);
  v.list("service", memory.service);
  v.list("progress", memory.progress);
  v.list("courses", memory.progress_histories);
  v.list("types", memory.types);
  v.list("noises", memory.noises);
  v.list("works", memory.works);
  v.list("change_costs", memory.change_costs);
  v.list("loads", memory.loads);
  v.list("overruns", memory.overruns);
  v.list("statements", memory.statements);
  v.list("arrivals", memory.arrivals, kMaxPoints);
  v.list("prices", memory.prices);
  v.list("explorations", memory.explorations);
  v.note("explorations", "jobs that got GPUs to show how fast their job type is there; of a day");
  v.list("asked_resizes", memory.asked_resizes);
  v.list("size_histories", memory.size_histories);
  v.list("size_holds", memory.size_holds);
  v.list("restarts", memory.restarts);
  v.note("restarts", "restarts that Rubato asked for, by job; only where a cap is set");
  v.list("user_restarts", memory.user_restarts);
}

}  // namespace rubato::json
