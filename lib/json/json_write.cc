// SPDX-License-Identifier: GPL-2.0-or-later
// Values to JSON. Members have a fixed order; the reader is json_read.cc.
#include "lib/base/json_writer.h"
#include "lib/json/json.h"
#include "lib/json/json_documents.h"
#include "lib/json/json_hints.h"
#include "lib/json/json_progress_histories.h"

namespace rubato {
namespace {

constexpr std::size_t kBytesPerNode = 200;
constexpr std::size_t kBytesPerJob = 600;

class Writer {
 public:
  explicit Writer(const Snapshot& snapshot) : snapshot_(snapshot) {}

  [[nodiscard]] std::string snapshot();
  [[nodiscard]] std::string plan(const Plan& plan);
  [[nodiscard]] std::string state(const Memory& memory);
  [[nodiscard]] std::string one(const Explanation& told);

 private:
  void node(const Node& node);
  void partition(const Partition& partition);
  void private_data(const PrivateData& hidden);
  void request(const Request& request);
  void job(const Job& job);
  void memory_members(const Memory& memory);
  void job_memory(const JobMemory& memory);
  void reservation(const Reservation& reservation);
  void service(const Service& service);
  void load(const TypeLoad& load);
  void progress(const Progress& progress);
  void start(const Start& start);
  void explanation(const Explanation& explanation);

  void node_name(int index) {
    const auto at = static_cast<std::size_t>(index);
    json_.value(at < snapshot_.nodes.size() ? std::string_view(snapshot_.nodes[at].name) : "?");
  }
  void node_names(const std::vector<int>& indices) {
    json_.begin_array();
    for (const int index : indices) node_name(index);
    json_.end_array();
  }
  void job_key(const JobKey& key) {
    json_.key("id");
    json_.value(key.id);
    json_.member_time("submit", key.submit);
  }
  void shares(std::string_view name, const std::vector<NodeShare>& shares);

  template <typename T, typename Function>
  void list(std::string_view name, const std::vector<T>& items, Function each) {
    if (items.empty()) return;
    json_.key(name);
    json_.begin_array();
    for (const T& item : items) {
      json_.begin_object();
      each(item);
      json_.end_object();
    }
    json_.end_array();
  }

