// SPDX-License-Identifier: GPL-2.0-or-later
// Rubato in modes place and elastic: the round that slurmctld calls, on a snapshot of the simulated
// cluster. It learns throughputs from job reports, or gets the true ones (information.h).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "lib/model/model_versions.h"
#include "lib/policy/memory.h"
#include "lib/policy/round.h"
#include "lib/sim/engine/config_lines.h"
#include "lib/sim/engine/metrics.h"
#include "lib/sim/engine/policy_help.h"
#include "lib/sim/policies/exact_throughput.h"
#include "lib/sim/policies/round_reports.h"

namespace rubato::sim {
namespace {

/// Start of simulated time: in a snapshot 0 means "never".
constexpr Seconds kBegin = 1'000'000'000;
/// priority/basic counts down from here, by one per submission (TOP_PRIORITY of
/// src/slurmctld/slurmctld.h).
constexpr std::uint32_t kTopPriority = 0xffff0000;
/// Step-time models are fitted again when this share more reports came.
constexpr double kRowShare = 0.1;
const std::set<ProfileShape> kNoShapes;  ///< hints of simulated jobs state no model shape
constexpr const char* kPartition = "gpu";
constexpr const char* kAccount = "users";
/// QOS of jobs whose resources are guaranteed.
constexpr const char* kGuaranteedQos = "guaranteed";
/// Resources of a node if the cluster's shape omits them: unlimited.
constexpr int kCoresOfGpu = 64;
constexpr MiB kMemory = MiB{1} << 40;

Seconds at(double time) { return kBegin + static_cast<Seconds>(std::floor(time)); }
std::int64_t whole(double value) {
  return static_cast<std::int64_t>(std::llround(std::clamp(value, 0.0, 1e18)));
}

class RoundPolicy final : public Policy {
 public:
  RoundPolicy(const PolicyContext& context, Mode mode)
      : information_(context.information),
        refit_share_(context.refit_share),
        watch_(context.watch) {
    if (context.config != nullptr) config_ = *context.config;
    config_.mode = mode;
    config_.manage_all = true;
    config_.managed_partitions.clear();
    config_.guaranteed_qos = {kGuaranteedQos};
    base_.cluster = "simulated";
    base_.partitions.push_back({kPartition, 1, true, 0});
    NodeSet all;
    // Types and models become numbers: neither their names nor the order of groups may affect
    // decisions.
    int number_of_types = 0;
    for (const SimJob& job : context.jobs) {
      models_.try_emplace(job.model, fmt::format("m{:04}", models_.size()));
    }
    types_.resize(context.cluster.types());
    first_node_.resize(context.cluster.types());
    for (const TypeIndex type : types_by_shape(context.cluster)) {
      NodeGroup group = context.cluster.groups[type];
      group.type = types_[type] = fmt::format("t{:04}", number_of_types++);
      first_node_[type] = NodeIndex{base_.nodes.size()};
      for (int i = 0; i < group.nodes; ++i) {
        all.push_back(NodeIndex{base_.nodes.size()});
        base_.nodes.push_back(node_of(group, i));
      }
    }
    base_.node_sets.push_back(std::move(all));
    rename_records(context.cluster);
    config_.test_off.insert(Mechanism::kProve);  // simulated jobs report what is true
    if (learns(information_)) {
      learner_ = ReportedModels(learner_rules(config_), kRowShare);
      return;
    }
    const bool work = information_ == Information::kKnown;
    exact_ = std::make_shared<ExactThroughput>(types_, work, elastic());
    // The remaining time of each job is certain.
    if (work) config_.test_off.insert(Mechanism::kPredictability);
  }

  [[nodiscard]] Information information() const override { return information_; }
  [[nodiscard]] bool hears() const override { return true; }  // how far a job is, at least
  [[nodiscard]] double wake(double now) const override {
    return waiting_ || (running_ && elastic()) ? now + report_interval(config_) : kNever;
  }

  [[nodiscard]] bool moves_jobs() const override { return elastic(); }

