// SPDX-License-Identifier: GPL-2.0-or-later
// rubato_forwarder JOB FILE INTERVAL [SCONTROL]: sends new lines of a job's report file as messages
// of the job. spank_rubato.so starts it as the job's owner (forwarder_process.cc); not meant for
// other callers. Ends with the step daemon that started it.
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string>

#include "lib/hints/message.h"
#include "lib/hints/numbers.h"
#include "plugin/spank/forwarder_process.h"
#include "plugin/spank/last_line.h"

namespace rubato {
namespace {

constexpr double kSendSeconds = 10;   ///< timeout if the controller does not answer
constexpr double kLastSeconds = 0.8;  ///< at the end the step daemon waits one second
/// After each refused message the pause doubles up to this: Rubato may have been taken out.
constexpr double kMaxPause = 600;
constexpr const char* kScontrol[] = {"/usr/bin/scontrol", "/usr/local/bin/scontrol",
                                     "/opt/slurm/bin/scontrol", "/bin/scontrol"};

struct Call {
  std::string job, path, scontrol;
  double interval = 60;
};

double now() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Waits up to `seconds` for the step daemon to request an end or to disappear. True if it did.
bool told_to_end(double seconds) {
  pollfd stop = {.fd = kStopPipe, .events = POLLIN, .revents = 0};
  return poll(&stop, 1, static_cast<int>(seconds * 1000)) > 0;
}

/// Runs `scontrol update` with fixed arguments, as the job's owner. True if Slurm accepted it.
bool send(const Call& call, const std::string& message, bool last) {
  const std::string job = "JobId=" + call.job;
  const std::string comment = "Comment=" + message;
  const std::string partition = std::string("Partition=") + kMessagePartition;
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close_range(kStopPipe, kClaim, 0);
    execl(call.scontrol.c_str(), "scontrol", "update", job.c_str(), comment.c_str(),
          partition.c_str(), nullptr);
    _exit(127);
  }
  if (child < 0) return false;
  double until = now() + (last ? kLastSeconds : kSendSeconds);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (now() > until) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return false;
    }
    if (!last && told_to_end(0)) {
      last = true;
      until = std::min(until, now() + kLastSeconds);
    }
    usleep(20000);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void forward(const Call& call) {
  LastLine sent = kept_sent(kClaim);
  double next = 0;
  double wait = call.interval;
  bool ends = false;
  const double pause = std::clamp(call.interval / 10, 0.1, 2.0);
  while (!ends) {
    ends = told_to_end(pause);
    if (!ends && now() < next) continue;
    const auto line = read_last_line(call.path, geteuid());
    if (!line || *line == sent) continue;
    const auto message = message_of_line(line->text);
    if (message && !send(call, *message, ends)) {  // retry with the report that is current then
      wait = std::min(2 * wait, std::max(kMaxPause, call.interval));
      next = now() + wait;
      continue;
    }
    sent = *line;
    keep_sent(kClaim, sent);
    if (!message) continue;
    wait = call.interval;
    next = now() + wait;
  }
}

/// False: wrong arguments.
bool read_call(int count, char** words, Call& call) {
  if (count < 4 || count > 5) return false;
  const auto job = parse_count(words[1], 1, 1LL << 32);
  const auto interval = parse_count(words[3], 1, 86400);
  if (!job || !interval) return false;
  call.job = std::to_string(*job);
  call.path = words[2];
  call.interval = static_cast<double>(*interval);
  if (count == 5) {
    call.scontrol = words[4];
  } else {
    const auto* const found =
        std::find_if(std::begin(kScontrol), std::end(kScontrol),
                     [](const char* path) { return access(path, X_OK) == 0; });
    if (found == std::end(kScontrol)) return false;
    call.scontrol = *found;
  }
  return true;
}

}  // namespace
}  // namespace rubato

int main(int count, char** words) {
  // A step daemon that is not root runs this program with one user id.
  prctl(PR_SET_DUMPABLE, 0);
  // Ignores signals meant for the job's tasks (scancel --signal, --full).
  for (const int number : {SIGHUP, SIGINT, SIGUSR1, SIGUSR2, SIGTERM, SIGPIPE, SIGALRM, SIGCONT}) {
    signal(number, SIG_IGN);
  }
  rubato::Call call;
  if (!rubato::read_call(count, words, call)) return 2;
  rubato::forward(call);
  return 0;
}
