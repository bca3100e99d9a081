// SPDX-License-Identifier: GPL-2.0-or-later
// Marks what the calling thread asks of slurmctld as a start by Rubato.
#pragma once

#include "plugin/common/pair.h"

namespace rubato {

/// During its lifetime the gate answers the calling thread by `scope`, which must outlive it.
class ScopedStart {
 public:
  ScopedStart(Pair& pair, const StartScope& scope) : pair_(pair) { pair_.enter_start(&scope); }
  ~ScopedStart() { pair_.enter_start(nullptr); }
  ScopedStart(const ScopedStart&) = delete;
  ScopedStart& operator=(const ScopedStart&) = delete;

 private:
  Pair& pair_;
};

}  // namespace rubato
