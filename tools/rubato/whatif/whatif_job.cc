// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/whatif/whatif_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "lib/base/nearest.h"
#include "lib/base/text.h"
#include "lib/config/values.h"
#include "lib/core/resize_request.h"
#include "lib/hints/facts.h"
#include "lib/policy/algorithms/capacity.h"
#include "lib/policy/algorithms/empty_fit.h"
#include "lib/policy/algorithms/job_forecast.h"
#include "tools/shared/request_words.h"

namespace rubato::tools {
namespace {

Result<const Partition*> partition_of(const std::string& said, const Site& site,
                                      const Snapshot& snapshot) {
  std::string name = said;
  if (name.find(',') != std::string::npos)
    return fail(fmt::format("--partition: '{}': give one partition", name));
  for (const ConfPartition& conf : site.slurm.partitions())
    if (name.empty() && lower(conf.get("default")) == "yes") name = conf.name;
  if (name.empty() && snapshot.partitions.size() == 1) name = snapshot.partitions.front().name;
  if (name.empty()) return fail("no default partition is known; name one with --partition");
  std::vector<std::string> names;
  for (const Partition& one : snapshot.partitions) {
    names.push_back(one.name);
    if (one.name != name) continue;
    if (one.managed) return &one;
    return fail(
        fmt::format("--partition: Rubato does not manage {}; stock Slurm starts its jobs", name));
  }
  return fail(fmt::format("--partition: no partition '{}'{}", name, did_you_mean(name, names)));
}

std::string conf_value(const Site& site, const std::string& partition, const std::string& key) {
  for (const ConfPartition& conf : site.slurm.partitions())
    if (conf.name == partition && !conf.get(key).empty()) return conf.get(key);
  return site.slurm.get_or(key, "");
}

Result<Seconds> limit_of(const SubmitOptions& options, const Site& site,
                         const std::string& partition) {
  std::string text = options.time;
  for (const char* key : {"defaulttime", "maxtime"})
    if (text.empty()) text = conf_value(site, partition, key);
  if (text.empty())
    return fail(fmt::format("no time limit of partition {} is known; give --time", partition));
  const auto limit = time_limit_from(text);
  const std::string most = conf_value(site, partition, "maxtime");
  const auto bound = time_limit_from(most.empty() ? "unlimited" : most);
  if (limit && bound && *limit > *bound)
    return fail(fmt::format("--time: '{}': partition {} allows {}", text, partition, most));
  return limit;
}

Result<MiB> memory_of(const char* option, const std::string& text) {
  if (text.empty()) return 0;
  const auto value = parse_memory(text);
  if (!value) return fail(fmt::format("{}: {}", option, value.error().text));
  return static_cast<MiB>(*value);
}

Result<HintRequest> hint_request_of(const SubmitOptions& options, Seconds limit,
                                    const std::vector<std::string>& types) {
  RequestFacts facts;
  const auto tres = [](const std::string& gpus) {
    std::string list;
    for (const std::string& part : split(gpus, ','))
      if (!part.empty()) list += (list.empty() ? "gres:gpu:" : ",gres:gpu:") + part;
    return list;
  };
  const auto nodes = read_nodes(options.nodes);
  if (!nodes) return tl::unexpected(nodes.error());
  const std::tuple<const char*, const std::string&> counts[] = {
      {"--gpus", options.gpus},
      {"--gpus-per-node", options.gpus_per_node},
      {"--gpus-per-task", options.gpus_per_task}};
  for (const auto& [name, text] : counts)
    if (const auto read = read_gpus(name, text); !read) return tl::unexpected(read.error());
  if (!options.gres.empty() && gpus_in(options.gres).count == 0)
    return fail(fmt::format("--gres: '{}': expected gpu:[TYPE:]N", options.gres));
  facts.per_job = tres(options.gpus);
  facts.per_node = options.gres.empty() ? tres(options.gpus_per_node) : options.gres;
  facts.per_task = tres(options.gpus_per_task);
  facts.min_nodes = options.nodes.empty() ? 0 : nodes->least;
  facts.max_nodes = nodes->most;
  facts.tasks = options.tasks;
  facts.exclusive = options.exclusive;
  facts.requeue = !options.no_requeue;
  facts.time_limit = limit;
  facts.cluster_types = types;
  HintRequest request = hint_request(facts);
  if (request.total_gpus() == 0) return fail("the job asks for no GPUs; give --gpus");
  return request;
}

/// What the models and the placement know of the request.
Result<Request> request_of(const SubmitOptions& options, const HintRequest& asked, const Site& site,
                           const std::string& partition) {
  Request out;
  out.min_nodes = std::max(1, asked.min_nodes);
  out.max_nodes = asked.max_nodes;
  out.fixed_nodes = asked.nodes_fixed();
  out.gpus_per_node = asked.gpus_per_node;
  out.gpus = asked.gpus_per_task > 0 ? static_cast<int>(asked.total_gpus()) : asked.gpus;
  out.gpus_per_task = asked.gpus_per_task;
  out.gpu_quantum = std::max(1, asked.gpus_per_task);
  if (asked.gpu_types.size() == 1) out.gpu_type = asked.gpu_types.front();
  out.tasks = options.tasks;
  out.cores_per_task = std::max(1, options.cpus_per_task);
  out.cores = std::max(out.min_nodes, std::max(1, options.tasks) * out.cores_per_task);
  out.cores_per_gpu = options.cpus_per_gpu;
  out.whole_nodes = options.exclusive;
  const std::tuple<const char*, const std::string&, const char*, MiB&> amounts[] = {
      {"--mem", options.memory, "defmempernode", out.memory_per_node},
      {"--mem-per-cpu", options.memory_per_cpu, "defmempercpu", out.memory_per_core},
      {"--mem-per-gpu", options.memory_per_gpu, "defmempergpu", out.memory_per_gpu}};
  const bool said =
      std::ranges::any_of(amounts, [](const auto& amount) { return !std::get<1>(amount).empty(); });
  for (const auto& [name, text, key, to] : amounts) {
    const std::string usual = said ? "" : conf_value(site, partition, key);
    const auto value = memory_of(name, text.empty() && usual != "UNLIMITED" ? usual : text);
    if (!value) return tl::unexpected(value.error());
    to = *value;
  }
  return out;
}

Result<ResolvedHints> hints_of(const SubmitOptions& options, const HintRequest& request,
                               const Config& config) {
  const std::vector<OptionPair> pairs = options.hints();
  const auto said = parse_hints({.options = pairs, .comment = options.comment});
  if (!said) return tl::unexpected(said.error());
  const JobTypeConfig* type = said->job_type ? config.job_type(*said->job_type) : nullptr;
  return resolve_hints(*said, type != nullptr ? type->hints : Hints{}, request,
                       pairs.empty() ? Spelling::kComment : Spelling::kOption);
}

std::map<std::string, int> gpus_in_nodes(const Snapshot& snapshot, NodeSetIndex set) {
  std::map<std::string, int> gpus;
  for (const NodeIndex node : snapshot.node_sets[set])
    for (const GpuGroup& group : snapshot.nodes[node].gpus) gpus[group.type] += group.total;
  return gpus;
}

std::vector<std::string> types_in(const Snapshot& snapshot, NodeSetIndex set) {
  std::vector<std::string> types;
  for (const auto& [type, unused] : gpus_in_nodes(snapshot, set)) types.push_back(type);
  return types;
}

std::uint32_t last_priority(const Snapshot& snapshot, const std::string& partition) {
  std::optional<std::uint32_t> least;
  for (const Job& job : snapshot.jobs) {
    if (job.state != JobState::kPending || job.partition != partition || job.priority == 0)
      continue;
    least = std::min(least.value_or(job.priority), job.priority);
  }
  return least.value_or(1);
}

/// The requested size, the smallest and the largest, then doublings of the smallest.
std::vector<int> sizes_shown(const Job& job) {
  const ResolvedHints& hints = *job.hints;
  std::set<int> sizes;
  const auto add = [&](int gpus) {
    const int near = hints.sizes.nearest(gpus);
    if (near % hints.unit == 0 && sizes.size() < kMaxSizesShown) sizes.insert(near);
  };
  for (const int gpus :
       {static_cast<int>(requested_gpus(job)), hints.sizes.smallest(), hints.sizes.largest()})
    add(gpus);
  for (int gpus = hints.sizes.smallest(); gpus < hints.sizes.largest(); gpus *= 2) add(gpus);
  return {sizes.begin(), sizes.end()};
}

/// Why the request fits on the nodes of no GPU type even if they are empty; nullopt if it fits.
std::optional<std::string> misfit(const Job& job, const Snapshot& snapshot) {
  const Capacity capacity(snapshot, snapshot.taken);
  const EmptyFit fit(capacity);
  std::vector<std::string> accepted;
  for (const auto type : indices<TypeId>(capacity.types())) {
    const std::string& name = capacity.types()[type];
    if (!accepts_type(job, name)) continue;
    if (fit.types(snapshot.node_sets[job.later_set], job.request)[type]) return std::nullopt;
    accepted.push_back(name);
  }
  const std::map<std::string, int> gpus = gpus_in_nodes(snapshot, job.later_set);
  std::vector<std::string> has;
  for (const auto& [type, count] : gpus) has.push_back(fmt::format("{} {}", count, type));
  const std::string where =
      fmt::format("partition {} has {} GPUs", job.partition, list_text(has, 8));
  if (accepted.empty() && !job.request.gpu_type.empty())
    return fmt::format("no GPU type '{}': {}{}", job.request.gpu_type, where,
                       did_you_mean(job.request.gpu_type, capacity.types()));
  return fmt::format("the request does not fit on the nodes of one GPU type, even if empty: {}",
                     where);
}

}  // namespace

Result<Job> job_of(const SubmitOptions& options, const Submitter& submitter, const Site& site,
                   const Snapshot& snapshot, int priority) {
  const auto partition = partition_of(options.partition, site, snapshot);
  if (!partition) return tl::unexpected(partition.error());
  const std::string& name = (*partition)->name;
  const auto limit = limit_of(options, site, name);
  if (!limit) return tl::unexpected(limit.error());
  const NodeSetIndex nodes = (*partition)->node_set;
  if (!nodes.within(snapshot.node_sets.size()))
    return fail(fmt::format("no node of partition {} is published", name));
  const auto asked = hint_request_of(options, *limit, types_in(snapshot, nodes));
  if (!asked) return tl::unexpected(asked.error());
  const auto request = request_of(options, *asked, site, name);
  if (!request) return tl::unexpected(request.error());
  const auto hints = hints_of(options, *asked, site.config);
  if (!hints) return tl::unexpected(hints.error());
  Job job;
  for (const Job& other : snapshot.jobs) job.key.id = std::max(job.key.id, other.key.id);
  ++job.key.id;
  job.key.submit = job.eligible = snapshot.taken;
  job.label = "new";
  job.user = submitter.user;
  job.uid = submitter.uid;
  job.account = options.account;
  if (job.account.empty()) job.account = submitter.account;
  job.qos = options.qos;
  job.partition = name;
  job.tier = (*partition)->tier;
  job.managed = true;
  job.priority =
      priority > 0 ? static_cast<std::uint32_t>(priority) : last_priority(snapshot, name);
  job.time_limit = *limit;
  job.request = *request;
  job.hints = *hints;
  job.node_set = job.later_set = nodes;
  if (const auto why = misfit(job, snapshot)) return fail(*why);
  return job;
}

std::vector<Alternative> alternatives_of(const Job& job, const Snapshot& snapshot) {
  std::vector<Alternative> all{{"as written", job}};
  const std::vector<int> sizes = sizes_shown(job);
  for (const int gpus : sizes) {
    auto other = at_size(job, gpus, "");
    if (sizes.size() < 2 || !other) continue;
    other->hints->sizes = GpuSizes({{gpus, gpus}});
    all.push_back({fmt::format("with {} GPU{}", gpus, gpus == 1 ? "" : "s"), *std::move(other)});
  }
  std::vector<std::string> types = types_in(snapshot, job.later_set);
  std::erase_if(types, [&](const std::string& type) { return !accepts_type(job, type); });
  for (const std::string& type : types) {
    if (types.size() < 2) continue;
    Job other = job;
    other.request.gpu_type = type;
    if (other.hints) other.hints->gpu_types = {{type}};
    all.push_back({"on " + type, std::move(other)});
  }
  return all;
}

}  // namespace rubato::tools
