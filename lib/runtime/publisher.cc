// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/publisher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>

#include "lib/base/background_worker.h"
#include "lib/base/file_system.h"
#include "lib/base/fingerprint.h"
#include "lib/base/log.h"
#include "lib/json/json.h"
#include "lib/json/models_fit.h"
#include "lib/json/public_view.h"
#include "lib/runtime/files.h"

namespace rubato {

namespace {

constexpr std::size_t kMaxStateSize = 1024;  // MiB
constexpr auto kMaxEnd = std::chrono::milliseconds(500);

}  // namespace

struct Publisher::Times {
  std::atomic<double> round{0};
  std::atomic<double> state{0};
};

// Keeps the latest offer, and from earlier ones what would be lost with them.
class Publisher::StateInbox {
 public:
  using Offer = PublishedState;
  using Outcome = std::monostate;
  static constexpr bool kDrain = true;

  void put(PublishedState published) {
    if (next_ && next_->write_state) published.write_state = true;
    if (next_ && next_->write_round) published.write_round = true;
    if (next_ && published.report.empty()) published.report = std::move(next_->report);
    next_ = std::move(published);
  }
  [[nodiscard]] std::optional<SteadyTime> due() const {
    return next_ ? std::optional(SteadyTime{}) : std::nullopt;
  }
  [[nodiscard]] PublishedState take() {
    PublishedState taken = std::move(*next_);
    next_.reset();
    return taken;
  }
  void finish(Outcome /*outcome*/) {}

 private:
  std::optional<PublishedState> next_;
};

// Writes the files. Used by its thread alone.
class Publisher::Task {
 public:
  using Inbox = StateInbox;

  Task(std::string state_dir, std::shared_ptr<const Clock> clock, std::shared_ptr<Times> times)
      : state_dir_(std::move(state_dir)), clock_(std::move(clock)), times_(std::move(times)) {}

  std::monostate work(const PublishedState& published) {
    write(published);
    return {};
  }
  std::monostate failed(const char* what) {
    note(state_dir_, what);
    return {};
  }

 private:
  void write(const PublishedState&);
  void write_round(const PublishedState&);
  void write_starts(const PublishedState&);
  void note(const std::string& path, const std::string& error);
  [[nodiscard]] bool replace(const char* name, const std::string& text, FileKind kind);
  [[nodiscard]] bool put(const PublishedState&, const char* name, const std::string& text,
                         const std::string& whole);

