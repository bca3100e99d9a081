// SPDX-License-Identifier: GPL-2.0-or-later
// The records of a counterfactual estimate, described as those of lib/json/records.h.
#pragma once

#include <cstdint>
#include <string>

#include "lib/json/record_description.h"
#include "lib/replay/counterfactual.h"

namespace rubato::json {

/// An element of CounterfactualEstimate::left_out.
struct LeftOutRuns {
  std::string because;
  std::int64_t runs = 0;
};

template <typename Visitor, Is<LeftOutRuns> R>
void describe(Visitor& v, R& left_out) {
  v.number("runs", left_out.runs, kMaxSamples, kAlways);
  v.above_zero("runs", left_out.runs);
  v.text("because", left_out.because, kAlways);
}

template <typename Visitor, Is<CounterfactualSide> R>
void describe(Visitor& v, R& side) {
  v.real("mean_wait_s", side.wait, kAlways);
  v.note("mean_wait_s", "seconds from the time when Slurm would have let a job start to its start");
  v.real("mean_jct_s", side.jct, kAlways);
  v.note("mean_jct_s", "seconds from that time to its end");
}

template <typename Visitor, Is<InterruptedAccount> R>
void describe(Visitor& v, R& account) {
  v.text("account", account.account, kAlways);
  v.number("runs", account.runs, kMaxSamples, kAlways);
  v.note("runs", "compared");
  v.number("consenting", account.consenting, kMaxSamples, kAlways);
  v.note("consenting", "runs whose hints let them be changed");
  v.number("interrupted", account.interrupted, kMaxSamples, kAlways);
  v.note("interrupted", "runs that mode elastic would have restarted");
  v.number("restarts", account.restarts, kMaxSamples, kAlways);
  v.number("resizes", account.resizes, kMaxSamples, kAlways);
  v.note("resizes", "changes of their GPUs while they run");
}

template <typename Visitor, Is<CounterfactualEstimate> R>
void describe(Visitor& v, R& estimate) {
  const bool known = estimate.compared > 0;
  v.past("from", estimate.from, kAlways);
  v.past("until", estimate.until, kAlways);
  v.number("runs", estimate.runs, kMaxSamples, kAlways);
  v.note("runs", "that were running or started in this time");
  v.number("compared", estimate.compared, kMaxSamples, kAlways);
  v.note("compared", "runs of managed jobs that started and ended in this time, in this mode");
  v.number("beside", estimate.beside, kMaxSamples, kAlways);
  v.note("beside", "runs of other jobs, replayed too");
  v.number("moved", estimate.moved, kMaxSamples, kAlways);
  v.note("moved", "compared runs on another GPU type or at another size in mode place");
  v.number("rescaled", estimate.rescaled, kMaxSamples, kAlways);
  v.note("rescaled", "moved runs whose run time a measured profile changed");
  v.yes("complete", estimate.complete, kAlways);
  v.note("complete", "false: too long to replay to the end");
  v.number("rounds", estimate.rounds, kMaxSamples, kAlways);
  v.object("observed", known_if(known, estimate.observed));
  v.object("place", known_if(known, estimate.place));
  v.yes("elastic_complete", estimate.elastic_complete, kAlways);
  v.note("elastic_complete", "false: too long to replay to the end in mode elastic");
  v.object("elastic", known_if(known && estimate.elastic_complete, estimate.elastic));
  v.list("accounts", estimate.accounts, kUnlimited, kAlways);
  v.note("accounts", "of the compared runs, and what mode elastic would have done to those");
  v.table("left_out", estimate.left_out, LeftOutRuns{}, kAlways);
  v.texts("assumptions", counterfactual_assumptions(), kAlways);
}

}  // namespace rubato::json
