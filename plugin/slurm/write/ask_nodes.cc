// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/slurm/write/ask_nodes.h"

#include <algorithm>

#include "plugin/slurm/release/differences.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace rubato {

Seconds max_launch_time() {
  constexpr int kMaxOfMessageTimeout = 10;  // DEFAULT_MSG_TIMEOUT of job_mgr.c
  return slurm_conf.batch_start_timeout +
         std::min<int>(kMaxOfMessageTimeout, slurm_conf.msg_timeout);
}

bool ask_nodes_for_their_jobs(const std::vector<std::string>& nodes, LockTimes& times) {
  const HeldLocks locks(LockKind::kLook, LockUse::kPeek, times);
  if (!locks.held()) return false;
  auto* message = static_cast<agent_arg_t*>(xmalloc(sizeof(agent_arg_t)));
  message->msg_type = REQUEST_NODE_REGISTRATION_STATUS;
  message->protocol_version = SLURM_PROTOCOL_VERSION;
  message->hostlist = hostlist_create(nullptr);
  for (const std::string& name : nodes) {
    const node_record_t* node = find_node_record(const_cast<char*>(name.c_str()));
    if (node == nullptr || IS_NODE_DOWN(node) || IS_NODE_NO_RESPOND(node)) continue;
    message->protocol_version = std::min(message->protocol_version, node->protocol_version);
    hostlist_push_host(message->hostlist, node->name);
    ++message->node_count;
    release::send_addresses(*message, *node);
  }
  if (message->node_count == 0) {
    hostlist_destroy(message->hostlist);
    xfree(message);
    return true;
  }
  set_agent_arg_r_uid(message, SLURM_AUTH_UID_ANY);
  agent_queue_request(message);
  return true;
}

}  // namespace rubato
