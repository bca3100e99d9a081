// SPDX-License-Identifier: GPL-2.0-or-later
// Shared by both formats of exported profiles and their schema: the members of a row, in order, and
// the checks of their values. Included by their files only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/hints/types.h"
#include "lib/json/json_documents.h"
#include "lib/store/profiles.h"

namespace rubato::store::profile {

inline constexpr double kMaxThroughput = 1e15;
inline constexpr const char* kTwice = "a row with the same names, plan and counts stands before it";

/// A description of a member, for a visitor that takes it.
template <typename Visitor>
void note(Visitor& visit, const char* member, const char* text) {
  if constexpr (requires { visit.note(member, text); }) visit.note(member, text);
}

/// Calls `visit` for each member in file order. `Row` is ProfileRow or const ProfileRow.
template <typename Row, typename Visitor>
void for_each_member(Row& row, Visitor& visit) {
  auto& g = row.group;
  visit.text("account", row.type.account);
  visit.name("job_type", row.type.name);
  visit.yes("shared", row.type.shared);
  visit.text("gpu_type", row.gpu_type);
  visit.count("gpus", row.gpus, 0, kMaxGpus, true);
  visit.count("nodes", g.nodes, 0, kMaxGpus, false);
  visit.plan("plan", g.plan);
  note(visit, "plan", "execution plan; empty: as submitted");
  visit.count("batch", g.batch, 0, kMaxBatch, false);
  note(visit, "batch", "global, samples");
  visit.count("cores", g.cores, 0, kJsonMaxCount, false);
  visit.count("workers", g.workers, 0, kMaxGpus, false);
  visit.count("servers", g.servers, 0, kMaxGpus, false);
  visit.count("server_cores", g.server_cores, 0, kMaxGpus, false);
  note(visit, "server_cores", "of one server");
  visit.count("samples", g.samples, 1, kMaxWork, true);
  note(visit, "samples", "reports");
  visit.count("jobs", g.jobs, 0, kMaxWork, false);
  visit.throughput("rate", g.mean_throughput, true);
  note(visit, "rate", "samples/s, mean");
  visit.throughput("rate_min", g.min_throughput, false);
  visit.throughput("rate_max", g.max_throughput, false);
  visit.throughput("rate_last", g.last_throughput, false);
  visit.seconds("forward", g.forward_time);
  note(visit, "forward", "seconds per iteration, as the next three");
  visit.seconds("sync", g.sync_time);
  visit.seconds("optimise", g.optimise_time);
  visit.seconds("iteration", g.iteration_time);
  visit.seconds("noise", g.gradient_noise);
  note(visit, "noise", "gradient noise scale, samples");
  visit.count("last", g.last, 0, kJsonMaxTime, false);
  note(visit, "last", "seconds since 1970");
}

/// Why the name of a job type is invalid; "" if it is valid. The same for the functions below.
[[nodiscard]] std::string wrong_name(const std::string& text);
/// The same for a name that Slurm has validated.
[[nodiscard]] std::string wrong_text(const std::string& text);
[[nodiscard]] std::string wrong_plan(const std::string& text);
[[nodiscard]] std::string wrong_real(double value, double most, bool above_zero);
/// Checks that the members of a row are consistent.
[[nodiscard]] std::string wrong_row(const ProfileRow& row);

/// Sets members that a row omitted.
void complete(ProfileRow& row);

/// Rows in file order, without rows that have no usable samples.
[[nodiscard]] std::vector<ProfileRow> in_order(std::vector<ProfileRow> rows);
/// The index of the first duplicate row; the number of rows if there is none.
[[nodiscard]] std::size_t repeated(const std::vector<ProfileRow>& rows);

}  // namespace rubato::store::profile
