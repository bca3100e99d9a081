// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/publisher.h"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "lib/core/json.h"
#include "lib/model/models_fit.h"
#include "lib/report/public_view.h"
#include "plugin/pair/logger.h"
#include "plugin/sched/files.h"

namespace rubato {

namespace {

namespace fs = std::filesystem;

}  // namespace

struct Publisher::Shared {
  std::string state_dir;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Published> next;
  bool stop = false;
  bool ended = false;
  std::string last_error;
  // decisions.json, as it was written last
  std::shared_ptr<const StartRecords> starts;
  PrivateData starts_hidden;
  std::string starts_dir;

  void run();
  void write(const Published&);
  [[nodiscard]] std::string write_starts(const Published&);
  void report(const std::string& error);
};

void Publisher::Shared::report(const std::string& error) {
  // One line when it begins and one when it ends, however long a disk stays full.
  if (error == last_error) return;
  last_error = error;
  if (error.empty())
    log().info("the files under {} are written again", state_dir);
  else
    log().error("{}; scheduling goes on without", error);
}

void Publisher::Shared::write(const Published& published) {
  std::string error;
  const auto note = [&](std::string failed) {
    if (error.empty()) error = std::move(failed);
  };
  std::error_code ignored;
  fs::create_directories(state_dir, ignored);
  if (published.write_state)
    note(replace_file(state_dir + "/state.json",
                      to_json(published.plan->memory, *published.snapshot), FileKind::kState));
  if (!published.report.empty())
    note(replace_file(state_dir + "/report.json", published.report, FileKind::kPrivate));
  const auto put = [&](const char* name, const std::string& text, const std::string& whole) {
    note(publish_file(name, text, whole, published.publish_dir, state_dir + "/private"));
  };
  const std::string snapshot = to_json(*published.snapshot);
  const ModelsFit fit = fit_of(*published.models);
  // The loop leaves them open: they take texts, which are made here.
  Plan made = *published.plan;
  made.snapshot_fingerprint = fingerprint(snapshot);
  made.models_fingerprint = fingerprint(fit);
  const std::string plan = to_json(made, *published.snapshot);
  if (!published.hidden.any()) {
    put("models-fit.json", to_json(fit), "");
    put("snapshot.json", snapshot, "");
    put("plan.json", plan, "");
    put("stats.json", published.stats, "");
  } else {
    Snapshot shown = *published.snapshot;
    shown.private_data = published.hidden;
    shown = public_view(std::move(shown));
    const ModelsFit shown_fit = public_view(fit, published.hidden, published.shared);
    made.models_fingerprint = fingerprint(shown_fit);
    put("models-fit.json", to_json(shown_fit), to_json(fit));
    put("snapshot.json", to_json(shown), snapshot);
    put("plan.json", to_json(public_view(std::move(made), shown), shown), plan);
    put("stats.json", published.open_stats, published.stats);
  }
  if (const std::string failed = write_starts(published); !failed.empty()) note(failed);
  report(error);
}

// Few jobs start from one time to the next, and many may run.
std::string Publisher::Shared::write_starts(const Published& published) {
  const bool same = published.starts == starts && published.hidden == starts_hidden &&
                    published.publish_dir == starts_dir;
  if (published.starts == nullptr || same) return {};
  const std::string text = to_json(*published.starts);
  const std::string shown =
      published.hidden.any() ? to_json(public_view(*published.starts, published.hidden)) : text;
  std::string failed = replace_file(state_dir + "/decisions.json", text, FileKind::kPrivate);
  const std::string open = publish_file("decisions.json", shown, published.hidden.any() ? text : "",
                                        published.publish_dir, state_dir + "/private");
  if (failed.empty()) failed = open;
  if (!failed.empty()) return failed;
  starts = published.starts;
  starts_hidden = published.hidden;
  starts_dir = published.publish_dir;
  return {};
}

void Publisher::Shared::run() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return stop || next.has_value(); });
    if (!next) break;
    const Published now = std::move(*next);
    next.reset();
    lock.unlock();
    try {
      write(now);
    } catch (const std::exception& e) {
      report(e.what());
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

void Publisher::offer(Published published) {
  const std::lock_guard lock(shared_->mutex);
  // A state write that was not done yet must not be lost with the offer it came in.
  if (shared_->next && shared_->next->write_state) published.write_state = true;
  if (shared_->next && published.report.empty()) published.report = shared_->next->report;
  shared_->next = std::move(published);
  shared_->changed.notify_all();
}

std::string Publisher::read_state(const std::string& state_dir, const char* name) {
  std::ifstream file(state_dir + "/" + name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return file ? text.str() : std::string();
}

}  // namespace rubato
