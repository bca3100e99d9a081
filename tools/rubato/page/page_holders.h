// SPDX-License-Identifier: GPL-2.0-or-later
// Who holds the GPUs: users, or what PrivateData leaves of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/rubato/page/page_input.h"
#include "tools/shared/gpu_use.h"

namespace rubato::tools {

/// The user of a job, where that is hidden its account, else "".
[[nodiscard]] const std::string& holder_of(const Job& job);

/// "user", "account" or "job", as holder_of() tells.
[[nodiscard]] std::string holder_word(const Snapshot& snapshot);

/// Holders with a colour of their own, 0 for the one with the most GPUs now; the others have
/// kOtherStyle.
class Holders {
 public:
  static constexpr int kOtherStyle = 7;
  static constexpr std::size_t kMaxStyles = 6;

  explicit Holders(const PageInput& input);
  [[nodiscard]] int style_of(const Job& job) const;
  /// Of holders that no longer hold anything too; the largest first.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// GPUs that a holder has now, by type.
  [[nodiscard]] const std::map<std::string, int>& gpus_of(const std::string& name) const;
  /// Jobs with GPUs that it runs and that wait.
  [[nodiscard]] int running(const std::string& name) const;
  [[nodiscard]] int waiting(const std::string& name) const;

 private:
  struct Counts {
    std::map<std::string, int> gpus;
    int total = 0;
    int running = 0;
    int waiting = 0;
    double past = 0;  ///< GPU-seconds of ended runs
  };
  [[nodiscard]] const Counts* find(const std::string& name) const;

  std::map<std::string, Counts> counts_;
  std::vector<std::string> names_;
};

/// A legend of the colours.
[[nodiscard]] std::string holders_legend(const Holders& holders);
/// A table: holders by GPUs of each type, running and waiting jobs.
[[nodiscard]] std::string holders_table(const Holders& holders, const std::vector<GpuTypeUse>& use,
                                        const std::string& word);

}  // namespace rubato::tools
