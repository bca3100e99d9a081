// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/mailbox.h"

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
bool Mailbox::too_soon(const Letter& letter, Seconds interval) {
  if (interval <= 0) return false;
  const Seconds tolerance = interval / 10;
  const auto known = due_.find(letter.job);
  Seconds due = letter.time;
  // What lies further ahead than a post can put it was noted before the clock was set back.
  if (known != due_.end() && known->second <= letter.time + interval + tolerance)
    due = std::max(due, known->second);
  if (due > letter.time + tolerance) return true;
  due_[letter.job] = due + interval;
  queued_.emplace_back(due + interval, letter.job);
  return false;
}

void Mailbox::forget_some(Seconds now) {
  for (int i = 0; i < kForgetAtOnce && !queued_.empty() && queued_.front().first <= now; ++i) {
    const auto entry = due_.find(queued_.front().second);
    if (entry != due_.end() && entry->second <= now) due_.erase(entry);
    queued_.pop_front();
  }
}

Posted Mailbox::post(Letter letter, Seconds interval) {
  const std::lock_guard lock(mutex_);
  forget_some(letter.time);
  const auto of_job = waiting_.find(letter.job);
  if (letters_.size() >= kMostWaiting ||
      (of_job != waiting_.end() && of_job->second >= kMostOfJob)) {
    ++stats_.full;
    return Posted::kFull;
  }
  if (std::holds_alternative<Report>(letter.message) && too_soon(letter, interval)) {
    ++stats_.too_soon;
    return Posted::kTooSoon;
  }
  ++waiting_[letter.job];
  letters_.push_back(std::move(letter));
  ++stats_.taken;
  return Posted::kTaken;
}

std::vector<Letter> Mailbox::take() {
  std::vector<Letter> letters;
  std::map<JobKey, int> waiting;  // freed without the mutex
  const std::lock_guard lock(mutex_);
  letters.swap(letters_);
  waiting.swap(waiting_);
  return letters;
}

Posted Mailbox::refuse_off() noexcept {
  const std::lock_guard lock(mutex_);
  ++stats_.off;
  return Posted::kOff;
}

void Mailbox::note(MailFault fault) noexcept {
  const std::lock_guard lock(mutex_);
  switch (fault) {
    case MailFault::kMalformed:
      ++stats_.malformed;
      break;
    case MailFault::kForeign:
      ++stats_.foreign;
      break;
    case MailFault::kNotRunning:
      ++stats_.not_running;
      break;
    case MailFault::kMode:
      ++stats_.mode;
      break;
  }
}

MailStats Mailbox::stats() const {
  const std::lock_guard lock(mutex_);
  MailStats out = stats_;
  out.waiting = letters_.size();
  return out;
}

}  // namespace rubato
