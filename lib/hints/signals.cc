// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/hints/signals.h"

#include <fmt/format.h>

#include <array>
#include <csignal>
#include <string>
#include <vector>

#include "lib/base/lex.h"
#include "lib/base/nearest.h"
#include "lib/base/text.h"
#include "lib/hints/numbers.h"
#include "lib/hints/values.h"

namespace rubato {
namespace {

struct SignalName {
  const char* name;
  int number;
};

// Names that Slurm 22.05 knows (proc_args.c, signals_mapping).
constexpr std::array kSignals{
    SignalName{"USR1", SIGUSR1}, SignalName{"USR2", SIGUSR2}, SignalName{"TERM", SIGTERM},
    SignalName{"INT", SIGINT},   SignalName{"HUP", SIGHUP},   SignalName{"QUIT", SIGQUIT},
    SignalName{"ABRT", SIGABRT}, SignalName{"ALRM", SIGALRM}, SignalName{"URG", SIGURG},
    SignalName{"CONT", SIGCONT}, SignalName{"TSTP", SIGTSTP}, SignalName{"TTIN", SIGTTIN},
    SignalName{"TTOU", SIGTTOU}, SignalName{"KILL", SIGKILL}, SignalName{"STOP", SIGSTOP},
};
constexpr int kLastSignal = 64;  // SIGRTMAX of Linux

std::vector<std::string> names() {
  std::vector<std::string> out;
  out.reserve(kSignals.size() + 1);
  for (const SignalName& signal : kSignals) out.emplace_back(signal.name);
  out.emplace_back("none");
  return out;
}

Result<int> parse_signal(std::string_view text) {
  if (text.empty()) return fail("no signal; write one such as USR1@60");
  std::string word = lower(text);
  if (word.starts_with("sig")) word.erase(0, 3);
  int number = 0;
  for (const SignalName& signal : kSignals) {
    if (lower(signal.name) == word) number = signal.number;
  }
  const bool numeric = text.find_first_not_of("0123456789") == std::string_view::npos;
  if (numeric) {
    const auto count = parse_count(text, 1, kLastSignal);
    if (!count) return tl::unexpected(count.error());
    number = static_cast<int>(*count);
  }
  if (number == 0) {
    const std::string near = did_you_mean(word, names());
    return fail(
        fmt::format("{} is not a signal{}", in_quotes(text),
                    near.empty() ? "; write USR1, USR2, TERM or another name of kill -l" : near));
  }
  if (number == SIGKILL || number == SIGSTOP) {
    return fail(fmt::format("{} cannot be caught by a job; write USR1", signal_name(number)));
  }
  return number;
}

/// R, B, RB or BR before the colon.
Result<void> parse_flags(std::string_view text, Checkpoint& out) {
  for (const char c : text) {
    bool* flag = nullptr;
    if (c == 'B' || c == 'b') flag = &out.batch_only;
    if (c == 'R' || c == 'r') flag = &out.reservation;
    if (flag == nullptr || *flag) {
      return fail(fmt::format("{} before the colon is not R or B", in_quotes(text)));
    }
    *flag = true;
  }
  if (text.empty()) return fail("nothing before the colon; write B:USR1@60 or USR1@60");
  return {};
}

}  // namespace

std::string signal_name(int signal) {
  for (const SignalName& known : kSignals) {
    if (known.number == signal) return known.name;
  }
  return std::to_string(signal);
}

Result<Checkpoint> parse_checkpoint(std::string_view text) {
  Checkpoint out;
  if (lower(text) == "none") return out;
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    if (const auto good = parse_flags(trimmed(text.substr(0, colon)), out); !good) {
      return tl::unexpected(good.error());
    }
    text.remove_prefix(colon + 1);
  }
  const std::size_t at = text.find('@');
  const auto signal = parse_signal(trimmed(text.substr(0, at)));
  if (!signal) return tl::unexpected(signal.error());
  out.signal = *signal;
  if (at != std::string_view::npos) {
    const auto lead = parse_count(trimmed(text.substr(at + 1)), 0, kMaxLead);
    if (!lead) return fail("lead time: " + lead.error().text);
    out.lead = static_cast<int>(*lead);
  }
  return out;
}

std::string to_text(const Checkpoint& checkpoint) {
  if (!checkpoint.consents()) return "none";
  std::string flags;
  if (checkpoint.reservation) flags += 'R';
  if (checkpoint.batch_only) flags += 'B';
  if (!flags.empty()) flags += ':';
  return fmt::format("{}{}@{}", flags, signal_name(checkpoint.signal), checkpoint.lead);
}

}  // namespace rubato