  [[nodiscard]] std::vector<Grant> decide(const PolicyState& state) override {
    forget_ended(state);
    hear(state);
    promote_predictable(memory_);
    const Snapshot snapshot = look(state);
    if (watch_) watch_(snapshot);
    const Plan plan = round(snapshot, models_for(state), config_, at(state.now));
    memory_ = plan.memory;
    return grants_of(state, plan);
  }

 private:
  [[nodiscard]] bool elastic() const { return config_.mode == Mode::kElastic; }

  /// Renames types and models in the lines of rubato.conf too.
  void rename_records(const ClusterShape& cluster) {
    std::vector<GpuTypeConfig> types;
    for (const TypeIndex type : cluster.type_indices()) {
      const auto* line = gpu_type_line(config_, cluster.groups[type]);
      if (line == nullptr) continue;
      types.push_back(*line);
      types.back().name = types_[type];
    }
    std::ranges::sort(types, {}, &GpuTypeConfig::name);
    config_.gpu_types = std::move(types);
    std::vector<JobTypeConfig> models;
    for (JobTypeConfig line : config_.job_types) {
      const auto model = models_.find(line.name);
      if (model == models_.end()) continue;
      line.name = model->second;
      models.push_back(std::move(line));
    }
    std::ranges::sort(models, {}, &JobTypeConfig::name);
    config_.job_types = std::move(models);
  }

  static Node node_of(const NodeGroup& group, int number) {
    Node node;
    node.name = group.type + "-" + std::to_string(number);
    node.cores = group.cores > 0 ? group.cores : group.gpus_per_node * kCoresOfGpu;
    node.memory = group.memory > 0 ? group.memory : kMemory;
    node.cores_free = node.cores;
    node.memory_free = node.memory;
    node.gpus.push_back({group.type, group.gpus_per_node, group.gpus_per_node});
    node.usable = true;
    return node;
  }

  static JobKey key_of(const JobView& view) {
    return {static_cast<JobId>(view.index.value() + 1), at(view.job->arrival)};
  }

  [[nodiscard]] ProfileName profile_of(const SimJob& job) const {
    return {job.account.empty() ? kAccount : job.account, models_.at(job.model)};
  }

  [[nodiscard]] ResolvedHints hints_of(const PolicyState& state, const JobView& view) const {
    const SimJob& job = *view.job;
    ResolvedHints hints;
    hints.job_type = models_.at(job.model);
    hints.sizes = GpuSizes({{job.min_gpus, job.max_gpus}});
    if (!job.sizes.empty()) {
      std::vector<GpuSizes::Range> sizes;
      for (const int size : job.sizes) sizes.emplace_back(size, size);
      hints.sizes = GpuSizes(std::move(sizes));
    }
    hints.request_gpus = job.gpus;
    // A user knows, and hints, that a job does not fit into the memory of a type.
    std::vector<std::string> types;
    for (const TypeIndex type : state.cluster.type_indices()) {
      if (view.fits(type)) types.push_back(types_[type]);
    }
    std::sort(types.begin(), types.end());
    if (types.size() < state.cluster.types()) hints.gpu_types = {types};
    hints.batch = batch_of(job);
    hints.work = work_of(view);
    if (elastic()) {  // all jobs of published workloads may be interrupted
      const bool live = job.resize_s >= 0;
      if (job.restarts) hints.checkpoint.signal = SIGUSR1;
      if (job.restarts || live) hints.resize = live ? Resize::kLive : Resize::kRestart;
    }
    return hints;
  }

  static std::optional<Batch> batch_of(const SimJob& job) {
    if (!(job.batch > 0)) return std::nullopt;
    return Batch{whole(job.min_batch > 0 ? job.min_batch : job.batch),
                 whole(job.max_batch > 0 ? job.max_batch : job.batch)};
  }

  /// The total work, if the policy knows it.
  [[nodiscard]] std::optional<Work> work_of(const JobView& view) const {
    const bool told = information_ == Information::kKnown ||
                      (information_ == Information::kLearned && view.job->predictable);
    if (!told || !(view.samples > 0)) return std::nullopt;
    return Work{WorkUnit::kSamples, whole(view.samples), 0};
  }

