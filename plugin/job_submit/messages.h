// SPDX-License-Identifier: GPL-2.0-or-later
// Messages of running jobs: updates of the comment that begin with `rubato!`. They are taken out of
// the update, so that the comment stays what it was.
#pragma once

#include <string>

#include "lib/config/config.h"
#include "plugin/common/pair.h"
#include "plugin/slurm/stock/slurm_headers.h"

namespace rubato {

/// What scontrol is told. Slurm 22.05 has no words for an update that a plugin refuses: `code` must
/// say it, and `why` goes to slurmctld's log.
struct MessageAnswer {
  int code = SLURM_SUCCESS;
  std::string why;
};

/// For an update whose comment is a message. Takes it out of `update` if it was heard or dropped;
/// leaves `update` alone if it is refused. `uid` is the sender. O(1): nothing waits, no file is
/// touched. Reports that come too soon or find no room are dropped, and their sender hears success.
[[nodiscard]] MessageAnswer take_message(job_desc_msg_t& update, const job_record_t& job,
                                         std::uint32_t uid, const Config& config, Pair& pair);

}  // namespace rubato
