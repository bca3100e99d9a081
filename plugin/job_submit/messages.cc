// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/job_submit/messages.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <variant>

#include "lib/hints/message.h"

namespace rubato {

namespace {

// The job that the update names. A number alone can be that of an array; slurmctld then calls for
// each of its tasks in turn. The last task to be split off keeps the number of the array as its job
// id, and SLURM_JOB_ID says so, so that the number means this task. Null for "12_[1-4]", "12_*".
const job_record_t* named_job(const job_desc_msg_t& update, const job_record_t& job) {
  const char* name = update.job_id_str;
  if (name == nullptr) return &job;
  char* end = nullptr;
  const unsigned long id = std::strtoul(name, &end, 10);
  if (*end == '\0') {
    return job.array_job_id == id ? find_job_record(static_cast<std::uint32_t>(id)) : &job;
  }
  const bool one_task = *end == '_' && std::strspn(end + 1, "0123456789") == std::strlen(end + 1);
  return one_task || *end == '+' ? &job : nullptr;
}

class Hearing {
 public:
  Hearing(Pair& pair, const Config& config) : pair_(pair), config_(config) {}

  MessageAnswer hear(std::string_view text, const job_record_t* job, std::uint32_t uid) {
    if (job == nullptr) {
      return refuse(MessageFault::kMalformed, EBADMSG,
                    "a message is about one job; name it, as in 12 or 12_3");
    }
    if (!may_speak(*job, uid)) {
      return refuse(MessageFault::kForeign, ESLURM_ACCESS_DENIED,
                    fmt::format("uid {} is not the owner, root or SlurmUser", uid));
    }
    if (!IS_JOB_RUNNING(job)) {
      return refuse(MessageFault::kNotRunning, ESLURM_JOB_NOT_RUNNING, "the job is not running");
    }
    if (text.size() > kMaxMessageLength) {
      return refuse(
          MessageFault::kMalformed, EMSGSIZE,
          fmt::format("{} bytes; the longest message has {}", text.size(), kMaxMessageLength));
    }
    auto message = parse_message(text);
    if (!message) return refuse(MessageFault::kMalformed, EBADMSG, message.error().text);
    if (const char* kind = asks_for_size(*message)) {
      return refuse(MessageFault::kMode, ESLURM_NOT_SUPPORTED,
                    fmt::format("{}: the mode is {}, in which a running job keeps its size", kind,
                                to_string(config_.mode)));
    }
    const bool report = std::holds_alternative<Report>(*message);
    const PostResult posted = pair_.post({.job = {job->job_id, submit_time(*job)},
                                          .uid = uid,
                                          .time = time(nullptr),
                                          .restarts = job->restart_cnt,
                                          .message = std::move(*message)});
    if (posted == PostResult::kFull && !report) return {EAGAIN, "too many messages wait"};
    return {};
  }

 private:
  static Seconds submit_time(const job_record_t& job) {
    return job.details != nullptr ? job.details->submit_time : 0;
  }

  bool may_speak(const job_record_t& job, std::uint32_t uid) const {
    return uid == job.user_id || validate_slurm_user(uid) || config_.off(Mechanism::kMessageUid);
  }

  static const char* asks_for_size(const Message& message) {
    if (std::holds_alternative<ResizeRequest>(message)) return "resize";
    return std::holds_alternative<HoldSize>(message) ? "hold-size" : nullptr;
  }

  MessageAnswer refuse(MessageFault fault, int code, std::string why) {
    pair_.count_message_fault(fault);
    return {code, std::move(why)};
  }

  Pair& pair_;
  const Config& config_;
};

}  // namespace

MessageAnswer take_message(job_desc_msg_t& update, const job_record_t& job, std::uint32_t uid,
                           const Config& config, Pair& pair) {
  MessageAnswer answer = Hearing(pair, config).hear(update.comment, named_job(update, job), uid);
  // The other fields of the update are Slurm's to change. Further tasks of an array find no
  // comment.
  if (answer.code == SLURM_SUCCESS) xfree(update.comment);
  return answer;
}

}  // namespace rubato