  [[nodiscard]] Models models_for(const PolicyState& state) {
    if (exact_ == nullptr) {
      return *learner_.fit_when_due({config_.speeds(), config_.gpu_memory(), config_.gpu_links()},
                                    kNoShapes, refit_share_);
    }
    std::vector<JobKey> keys;
    keys.reserve(state.jobs.size());
    for (const JobView& view : state.jobs) keys.push_back(key_of(view));
    exact_->look(state, keys);
    return Models::with_forecasts(config_.speeds(), exact_);
  }

  Job job_of(const PolicyState& state, const JobView& view) const {
    const SimJob& from = *view.job;
    Job job;
    job.key = key_of(view);
    job.label = std::to_string(job.key.id);
    job.name = from.key;
    job.user = job.account = profile_of(from).account;
    if (from.guaranteed) job.qos = kGuaranteedQos;
    job.partition = kPartition;
    job.managed = true;
    job.eligible = at(from.arrival);
    // Without a limit the job's end is unknown, and Rubato would drain nodes for a gang.
    job.time_limit = view.limit < kNever ? static_cast<Seconds>(std::ceil(view.limit)) : kForever;
    job.request.gpus = from.gpus;
    if (from.nodes > 0) {
      job.request.min_nodes = job.request.max_nodes = from.nodes;
      job.request.fixed_nodes = true;
      if (from.gpus % from.nodes == 0) job.request.gpus_per_node = from.gpus / from.nodes;
    }
    job.request.cores_per_gpu = from.cores_per_gpu;
    job.request.cores = std::max(1, from.cores_per_gpu * from.gpus);
    job.request.memory_per_gpu = from.memory_per_gpu;
    job.restarts = view.restarts;
    if (from.hints) job.hints = hints_of(state, view);
    job.node_set = job.later_set = 0;
    job.costs.start = from.start_s;
    job.costs.restart = from.restart_s;
    job.costs.resize = from.resize_s >= 0 ? from.resize_s : from.restart_s;
    return job;
  }

