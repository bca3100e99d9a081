// SPDX-License-Identifier: GPL-2.0-or-later
// The records of snapshot, plan and state file. Each is described once, by name, member, default
// and kind of value. The writer (json_write.cc), the reader (json_read.cc) and the schemas
// (tools/generate/schema_writer.h) visit these descriptions.
#pragma once

#include "lib/core/plan.h"
#include "lib/core/snapshot.h"
#include "lib/hints/types.h"
#include "lib/json/memory_records.h"
#include "lib/json/record_description.h"

namespace rubato::json {

template <typename Visitor, Is<JobKey> R>
void describe(Visitor& v, R& key) {
  v.id("id", key.id);
  v.time("submit", key.submit);
}

template <typename Visitor, Is<GpuCount> R>
void describe(Visitor& v, R& group) {
  v.text("type", group.type);
  v.count("count", group.count);
}

template <typename Visitor, Is<GpuGroup> R>
void describe(Visitor& v, R& group) {
  v.text("type", group.type);
  v.count("total", group.total);
  v.count("free", group.free);
}

template <typename Visitor, Is<NodeShare> R>
void describe(Visitor& v, R& share) {
  v.node("node", share.node);
  v.count("cores", share.cores);
  v.memory("memory", share.memory);
  v.list("gpus", share.gpus);
}

template <typename Visitor, Is<Node> R>
void describe(Visitor& v, R& node) {
  v.name("name", node.name);
  v.count("cores", node.cores);
  v.count("cores_free", node.cores_free);
  v.memory("memory", node.memory);
  v.memory("memory_free", node.memory_free);
  v.list("gpus", node.gpus);
  v.yes("usable", node.usable);
  v.yes("coming", node.coming);
  v.yes("powered_down", node.powered_down);
  v.yes("unregistered", node.unregistered);
  v.number("weight", node.weight, kMaxUint32, 1);
}

template <typename Visitor, Is<Partition> R>
void describe(Visitor& v, R& partition) {
  v.name("name", partition.name);
  v.count("tier", partition.tier, 1);
  v.yes("managed", partition.managed);
  v.node_set("node_set", partition.node_set);
}

template <typename Visitor, Is<ReservationWindow> R>
void describe(Visitor& v, R& window) {
  v.name("name", window.name);
  v.time("start", window.start);
  v.time("end", window.end);
  v.node_set("node_set", window.node_set);
}

template <typename Visitor, Is<Request> R>
void describe(Visitor& v, R& request) {
  v.count("min_nodes", request.min_nodes, 1);
  v.count("max_nodes", request.max_nodes);
  v.count("gpus", request.gpus);
  v.count("gpus_per_node", request.gpus_per_node);
  v.count("gpu_quantum", request.gpu_quantum, 1);
  v.text("gpu_type", request.gpu_type);
  v.count("cores", request.cores, 1);
  v.count("cores_per_node", request.cores_per_node);
  v.count("cores_per_gpu", request.cores_per_gpu);
  v.count("threads", request.threads, 1);
  v.count("tasks", request.tasks);
  v.count("tasks_per_node", request.tasks_per_node);
  v.count("gpus_per_task", request.gpus_per_task);
  v.count("cores_per_task", request.cores_per_task, 1);
  v.yes("fixed_nodes", request.fixed_nodes);
  v.memory("memory_per_node", request.memory_per_node);
  v.memory("memory_per_core", request.memory_per_core);
  v.memory("memory_per_gpu", request.memory_per_gpu);
  v.yes("whole_memory", request.whole_memory);
  v.yes("whole_nodes", request.whole_nodes);
}

template <typename Visitor, Is<Job> R>
void describe_owner(Visitor& v, R& job) {
  describe(v, job.key);
  v.number("array_id", job.array_id, kMaxUint32);
  v.text("label", job.label);
  v.text("name", job.name);
  v.text("user", job.user);
  v.number("uid", job.uid, kMaxUint32);
  v.text("account", job.account);
  v.text("qos", job.qos);
  v.text("partition", job.partition);
  v.expected("partition");
  v.text("reservation", job.reservation);
}

template <typename Visitor, Is<Job> R>
void describe_state(Visitor& v, R& job) {
  v.required_word("state", job.state, job_state_from);
  v.yes("managed", job.managed);
  v.yes("batch", job.batch, true);
  v.yes("het", job.het);
  v.yes("may_preempt", job.may_preempt);
  v.yes("preempting", job.preempting);
  v.count("tier", job.tier, 1);
  v.number("priority", job.priority, kMaxUint32);
  v.yes("priority_set", job.priority_set);
  v.yes("niced", job.niced);
  v.real("fair_share", job.fair_share);
  v.note("fair_share", "fair-share factor of its association, 0 to 1; none without fair-share");
  v.number("rank", job.rank, kMaxInt);
  v.time("eligible", job.eligible);
  v.time("time_limit", job.time_limit);
}

template <typename Visitor, Is<Job> R>
void describe(Visitor& v, R& job) {
  describe_owner(v, job);
  describe_state(v, job);
  v.object("request", job.request);
  v.count("restarts", job.restarts);
  v.hints("hints", job.hints);
  v.text("hint_error", job.hint_error);
  v.text("size_bound", job.size_bound);
  v.note("size_bound", "why it starts as requested, although its hints allow other sizes");
  v.count("tasks", job.tasks, 1);
  v.node_set("node_set", job.node_set);
  v.node_set("later_set", job.later_set);
  v.word_unless("block", job.block, Block::kNone, block_from);
  v.text("block_text", job.block_text);
  v.time("stock_start", job.stock_start);
  v.nodes("stock_nodes", job.stock_nodes);
  v.time("time_min", job.time_min);
  v.note("time_min", "--time-min: it may start with a limit down to this");
  v.time("reserve_from", job.reserve_from);
  v.note("reserve_from", "no reservation before this time");
  v.number("reserve_priority", job.reserve_priority, kMaxUint32);
  v.note("reserve_priority", "no reservation with a lower priority");
  v.time("start", job.start);
  v.time("end_limit", job.end_limit);
  v.shares("allocation", job.allocation);
  v.node_if("batch_node", job.batch_node);
  v.note("batch_node", "the node of its batch script, if that is not its first");
  v.amount("start_cost", job.costs.start);
  v.note("start_cost", "seconds without progress at its first start");
  v.amount("restart_cost", job.costs.restart);
  v.note("restart_cost", "at each later start");
  v.amount("resize_cost", job.costs.resize);
  v.note("resize_cost", "at a change of size while it runs");
  v.text("plan", job.plan);
  v.number("batch_size", job.batch_size, static_cast<std::uint64_t>(kMaxBatch));
  v.note("batch_size", "global batch that the running job was told");
  v.amount("starting", job.starting);
  v.note("starting", "seconds that its present start still takes");
  v.time("exempt_until", job.exempt_until);
  v.note("exempt_until", "end of Slurm's PreemptExemptTime; left out without one");
  v.yes("without_step", job.without_step);
  v.note("without_step", "no step of the running job runs, its batch script alone");
}

template <typename Visitor, Is<Snapshot> R>
void describe(Visitor& v, R& snapshot) {
  v.text("cluster", snapshot.cluster);
  v.text("slurm_version", snapshot.slurm_version);
  v.time("taken", snapshot.taken);
  v.expected("taken");
  v.private_data("private_data", snapshot.private_data);
  v.list("nodes", snapshot.nodes);
  v.node_sets("node_sets", snapshot.node_sets);
  v.list("partitions", snapshot.partitions);
  v.list("jobs", snapshot.jobs);
  v.object("memory", snapshot.memory);
  v.list("windows", snapshot.windows);
}

template <typename Visitor, Is<GpuSpeed> R>
void describe(Visitor& v, R& speed) {
  v.text("type", speed.type);
  v.real("speed", speed.speed);
}

template <typename Visitor, Is<Start> R>
void describe(Visitor& v, R& start) {
  describe(v, start.job);
  v.text("partition", start.partition);
  v.expected("partition");
  v.text("reservation", start.reservation);
  v.yes("managed", start.managed);
  v.text("gpu_type", start.gpu_type);
  v.count("gpus", start.gpus);
  v.note("gpus", "in total; left out: as requested");
  v.yes("on_cpus", start.on_cpus);
  v.note("on_cpus", "starts without the requested GPUs");
  v.text("plan", start.plan);
  v.number("batch", start.batch, static_cast<std::uint64_t>(kMaxBatch));
  v.shares("shares", start.shares);
  v.yes("elsewhere", start.elsewhere, true);
  v.time("time_limit", start.time_limit);
  v.note("time_limit", "a shorter limit for a job with --time-min");
  v.list("after", start.after);
  v.note("after", "running jobs whose changes free its nodes");
  v.word_unless("restart_reason", start.restart_reason, RestartReason::kNone, restart_reason_from);
  v.note("restart_reason", "why it starts again; left out: it never ran before");
  v.count("resizes", start.resizes);
  v.note("resizes", "changes of its size since its first start, with this one");
  v.list("speeds", start.speeds);
  v.note("speeds",
         "of a job on several GPU types: how fast each type is for it, against the others");
}

template <typename Visitor, Is<Change> R>
void describe(Visitor& v, R& change) {
  describe(v, change.job);
  v.text("partition", change.partition);
  v.expected("partition");
  v.required_word("action", change.action, change_action_from);
  v.text("gpu_type", change.gpu_type);
  v.count("gpus", change.gpus);
  v.note("gpus", "in total, afterwards");
  v.text("plan", change.plan);
  v.number("batch", change.batch, static_cast<std::uint64_t>(kMaxBatch));
  v.shares("shares", change.shares);
  v.list("after", change.after);
  v.note("after", "running jobs whose changes free its nodes");
  v.amount("seconds_left", change.seconds_left);
  v.note("seconds_left", "forecast until its end, as it runs now");
  v.amount("seconds_then", change.seconds_then);
  v.note("seconds_then", "forecast after the change, its cost included");
  v.amount("cost", change.cost);
  v.note("cost", "seconds without progress");
}

template <typename Visitor, Is<Stay> R>
void describe(Visitor& v, R& stay) {
  describe(v, stay.job);
  v.text("partition", stay.partition);
  v.expected("partition");
  v.required_word("reason", stay.reason, stay_reason_from);
  v.text("gpu_type", stay.gpu_type);
  v.note("gpu_type", "of the best other configuration");
  v.count("gpus", stay.gpus);
  v.note("gpus",
         "of the best other configuration, in total; left out for fastest, exempt and caps on "
         "restarts");
  v.amount("seconds_left", stay.seconds_left);
  v.note("seconds_left", "forecast until its end, as it runs now");
  v.amount("seconds_there", stay.seconds_there);
  v.note("seconds_there", "forecast in the other configuration, the cost of the change included");
  v.amount("cost", stay.cost);
  v.note("cost", "seconds without progress");
  v.count("available", stay.available);
  v.note("available",
         "for no-gpus: GPUs of the type that are free or held by jobs that may change");
  v.text("rule", stay.rule);
  v.note("rule", "for exempt and cap: the option of slurm.conf or rubato.conf that decides");
  v.time("until", stay.until);
  v.note("until", "for exempt and cap: when that ends; left out where it does not");
}

template <typename Visitor, Is<SizeOutcome> R>
void describe(Visitor& v, R& size) {
  v.count("gpus", size.gpus);
  v.text("gpu_type", size.gpu_type);
  v.note("gpu_type", "where that size costs least");
  v.text("outcome", size.outcome);
  v.note("outcome",
         "taken, no-room, costs-more, work-unknown, uncertain, time-limit, too-slow, guarantee, "
         "unmeasured, load, shape or growth-cap");
  v.real("rate", size.throughput);
  v.note("rate", "forecast in samples/s");
  v.time("cost", size.cost);
  v.note("cost", "seconds: its run and the delay of the jobs behind it");
}

template <typename Visitor, Is<Explanation> R>
void describe(Visitor& v, R& explanation) {
  describe(v, explanation.job);
  v.text("label", explanation.label);
  v.expected("label");
  v.text("partition", explanation.partition);
  v.expected("partition");
  v.required_word("verdict", explanation.verdict, verdict_from);
  v.count("order", explanation.order);
  v.text("reason", explanation.reason);
  v.text("gpu_type", explanation.gpu_type);
  v.texts("nodes", explanation.nodes);
  v.time("start_earliest", explanation.start_earliest);
  v.time("start_latest", explanation.start_latest);
  v.facts("facts", explanation.facts);
  v.note("facts", "name and value of the figures behind the decision");
  v.text("word", explanation.word);
  v.note("word", "the reason in one word, as squeue shows it");
  v.list("sizes", explanation.sizes);
  v.note("sizes", "what became of each size that the hints allow; left out where it is not open");
}

template <typename Visitor, Is<Plan> R>
void describe(Visitor& v, R& plan) {
  v.number("round", plan.round, static_cast<std::uint64_t>(kJsonMaxTime));
  v.time("made", plan.made);
  v.expected("made");
  v.text("snapshot_fingerprint", plan.snapshot_fingerprint);
  v.note("snapshot_fingerprint", "16 hexadecimal digits of the snapshot's JSON");
  v.text("models_fingerprint", plan.models_fingerprint);
  v.note("models_fingerprint",
         "16 hexadecimal digits of models-fit.json; left out if there is none");
  v.list("starts", plan.starts);
  v.list("changes", plan.changes);
  v.note("changes", "of running jobs; mode elastic only");
  v.list("stays", plan.stays);
  v.note("stays",
         "running jobs that may change and keep their GPUs, with the best other configuration; "
         "mode elastic only");
  v.list("prices", plan.prices);
  v.list("reservations", plan.reservations);
  v.list("explanations", plan.explanations);
  v.object("memory", plan.memory);
  v.note("memory", "for the next round");
}

/// Calls `each(word, member)` for every member, in the order of slurm.conf(5). `Hidden` is
/// PrivateData or const PrivateData.
template <typename Hidden, typename Each>
void for_each_private(Hidden& hidden, Each each) {
  each("accounts", hidden.accounts);
  each("jobs", hidden.jobs);
  each("nodes", hidden.nodes);
  each("partitions", hidden.partitions);
  each("usage", hidden.usage);
  each("users", hidden.users);
}

}  // namespace rubato::json
