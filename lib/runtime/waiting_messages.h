// SPDX-License-Identifier: GPL-2.0-or-later
// Messages that wait for a snapshot, from one process of slurmctld to the next.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/runtime/message_queue.h"

namespace rubato {

/// A line for each message, which waiting_messages_from() reads.
[[nodiscard]] std::string text_of_waiting(const std::vector<JobMessage>& messages);

/// Leaves out lines that are damaged.
[[nodiscard]] std::vector<JobMessage> waiting_messages_from(std::string_view text);

/// Keeps the messages in the file until take_waiting_messages(). Returns what went wrong, empty if
/// nothing.
[[nodiscard]] std::string keep_waiting_messages(const std::string& path,
                                                const std::vector<JobMessage>& messages);

/// What the file has; removes it. None if the file is missing.
[[nodiscard]] std::vector<JobMessage> take_waiting_messages(const std::string& path);

}  // namespace rubato
