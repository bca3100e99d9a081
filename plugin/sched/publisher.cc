// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugin/sched/publisher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "lib/core/json.h"
#include "plugin/pair/logger.h"

namespace rubato {

namespace {

namespace fs = std::filesystem;

constexpr mode_t kStateFileMode = 0600;
constexpr mode_t kPublishedFileMode = 0644;

std::string system_error_text(const std::string& what, const std::string& path) {
  return fmt::format("cannot {} {}: {}", what, path, std::strerror(errno));
}

bool write_all(int fd, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

void sync_directory(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)fsync(fd);
  close(fd);
}

}  // namespace

std::string replace_file(const std::string& path, const std::string& text, bool durable) {
  const std::string fresh = path + ".new";
  const mode_t mode = durable ? kStateFileMode : kPublishedFileMode;
  const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
  if (fd < 0) return system_error_text("write", fresh);
  (void)fchmod(fd, mode);  // whatever the umask says
  bool ok = write_all(fd, text);
  if (ok && durable) ok = fsync(fd) == 0;
  std::string error = ok ? "" : system_error_text("write", fresh);
  if (close(fd) != 0 && error.empty()) error = system_error_text("write", fresh);
  if (error.empty() && rename(fresh.c_str(), path.c_str()) != 0)
    error = system_error_text("rename to", path);
  if (!error.empty()) {
    (void)unlink(fresh.c_str());
    return error;
  }
  if (durable) sync_directory(fs::path(path).parent_path().string());
  return {};
}

struct Publisher::Shared {
  std::string state_dir;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Published> next;
  bool stop = false;
  bool ended = false;
  std::string last_error;

  void run();
  void write(const Published&);
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
  const auto put = [&](const std::string& path, const std::string& text, bool durable) {
    const std::string failed = replace_file(path, text, durable);
    if (error.empty()) error = failed;
  };
  std::error_code ignored;
  fs::create_directories(state_dir, ignored);
  if (published.write_state)
    put(state_dir + "/state.json", to_json(published.plan->memory, *published.snapshot), true);
  const std::string& dir = published.publish_dir;
  if (fs::create_directories(dir, ignored)) (void)chmod(dir.c_str(), 0755);
  put(dir + "/snapshot.json", to_json(*published.snapshot), false);
  put(dir + "/plan.json", to_json(*published.plan, *published.snapshot), false);
  put(dir + "/stats.json", published.stats, false);
  report(error);
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
  thread_ = std::thread([shared = shared_] { shared->run(); });
}

Publisher::~Publisher() {
  std::unique_lock lock(shared_->mutex);
  shared_->stop = true;
  shared_->changed.notify_all();
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
  shared_->next = std::move(published);
  shared_->changed.notify_all();
}

std::string Publisher::read_state(const std::string& state_dir) {
  std::ifstream file(state_dir + "/state.json", std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return file ? text.str() : std::string();
}

}  // namespace rubato
