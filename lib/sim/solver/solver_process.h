// SPDX-License-Identifier: GPL-2.0-or-later
// The process at the other end of solve_protocol.h.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>

#include "lib/base/error.h"

namespace rubato::sim {

/// Runs a program and talks with it line by line, each time for no longer than a time. In a process
/// group of its own, so that Ctrl-C, which cuts a run, does not end what the run asks. It is killed
/// when the object goes, or when it did not do what was asked of it.
class SolverProcess {
 public:
  SolverProcess() = default;
  SolverProcess(const SolverProcess&) = delete;
  SolverProcess& operator=(const SolverProcess&) = delete;
  ~SolverProcess() { end(); }

  [[nodiscard]] Result<void> start(const std::string& program);
  /// Sends `text` and reads the next line, without its end. After an error there is no process any
  /// more. `text` may be empty.
  [[nodiscard]] Result<std::string> ask(std::string_view text, double seconds);
  /// Set by somebody: ask() ends the process soon, whatever it waits for. Null: nobody does.
  void stop_by(const std::atomic<bool>* stop) { stop_ = stop; }
  [[nodiscard]] bool runs() const { return pid_ > 0; }
  void end();

 private:
  using Time = std::chrono::steady_clock::time_point;

  [[nodiscard]] Result<void> send(std::string_view text, Time until);
  [[nodiscard]] Result<std::string> read_line(Time until);
  [[nodiscard]] Result<void> wait(short what, Time until);
  /// What became of it, for a person; it is ended.
  [[nodiscard]] std::string how_it_ended();

  std::string program_;
  pid_t pid_ = -1;
  int pipe_ = -1;
  const std::atomic<bool>* stop_ = nullptr;
  std::string heard_;  ///< behind the last line
};

}  // namespace rubato::sim
