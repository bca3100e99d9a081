// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of the training of a job from the texts that squeue prints of it: the segment in
// its system_comment, the hints in its comment, its GPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/units.h"
#include "lib/hints/types.h"

namespace rubato::tools {

/// As squeue prints them; "(null)" and "N/A" where there is nothing.
struct JobTexts {
  std::string system_comment;
  std::string comment;
  std::string tres_alloc;
  std::string tres_per_job;
  std::string tres_per_node;
  std::string nodes;  ///< how many
  std::string state;  ///< in full, as "RUNNING"; "" if it was not asked for
};

/// What a state of squeue means for the facts of a job.
enum class JobPhase { kUnknown, kPending, kRunning, kEnded };
[[nodiscard]] JobPhase phase_of(std::string_view state);

/// Unknown members keep these initial values.
struct JobFacts {
  bool published = false;  ///< there is a segment
  std::string job_type;
  int level = -1;
  std::string gpu_type;
  int gpus = 0;  ///< that it holds, or asks for
  GpuSizes sizes;
  std::string plan;
  double throughput = -1;     ///< samples/s
  std::int64_t samples = -1;  ///< done
  std::int64_t work = -1;     ///< samples in total
  Seconds remaining = -1;     ///< predicted time to its end
  Seconds left_low = -1;      ///< nine times of ten its end comes after this
  Seconds left_high = -1;     ///< and before this
  std::string predictable;    ///< P, U or ""
  Seconds start = 0;          ///< latest expected start
  std::string wait;           ///< why it waits: one word
  bool held = false;          ///< Rubato does not change its size

  /// Share of the work done, 0 to 1; none if one of the two is not known.
  [[nodiscard]] std::optional<double> progress() const;
};

/// The annotation counts before the hints, the hints before what Slurm says of GPUs. But the GPUs
/// of a job that has started are Slurm's, where the annotation is older than the start. At `now`
/// the remaining time has shrunk since the annotation; a job that ended has none. Wrong hints (an
/// admin may write any comment) are no hints.
[[nodiscard]] JobFacts facts_of(const JobTexts& texts, Seconds now = 0);

/// GPUs of a TRES list; `type` is "" if none is named or several are.
struct GpusOfTres {
  int count = 0;
  std::string type;

  bool operator==(const GpusOfTres&) const = default;
};

/// "cpu=4,gres/gpu=2,gres/gpu:a100=2", "gres:gpu:a100:2", "gres/gpu:2". A count with the type is
/// part of the count without.
[[nodiscard]] GpusOfTres gpus_of_tres(std::string_view tres);

/// "2-16", "1,2,4".
[[nodiscard]] std::string sizes_text(const GpuSizes& sizes);

}  // namespace rubato::tools
