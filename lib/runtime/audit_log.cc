// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/audit_log.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "lib/base/background_worker.h"
#include "lib/base/log.h"

namespace rubato {
namespace {

constexpr std::size_t kMaxBytes = 1000 * 200;
constexpr mode_t kMode = 0640;

/// Lines that wait, one after the other.
class Inbox {
 public:
  using Offer = std::string;
  using Outcome = bool;
  static constexpr bool kDrain = true;

  void put(std::string line) {
    if (lines_.size() + line.size() < kMaxBytes) lines_ += line;
  }
  [[nodiscard]] std::optional<SteadyTime> due() const {
    return lines_.empty() ? std::nullopt : std::optional(SteadyTime{});
  }
  [[nodiscard]] std::string take() { return std::exchange(lines_, {}); }
  void finish(bool /*written*/) {}

 private:
  std::string lines_;
};

bool append(const std::string& path, const std::string& text) {
  const int file =
      open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, kMode);
  if (file < 0) return false;
  const ssize_t wrote = write(file, text.data(), text.size());
  return close(file) == 0 && wrote == static_cast<ssize_t>(text.size());
}

}  // namespace

class AuditLog::Task {
 public:
  using Inbox = rubato::Inbox;

  explicit Task(std::string path) : path_(std::move(path)) {}

  bool work(std::string lines) {
    if (append(path_, lines)) return true;
    log().error("{}: {}; not recorded: {}", path_, std::generic_category().message(errno), lines);
    return false;
  }
  bool failed(const char* what) {
    log().error("{}: {}", path_, what);
    return false;
  }

 private:
  const std::string path_;
};

AuditLog::AuditLog(std::string path, std::shared_ptr<const Clock> clock)
    : worker_(std::make_unique<BackgroundWorker<Task>>(ThreadOptions{.name = "rubato_audit"},
                                                       std::move(clock),
                                                       std::make_unique<Task>(std::move(path)))) {}

AuditLog::~AuditLog() = default;

void AuditLog::add(const std::string& line) { worker_->offer(line + "\n"); }

void AuditLog::stop(SteadyTime deadline) {
  worker_->stop();
  worker_->wait(deadline);
}

namespace {

const char* kind_of(const AskedResize& resize) {
  if (resize.gpus == 0) return "stop";
  if (resize.rehearsal) return "rehearsal";
  if (!resize.live) return "restart";
  return resize.gpus > resize.from ? "grow" : "shrink";
}

}  // namespace

std::string audit_line(const AskedResize& resize) {
  const std::string by = resize.by_round ? "by=round" : fmt::format("uid={}", resize.uid);
  const char* const step = resize.measured ? "measured" : to_string(resize.step);
  std::string line = fmt::format("{:%Y-%m-%dT%H:%M:%SZ} JobId={} {}={} {} gpus={}->{}",
                                 fmt::gmtime(static_cast<std::time_t>(resize.since)), resize.job.id,
                                 kind_of(resize), step, by, resize.from, resize.gpus);
  if (!resize.gpu_type.empty()) line += " gpu-type=" + resize.gpu_type;
  if (resize.step == ResizeStep::kDone && !resize.live && resize.gpus > 0)
    line += fmt::format(" seconds={}", resize.since - resize.requeued);
  if (resize.measured) line += fmt::format(" cost={:.0f}", resize.cost);
  if (!resize.words.empty()) line += fmt::format(" words=\"{}\"", resize.words);
  return line;
}

}  // namespace rubato
