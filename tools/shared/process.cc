// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/shared/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "tools/shared/slurm_conf.h"

namespace rubato::tools {
namespace {

using Clock = std::chrono::steady_clock;

struct Child {
  pid_t pid = -1;
  int out = -1;  ///< read end of its stdout
};

/// Our environment with the variables of `more` in it, as NAME=VALUE.
std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> lines;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view line(*entry);
    const std::string_view name = line.substr(0, line.find('='));
    const bool replaced = std::any_of(more.begin(), more.end(),
                                      [name](const auto& pair) { return pair.first == name; });
    if (!replaced) lines.emplace_back(line);
  }
  for (const auto& [name, value] : more) lines.push_back(fmt::format("{}={}", name, value));
  return lines;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> list;
  list.reserve(words.size() + 1);
  for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  return list;
}

Result<Child> spawn(const std::vector<std::string>& command, const RunOptions& options) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail(std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  if (!options.show_errors) {
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  if (options.own_group) {  // so that what it starts ends with it
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0);
  }
  const std::vector<char*> arguments = pointers(command);
  const std::vector<std::string> lines = environment_with(options.environment);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, arguments[0], &actions, &attributes, arguments.data(),
                                pointers(lines).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return fail(fmt::format("{}: {}", command.front(), std::strerror(error)));
  }
  return Child{pid, ends[0]};
}

/// Milliseconds until `end`, not below 0.
int left(Clock::time_point end) {
  const auto span = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
  return span.count() > 0 ? static_cast<int>(span.count()) : 0;
}

/// True when stdout has been closed before `end`.
bool read_all(int out, std::size_t most, Clock::time_point end, std::string& text) {
  char buffer[16384];
  while (text.size() <= most) {
    pollfd wait{out, POLLIN, 0};
    const int ready = poll(&wait, 1, left(end));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t got = read(out, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return false;
}

/// The status of `pid` if it ends before `end`; it may close its stdout and live on.
bool wait_until(pid_t pid, Clock::time_point end, int& status) {
  while (true) {
    if (waitpid(pid, &status, WNOHANG) == pid) return true;
    if (left(end) == 0) return false;
    usleep(2000);
  }
}

}  // namespace

std::string find_program(const std::string& program) {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "" : path, ':')) {
    std::vector<std::string> folders{folder};
    if (folder.ends_with("/bin")) folders.push_back(folder.substr(0, folder.size() - 3) + "sbin");
    for (const std::string& place : folders) {
      std::string file = fmt::format("{}/{}", place, program);
      if (access(file.c_str(), X_OK) == 0) return file;
    }
  }
  return "";
}

Result<ProcessResult> run_for_outcome(const std::vector<std::string>& command,
                                      const RunOptions& options) {
  const auto end = Clock::now() + std::chrono::milliseconds(options.milliseconds);
  const auto child = spawn(command, options);
  if (!child) return tl::unexpected(child.error());
  ProcessResult outcome;
  int status = 0;
  const bool ended = read_all(child->out, options.max_output, end, outcome.out) &&
                     wait_until(child->pid, end, status);
  close(child->out);
  if (!ended) {
    kill(options.own_group ? -child->pid : child->pid, SIGKILL);
    waitpid(child->pid, &status, 0);
    if (outcome.out.size() > options.max_output) {
      return fail(
          fmt::format("{} printed more than {} bytes", command.front(), options.max_output));
    }
    return fail(fmt::format("{} did not answer within {} s", command.front(),
                            options.milliseconds / 1000.0));
  }
  if (!WIFEXITED(status)) {
    return fail(fmt::format("{} was killed by signal {}", command.front(), WTERMSIG(status)));
  }
  outcome.exit = WEXITSTATUS(status);
  return outcome;
}

Result<std::string> run_program(const std::vector<std::string>& command, int milliseconds) {
  RunOptions options;
  options.milliseconds = milliseconds;
  auto outcome = run_for_outcome(command, options);
  if (!outcome) return tl::unexpected(outcome.error());
  if (outcome->exit != 0) {
    return fail(fmt::format("{} ended with code {}", command.front(), outcome->exit));
  }
  return std::move(outcome->out);
}

}  // namespace rubato::tools
