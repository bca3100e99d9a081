// SPDX-License-Identifier: GPL-2.0-or-later
#include "test/fault/site.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <numeric>

#include "test/support/build_snapshot.h"

namespace rubato::test {
namespace {

constexpr const char* kTypes[] = {"a100", "h100"};

void put_hints(Draws& draws, SiteJob& made) {
  ResolvedHints hints;
  hints.job_type = draws.chance(50) ? "bert" : "gpt";
  hints.sizes = GpuSizes({{1, 2 * made.job.request.gpus}});
  hints.request_gpus = made.job.request.gpus;
  if (draws.chance(80)) hints.work = Work{WorkUnit::kSamples, std::llround(made.work), 0};
  if (draws.chance(20)) hints.gpu_types = {{kTypes[draws.number(0, 1)]}};
  made.consents = draws.chance(70);
  if (made.consents) hints.checkpoint.signal = SIGUSR1;
  hints.checkpoint.lead = 30 * draws.number(1, 4);
  hints.resize = Resize::kRestart;
  made.job.hints = hints;
}

SiteJob drawn_job(Draws& draws, JobId id, Seconds begin) {
  SiteJob made;
  Job& job = made.job;
  made.arrives = begin + (id <= 4 ? 0 : draws.number(0, 3600));
  job.key = {id, made.arrives};
  job.label = std::to_string(id);
  job.user = draws.chance(50) ? "ada" : "bob";
  job.uid = job.user == "ada" ? 1001 : 1002;
  job.account = "lab";
  job.partition = "gpu";
  job.managed = true;
  job.eligible = made.arrives;
  job.time_limit = 60 * draws.number(20, 120);
  job.priority = static_cast<std::uint32_t>(10'000 - id);
  job.request.gpus = 1 << draws.number(0, 2);
  job.request.cores_per_gpu = 1;
  job.node_set = job.later_set = 0;
  job.costs = {10.0 * draws.number(0, 3), 10.0 * draws.number(1, 6), 10};
  made.work = 30.0 * job.request.gpus * draws.number(300, 3600);
  if (draws.chance(85)) put_hints(draws, made);
  if (draws.chance(10)) job.request.gpu_type = kTypes[draws.number(0, 1)];
  return made;
}

void take(std::vector<Node>& nodes, const std::vector<NodeShare>& shares) {
  for (const NodeShare& share : shares) {
    Node& node = nodes[static_cast<std::size_t>(share.node.value())];
    node.cores_free -= share.cores;
    node.memory_free -= share.memory;
    for (const GpuCount& gpus : share.gpus)
      for (GpuGroup& on : node.gpus) on.free -= on.type == gpus.type ? gpus.count : 0;
  }
}

bool waits(const SiteJob& job) { return !job.ended && job.job.state == JobState::kPending; }

}  // namespace

std::vector<NodeShare> place_of(const SiteJob& job) {
  if (!job.flight || !job.flight->requeued) return {};
  return job.flight->change.shares;
}

Site::Site(std::uint64_t seed) {
  Draws shape(seed, "cluster");
  for (int i = shape.number(2, 5); i > 0; --i)
    nodes.push_back(make_node(fmt::format("n{}", nodes.size() + 1),
                              {{kTypes[nodes.size() < 2 ? nodes.size() : shape.number(0, 1)],
                                nodes.size() < 2 ? 4 : shape.number(2, 8)}}));
  Draws draws(seed, "workload");
  const int count = draws.number(5, 14);
  for (int id = 1; id <= count; ++id)
    jobs.push_back(drawn_job(draws, static_cast<JobId>(id), time));
}

std::vector<Node> Site::free_nodes() const {
  std::vector<Node> free = nodes;
  for (const SiteJob& job : jobs) {
    if (job.ended) continue;
    if (job.job.state == JobState::kRunning) take(free, job.job.allocation);
    take(free, place_of(job));
  }
  return free;
}

Snapshot Site::snapshot(const Memory& memory) const {
  Snapshot made;
  made.cluster = "fault";
  made.taken = wall();
  made.memory = memory;
  made.nodes = free_nodes();
  NodeSet all(nodes.size());
  std::iota(all.begin(), all.end(), NodeIndex{0});
  made.node_sets.push_back(all);
  made.partitions.push_back({"gpu", 1, true, 0});
  for (const SiteJob& one : jobs) {
    if (one.ended || one.arrives > time) continue;
    Job job = one.job;
    if (one.held || (waits(one) && one.flight)) {
      job.block = Block::kOther;
      job.block_text = one.held ? "JobHeldUser" : "BeginTime";
    }
    if (!waits(one)) {
      const double ran = static_cast<double>(time - one.began);
      job.starting = one.flight
                         ? static_cast<double>(std::max<Seconds>(1, one.flight->exits - time))
                         : std::max(0.0, one.setup - ran);
    }
    made.jobs.push_back(std::move(job));
  }
  std::ranges::sort(made.jobs, [](const Job& a, const Job& b) {
    const auto key = [](const Job& j) {
      return std::tuple(j.state, j.state == JobState::kPending ? -std::int64_t{j.priority} : 0,
                        j.key);
    };
    return key(a) < key(b);
  });
  int rank = 0;
  for (Job& job : made.jobs)
    if (job.state == JobState::kPending) job.rank = rank++;
  return made;
}

double Site::throughput(const SiteJob& job) const {
  double gpus = 0;
  double speed = 1;
  for (const NodeShare& share : job.job.allocation) {
    gpus += share.gpu_count();
    if (!share.gpus.empty() && share.gpus.front().type == "h100") speed = 2;
  }
  return 30 * speed * std::pow(gpus, .9);
}

Seconds Site::next_event() const {
  Seconds next = kForever;
  const auto note = [&](Seconds at) {
    if (at > time) next = std::min(next, at);
  };
  for (const SiteJob& job : jobs) {
    if (job.ended) continue;
    note(job.arrives);
    if (job.flight) note(job.flight->requeued ? job.flight->expires : job.flight->exits);
    if (waits(job)) continue;
    note(job.job.end_limit - offset);
    const double setup = std::max(0.0, job.setup - static_cast<double>(time - job.began));
    note(time + 1 + static_cast<Seconds>(setup + (job.work - job.done) / throughput(job)));
  }
  return next;
}

void Site::advance(Seconds to) {
  for (SiteJob& job : jobs) {
    if (job.ended || waits(job)) continue;
    const Seconds from = std::max(job.counted, job.began + static_cast<Seconds>(job.setup));
    job.done += throughput(job) * static_cast<double>(std::max<Seconds>(0, to - from));
    job.counted = to;
  }
  time = to;
  for (SiteJob& job : jobs) {
    if (job.ended || waits(job)) continue;
    if (job.done >= job.work || job.job.end_limit <= wall()) {
      job.due = true;
      end(job);
    }
  }
}

std::string Site::trouble_at(const std::vector<NodeShare>& shares) const {
  std::vector<Node> free = free_nodes();
  take(free, shares);
  for (const NodeShare& share : shares) {
    const Node& node = free[static_cast<std::size_t>(share.node.value())];
    if (!node.usable) return node.name + " is not usable";
    if (node.cores_free < 0 || node.memory_free < 0 || node.gpus_free() < 0)
      return node.name + " is busy";
  }
  return "";
}

void Site::start(SiteJob& job, const std::vector<NodeShare>& shares, Seconds limit) {
  job.flight.reset();
  job.job.state = JobState::kRunning;
  job.job.start = wall();
  job.job.end_limit = add_seconds(wall(), limit);
  job.job.allocation = shares;
  job.began = job.counted = time;
  job.reported = time;
  job.setup = job.job.restarts > 0 ? job.job.costs.restart : job.job.costs.start;
}

void Site::requeue(SiteJob& job) {
  job.job.state = JobState::kPending;
  job.job.allocation.clear();
  job.job.start = job.job.end_limit = 0;
  ++job.job.restarts;
  job.job.key.submit = std::max(job.job.key.submit + 1, wall());
  job.job.eligible = wall();
}

void Site::end(SiteJob& job) {
  job.ended = true;
  job.flight.reset();
}

SiteJob* Site::find(const JobKey& key) {
  const auto at =
      std::ranges::find_if(jobs, [&](const SiteJob& job) { return job.job.key == key; });
  return at != jobs.end() && !at->ended ? &*at : nullptr;
}

bool Site::done() const { return std::ranges::all_of(jobs, &SiteJob::ended); }

}  // namespace rubato::test
