// SPDX-License-Identifier: GPL-2.0-or-later
// A line of rubato simulate --json, described as the records of lib/json/records.h.
#pragma once

#include "lib/json/record_description.h"
#include "tools/rubato/simulate/simulate_view.h"

namespace rubato::tools {

inline constexpr const char* kSimulateSchema = "rubato.simulate/1";

/// A figure of a run.
struct SimulatedFigure {
  const char* name;
  double sim::Metrics::*value;
  const char* note = nullptr;  ///< description of the member
};

inline constexpr SimulatedFigure kSimulatedFigures[] = {
    {"avg_jct_s", &sim::Metrics::avg_jct_s, "from arrival to end"},
    {"p50_jct_s", &sim::Metrics::p50_jct_s},
    {"p99_jct_s", &sim::Metrics::p99_jct_s},
    {"ideal_avg_jct_s", &sim::Metrics::ideal_avg_jct_s, "each job alone on its fastest type"},
    {"makespan_s", &sim::Metrics::makespan_s},
    {"gpu_utilisation", &sim::Metrics::gpu_utilisation,
     "share of the GPU time up to the makespan that jobs held"},
    {"gpu_hours_per_job", &sim::Metrics::gpu_hours_per_job},
    {"restarts_per_job", &sim::Metrics::restarts_per_job},
    {"round_ms_mean", &sim::Metrics::round_ms_mean, "wall time of a decision, milliseconds"},
    {"round_ms_p99", &sim::Metrics::round_ms_p99},
    {"jain", &sim::Metrics::jain, "Jain's index of ideal time over real time"},
};

}  // namespace rubato::tools

namespace rubato::json {

template <typename Visitor, Is<tools::WaitGroup> R>
void describe(Visitor& v, R& group) {
  v.text("name", group.name, kAlways);
  v.count("jobs", group.jobs, kAlways);
  v.count("restarted", group.restarted);
  v.note("restarted", "jobs that the policy interrupted at least once");
  v.figure("mean_s", group.mean_s);
}

template <typename Visitor, Is<tools::Waits> R>
void describe(Visitor& v, R& waits) {
  v.text("from", waits.from, kAlways);
  v.note("from", "begin of the history, as sacct prints times");
  v.text("to", waits.to, kAlways);
  v.count("jobs", waits.jobs, kAlways);
  v.note("jobs", "jobs that are compared; those that run at the begin of the history are not");
  v.count("waiting", waits.waiting, kAlways);
  v.note("waiting", "of these, jobs that had not started at the end");
  v.figure("mean_s", waits.mean_s);
  v.note("mean_s", "from arrival to start, or to the end of the history");
  v.figure("p50_s", waits.p50_s);
  v.figure("p90_s", waits.p90_s);
  v.figure("p99_s", waits.p99_s);
  v.list("by_account", waits.accounts, kUnlimited, kAlways);
  v.list("by_gpus", waits.sizes, kUnlimited, kAlways);
  v.list("by_type", waits.types, kUnlimited, kAlways);
}

template <typename Visitor, Is<sim::Metrics> R>
void describe(Visitor& v, R& spread) {
  for (const tools::SimulatedFigure& figure : tools::kSimulatedFigures) {
    v.figure(figure.name, spread.*figure.value);
  }
}

template <typename Visitor, Is<tools::SimulatedRun> R>
void describe(Visitor& v, R& run) {
  v.text("suite", run.suite, kAlways);
  v.note("suite", "or the file of the workload");
  v.text("policy", run.policy, kAlways);
  v.object("waits", run.waits);
  v.note("waits", "of a whole run of --from-sacct");
  v.number("seed", run.seed, kMaxSamples, kAlways);
  v.number("seeds", known_if(run.seeds > 1, run.seeds), kMaxInt);
  v.note("seeds", "the figures are means over this number of seeds: seed, seed + 1, ...");
  v.text("information", std::string(to_string(run.record.information)), kAlways);
  v.one_of("information", {"known", "rates", "learned", "blind"});
  v.note("information",
         "the word of --information for policies rubato and rubato-place; known for policies that "
         "see true speeds");
  v.text("knows", sim::known_to(run.policy, run.record.information), kAlways);
  v.note("knows", "what the policy knows of jobs beside their requests, as the column KNOWS");
  const bool by_peer = run.record.rules != sim::kByEngine;
  v.text("rules", by_peer ? run.record.rules : std::string());
  v.note("rules",
         "the simulator by whose rules it ran: gavel, muri, pollux, rubick or sia; left out for "
         "the common engine");
  v.count("jobs", run.metrics.jobs, kAlways);
  v.count("finished", run.metrics.finished, kAlways);
  for (const tools::SimulatedFigure& figure : tools::kSimulatedFigures) {
    v.figure(figure.name, run.metrics.*figure.value);
    if (figure.note != nullptr) v.note(figure.name, figure.note);
  }
  v.object("spread", run.spread);
  v.note("spread", "standard deviation of each figure over the seeds");
  v.yes("cut", run.record.cut);
  v.one_of("cut", {true});
  v.note("cut", "left out unless the run was cut before its end");
}

}  // namespace rubato::json