  const Snapshot& snapshot_;
  JsonWriter json_;
};

void Writer::shares(std::string_view name, const std::vector<NodeShare>& shares) {
  list(name, shares, [&](const NodeShare& share) {
    json_.key("node");
    node_name(share.node);
    json_.member("cores", share.cores);
    json_.member("memory", share.memory);
    list("gpus", share.gpus, [&](const GpuCount& group) {
      json_.member("type", group.type);
      json_.member("count", group.count);
    });
  });
}

void Writer::node(const Node& node) {
  json_.key("name");
  json_.value(node.name);
  json_.member("cores", node.cores);
  json_.member("cores_free", node.cores_free);
  json_.member("memory", node.memory);
  json_.member("memory_free", node.memory_free);
  list("gpus", node.gpus, [&](const GpuGroup& group) {
    json_.member("type", group.type);
    json_.member("total", group.total);
    json_.member("free", group.free);
  });
  json_.member("usable", node.usable);
  json_.member("coming", node.coming);
  json_.member("powered_down", node.powered_down);
  json_.member("weight", node.weight, 1U);
}

void Writer::partition(const Partition& partition) {
  json_.key("name");
  json_.value(partition.name);
  json_.member("tier", partition.tier, 1);
  json_.member("managed", partition.managed);
  json_.member("node_set", partition.node_set, -1);
}

void Writer::private_data(const PrivateData& hidden) {
  if (!hidden.any()) return;
  json_.key("private_data");
  json_.begin_array();
  json::for_each_private(hidden, [&](const char* word, bool on) {
    if (on) json_.value(word);
  });
  json_.end_array();
}

void Writer::request(const Request& request) {
  json_.member("min_nodes", request.min_nodes, 1);
  json_.member("max_nodes", request.max_nodes);
  json_.member("gpus", request.gpus);
  json_.member("gpus_per_node", request.gpus_per_node);
  json_.member("gpu_quantum", request.gpu_quantum, 1);
  json_.member("gpu_type", request.gpu_type);
  json_.member("cores", request.cores, 1);
  json_.member("cores_per_node", request.cores_per_node);
  json_.member("cores_per_gpu", request.cores_per_gpu);
  json_.member("threads", request.threads, 1);
  json_.member("tasks", request.tasks);
  json_.member("tasks_per_node", request.tasks_per_node);
  json_.member("gpus_per_task", request.gpus_per_task);
  json_.member("cores_per_task", request.cores_per_task, 1);
  json_.member("fixed_nodes", request.fixed_nodes);
  json_.member("memory_per_node", request.memory_per_node);
  json_.member("memory_per_core", request.memory_per_core);
  json_.member("memory_per_gpu", request.memory_per_gpu);
  json_.member("whole_memory", request.whole_memory);
  json_.member("whole_nodes", request.whole_nodes);
}

void Writer::job(const Job& job) {
  job_key(job.key);
  json_.member("array_id", job.array_id);
  json_.member("label", job.label);
  json_.member("name", job.name);
  json_.member("user", job.user);
  json_.member("uid", job.uid);
  json_.member("account", job.account);
  json_.member("qos", job.qos);
  json_.member("partition", job.partition);
  json_.member("reservation", job.reservation);
  json_.key("state");
  json_.value(to_string(job.state));
  json_.member("managed", job.managed);
  json_.member("batch", job.batch, true);
  json_.member("het", job.het);
  json_.member("may_preempt", job.may_preempt);
  json_.member("preempting", job.preempting);
  json_.member("tier", job.tier, 1);
  json_.member("priority", job.priority);
  json_.member("priority_set", job.priority_set);
  json_.member("rank", job.rank);
  json_.member_time("eligible", job.eligible);
  json_.member_time("time_limit", job.time_limit);
  if (!(job.request == Request{})) {
    json_.key("request");
    json_.begin_object();
    request(job.request);
    json_.end_object();
  }
  json_.member("restarts", job.restarts);
  if (job.hints) {
    json_.key("hints");
    json::write_hints(json_, *job.hints);
  }
  json_.member("hint_error", job.hint_error);
  json_.member("size_bound", job.size_bound);
  json_.member("tasks", job.tasks, 1);
  json_.member("node_set", job.node_set, -1);
  json_.member("later_set", job.later_set, -1);
  if (job.block != Block::kNone) {
    json_.key("block");
    json_.value(to_string(job.block));
  }
  json_.member("block_text", job.block_text);
  json_.member_time("stock_start", job.stock_start);
  if (!job.stock_nodes.empty()) {
    json_.key("stock_nodes");
    node_names(job.stock_nodes);
  }
  json_.member_time("start", job.start);
  json_.member_time("end_limit", job.end_limit);
  shares("allocation", job.allocation);
}

void Writer::reservation(const Reservation& reservation) {
  job_key(reservation.job);
  json_.member("partition", reservation.partition);
  json_.member_time("start", reservation.start);
  json_.member_time("made", reservation.made);
  json_.key("reason");
  json_.value(to_string(reservation.reason));
  json_.member("gpu_type", reservation.gpu_type);
  shares("shares", reservation.shares);
}

void Writer::service(const Service& service) {
  job_key(service.job);
  json_.member("attained", service.attained);
  json_.member("since_promotion", service.since_promotion);
  json_.member("executed", service.executed);
  json_.member_time("waiting_since", service.waiting_since);
  json_.member_time("updated", service.updated);
  json_.member("held", service.held);
  json_.member("level", service.level);
  json_.member("predictable", service.predictable);
  json_.member("level_unpredictable", service.level_unpredictable);
  json_.member("counted", service.counted);
}

void Writer::load(const TypeLoad& load) {
  json_.member("gpu_type", load.gpu_type);
  json_.member_time("updated", load.updated);
  json_.member("seconds", load.seconds);
  json_.member("jobs", load.jobs);
  json_.member("gpus", load.gpus);
  json_.member("told_gpus", load.told_gpus);
  json_.member("told_gpu_seconds", load.told_gpu_seconds);
}

void Writer::progress(const Progress& progress) {
  job_key(progress.job);
  json_.member("restarts", progress.restarts);
  json_.member_time("time", progress.time);
  json_.member("samples", progress.samples);
  json_.member("rate", progress.throughput);
  json_.member("batch", progress.batch);
  if (!progress.loss) return;
  json_.key("loss");
  json_.value(*progress.loss);
}

void Writer::job_memory(const JobMemory& memory) {
  job_key(memory.job);
  json_.member_time("first_seen", memory.first_seen);
  json_.member("passed", memory.passed);
  json_.member_time("passed_since", memory.passed_since);
  json_.member_time("last_try", memory.last_try);
  json_.member("refusals", memory.refusals);
  json_.member("refusal", memory.refusal);
  json_.member("refused_request", memory.refused_request);
  json_.member("refused_free", memory.refused_free);
}

void Writer::memory_members(const Memory& memory) {
  json_.member("round", memory.round);
  list("jobs", memory.jobs, [&](const JobMemory& job) { job_memory(job); });
  list("reservations", memory.reservations, [&](const Reservation& r) { reservation(r); });
  list("service", memory.service, [&](const Service& s) { service(s); });
  list("progress", memory.progress, [&](const Progress& p) { progress(p); });
  list("courses", memory.progress_histories, [&](const ProgressHistory& progress_history) {
    job_key(progress_history.job);
    write_progress_history(json_, progress_history);
  });
  list("types", memory.types,
       [&](const TypePredictability& type) { write_type_predictability(json_, type); });
  list("loads", memory.loads, [&](const TypeLoad& one) { load(one); });
}

void Writer::start(const Start& start) {
  job_key(start.job);
  json_.member("partition", start.partition);
  json_.member("reservation", start.reservation);
  json_.member("managed", start.managed);
  json_.member("gpu_type", start.gpu_type);
  json_.member("gpus", start.gpus);
  json_.member("on_cpus", start.on_cpus);
  json_.member("plan", start.plan);
  json_.member("batch", start.batch);
  shares("shares", start.shares);
  json_.member("elsewhere", start.elsewhere, true);
}

void Writer::explanation(const Explanation& explanation) {
  job_key(explanation.job);
  json_.member("label", explanation.label);
  json_.member("partition", explanation.partition);
  json_.key("verdict");
  json_.value(to_string(explanation.verdict));
  json_.member("order", explanation.order);
  json_.member("reason", explanation.reason);
  json_.member("gpu_type", explanation.gpu_type);
  if (!explanation.nodes.empty()) {
    json_.key("nodes");
    json_.begin_array();
    for (const std::string& name : explanation.nodes) json_.value(name);
    json_.end_array();
  }
  json_.member_time("start_earliest", explanation.start_earliest);
  json_.member_time("start_latest", explanation.start_latest);
  if (explanation.facts.empty()) return;
  json_.key("facts");
  json_.begin_array();
  for (const auto& [name, value] : explanation.facts) {
    json_.begin_array();
    json_.value(name);
    json_.value(value);
    json_.end_array();
  }
  json_.end_array();
}

std::string Writer::snapshot() {
  json_.reserve(snapshot_.nodes.size() * kBytesPerNode + snapshot_.jobs.size() * kBytesPerJob);
  json_.begin_object();
  json_.key("schema");
  json_.value(kSnapshotSchema);
  json_.member("cluster", snapshot_.cluster);
  json_.member("slurm_version", snapshot_.slurm_version);
  json_.member_time("taken", snapshot_.taken);
  private_data(snapshot_.private_data);
  list("nodes", snapshot_.nodes, [&](const Node& item) { node(item); });
  if (!snapshot_.node_sets.empty()) {
    json_.key("node_sets");
    json_.begin_array();
    for (const NodeSet& set : snapshot_.node_sets) node_names(set);
    json_.end_array();
  }
  list("partitions", snapshot_.partitions, [&](const Partition& item) { partition(item); });
  list("jobs", snapshot_.jobs, [&](const Job& item) { job(item); });
  if (!(snapshot_.memory == Memory{})) {
    json_.key("memory");
    json_.begin_object();
    memory_members(snapshot_.memory);
    json_.end_object();
  }
  json_.end_object();
  return json_.take();
}

std::string Writer::plan(const Plan& plan) {
  json_.reserve(plan.explanations.size() * kBytesPerJob);
  json_.begin_object();
  json_.key("schema");
  json_.value(kPlanSchema);
  json_.member("round", plan.round);
  json_.member_time("made", plan.made);
  json_.member("snapshot_fingerprint", plan.snapshot_fingerprint);
  json_.member("models_fingerprint", plan.models_fingerprint);
  list("starts", plan.starts, [&](const Start& item) { start(item); });
  list("reservations", plan.reservations, [&](const Reservation& item) { reservation(item); });
  list("explanations", plan.explanations, [&](const Explanation& item) { explanation(item); });
  if (!(plan.memory == Memory{})) {
    json_.key("memory");
    json_.begin_object();
    memory_members(plan.memory);
    json_.end_object();
  }
  json_.end_object();
  return json_.take();
}

std::string Writer::one(const Explanation& told) {
  json_.begin_object();
  explanation(told);
  json_.end_object();
  return json_.take();
}

std::string Writer::state(const Memory& memory) {
  json_.begin_object();
  json_.key("schema");
  json_.value(kStateSchema);
  memory_members(memory);
  json_.end_object();
  return json_.take();
}

}  // namespace

std::string to_json(const Snapshot& snapshot) { return Writer(snapshot).snapshot(); }
std::string to_json(const Plan& plan, const Snapshot& snapshot) {
  return Writer(snapshot).plan(plan);
}
std::string to_json(const Memory& memory, const Snapshot& snapshot) {
  return Writer(snapshot).state(memory);
}
std::string to_json(const Explanation& explanation) { return Writer(Snapshot()).one(explanation); }

}  // namespace rubato
