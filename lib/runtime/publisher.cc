// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/runtime/publisher.h"

#include <unistd.h>

#include <chrono>
#include <utility>

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

}  // namespace

struct Publisher::Shared {
  std::string state_dir;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<PublishedState> next;
  bool stop = false;
  bool ended = false;
  WriteLog said;
  // decisions.json, as it was written last
  std::shared_ptr<const StartRecords> starts;
  PrivateData starts_hidden;
  std::string starts_dir;

  void run();
  void write(const PublishedState&);
  void write_starts(const PublishedState&);
  void note(const std::string& path, const std::string& error);
  [[nodiscard]] bool replace(const char* name, const std::string& text, FileKind kind);
  [[nodiscard]] bool put(const PublishedState&, const char* name, const std::string& text,
                         const std::string& whole);
};

void Publisher::Shared::note(const std::string& path, const std::string& error) {
  const WriteLog::Line line = said.note(path, error);
  if (line.text.empty()) return;
  log().log(line.trouble ? spdlog::level::err : spdlog::level::info, "{}", line.text);
}

bool Publisher::Shared::replace(const char* name, const std::string& text, FileKind kind) {
  const std::string path = state_dir + "/" + name;
  const std::string error = replace_file(path, text, kind);
  note(path, error);
  return error.empty();
}

bool Publisher::Shared::put(const PublishedState& published, const char* name,
                            const std::string& text, const std::string& whole) {
  return publish_file(
      name, text, whole, published.publish_dir, state_dir + "/private",
      [this](const std::string& path, const std::string& error) { note(path, error); });
}

void Publisher::Shared::write(const PublishedState& published) {
  note(state_dir, make_last_folder(state_dir));
  if (published.write_state)
    (void)replace("state.json", to_json(published.plan->memory, *published.snapshot),
                  FileKind::kState);
  if (!published.report.empty()) (void)replace("report.json", published.report, FileKind::kPrivate);
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
    (void)put(published, "stats.json", published.stats, "");
  } else {
    Snapshot shown = *published.snapshot;
    shown.private_data = published.hidden;
    shown = public_view(std::move(shown));
    const ModelsFit shown_fit = public_view(fit, published.hidden, published.shared);
    made.models_fingerprint = fingerprint(shown_fit);
    (void)put(published, "models-fit.json", to_json(shown_fit), to_json(fit));
    (void)put(published, "snapshot.json", to_json(shown), snapshot);
    (void)put(published, "plan.json", to_json(public_view(std::move(made), shown), shown), plan);
    (void)put(published, "stats.json", published.open_stats, published.stats);
  }
  write_starts(published);
}

// Few jobs start from one time to the next, and many may run.
void Publisher::Shared::write_starts(const PublishedState& published) {
  const bool same = published.starts == starts && published.hidden == starts_hidden &&
                    published.publish_dir == starts_dir;
  if (published.starts == nullptr || same) return;
  const std::string text = to_json(*published.starts);
  const std::string shown =
      published.hidden.any() ? to_json(public_view(*published.starts, published.hidden)) : text;
  const bool kept = replace("decisions.json", text, FileKind::kPrivate);
  const bool open = put(published, "decisions.json", shown, published.hidden.any() ? text : "");
  if (!kept || !open) return;
  starts = published.starts;
  starts_hidden = published.hidden;
  starts_dir = published.publish_dir;
}

void Publisher::Shared::run() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return stop || next.has_value(); });
    if (!next) break;
    const PublishedState now = std::move(*next);
    next.reset();
    lock.unlock();
    try {
      write(now);
    } catch (const std::exception& e) {
      note(state_dir, e.what());
    }
    lock.lock();
  }
  ended = true;
  changed.notify_all();
}

Publisher::Publisher(std::string state_dir) : shared_(std::make_shared<Shared>()) {
  shared_->state_dir = std::move(state_dir);
  thread_ = std::thread([shared = shared_] {
    // Texts for people are made when slurmctld's own threads leave the time.
    constexpr int kNiceness = 10;
    [[maybe_unused]] const int level = nice(kNiceness);  // of this thread alone, on Linux
    shared->run();
  });
}

void Publisher::stop() {
  const std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
  shared_->changed.notify_all();
}

Publisher::~Publisher() {
  stop();
  std::unique_lock lock(shared_->mutex);
  const bool ended = shared_->changed.wait_for(lock, std::chrono::milliseconds(500),
                                               [this] { return shared_->ended; });
  lock.unlock();
  if (ended)
    thread_.join();
  else
    thread_.detach();
}

void Publisher::offer(PublishedState published) {
  const std::lock_guard lock(shared_->mutex);
  // A state write that was not done yet must not be lost with the offer it came in.
  if (shared_->next && shared_->next->write_state) published.write_state = true;
  if (shared_->next && published.report.empty()) published.report = shared_->next->report;
  shared_->next = std::move(published);
  shared_->changed.notify_all();
}

std::string Publisher::read_state(const std::string& state_dir, const char* name) {
  const std::string path = state_dir + "/" + name;
  auto text = RealFileSystem(kMaxStateSize).read(path);
  if (text) return std::move(*text);
  if (!text.error().missing) log().error("{} is not used: {}", path, text.error().text);
  return {};
}

}  // namespace rubato
