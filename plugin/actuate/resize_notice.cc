// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/actuate/resize_notice.h"

#include <algorithm>
#include <string>

#include "plugin/slurm/read/node_slots.h"

namespace rubato {

namespace {

Notice notice_of(const AskedResize& change, NoticeStep step) {
  Notice notice;
  notice.step = step;
  notice.live = change.live;
  notice.from = change.from;
  notice.gpus = change.gpus;
  if (step == NoticeStep::kFailed) return notice;
  notice.plan = change.plan;
  notice.batch = change.batch;
  return notice;
}

// The nodes of `shares` that `others` do not have.
std::string nodes_beyond(const std::vector<NodeShare>& shares, const std::vector<NodeShare>& others,
                         const Snapshot& snapshot) {
  std::vector<NodeShare> rest;
  for (const NodeShare& share : shares)
    if (std::ranges::find(others, share.node, &NodeShare::node) == others.end())
      rest.push_back(share);
  return rest.empty() ? "" : hostlist_of(snapshot, rest);
}

}  // namespace

Notice coming_notice(const AskedResize& change, const Job& job, Seconds due,
                     const Snapshot& snapshot) {
  Notice notice = notice_of(change, NoticeStep::kComing);
  notice.due = due;
  if (change.live) notice.leave = nodes_beyond(job.allocation, change.shares, snapshot);
  return notice;
}

Notice shrunk_notice(const AskedResize& change, const Job& job, const std::vector<NodeShare>& kept,
                     const Snapshot& snapshot) {
  Notice notice = notice_of(change, NoticeStep::kDone);
  notice.leave = nodes_beyond(job.allocation, kept, snapshot);
  return notice;
}

Notice grown_notice(const AskedResize& change, const Job& job, const std::vector<NodeShare>& added,
                    const Snapshot& snapshot) {
  Notice notice = notice_of(change, NoticeStep::kDone);
  notice.come = nodes_beyond(added, job.allocation, snapshot);
  return notice;
}

Notice told_notice(const Change& change, const Job& job) {
  Notice notice;
  notice.step = NoticeStep::kDone;
  notice.live = true;
  notice.from = notice.gpus = change.gpus;
  notice.batch = change.batch;
  if (change.plan != job.plan) notice.plan = change.plan;
  return notice;
}

Notice failed_notice(const AskedResize& change) { return notice_of(change, NoticeStep::kFailed); }

}  // namespace rubato
