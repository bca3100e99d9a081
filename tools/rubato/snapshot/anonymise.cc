// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/snapshot/anonymise.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "lib/model/progress/profile_list.h"

namespace rubato::tools {
namespace {

/// The tokens of one kind of name. An empty name stays empty.
class Tokens {
 public:
  /// `names` in any order; at least `least_digits` digits per token.
  Tokens(char letter, const std::set<std::string>& names, std::size_t least_digits) {
    const std::size_t digits = std::max(least_digits, std::to_string(names.size()).size());
    std::size_t number = 0;
    for (const std::string& name : names) {
      // All numbers have the same width, so that tokens sort as the names do.
      if (!name.empty()) tokens_[name] = fmt::format("{}{:0{}}", letter, ++number, digits);
    }
  }

  void replace(std::string& name) const {
    if (const auto it = tokens_.find(name); it != tokens_.end()) name = it->second;
  }

 private:
  std::map<std::string, std::string> tokens_;
};

std::set<std::string> names_of(const Snapshot& snapshot, std::string Job::*member) {
  std::set<std::string> names;
  for (const Job& job : snapshot.jobs) names.insert(job.*member);
  return names;
}

std::set<std::string> account_names(const Snapshot& snapshot, const ModelsFit& fit) {
  std::set<std::string> names = names_of(snapshot, &Job::account);
  for (const ThroughputObservation& observation : fit.observations)
    names.insert(observation.profile.account);
  for (const CurvePoint& point : fit.curves) names.insert(point.profile.account);
  for (const MeasuredRow& row : fit.rows) names.insert(row.profile.account);
  for (const ProfileShape& one : fit.shapes) names.insert(one.profile.account);
  for (const TypePredictability& type : snapshot.memory.types) names.insert(type.account);
  for (const ProfileNoise& one : snapshot.memory.noises) names.insert(one.account);
  for (const ProfileWork& one : snapshot.memory.works) names.insert(one.account);
  for (const ProfileCosts& one : snapshot.memory.change_costs) names.insert(one.account);
  for (const AccountStatements& one : snapshot.memory.statements) names.insert(one.account);
  for (const Exploration& one : snapshot.memory.explorations) names.insert(one.account);
  return names;
}

std::set<std::string> job_type_names(const Snapshot& snapshot, const ModelsFit& fit) {
  std::set<std::string> names;
  for (const ThroughputObservation& observation : fit.observations)
    names.insert(observation.profile.job_type);
  for (const CurvePoint& point : fit.curves) names.insert(point.profile.job_type);
  for (const MeasuredRow& row : fit.rows) names.insert(row.profile.job_type);
  for (const ProfileShape& one : fit.shapes) names.insert(one.profile.job_type);
  for (const Job& job : snapshot.jobs) {
    if (job.hints) names.insert(job.hints->job_type);
  }
  for (const TypePredictability& type : snapshot.memory.types) names.insert(type.job_type);
  for (const ProfileNoise& one : snapshot.memory.noises) names.insert(one.job_type);
  for (const ProfileWork& one : snapshot.memory.works) names.insert(one.job_type);
  for (const ProfileCosts& one : snapshot.memory.change_costs) names.insert(one.job_type);
  for (const Exploration& one : snapshot.memory.explorations) names.insert(one.job_type);
  return names;
}

std::set<std::string> partition_names(const Snapshot& snapshot) {
  std::set<std::string> names = names_of(snapshot, &Job::partition);
  for (const Partition& partition : snapshot.partitions) names.insert(partition.name);
  for (const Reservation& reservation : snapshot.memory.reservations) {
    names.insert(reservation.partition);
  }
  return names;
}

std::set<std::string> node_names(const Snapshot& snapshot) {
  std::set<std::string> names;
  for (const Node& node : snapshot.nodes) names.insert(node.name);
  return names;
}

}  // namespace

Snapshot anonymise(const Snapshot& snapshot) { return anonymise(snapshot, ModelsFit{}).snapshot; }

Anonymous anonymise(const Snapshot& snapshot, const ModelsFit& fit) {
  const Tokens users('u', names_of(snapshot, &Job::user), 1);
  const Tokens accounts('a', account_names(snapshot, fit), 1);
  const Tokens names('j', names_of(snapshot, &Job::name), 1);
  const Tokens types('t', job_type_names(snapshot, fit), 1);
  const Tokens qos('q', names_of(snapshot, &Job::qos), 1);
  const Tokens reservations('r', names_of(snapshot, &Job::reservation), 1);
  const Tokens partitions('p', partition_names(snapshot), 1);
  const Tokens nodes('n', node_names(snapshot), 3);

  Snapshot plain = snapshot;
  plain.cluster = "cluster";
  for (Node& node : plain.nodes) nodes.replace(node.name);
  for (Partition& partition : plain.partitions) partitions.replace(partition.name);
  for (Job& job : plain.jobs) {
    users.replace(job.user);
    accounts.replace(job.account);
    names.replace(job.name);
    qos.replace(job.qos);
    partitions.replace(job.partition);
    reservations.replace(job.reservation);
    job.uid = 0;
    if (job.hints) {
      types.replace(job.hints->job_type);
      job.hints->notes.clear();
    }
    job.hint_error.clear();
    job.block_text.clear();
  }
  for (Reservation& reservation : plain.memory.reservations) {
    partitions.replace(reservation.partition);
  }
  for (JobMemory& memory : plain.memory.jobs) memory.refusal.clear();
  for (AskedResize& restart : plain.memory.asked_resizes) {
    restart.uid = 0;
    restart.words.clear();
  }
  for (SizeHold& hold : plain.memory.size_holds) hold.uid = 0;
  plain.memory.user_restarts.clear();
  const auto rename = [&](auto& profiles) {
    for (auto& one : profiles) {
      accounts.replace(one.account);
      types.replace(one.job_type);
    }
    std::ranges::sort(profiles, {}, [](const auto& one) { return profile_key(one); });
  };
  rename(plain.memory.types);
  rename(plain.memory.noises);
  rename(plain.memory.works);
  rename(plain.memory.change_costs);
  for (AccountStatements& one : plain.memory.statements) accounts.replace(one.account);
  std::ranges::sort(plain.memory.statements, {}, &AccountStatements::account);
  for (Exploration& one : plain.memory.explorations) {
    accounts.replace(one.account);
    types.replace(one.job_type);
  }
  ModelsFit plain_fit = fit;
  const auto replace = [&](ProfileName& profile) {
    accounts.replace(profile.account);
    types.replace(profile.job_type);
  };
  for (ThroughputObservation& observation : plain_fit.observations) replace(observation.profile);
  for (CurvePoint& point : plain_fit.curves) replace(point.profile);
  for (MeasuredRow& row : plain_fit.rows) replace(row.profile);
  for (ProfileShape& one : plain_fit.shapes) replace(one.profile);
  return {std::move(plain), std::move(plain_fit)};
}

}  // namespace rubato::tools
