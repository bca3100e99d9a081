// SPDX-License-Identifier: GPL-2.0-or-later
#include "test/store/store_support.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace rubato::test {

namespace {

/// In memory if possible: these tests make thousands of fsync calls, and fault_vfs.cc simulates the
/// failures. TEST_TMPDIR selects another folder.
std::string temp_parent() {
  const bool chosen = std::getenv("TEST_TMPDIR") != nullptr;
  return !chosen && ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : testing::TempDir();
}

}  // namespace

TempFolder::TempFolder() : path_(temp_parent() + "/rubato-store-XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("mkdtemp " + path_);
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

store::StoreOptions options_in(const TempFolder& folder) {
  store::StoreOptions options;
  options.folder = folder.store();
  options.batch_interval = std::chrono::milliseconds(5);
  options.retry_interval = std::chrono::milliseconds(20);
  return options;
}

store::Sample sample_of_job(JobId job, int index) {
  store::Sample sample;
  sample.job = {job, kNow - 3600};
  sample.run_start = kNow - 60;
  sample.time = kNow + Seconds{index} * 60;
  sample.type = {"physics", "resnet", false};
  sample.gpu_type = "a100";
  sample.gpus = 4;
  sample.nodes = 1;
  sample.batch = 256;
  sample.samples_done = 6000 * (std::int64_t{index} + 1);
  sample.throughput = 100;
  return sample;
}

std::vector<store::AnyRecord> entries_from(int first, int count) {
  std::vector<store::AnyRecord> entries;
  for (int i = first; i < first + count; ++i) {
    entries.emplace_back(sample_of_job(static_cast<JobId>(1 + i / 10), i % 10));
  }
  return entries;
}

std::unique_ptr<store::Session> open_session(const store::StoreOptions& options,
                                             std::vector<std::string>* notes, Seconds now) {
  std::vector<std::string> unused;
  auto session = store::Session::open(options, now, notes != nullptr ? *notes : unused);
  if (!session) throw std::runtime_error(session.error().text);
  return std::move(*session);
}

store::Reader open_reader(const std::string& path) {
  auto reader = store::Reader::open(path);
  if (!reader) throw std::runtime_error(reader.error().text);
  return std::move(*reader);
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> writer_threads() {
  std::vector<std::string> found;
  std::error_code gone;  // a thread may end meanwhile
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", gone)) {
    std::string status = contents(task.path().string() + "/status");
    if (status.find("rubato_store\n") != std::string::npos) found.push_back(std::move(status));
  }
  return found;
}

int fork_alone() {
  // A store reports its end shortly before its thread is gone.
  if (!eventually([] { return writer_threads().empty(); })) throw std::runtime_error("threads");
  return ::fork();
}

int in_child(const std::function<int()>& body) {
  const pid_t child = fork_alone();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) {
    int code = 125;
    try {
      code = body();
    } catch (...) {
    }
    ::_exit(code);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child) throw std::runtime_error("waitpid");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return condition();
}

}  // namespace rubato::test
