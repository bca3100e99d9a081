// SPDX-License-Identifier: GPL-2.0-or-later
// Arbitrary bytes as a workload of `rubato simulate`, as throughputs, and as the words of
// --cluster: jobs that can be simulated, or an error with a text. The first byte is a letter of
// kKinds. In formats with two files, the second starts after a form feed.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "lib/sim/engine/suite.h"
#include "lib/sim/formats/format_sacct.h"
#include "lib/sim/peers/read_jobs.h"

namespace {

using rubato::Result;
using rubato::sim::ClusterShape;
using rubato::sim::JobList;
using rubato::sim::Suite;

/// native, gavel, sacct, muri, tiresias, cluster, sia and pollux, rubick.
constexpr std::string_view kKinds = "ngsmtcpr";
/// Limits of the simulation: jobs, and steps of a loop.
constexpr std::size_t kMaxJobs = 24;
constexpr int kMaxSteps = 300;

void need(bool holds) {
  if (!holds) std::abort();
}

/// A file in memory; readers take paths.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text) : file_(memfd_create("fuzz", MFD_CLOEXEC)) {
    need(file_ >= 0);
    need(write(file_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(file_); }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

void check_jobs(const JobList& jobs) {
  std::set<std::string> keys;
  for (const rubato::sim::SimJob& job : jobs) {
    need(!job.key.empty());
    need(std::isfinite(job.arrival) && job.arrival >= 0);
    need(std::isfinite(job.work) && job.work >= 0);
    need(job.gpus >= 1 && job.min_gpus >= 1 && job.min_gpus <= job.gpus &&
         job.gpus <= job.max_gpus);
    need(job.time_limit > 0 && job.weight >= 0 && job.memory_per_gpu >= 0);
    keys.insert(job.key);
  }
}

/// A run ends, is stopped, or returns an error; results are numbers or infinity.
void play(const Suite& suite, const std::string& policy) {
  std::atomic<bool> stop{false};
  int steps = 0;
  rubato::sim::RunControl control;
  control.stop = &stop;
  control.intervals = true;
  control.progress = [&](double now, std::size_t finished, std::size_t jobs) {
    need(now >= 0 && finished <= jobs);
    if (++steps > kMaxSteps) stop = true;
  };
  const auto record = run_suite(suite, policy, rubato::sim::Information::kLearned, control);
  if (!record) return need(!record.error().text.empty());
  need(record->jobs.size() == suite.jobs.size());
  for (std::size_t i = 0; i < record->jobs.size(); ++i) {
    const rubato::sim::JobResult& job = record->jobs[i];
    need(job.arrival == suite.jobs[i].arrival && job.gpu_seconds >= 0 && job.ideal_s >= 0);
    need(job.first_start >= job.arrival && job.finish >= job.arrival);
  }
  (void)measure(*record, suite.window, suite.cluster.gpus(), suite.origin);
}

void check_suite(const Result<Suite>& suite) {
  if (!suite) return need(!suite.error().text.empty());
  check_jobs(suite->jobs);
  if (suite->jobs.size() > kMaxJobs) return;
  for (const char* policy : {"fifo", "backfill", "tiresias"}) play(*suite, policy);
}

void check_format(const char* name, std::string_view text, const char* shape) {
  static const auto kFormats = rubato::sim::formats();
  const auto cluster = rubato::sim::parse_cluster_shape(shape);
  need(cluster.has_value());
  const std::size_t middle = text.find('\f');
  const MemoryFile workload(text.substr(0, middle));
  const bool two = middle != std::string_view::npos;
  const MemoryFile profiles(two ? text.substr(middle + 1) : std::string_view{});
  for (const auto& format : kFormats) {
    if (format.name != name) continue;
    check_suite(format.read(workload.path(), two ? profiles.path() : "", *cluster));
  }
}

void check_rows(Result<JobList> (*read)(const std::string&), std::string_view text) {
  const MemoryFile file(text);
  const auto jobs = read(file.path());
  if (!jobs) return need(!jobs.error().text.empty());
  need(!jobs->empty());
  check_jobs(*jobs);
}

void check_cluster(std::string_view text) {
  const auto cluster = rubato::sim::parse_cluster_shape(text);
  if (!cluster) return need(!cluster.error().text.empty());
  need(cluster->gpus() >= 1 && cluster->nodes() >= 1);
  const auto again = rubato::sim::parse_cluster_shape(cluster->text());
  need(again.has_value() && *again == *cluster);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t job_message = kKinds.find(static_cast<char>(data[0]));
  switch (kKinds[job_message < kKinds.size() ? job_message : data[0] % kKinds.size()]) {
    case 'n':
      check_format("native", text, "v100:4x4,k80:2x8/16/64G");
      break;
    case 'g':
      check_format("gavel", text, "v100:4x4,k80:2x8");
      break;
    case 's':
      check_format("sacct", text, "v100:4x4,k80:2x8");
      break;
    case 'm':
      check_format("muri", text, "v100:4x4");
      break;
    case 't':
      check_format("tiresias", text, "v100:4x4");
      break;
    case 'c':
      check_cluster(text);
      break;
    case 'p':
      check_rows(&rubato::sim::read_sia_jobs, text);
      break;
    default:
      check_rows(&rubato::sim::read_rubick_jobs, text);
  }
  return 0;
}
