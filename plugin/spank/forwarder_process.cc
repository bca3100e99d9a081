// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/spank/forwarder_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace rubato {
namespace {

constexpr int kWaitMilliseconds = 1000;
/// Real user id of the process: "nobody", and another one for jobs of nobody.
constexpr uid_t kRealUser = 65534;
constexpr uid_t kOtherRealUser = 65533;

struct Pipe {
  Descriptor read, write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return tl::unexpected(Error{fmt::format("no pipe: {}", strerror(errno))});
  }
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Strings in the form of execve; they must outlive the result.
std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

/// Everything the new process needs, prepared before the fork. After the fork of a multi-threaded
/// program, nothing may be allocated.
struct Prepared {
  const ForwarderCall& call;
  std::vector<char*> argv;
  std::vector<char*> envp;
  std::array<int, 3> inherited;  ///< for kStopPipe, kDonePipe, kClaim
};

uid_t real_user(uid_t owner) {
  if (owner == 0) return 0;  // root may trace every process
  return owner == kRealUser ? kOtherRealUser : kRealUser;
}

/// Switches to the job's owner irrevocably. slurmctld and munge see the effective user only.
bool become_owner(const ForwarderCall& call) {
  if (geteuid() == 0) {
    const int room = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (room >= 0) {  // the step daemon's own score would exempt it from the OOM killer
      if (write(room, "0", 1) < 0) return false;
      close(room);
    }
    if (setgroups(call.groups.size(), call.groups.data()) != 0) return false;
    if (setresgid(call.gid, call.gid, call.gid) != 0) return false;
    if (setresuid(real_user(call.uid), call.uid, call.uid) != 0) return false;
  }
  return geteuid() == call.uid;
}

[[noreturn]] void run_program(const Prepared& prepared) {
  std::array<int, 3> high = {};
  for (std::size_t i = 0; i < high.size(); ++i) {
    high[i] = fcntl(prepared.inherited[i], F_DUPFD, 16);
    if (high[i] < 0) _exit(126);
  }
  const int null = open("/dev/null", O_RDWR);
  for (int number = 0; number < 3; ++number) dup2(null, number);
  for (std::size_t i = 0; i < high.size(); ++i) dup2(high[i], kStopPipe + static_cast<int>(i));
  close_range(kClaim + 1, ~0U, 0);
  struct sigaction usual = {};
  usual.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) sigaction(number, &usual, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  umask(077);
  const pid_t self = getpid();
  if (!become_owner(prepared.call) || chdir("/") != 0 ||
      write(kDonePipe, &self, sizeof self) != sizeof self) {
    _exit(126);
  }
  execve(prepared.call.program.c_str(), prepared.argv.data(), prepared.envp.data());
  _exit(127);
}

bool readable(int file, int milliseconds) {
  pollfd wanted = {.fd = file, .events = POLLIN, .revents = 0};
  int ready = 0;
  do ready = poll(&wanted, 1, milliseconds);
  while (ready < 0 && errno == EINTR);
  return ready > 0;
}

}  // namespace

Result<ForwarderProcess> ForwarderProcess::start(const ForwarderCall& call, Descriptor claim) {
  auto stop = make_pipe();
  auto done = make_pipe();
  if (!stop) return tl::unexpected(stop.error());
  if (!done) return tl::unexpected(done.error());
  std::vector<std::string> words = {call.program};
  words.insert(words.end(), call.arguments.begin(), call.arguments.end());
  const Prepared prepared{call,
                          pointers(words),
                          pointers(call.environment),
                          {stop->read.get(), done->write.get(), claim.get()}};
  // Forks twice: the step daemon waits for any child, and Slurm's process tracking assigns every
  // descendant of it to the job.
  const pid_t between = fork();
  if (between == 0) {
    setsid();
    if (fork() == 0) run_program(prepared);
    _exit(0);
  }
  if (between < 0) return tl::unexpected(Error{fmt::format("no fork: {}", strerror(errno))});
  while (waitpid(between, nullptr, 0) < 0 && errno == EINTR) {
  }
  done->write = Descriptor();
  ForwarderProcess process;
  pid_t pid = 0;
  if (readable(done->read.get(), kWaitMilliseconds) &&
      read(done->read.get(), &pid, sizeof pid) == sizeof pid) {
    process.handle_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  }
  process.stop_ = std::move(stop->write);
  process.done_ = std::move(done->read);
  return process;
}

bool ForwarderProcess::end() {
  pollfd done = {.fd = done_.get(), .events = POLLIN, .revents = 0};
  const bool gone = poll(&done, 1, 0) > 0 && (done.revents & POLLHUP) != 0;
  stop_ = Descriptor();
  if (!readable(done_.get(), kWaitMilliseconds) && handle_.open()) {
    syscall(SYS_pidfd_send_signal, handle_.get(), SIGKILL, nullptr, 0);
  }
  return !gone;
}

}  // namespace rubato
