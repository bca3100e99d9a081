// SPDX-License-Identifier: GPL-2.0-or-later
// Messages of running jobs: an update of the comment that begins with `rubato!`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lib/base/error.h"

namespace rubato {

/// Maximum length of a message with `rubato!`, bytes: that of a comment in Slurm 22.05.
inline constexpr std::size_t kMaxMessageLength = 1024;

/// A partition that no cluster has. An update with a message asks for it too. Rubato takes both out
/// of the update. slurmctld without Rubato refuses the whole update, so the job keeps its comment.
inline constexpr const char* kMessagePartition = "rubato!";

/// Maximum number of a notice.
inline constexpr std::int64_t kMaxNotice = 1'000'000'000;

/// `rubato!report`: progress of the training.
struct Report {
  std::int64_t samples = 0;  ///< since the job's first start, over all restarts
  double throughput = 0;     ///< samples/s, at least 0
  std::int64_t batch = 1;    ///< global batch, samples
  std::optional<double> loss = {};
  std::optional<double> forward = {};    ///< forward pass of an iteration, seconds, above 0
  std::optional<double> iteration = {};  ///< a whole iteration, seconds, above 0
  std::optional<double> noise = {};      ///< gradient noise scale, samples, at least 0
  std::optional<double> sync = {};       ///< communication of an iteration, seconds, at least 0
  std::optional<double> optimise = {};   ///< update of the parameters, seconds, at least 0
  /// For jobs with parameter servers; cores are per server.
  std::optional<std::int64_t> workers = {};
  std::optional<std::int64_t> servers = {};
  std::optional<std::int64_t> server_cores = {};

  bool operator==(const Report&) const = default;
};

/// `rubato!ack`: answer to a notice.
struct Ack {
  std::int64_t notice = 0;        ///< number of the notice; 0: the last one
  bool ready = true;              ///< false: the job refuses
  std::optional<double> seconds;  ///< time until ready, at least 0

  bool operator==(const Ack&) const = default;
};

/// `rubato!resize`: the job requests another size.
struct ResizeRequest {
  int gpus = 0;
  std::optional<bool> live =
      {};                  ///< true: while it runs; false: by a restart; none: as its hints say
  bool rehearsal = false;  ///< a restart at the size that it has; `live` is false

  bool operator==(const ResizeRequest&) const = default;
};

/// `rubato!hold-size`: the job wants to keep its size, or no longer.
struct HoldSize {
  bool on = true;
  std::optional<std::int64_t> seconds;  ///< duration; none: until state=off

  bool operator==(const HoldSize&) const = default;
};

using Message = std::variant<Report, Ack, ResizeRequest, HoldSize>;

/// A value of a message, for the parser and the man page.
struct MessageField {
  const char* key;
  const char* values;  ///< valid values, in words
  const char* help;
  bool required = false;
};

/// A kind of message.
struct MessageKind {
  const char* name;
  const char* help;
  std::vector<MessageField> fields;
  const char* example;  ///< a complete message
};

/// The table, in the order of the alternatives of Message.
[[nodiscard]] const std::vector<MessageKind>& message_kinds();

/// True if an update of a comment is a message: it begins with `rubato!`.
[[nodiscard]] bool is_message(std::string_view comment);

/// `rubato!KIND key=value;key=value`. Blanks and empty pairs are as in a comment's hints; keys have
/// any case and order. The error has one line per mistake. Refuses texts longer than
/// kMaxMessageLength bytes.
[[nodiscard]] Result<Message> parse_message(std::string_view text);

/// The text that parse_message reads as an equal message. Its numbers must be valid.
[[nodiscard]] std::string render_message(const Message& message);

}  // namespace rubato
