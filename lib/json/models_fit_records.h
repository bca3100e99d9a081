// SPDX-License-Identifier: GPL-2.0-or-later
// The records of models-fit.json, described as those of records.h.
#pragma once

#include <cstdint>
#include <string>

#include "lib/json/models_fit.h"
#include "lib/json/record_description.h"

namespace rubato::json {

/// Elements of the maps of a fit.
struct TypeSpeed {
  std::string gpu_type;
  double speed = 0;
};
struct TypeMemory {
  std::string gpu_type;
  std::int64_t memory = 0;
};

struct TypeLink {
  std::string gpu_type;
  double bandwidth = 0;
};

template <typename Visitor, Is<TypeSpeed> R>
void describe(Visitor& v, R& type) {
  v.text("gpu_type", type.gpu_type, kAlways);
  v.real("speed", type.speed, kRequired);
  v.note("speed", "GpuType= lines of rubato.conf");
  v.above_zero("speed", type.speed);
}

template <typename Visitor, Is<TypeMemory> R>
void describe(Visitor& v, R& type) {
  v.text("gpu_type", type.gpu_type, kAlways);
  v.number("memory", type.memory, static_cast<std::uint64_t>(kJsonMaxMemory), kAlways);
}

template <typename Visitor, Is<TypeLink> R>
void describe(Visitor& v, R& type) {
  v.text("gpu_type", type.gpu_type, kAlways);
  v.real("bandwidth", type.bandwidth, kRequired);
  v.above_zero("bandwidth", type.bandwidth);
}

template <typename Visitor, Is<ProfileName> R>
void describe(Visitor& v, R& profile) {
  v.text("account", profile.account, kAlways);
  v.note("account", "empty where all accounts share the profile, or have none");
  v.text("job_type", profile.job_type, kRequired);
}

/// What may be unknown of a configuration.
template <typename Visitor, typename Record>
void describe_how(Visitor& v, Record& record) {
  v.count("nodes", record.nodes);
  v.note("nodes", "left out: not known");
  v.above_zero("nodes", record.nodes);
  v.number("batch", record.batch, kMaxSamples);
  v.note("batch", "global batch, samples; left out: not known");
  v.above_zero("batch", record.batch);
  v.text("plan", record.plan);
  v.note("plan", "execution plan; left out: as submitted");
}

template <typename Visitor, typename Number>
void describe_samples(Visitor& v, Number& samples) {
  v.number("samples", samples, kMaxSamples, kRequired);
  v.note("samples", "number of reports in the mean");
  v.above_zero("samples", samples);
}

template <typename Visitor, typename Record>
void describe_gpus(Visitor& v, Record& record) {
  v.text("gpu_type", record.gpu_type, kAlways);
  v.note("gpu_type", "several at once are joined by +");
  v.count("gpus", record.gpus, kRequired);
  v.above_zero("gpus", record.gpus);
}

template <typename Visitor, Is<ThroughputObservation> R>
void describe(Visitor& v, R& observation) {
  describe(v, observation.profile);
  describe_gpus(v, observation);
  v.real("rate", observation.throughput, kRequired);
  v.note("rate", "samples/s; 0: the job type does not fit there");
  v.not_negative("rate", observation.throughput);
  describe_samples(v, observation.samples);
  describe_how(v, observation);
  v.real("weight", observation.weight);
  v.note("weight", "in reports, reduced by age and outliers; left out: as many as samples");
  v.above_zero("weight", observation.weight);
  v.count("jobs", observation.jobs);
  v.note("jobs", "that measured it; left out if that is not known, as of imported profiles");
  v.count("profile_jobs", observation.profile_jobs);
  v.note("profile_jobs", "that measured the profile at any configuration");
}

template <typename Visitor, Is<CurvePoint> R>
void describe(Visitor& v, R& point) {
  describe(v, point.profile);
  describe_gpus(v, point.configuration);
  describe_how(v, point.configuration);
  v.real("log_rate", point.log_throughput, kRequired);
  v.note("log_rate", "ln samples/s by a fitted curve");
  v.real("spread", point.stddev, kRequired);
  v.note("spread", "its standard deviation");
  v.not_negative("spread", point.stddev);
}

template <typename Visitor, typename Value>
void describe_measured(Visitor& v, const char* key, Value& value, const char* note) {
  v.real(key, value);
  v.note(key, note);
  v.not_negative(key, value);
}

template <typename Visitor, Is<MeasuredRow> R>
void describe(Visitor& v, R& row) {
  describe(v, row.profile);
  v.text("gpu_type", row.gpu_type, kAlways);
  v.count("gpus", row.gpus, kAlways);
  v.note("gpus", "0: on CPUs");
  describe_how(v, row);
  v.count("cores", row.cores);
  v.count("workers", row.workers);
  v.count("servers", row.servers);
  v.count("server_cores", row.server_cores);
  v.note("server_cores", "of one server");
  v.real("rate", row.throughput, kRequired);
  v.note("rate", "samples/s, mean");
  v.above_zero("rate", row.throughput);
  describe_samples(v, row.samples);
  describe_measured(v, "forward", row.forward, "seconds per iteration");
  describe_measured(v, "sync", row.sync, "communication that does not overlap, seconds");
  describe_measured(v, "optimise", row.optimise, "update of the parameters, seconds");
  describe_measured(v, "iteration", row.iteration, "total, seconds");
  describe_measured(v, "noise", row.noise, "gradient noise scale, samples");
}

template <typename Visitor, Is<ThroughputPrior> R>
void describe(Visitor& v, R& prior) {
  const ThroughputPrior unfitted;
  for (const PriorTerm& term : prior_terms()) {
    v.real(term.name, prior.*term.value, unfitted.*term.value);
    v.not_negative(term.name, prior.*term.value);
  }
}

template <typename Visitor, Is<ProfileShape> R>
void describe(Visitor& v, R& one) {
  describe(v, one.profile);
  v.number("params", one.shape.params, kMaxSamples, kRequired);
  v.number("hidden", one.shape.hidden, kMaxSamples);
  v.number("layers", one.shape.layers, kMaxSamples);
  v.number("seq", one.shape.seq, kMaxSamples);
  v.number("heads", one.shape.heads, kMaxSamples);
}

template <typename Visitor, Is<ModelsFit> R>
void describe(Visitor& v, R& fit) {
  v.table("speeds", fit.speeds, TypeSpeed{}, kRequired);
  v.list("cells", fit.observations, kUnlimited, kRequired);
  v.note("cells",
         "the observations, sorted by account, job type, GPU type, GPUs, nodes, batch and "
         "plan; empty without measurements");
  v.object("prior", fit.prior);
  v.note("prior", "fitted standard deviations of ln rate; one that is left out has its default");
  v.list("curves", fit.curves);
  v.list("rows", fit.rows);
  v.note("rows", "measured rows that step-time models are fitted to");
  v.table("memory", fit.memory, TypeMemory{});
  v.note("memory", "MiB per GPU of a type");
  v.table("links", fit.links, TypeLink{});
  v.note("links", "GB/s per GPU of a type between the GPUs of a node");
  v.yes("ready", fit.ready);
  v.note("ready", "true: execution plans are fitted for `shapes` alone; otherwise on demand");
  v.list("shapes", fit.shapes);
  v.note("shapes", "model shapes of the jobs of a profile");
}

}  // namespace rubato::json
