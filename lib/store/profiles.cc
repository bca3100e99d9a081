// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/profiles.h"

namespace rubato::store {

MeasuredRow measured_row(const ProfileRow& row) {
  const JobTypeGroup& g = row.group;
  MeasuredRow out;
  out.profile = {row.type.account, row.type.name};
  out.gpu_type = row.gpu_type;
  out.gpus = row.gpus;
  out.nodes = g.nodes;
  out.plan = g.plan;
  out.batch = g.batch;
  out.cores = g.cores;
  out.workers = g.workers;
  out.servers = g.servers;
  out.server_cores = g.server_cores;
  out.throughput = g.mean_throughput;
  out.samples = g.samples - g.flagged;
  out.forward = g.forward_time;
  out.sync = g.sync_time;
  out.optimise = g.optimise_time;
  out.iteration = g.iteration_time;
  out.noise = g.gradient_noise;
  return out;
}

Result<std::vector<ProfileRow>> profiles_from(std::string_view text, const std::string& name) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool json = begin != std::string_view::npos && text[begin] == '{';
  return json ? profiles_from_json(text, name) : profiles_from_csv(text, name);
}

}  // namespace rubato::store
