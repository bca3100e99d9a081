// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/job_submit/messages.h"

#include <fmt/format.h>

#include <cerrno>
#include <ctime>
#include <string>
#include <string_view>
#include <variant>

#include "lib/hints/message.h"

namespace rubato {

namespace {

class MessageReceiver {
 public:
  MessageReceiver(Pair& pair, const Config& config) : pair_(pair), config_(config) {}

  MessageAnswer receive(const JobUpdate& update) {
    const std::string_view text = update.comment();
    const std::uint32_t uid = update.uid();
    MessageTarget job;
    if (!update.find_target(job)) {
      return refuse(MessageFault::kMalformed, EBADMSG,
                    "a message is for one job; name it, for example 12 or 12_3");
    }
    const bool by_operator = is_about_size(text) && update.permitted();
    if (!by_operator && !may_speak(job, uid)) {
      return refuse(MessageFault::kForeign, kAccessDenied,
                    fmt::format("uid {} is not the owner, root or SlurmUser", uid));
    }
    if (job.suspended) {
      return refuse(MessageFault::kNotRunning, kJobSuspended, "the job is suspended");
    }
    if (!job.running) {
      return refuse(MessageFault::kNotRunning, kJobNotRunning, "the job is not running");
    }
    if (text.size() > kMaxMessageLength) {
      return refuse(MessageFault::kMalformed, EMSGSIZE,
                    fmt::format("the message has {} bytes; the maximum is {}", text.size(),
                                kMaxMessageLength));
    }
    auto message = parse_message(text);
    if (!message) return refuse(MessageFault::kMalformed, EBADMSG, message.error().text);
    const bool observes = config_.mode == Mode::kObserve;
    if (std::holds_alternative<HoldSize>(*message) && observes) {
      return refuse(MessageFault::kMode, kNotSupported, "hold-size: Mode=observe changes no job");
    }
    if (std::holds_alternative<ResizeRequest>(*message) &&
        (observes || config_.off(Mechanism::kRestart))) {
      return refuse(MessageFault::kMode, kNotSupported, "resize: Mode=observe changes no job");
    }
    const bool report = std::holds_alternative<Report>(*message);
    const PostResult posted = pair_.post({.job = job.key,
                                          .uid = uid,
                                          .time = std::time(nullptr),
                                          .restarts = job.restarts,
                                          .message = *message});
    if (posted == PostResult::kFull && !report) return {EAGAIN, "too many messages are waiting"};
    if (!report) pair_.wake();  // a job that is ready waits for its requeue
    return {};
  }

 private:
  bool may_speak(const MessageTarget& job, std::uint32_t uid) const {
    return uid == job.owner || is_slurm_user(uid) || config_.off(Mechanism::kMessageUid);
  }

  // Slurm lets operators and coordinators requeue a job; they may do the same here.
  static bool is_about_size(std::string_view text) {
    const auto message = parse_message(text.substr(0, kMaxMessageLength));
    return message && (std::holds_alternative<ResizeRequest>(*message) ||
                       std::holds_alternative<HoldSize>(*message));
  }

  MessageAnswer refuse(MessageFault fault, int code, std::string why) {
    pair_.count_message_fault(fault);
    return {code, std::move(why)};
  }

  Pair& pair_;
  const Config& config_;
};

}  // namespace

MessageAnswer take_message(JobUpdate& update, const Config& config, Pair& pair) {
  MessageAnswer answer = MessageReceiver(pair, config).receive(update);
  // slurmctld applies the other fields of the update. Further tasks of an array see no comment.
  if (answer.code == kSlurmSuccess) update.drop_message();
  return answer;
}

}  // namespace rubato
