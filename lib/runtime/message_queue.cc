// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/message_queue.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace rubato {

namespace {

// Entries forgotten at a post: more than one, so that they cannot pile up.
constexpr int kForgetAtOnce = 2;

}  // namespace

// The generic cell rate algorithm (ITU-T I.371): a report is due one interval after the last was
// due, and may come early by a tolerance that does not add up.
bool MessageQueue::too_soon(const JobMessage& job_message, Seconds interval) {
  if (interval <= 0) return false;
  const Seconds tolerance = interval / 10;
  const auto known = due_.find(job_message.job);
  Seconds due = job_message.time;
  // What lies further ahead than a post can put it was noted before the clock was set back.
  if (known != due_.end() && known->second <= job_message.time + interval + tolerance)
    due = std::max(due, known->second);
  if (due > job_message.time + tolerance) return true;
  due_[job_message.job] = due + interval;
  queued_.emplace_back(due + interval, job_message.job);
  return false;
}

void MessageQueue::forget_some(Seconds now, Seconds interval) {
  for (int i = 0; i < kForgetAtOnce && !queued_.empty() && queued_.front().first <= now; ++i) {
    const JobKey job = queued_.front().second;
    queued_.pop_front();
    const auto entry = due_.find(job);
    if (entry == due_.end() || entry->second > now) continue;
    due_.erase(entry);
    auto late = late_.extract(job);
    if (late.empty() || messages_.size() >= kMaxWaiting) continue;
    due_[job] = now + interval;
    queued_.emplace_back(now + interval, job);
    queue(std::move(late.mapped()));
  }
}

void MessageQueue::queue(JobMessage job_message) {
  ++waiting_[job_message.job];
  messages_.push_back(std::move(job_message));
  ++stats_.taken;
}

PostResult MessageQueue::post(JobMessage job_message, Seconds interval) {
  const MutexLock lock(mutex_);
  const Seconds now = job_message.time;
  const PostResult result = enter(std::move(job_message), interval);
  forget_some(now, interval);
  return result;
}

PostResult MessageQueue::enter(JobMessage job_message, Seconds interval) {
  const auto of_job = waiting_.find(job_message.job);
  if (messages_.size() >= kMaxWaiting ||
      (of_job != waiting_.end() && of_job->second >= kMaxPerJob)) {
    ++stats_.full;
    return PostResult::kFull;
  }
  if (std::holds_alternative<Report>(job_message.message)) {
    const JobKey job = job_message.job;
    if (too_soon(job_message, interval)) {
      ++stats_.too_soon;
      late_.insert_or_assign(job, std::move(job_message));
      return PostResult::kTooSoon;
    }
    late_.erase(job);
  }
  queue(std::move(job_message));
  return PostResult::kTaken;
}

std::vector<JobMessage> MessageQueue::take_last_reports(const std::vector<JobKey>& ended) {
  std::vector<JobMessage> last;
  if (ended.empty()) return last;
  const MutexLock lock(mutex_);
  for (const JobKey& job : ended) {
    if (auto late = late_.extract(job); !late.empty()) last.push_back(std::move(late.mapped()));
  }
  stats_.taken += last.size();
  return last;
}

std::vector<JobMessage> MessageQueue::take_late_reports() {
  std::vector<JobMessage> late;
  const MutexLock lock(mutex_);
  for (auto& [job, message] : late_) late.push_back(std::move(message));
  late_.clear();
  stats_.taken += late.size();
  return late;
}

std::vector<JobMessage> MessageQueue::take() {
  std::vector<JobMessage> job_messages;
  std::map<JobKey, int> waiting;  // freed without the mutex
  const MutexLock lock(mutex_);
  job_messages.swap(messages_);
  waiting.swap(waiting_);
  return job_messages;
}

PostResult MessageQueue::refuse_off() noexcept {
  const MutexLock lock(mutex_);
  ++stats_.off;
  return PostResult::kOff;
}

void MessageQueue::note(MessageFault fault) noexcept {
  const MutexLock lock(mutex_);
  switch (fault) {
    case MessageFault::kMalformed:
      ++stats_.malformed;
      break;
    case MessageFault::kForeign:
      ++stats_.foreign;
      break;
    case MessageFault::kNotRunning:
      ++stats_.not_running;
      break;
    case MessageFault::kMode:
      ++stats_.mode;
      break;
  }
}

MessageStats MessageQueue::stats() const {
  const MutexLock lock(mutex_);
  MessageStats out = stats_;
  out.waiting = messages_.size();
  return out;
}

}  // namespace rubato
