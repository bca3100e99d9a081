// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/ask_nodes.h"

#include <algorithm>

#include "plugin/slurm/release/differences.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

namespace {

constexpr int kPings = 20;              // ping_nodes.c, MAX_REG_FREQUENCY
constexpr Seconds kUsualTimeout = 300;  // SlurmdTimeout if it is 0: then Slurm asks no node

// As in ping_nodes().
bool is_left_out(const node_record_t* node) {
  return IS_NODE_DOWN(node) || IS_NODE_FUTURE(node) || IS_NODE_POWERED_DOWN(node) ||
         IS_NODE_POWERING_DOWN(node) || IS_NODE_POWERING_UP(node) || IS_NODE_INVALID_REG(node) ||
         IS_NODE_REBOOT_ISSUED(node);
}

}  // namespace

std::optional<LaunchTimes> launch_times(LockTimes& times) {
  const HeldLocks locks(LockKind::kConf, LockUse::kPeek, times);
  if (!locks.held()) return std::nullopt;
  const Seconds timeout = slurm_conf.slurmd_timeout > 0 ? slurm_conf.slurmd_timeout : kUsualTimeout;
  return LaunchTimes{.start = slurm_conf.batch_start_timeout +
                              std::min<int>(DEFAULT_MSG_TIMEOUT, slurm_conf.msg_timeout),
                     .registration = kPings * timeout / 3};
}

std::optional<std::vector<std::string>> ask_nodes_for_their_jobs(
    const std::vector<std::string>& nodes, LockTimes& times) {
  std::vector<std::string> silent;
  silent.reserve(nodes.size());
  const HeldLocks locks(LockKind::kLook, LockUse::kPeek, times);
  if (!locks.held()) return std::nullopt;
  auto* message = static_cast<agent_arg_t*>(xmalloc(sizeof(agent_arg_t)));
  message->msg_type = REQUEST_NODE_REGISTRATION_STATUS;
  message->protocol_version = SLURM_PROTOCOL_VERSION;
  message->hostlist = hostlist_create(nullptr);
  for (const std::string& name : nodes) {
    const node_record_t* node = find_node_record(const_cast<char*>(name.c_str()));
    if (node == nullptr || is_left_out(node)) continue;
    if (IS_NODE_NO_RESPOND(node)) {
      silent.push_back(name);
      continue;
    }
    message->protocol_version = std::min(message->protocol_version, node->protocol_version);
    hostlist_push_host(message->hostlist, node->name);
    ++message->node_count;
    release::send_addresses(*message, *node);
  }
  if (message->node_count == 0) {
    hostlist_destroy(message->hostlist);
    xfree(message);
    return silent;
  }
  set_agent_arg_r_uid(message, SLURM_AUTH_UID_ANY);
  ping_begin();  // its end counts as that of a ping (agent.c, _notify_slurmctld_nodes())
  agent_queue_request(message);
  return silent;
}

}  // namespace rubato