  std::vector<NodeShare> shares_of(const JobView& view) const {
    const TypeIndex type = view.now.type;
    std::vector<NodeShare> shares;
    for (const NodeGpus& part : view.now.where) {
      NodeShare share;
      share.node = NodeIndex{first_node_[type].value() + part.node.value()};
      share.cores = part.gpus * std::max(0, view.job->cores_per_gpu);
      share.memory = part.gpus * view.job->memory_per_gpu;
      share.gpus.push_back({types_[type], part.gpus});
      shares.push_back(std::move(share));
    }
    std::sort(shares.begin(), shares.end(),
              [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
    return shares;
  }

  void set_usable(const PolicyState& state, Snapshot& snapshot) const {
    std::size_t flag = 0;
    for (const TypeIndex type : state.cluster.type_indices()) {
      for (const GroupNodeIndex node : state.cluster.groups[type].node_indices()) {
        if (flag == state.node_up.size()) return;
        const NodeIndex at{first_node_[type].value() + node.value()};
        snapshot.nodes[at].usable = state.node_up[flag++] != 0;
      }
    }
  }

  /// The start of this run, and its limit. A restarted job keeps the time that it has used.
  void set_times(const PolicyState& state, const JobView& view, Job& job) {
    const Seconds used_from = at(state.now - view.ran_s);
    const bool again = elastic() && view.restarts > 0;
    const Seconds first = again ? at(state.now) : used_from;
    job.start = started_.try_emplace(view.index, first).first->second;
    job.end_limit = add_seconds(again ? used_from : job.start, job.time_limit);
  }

  /// The nodes where the job fits. Without hints its user names them by features.
  [[nodiscard]] NodeSetIndex set_of(const PolicyState& state, const JobView& view,
                                    std::vector<NodeSet>& sets) const {
    NodeSet nodes;
    for (const TypeIndex type : state.cluster.type_indices()) {
      const int first = first_node_[type].value();
      for (int i = 0; view.fits(type) && i < state.cluster.groups[type].nodes; ++i)
        nodes.push_back(NodeIndex{first + i});
    }
    std::ranges::sort(nodes);
    const auto at = std::ranges::find(sets, nodes);
    const NodeSetIndex found{at - sets.begin()};
    if (at == sets.end()) sets.push_back(std::move(nodes));
    return found;
  }

  Snapshot look(const PolicyState& state) {
    Snapshot snapshot = base_;
    snapshot.taken = at(state.now);
    snapshot.memory = memory_;
    set_usable(state, snapshot);
    std::vector<Job> running;
    waiting_ = false;
    for (const JobView& view : state.jobs) {
      Job job = job_of(state, view);
      if (!view.job->hints) job.node_set = job.later_set = set_of(state, view, snapshot.node_sets);
      if (!view.now.holds()) {
        waiting_ = true;
        job.rank = static_cast<int>(snapshot.jobs.size());
        job.priority = kTopPriority - job.key.id;
        snapshot.jobs.push_back(std::move(job));
        started_.erase(view.index);
        continue;
      }
      job.state = JobState::kRunning;
      set_times(state, view, job);
      job.allocation = shares_of(view);
      job.plan = view.now.plan;
      job.batch_size = whole(view.now.batch);
      job.starting = view.cost_left;
      for (const NodeShare& share : job.allocation) {
        Node& node = snapshot.nodes[share.node];
        node.cores_free -= share.cores;
        node.memory_free -= share.memory;
        node.gpus.front().free -= share.gpu_count();
      }
      running.push_back(std::move(job));
    }
    running_ = !running.empty();
    std::sort(running.begin(), running.end(),
              [](const Job& a, const Job& b) { return a.key < b.key; });
    std::move(running.begin(), running.end(), std::back_inserter(snapshot.jobs));
    return snapshot;
  }

  void hear(const PolicyState& state) {
    std::map<JobIndex, const JobView*> views;
    for (const JobView& view : state.jobs) views.emplace(view.index, &view);
    for (const JobReport& report : state.reports) {
      const auto found = views.find(report.job);
      const bool reports = found != views.end() && found->second->job->hints;
      if (reports) hear(state, *found->second, report);
    }
  }

  void hear(const PolicyState& state, const JobView& view, const JobReport& report) {
    const Seconds time = at(report.time);
    const auto started = started_.find(view.index);
    MeasuredReport measured =
        measured_report(report, view,
                        {profile_of(*view.job), key_of(view), types_[report.setting.type], time,
                         started != started_.end() ? started->second : time});
    ThroughputReport& throughput = measured.throughput;
    if (exact_ == nullptr) {
      learner_.take(measured);
    } else {  // without noise, in the samples of the job's work
      const Truth& truth = *state.truth;
      throughput.throughput = truth.throughput(*view.job, report.setting, view.done) *
                              truth.samples_per_unit(*view.job);
    }
    remember(view, report, measured);
  }

  void remember(const JobView& view, const JobReport& report, const MeasuredReport& measured) {
    const ThroughputReport& throughput = measured.throughput;
    Progress progress;
    progress.job = throughput.job;
    progress.restarts = view.restarts;
    progress.time = throughput.time;
    progress.samples = whole(exact_ == nullptr ? report.done : report.useful);
    progress.throughput = throughput.throughput;
    progress.batch = throughput.configuration.batch;
    progress.gpus = throughput.configuration.gpus;
    if (exact_ == nullptr) progress.noise = measured.parts.noise;
    fold_report(
        progress, memory_,
        {.profile = throughput.profile, .batch = batch_of(*view.job), .work = work_of(view)});
    ProgressReport heard;
    heard.time = throughput.time;
    heard.samples = progress.samples;
    heard.throughput = throughput.throughput;
    heard.batch = progress.batch;
    heard.restarts = view.restarts;
    heard.gpus = throughput.configuration.gpus;
    heard.start = throughput.run_start;
    fold_forecast(throughput.job, heard, work_of(view), memory_);
    jobs_.insert_or_assign(view.index, Known{throughput.job, throughput.profile, work_of(view)});
  }

  /// Moves the measurements of ended jobs to their profiles.
  void forget_ended(const PolicyState& state) {
    std::set<JobIndex> here;
    for (const JobView& view : state.jobs) here.insert(view.index);
    for (auto one = jobs_.begin(); one != jobs_.end();) {
      if (here.contains(one->first)) {
        ++one;
        continue;
      }
      fold_ended(one->second.key, one->second.profile.account, one->second.profile.job_type,
                 at(state.now), memory_);
      if (elastic()) fold_work(one->second.key, one->second.profile, at(state.now), memory_);
      fold_statement(one->second.key, {one->second.profile.account, one->second.work, true},
                     at(state.now), memory_);
      started_.erase(one->first);
      one = jobs_.erase(one);
    }
  }

  std::vector<Grant> grants_of(const PolicyState& state, const Plan& plan) {
    std::map<JobKey, std::size_t> rows;
    std::vector<Grant> grants = as_it_is(state);
    for (std::size_t i = 0; i < state.jobs.size(); ++i) rows.emplace(key_of(state.jobs[i]), i);
    for (const Change& change : plan.changes) {
      const auto row = rows.find(change.job);
      if (row == rows.end()) continue;
      Grant& grant = grants[row->second];
      if (change.action == ChangeAction::kNotify) {
        grant.batch = static_cast<double>(change.batch);
      } else {
        grant = change.action == ChangeAction::kStop ? Grant{} : granted(change);
        grant.restarts = change.action == ChangeAction::kRestart;
        if (grant.restarts) started_.insert_or_assign(state.jobs[row->second].index, at(state.now));
      }
    }
    for (const Start& start : plan.starts) {
      const auto row = rows.find(start.job);
      if (row == rows.end() || start.shares.empty() || start.on_cpus) continue;
      Grant grant = granted(start);
      if (!grant.type.valid()) continue;
      started_.insert_or_assign(state.jobs[row->second].index, at(state.now));
      grants[row->second] = std::move(grant);
    }
    return grants;
  }

  /// What a start, or a change, of the plan gives.
  template <typename Decision>
  [[nodiscard]] Grant granted(const Decision& decision) const {
    Grant grant;
    const auto type = std::find(types_.begin(), types_.end(), decision.gpu_type);
    if (type == types_.end()) return grant;
    grant.type = TypeIndex{type - types_.begin()};
    const int first = first_node_[grant.type].value();
    for (const NodeShare& share : decision.shares) {
      grant.where.push_back({GroupNodeIndex{share.node.value() - first}, share.gpu_count()});
      grant.gpus += share.gpu_count();
    }
    grant.batch = static_cast<double>(decision.batch);
    grant.plan = decision.plan;
    return grant;
  }

  struct Known {
    JobKey key;
    ProfileName profile;
    std::optional<Work> work;
  };

  Information information_;
  double refit_share_;
  std::function<void(const Snapshot&)> watch_;
  Config config_;
  std::vector<std::string> types_;
  std::map<std::string, std::string> models_;
  Snapshot base_;                      ///< nodes, all free
  std::vector<NodeIndex> first_node_;  ///< of each type
  Memory memory_;
  ReportedModels learner_;
  std::shared_ptr<ExactThroughput> exact_;  ///< null: the policy learns
  std::map<JobIndex, Seconds> started_;     ///< start times of current runs
  std::map<JobIndex, Known> jobs_;          ///< jobs that reported
  bool waiting_ = false;                    ///< in the last snapshot jobs wait
  bool running_ = false;                    ///< in the last snapshot jobs run
};

}  // namespace

std::unique_ptr<Policy> make_rubato_place(const PolicyContext& context) {
  return std::make_unique<RoundPolicy>(context, Mode::kPlace);
}

std::unique_ptr<Policy> make_rubato(const PolicyContext& context) {
  return std::make_unique<RoundPolicy>(context, Mode::kElastic);
}

}  // namespace rubato::sim
