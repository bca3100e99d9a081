// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/policy/algorithms/explainer.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/text.h"
#include "lib/policy/algorithms/squeue_reason.h"

namespace rubato {
namespace {

constexpr std::size_t kNodesShown = 8;

const char* plural(std::int64_t count, const char* one, const char* many) {
  return count == 1 ? one : many;
}

std::string block_words(const Job& job) {
  if (!job.block_text.empty()) return job.block_text;
  return to_string(job.block);
}

}  // namespace

std::string Account::say(const std::string& name, std::string value) {
  const auto found = std::find_if(facts.begin(), facts.end(),
                                  [&](const auto& fact) { return fact.first == name; });
  if (found != facts.end()) return found->second;
  facts.emplace_back(name, std::move(value));
  return facts.back().second;
}

std::vector<std::string> Explainer::names(const std::vector<NodeShare>& shares) const {
  std::vector<std::string> names;
  names.reserve(shares.size());
  for (const NodeShare& share : shares) {
    names.push_back(input_.snapshot.nodes[share.node].name);
  }
  return names;
}

// "8 GPUs of type a100 on 2 nodes".
std::string Explainer::wanted(const PendingEntry& entry, Account& account) const {
  const Demand& demand = entry.demand;
  const std::string& type = entry.job->request.gpu_type;
  const int nodes = demand.min_nodes();
  std::string text;
  if (demand.wants_gpus()) {
    const bool each = demand.shape() == Demand::Shape::kGpusPerNode;
    const std::int64_t gpus = each ? demand.least() : demand.total();
    text = account.say(each ? "wanted_gpus_per_node" : "wanted_gpus", gpus);
    text += plural(gpus, " GPU", " GPUs");
    if (!type.empty()) text += " of type " + account.say("wanted_gpu_type", type);
    if (each && nodes > 1) text += " on each of " + account.say("wanted_nodes", nodes) + " nodes";
    if (!each && nodes > 1) {
      text += " on at least " + account.say("wanted_nodes", nodes) + " nodes";
    }
  } else {
    text = account.say("wanted_cores", demand.total()) + plural(demand.total(), " core", " cores");
    if (nodes > 1) text += " on at least " + account.say("wanted_nodes", nodes) + " nodes";
  }
  if (demand.whole_nodes()) text += ", whole nodes";
  return text;
}

// "3 of 32 a100 and 0 of 16 h100".
std::string Explainer::free_gpus(const PlacementFailure& failure, Account& account) const {
  std::string text;
  for (const TypeCount& count : failure.gpus) {
    const std::string& type = capacity_.types()[count.type];
    const std::string name = type.empty() ? "free_gpus" : "free_gpus." + type;
    if (!text.empty()) text += &count == &failure.gpus.back() ? " and " : ", ";
    text += account.say(name, fmt::format("{} of {}", count.free, count.total));
    if (!type.empty()) text += " " + type;
  }
  return text.empty() ? "none" : text;
}

Account Explainer::shortage(const PendingEntry& entry, const PlacementFailure& failure) const {
  Account a;
  a.reason = "asks for " + wanted(entry, a);
  switch (failure.shortage) {
    case Shortage::kNever:
    case Shortage::kNodes:
      nodes_short(failure, a);
      break;
    case Shortage::kGpus:
      gpus_short(entry, failure, a);
      break;
    case Shortage::kCores:
    case Shortage::kMemory:
      room_short(failure, a);
      break;
    case Shortage::kWholeNodes:
      a.reason += fmt::format("; {} of the ", a.say("nodes_with_room", failure.nodes_room));
      a.reason += fmt::format("{} {} it may use {} empty", a.say("nodes_up", failure.nodes_up),
                              plural(failure.nodes_up, "node", "nodes"),
                              plural(failure.nodes_room, "is", "are"));
      break;
    case Shortage::kReserved:
    case Shortage::kStockPlan:
      kept_for_others(entry, failure, a);
      break;
    case Shortage::kPreempting:
      a.reason +=
          "; Slurm is making room on its nodes for job " + a.say("preempting_for", failure.holder);
      break;
    case Shortage::kQueue:
      a.reason += fmt::format("; job {} comes before it on these nodes and waits",
                              a.say("behind", failure.holder));
      break;
  }
  return a;
}

void Explainer::nodes_short(const PlacementFailure& failure, Account& a) {
  const std::string nodes = a.say("nodes", failure.nodes);
  const char* word = plural(failure.nodes, "node", "nodes");
  if (failure.shortage == Shortage::kNever) {
    a.reason += fmt::format(", which the {} {} it may use could not give if empty", nodes, word);
  } else {
    a.reason +=
        fmt::format("; only {} of the {} {} it may use {} up", a.say("nodes_up", failure.nodes_up),
                    nodes, word, plural(failure.nodes_up, "is", "are"));
  }
}

void Explainer::gpus_short(const PendingEntry& entry, const PlacementFailure& failure,
                           Account& a) const {
  a.reason += fmt::format("; free on the {} {} it may use: ", a.say("nodes_up", failure.nodes_up),
                          plural(failure.nodes_up, "node", "nodes"));
  a.reason += free_gpus(failure, a);
  if (entry.demand.shape() != Demand::Shape::kGpusPerNode) return;
  a.reason +=
      fmt::format(", and {} {} enough of them", a.say("nodes_with_room", failure.nodes_room),
                  plural(failure.nodes_room, "node has", "nodes have"));
}

void Explainer::room_short(const PlacementFailure& failure, Account& a) {
  if (failure.shortage == Shortage::kCores) {
    a.reason += "; cores are short: " + a.say("free_cores", failure.cores_free);
  } else {
    a.reason += "; memory is short: " + a.say("free_memory_mib", failure.memory_free) + " MiB";
  }
  a.reason += fmt::format(" free on {} {}", a.say("nodes_up", failure.nodes_up),
                          plural(failure.nodes_up, "node", "nodes"));
  a.reason += fmt::format(", and {} of the ", a.say("nodes_with_room", failure.nodes_room));
  a.reason += fmt::format(
      "{} {} that would do {} enough", a.say("nodes_before", failure.nodes_before),
      plural(failure.nodes_before, "node", "nodes"), plural(failure.nodes_room, "has", "have"));
}

void Explainer::kept_for_others(const PendingEntry& entry, const PlacementFailure& failure,
                                Account& a) const {
  const bool stock = failure.shortage == Shortage::kStockPlan;
  a.reason += ", which is free, but would run ";
  if (failure.holder_start >= kForever) {
    a.reason += "without a time limit on nodes that are kept for job " +
                a.say("reserved_for", failure.holder);
    return;
  }
  a.reason += "for " + a.say("time_limit", duration_text(entry.job->time_limit));
  a.reason += stock ? " where stock backfill starts job " : " on nodes reserved for job ";
  a.reason += a.say(stock ? "planned_for" : "reserved_for", failure.holder);
  a.reason += " in " + a.say(stock ? "planned_in" : "reserved_in",
                             duration_text(failure.holder_start - input_.now));
}

void Explainer::short_of(const PendingEntry& entry, const PlacementFailure& failure,
                         Account& account) {
  const bool own_words = failure.shortage >= Shortage::kReserved;
  Account made;
  const Account* words = &made;
  if (own_words) {
    made = shortage(entry, failure);
  } else {
    const auto found = cache_.find(&failure);
    words = found != cache_.end()
                ? &found->second
                : &cache_.emplace(&failure, shortage(entry, failure)).first->second;
  }
  account.reason += words->reason;
  if (account.facts.empty()) {
    account.facts = words->facts;
  } else {
    for (const auto& [name, value] : words->facts) account.say(name, value);
  }
}

void Explainer::started(const PendingEntry& entry, const EntryOutcome& outcome,
                        Account& account) const {
  const Placement& placement = *outcome.placement;
  int gpus = 0;
  int cores = 0;
  for (const NodeShare& share : placement.shares) {
    gpus += share.gpu_count();
    cores += share.cores;
  }
  const std::vector<std::string> nodes = names(placement.shares);
  account.reason = "starts on " + account.say("start_nodes", list_text(nodes, kNodesShown));
  if (gpus > 0) {
    account.reason +=
        fmt::format(" with {} {}", account.say("gpus", gpus), plural(gpus, "GPU", "GPUs"));
    const std::string type = capacity_.type_name(placement.type);
    if (!type.empty()) account.reason += " of type " + account.say("gpu_type", type);
  }
  account.reason += fmt::format("{} {} {}", gpus > 0 ? " and" : " with",
                                account.say("cores", cores), plural(cores, "core", "cores"));
  on_cpus(entry, gpus, account);
  if (outcome.started > 1 || entry.job->tasks > 1) {
    account.reason += fmt::format("; {} of ", account.say("started", outcome.started));
    account.reason += account.say("tasks", entry.job->tasks) + " array tasks start";
  }
}

void Explainer::attempted(const PendingEntry& entry, const EntryOutcome& outcome,
                          Account& account) {
  const bool preempts = entry.job->managed && (entry.job->may_preempt || entry.job->preempting);
  if (preempts) {
    account.reason = entry.job->preempting ? "Slurm is ending other jobs for it; it "
                                           : "Slurm is asked to preempt other jobs for it; it ";
  } else if (outcome.failure != nullptr) {
    account.reason = std::string(kSlurmIsAsked) + "it ";
  }
  if (outcome.failure != nullptr) {
    short_of(entry, *outcome.failure, account);
  } else {
    account.reason =
        "there seems to be room for " + wanted(entry, account) + "; Slurm is asked to start it";
  }
}

void Explainer::reserved(const PendingEntry& entry, const BookedReservation& booked,
                         Account& account) const {
  const Reservation& r = booked.reservation;
  const std::string nodes = account.say("reserved_nodes", list_text(names(r.shares), kNodesShown));
  if (r.start >= kForever) {
    account.reason = fmt::format(
        "waits for {}: jobs without a time limit run there; jobs with a limit may use {} meanwhile",
        nodes, plural(static_cast<int>(names(r.shares).size()), "it", "them"));
  } else if (r.start <= input_.now) {
    account.reason = fmt::format("has {} reserved and starts as soon as it can", nodes);
  } else {
    const std::string in = account.say("start_in", duration_text(r.start - input_.now));
    account.reason = is_promise(r) ? fmt::format("has {} reserved in {} at the latest", nodes, in)
                                   : fmt::format(
                                         "waits for {}, free in {} unless a job before it starts "
                                         "there",
                                         nodes, in);
  }
  account.say("reserve_reason", to_string(r.reason));
  if (r.partition != entry.job->partition) {
    account.reason += " in partition " + account.say("reserved_partition", r.partition);
  }
  if (!r.delayed_by.empty() && r.start < kForever) {
    account.reason += fmt::format(" ({} later than promised: {})",
                                  account.say("delayed", duration_text(r.start - r.promised)),
                                  account.say("delayed_by", r.delayed_by));
  }
  account.reason += "; ";
}

void Explainer::outbid(const PendingEntry& entry, const EntryOutcome& outcome,
                       Account& account) const {
  account.reason = "asks for " + wanted(entry, account);
  const std::string type = capacity_.type_name(outcome.worth_type);
  if (type.empty()) {
    account.reason += "; no nodes have room for it beside the jobs that the round favours";
    return;
  }
  account.say("worth_gpu_type", type);
  account.reason +=
      fmt::format("; a GPU of type {} is worth {} times as much to other jobs", type,
                  account.say("price_over_worth", fmt::format("{:.2f}", 1 / outcome.worth)));
}

void Explainer::refused(const PendingEntry& entry, const EntryOutcome& outcome,
                        Account& account) const {
  const JobMemory& memory = history_.of(entry);
  account.reason += fmt::format("slurmctld refused to start it {} {} in a row",
                                account.say("refusals", outcome.refusals),
                                plural(outcome.refusals, "time", "times"));
  account.reason += fmt::format(
      " ({})", account.say("refusal", memory.refusal.empty() ? "no reason given" : memory.refusal));
  account.reason += "; the next try is in " +
                    account.say("next_try_in", duration_text(outcome.next_try - input_.now));
}

void Explainer::decided(const PendingEntry& entry, const EntryOutcome& outcome, Account& account) {
  const Job& job = *entry.job;
  switch (outcome.skipped) {
    case Skipped::kHet:
      account.reason = job.block_text.empty()
                           ? "is part of a heterogeneous job, which stock backfill starts"
                           : "is left to stock Slurm: " + job.block_text;
      return;
    case Skipped::kBlocked:
      if (job.block == Block::kLeftOut) {
        account.reason =
            "was left out of this round, since rounds with all jobs passed RoundDeadline";
        return;
      }
      if (job.block == Block::kPlace) {
        account.reason = "starts as soon as running jobs have left the nodes that are kept for it";
        return;
      }
      account.reason =
          "Slurm does not let it start: " + account.say("slurm_reason", block_words(job));
      return;
    case Skipped::kOther:
      account.reason = "starts in partition " + account.say("other_partition", outcome.other);
      return;
    case Skipped::kRunning:
      account.reason = "an allocation of it still runs, so Slurm is about to requeue it";
      return;
    case Skipped::kOutbid:
      outbid(entry, outcome, account);
      return;
    case Skipped::kBackOff:
    case Skipped::kNo:
      break;
  }
  if (outcome.verdict == Verdict::kStart) {
    started(entry, outcome, account);
    return;
  }
  const BookedReservation* booked = reservation_of(reservations_, job.key);
  if (booked != nullptr && outcome.verdict == Verdict::kReserve) reserved(entry, *booked, account);
  if (outcome.skipped == Skipped::kBackOff) {
    refused(entry, outcome, account);
  } else if (outcome.verdict == Verdict::kAttempt) {
    attempted(entry, outcome, account);
  } else if (outcome.failure != nullptr) {
    short_of(entry, *outcome.failure, account);
  }
}

// What a person asks next, whatever was decided.
void Explainer::standing(const PendingEntry& entry, Account& account) const {
  const Job& job = *entry.job;
  account.say("time_limit", duration_text(job.time_limit));
  if (job.eligible > 0) account.say("waited", duration_text(input_.waited(job)));
  const JobMemory& memory = history_.of(entry);
  if (memory.passed > 0) account.say("passed", memory.passed);
  if (job.stock_start > 0) {
    account.say("stock_start_in", duration_text(job.stock_start - input_.now));
  }
}

void Explainer::interval(const PendingEntry& entry, const EntryOutcome& outcome,
                         const BookedReservation* booked, Explanation& to) const {
  const Seconds now = input_.now;
  switch (outcome.verdict) {
    case Verdict::kStart:
      to.start_earliest = to.start_latest = now;
      return;
    case Verdict::kBlocked:
    case Verdict::kStock:
      return;
    case Verdict::kAttempt:
    case Verdict::kReserve:
    case Verdict::kWait:
      break;
  }
  to.start_earliest = outcome.skipped == Skipped::kBackOff ? outcome.next_try : now;
  if (booked != nullptr && is_promise(booked->reservation)) {
    to.start_latest = std::max(booked->reservation.start, to.start_earliest);
  } else if (!entry.job->managed && entry.job->stock_start > now) {
    to.start_latest = entry.job->stock_start;
  }
}

Explanation Explainer::explain(const PendingEntry& entry, const EntryOutcome& outcome) {
  Explanation explanation;
  explanation.job = entry.job->key;
  explanation.label = entry.job->label;
  explanation.partition = entry.job->partition;
  explanation.verdict = outcome.verdict;
  explanation.order = entry.order.value();
  Account account;
  decided(entry, outcome, account);
  const bool placed = outcome.skipped == Skipped::kNo || outcome.skipped == Skipped::kBackOff ||
                      outcome.skipped == Skipped::kOutbid;
  if (placed) forecasts(entry, account);
  if (outcome.verdict == Verdict::kStart) slower_type(entry, *outcome.placement, account);
  if (placed && outcome.placement) size(entry, *outcome.placement, account);
  if (placed) sizes(entry, outcome, account, explanation.sizes);
  level(entry, account);
  if (placed) need(entry, outcome, account);
  standing(entry, account);
  explanation.reason = std::move(account.reason);
  explanation.facts = std::move(account.facts);
  const BookedReservation* booked = reservation_of(reservations_, entry.job->key);
  if (outcome.verdict == Verdict::kStart) {
    explanation.gpu_type = capacity_.type_name(outcome.placement->type);
    explanation.nodes = names(outcome.placement->shares);
  } else if (outcome.verdict == Verdict::kReserve && booked != nullptr) {
    explanation.gpu_type = booked->reservation.gpu_type;
    explanation.nodes = names(booked->reservation.shares);
  }
  explanation.word =
      entry.job->block == Block::kPlace ? "RubatoNext" : squeue_reason(outcome, booked);
  interval(entry, outcome, booked, explanation);
  return explanation;
}

}  // namespace rubato