  const std::string state_dir_;
  const std::shared_ptr<const Clock> clock_;
  const std::shared_ptr<Times> times_;
  WriteLog write_log_;
  // decisions.json, as it was written last
  std::shared_ptr<const StartRecords> starts_;
  PrivateData starts_hidden_;
  std::string starts_dir_;
};

void Publisher::Task::note(const std::string& path, const std::string& error) {
  const WriteLog::Line line = write_log_.note(path, error, clock_->steady());
  if (line.text.empty()) return;
  log().log(line.trouble ? spdlog::level::err : spdlog::level::info, "{}", line.text);
}

bool Publisher::Task::replace(const char* name, const std::string& text, FileKind kind) {
  const std::string path = state_dir_ + "/" + name;
  const std::string error = replace_file(path, text, kind);
  note(path, error);
  return error.empty();
}

bool Publisher::Task::put(const PublishedState& published, const char* name,
                          const std::string& text, const std::string& whole) {
  const bool written = publish_file(
      name, text, whole, published.publish_dir, state_dir_ + "/private",
      [this](const std::string& path, const std::string& error) { note(path, error); });
  // A sign of life that needs no room on the disk: rubato doctor then says what fails.
  if (!written) (void)utimensat(AT_FDCWD, (published.publish_dir + "/" + name).c_str(), nullptr, 0);
  return written;
}

void Publisher::Task::write(const PublishedState& published) {
  note(state_dir_, make_last_folder(state_dir_));
  if (published.write_state) {
    const SteadyTime began = clock_->steady();
    const Memory& memory = published.memory ? *published.memory : published.plan->memory;
    (void)replace("state.json", to_json(memory, *published.snapshot), FileKind::kState);
    times_->state = seconds_since(*clock_, began);
  }
  if (!published.report.empty()) (void)replace("report.json", published.report, FileKind::kPrivate);
  if (published.write_round) {
    const SteadyTime began = clock_->steady();
    write_round(published);
    times_->round = seconds_since(*clock_, began);
  }
  if (published.hidden.any())
    (void)put(published, "stats.json", published.open_stats, published.stats);
  else
    (void)put(published, "stats.json", published.stats, "");
  write_starts(published);
}

void Publisher::Task::write_round(const PublishedState& published) {
  const std::string snapshot = to_json(*published.snapshot);
  const ModelsFit fit = fit_of(*published.models);
  // The loop leaves them open: they take texts, which are made here.
  Plan made = *published.plan;
  made.snapshot_fingerprint = fingerprint(snapshot);
  made.models_fingerprint = fingerprint(fit);
  const std::string plan = to_json(made, *published.snapshot);
  if (!published.hidden.any()) {
    (void)put(published, "models-fit.json", to_json(fit), "");
    (void)put(published, "snapshot.json", snapshot, "");
    (void)put(published, "plan.json", plan, "");
  } else {
    Snapshot shown = *published.snapshot;
    shown.private_data = published.hidden;
    shown = public_view(std::move(shown));
    const ModelsFit shown_fit = public_view(fit, published.hidden, published.shared);
    made.models_fingerprint = fingerprint(shown_fit);
    (void)put(published, "models-fit.json", to_json(shown_fit), to_json(fit));
    (void)put(published, "snapshot.json", to_json(shown), snapshot);
    (void)put(published, "plan.json", to_json(public_view(std::move(made), shown), shown), plan);
  }
}

// Few jobs start from one time to the next, and many may run.
void Publisher::Task::write_starts(const PublishedState& published) {
  const bool same = published.starts == starts_ && published.hidden == starts_hidden_ &&
                    published.publish_dir == starts_dir_;
  if (published.starts == nullptr || same) return;
  const std::string text = to_json(*published.starts);
  const std::string shown =
      published.hidden.any() ? to_json(public_view(*published.starts, published.hidden)) : text;
  const bool kept = replace("decisions.json", text, FileKind::kPrivate);
  const bool open = put(published, "decisions.json", shown, published.hidden.any() ? text : "");
  if (!kept || !open) return;
  starts_ = published.starts;
  starts_hidden_ = published.hidden;
  starts_dir_ = published.publish_dir;
}

Publisher::Publisher(std::string state_dir, std::shared_ptr<const Clock> clock) : clock_(clock) {
  // The threads of slurmctld go first.
  constexpr int kNiceness = 10;
  times_ = std::make_shared<Times>();
  auto task = std::make_unique<Task>(std::move(state_dir), clock, times_);
  worker_ = std::make_unique<BackgroundWorker<Task>>(
      ThreadOptions{.name = "", .niceness = kNiceness}, std::move(clock), std::move(task));
}

void Publisher::stop() { worker_->stop(); }

Publisher::~Publisher() {
  stop();
  (void)worker_->wait(clock_->steady() + kMaxEnd);
}

void Publisher::offer(PublishedState published) { worker_->offer(std::move(published)); }

PublishTimes Publisher::times() const { return {.round = times_->round, .state = times_->state}; }

std::string Publisher::read_state(const std::string& state_dir, const char* name) {
  const std::string path = state_dir + "/" + name;
  auto text = RealFileSystem(kMaxStateSize).read(path);
  if (text) return std::move(*text);
  if (!text.error().missing) log().error("{} is not used: {}", path, text.error().text);
  return {};
}

std::string Publisher::set_state_aside(const std::string& state_dir) {
  const std::string path = state_dir + "/state.json";
  const std::string aside = path + ".unused";
  std::error_code error;
  std::filesystem::rename(path, aside, error);
  if (error) return fmt::format("it cannot be renamed: {}", error.message());
  return fmt::format("it is now {}", aside);
}

}  // namespace rubato
