// SPDX-License-Identifier: GPL-2.0-or-later
// Helpers of the store tests.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "lib/store/options.h"
#include "lib/store/reader.h"
#include "lib/store/session.h"

namespace rubato::test {

/// A temporary folder, removed with its content.
class TempFolder {
 public:
  TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder();
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Paths of the store in it.
  [[nodiscard]] std::string store() const { return path_ + "/rubato"; }
  [[nodiscard]] std::string database() const { return store() + "/rubato.db"; }

 private:
  std::string path_;
};

class ManualClock : public Clock {
 public:
  explicit ManualClock(Seconds now) : now_(now) {}
  [[nodiscard]] Seconds now() const override {
    const Seconds now = now_;
    ++asked_;
    return now;
  }
  void set(Seconds now) { now_ = now; }
  /// Number of calls.
  [[nodiscard]] int asked() const { return asked_; }

 private:
  std::atomic<Seconds> now_;
  mutable std::atomic<int> asked_ = 0;
};

/// 2026-01-01 00:00:00 UTC.
inline constexpr Seconds kNow = 1767225600;

/// Options of a store in `folder`, with short intervals.
[[nodiscard]] store::StoreOptions options_in(const TempFolder& folder);

/// A plausible report number `index` of a job: 100 samples/s, one every minute.
[[nodiscard]] store::Sample sample_of_job(JobId job, int index = 0);

/// `count` consecutive reports of jobs with ten reports each.
[[nodiscard]] std::vector<store::AnyRecord> entries_from(int first, int count);

/// The session; fails the test with the reason otherwise.
[[nodiscard]] std::unique_ptr<store::Session> open_session(
    const store::StoreOptions& options, std::vector<std::string>* notes = nullptr,
    Seconds now = kNow);

/// A reader of the store in `folder`; fails the test with the reason otherwise.
[[nodiscard]] store::Reader open_reader(const std::string& path);

[[nodiscard]] bool exists(const std::string& path);
/// Names in a folder, sorted.
[[nodiscard]] std::vector<std::string> names_in(const std::string& folder);
[[nodiscard]] std::string contents(const std::string& path);

/// The status (proc(5)) of each writer thread of this process.
[[nodiscard]] std::vector<std::string> writer_threads();

/// Calls fork(2) once no writer thread is left, so that the child may start one.
[[nodiscard]] int fork_alone();

/// Runs `body` in a forked process. Returns its result, or 256 + signal.
int in_child(const std::function<int()>& body);

/// Waits up to ten seconds for `condition`.
bool eventually(const std::function<bool()>& condition);

}  // namespace rubato::test
