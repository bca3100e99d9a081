// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/solver/solver_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace rubato::sim {
namespace {

using Clock = std::chrono::steady_clock;

/// An answer longer than this is none.
constexpr std::size_t kMaxAnswer = 512U << 20U;
/// How often a wait looks whether it is to stop: a signal may come just before poll().
constexpr long kSliceMilliseconds = 100;
constexpr int kEndMilliseconds = 2000;  ///< for a process that closed its output, to end

}  // namespace

Result<void> SolverProcess::start(const std::string& program) {
  end();
  program_ = program;
  int ends[2];
  // A socket, since writing to a pipe that nobody reads any more raises a signal.
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return fail(fmt::format("{}: {}", program, std::generic_category().message(errno)));
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::string name = program;
  char* arguments[] = {name.data(), nullptr};
  const int error = posix_spawn(&pid_, name.c_str(), &actions, &attributes, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    pid_ = -1;
    return fail(fmt::format("{}: {}", program, std::generic_category().message(error)));
  }
  pipe_ = ends[0];
  fcntl(pipe_, F_SETFL, fcntl(pipe_, F_GETFL) | O_NONBLOCK);
  return {};
}

Result<std::string> SolverProcess::ask(std::string_view text, double seconds) {
  if (pid_ < 0) return fail(fmt::format("{} does not run", program_));
  const Time until = Clock::now() + std::chrono::milliseconds(static_cast<long>(seconds * 1000));
  auto sent = send(text, until);
  auto line = sent ? read_line(until) : tl::unexpected(sent.error());
  if (!line) end();
  return line;
}

Result<void> SolverProcess::send(std::string_view text, Time until) {
  while (!text.empty()) {
    const ssize_t sent = ::send(pipe_, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      text.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (auto ready = wait(POLLOUT, until); !ready) return ready;
    } else if (errno != EINTR) {
      return fail(how_it_ended());
    }
  }
  return {};
}

Result<std::string> SolverProcess::read_line(Time until) {
  std::size_t looked = 0;
  while (true) {
    const std::size_t at = heard_.find('\n', looked);
    if (at != std::string::npos) {
      std::string line = heard_.substr(0, at);
      heard_.erase(0, at + 1);
      return line;
    }
    looked = heard_.size();
    if (looked > kMaxAnswer) return fail(fmt::format("{} answers without an end", program_));
    char buffer[65536];
    const ssize_t got = recv(pipe_, buffer, sizeof(buffer), 0);
    if (got > 0) {
      heard_.append(buffer, static_cast<std::size_t>(got));
    } else if (got < 0 && (errno == EAGAIN)) {
      if (auto ready = wait(POLLIN, until); !ready) return tl::unexpected(ready.error());
    } else if (got == 0 || errno != EINTR) {
      return fail(how_it_ended());
    }
  }
}

Result<void> SolverProcess::wait(short what, Time until) {
  pollfd one{pipe_, what, 0};
  while (true) {
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) {
      return fail(fmt::format("{} was ended by an interrupt", program_));
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0) break;
    const long slice = std::min<long>(left.count() + 1, kSliceMilliseconds);
    const int ready = poll(&one, 1, static_cast<int>(slice));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) break;
  }
  return fail(fmt::format("{} does not answer in time, and was ended", program_));
}

std::string SolverProcess::how_it_ended() {
  int status = 0;
  const Time until = Clock::now() + std::chrono::milliseconds(kEndMilliseconds);
  pid_t ended = 0;
  while (pid_ > 0 && (ended = waitpid(pid_, &status, WNOHANG)) == 0 && Clock::now() < until) {
    usleep(1000);
  }
  if (ended != pid_) return fmt::format("{} closed its output", program_);
  pid_ = -1;
  return WIFSIGNALED(status)
             ? fmt::format("{} was ended by signal {}", program_, WTERMSIG(status))
             : fmt::format("{} ended with exit code {}", program_, WEXITSTATUS(status));
}

void SolverProcess::end() {
  if (pipe_ >= 0) close(pipe_);
  pipe_ = -1;
  heard_.clear();
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace rubato::sim
