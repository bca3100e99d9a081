// SPDX-License-Identifier: GPL-2.0-or-later
// The pause of `rubato pause`: while its file exists, Rubato acts as in mode observe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lib/base/units.h"

namespace rubato {

struct Pause {
  Seconds until = 0;  ///< 0: until it is ended
  Seconds since = 0;  ///< 0: not known
  std::string by;     ///< user name; "": not known

  bool operator==(const Pause&) const = default;
};

/// STATE/paused, in StateSaveLocation/rubato: it outlives restarts of slurmctld.
[[nodiscard]] std::string pause_file(const std::string& state_dir);

/// The pause in effect at `now`; nullopt without one, or after its end. A file that cannot be read
/// or parsed is a pause without end: somebody wanted Rubato to stop.
[[nodiscard]] std::optional<Pause> read_pause(const std::string& state_dir, Seconds now);

/// The text of the file.
[[nodiscard]] std::string pause_text(const Pause& pause);

/// `name` up to its first byte that a user name does not have. It is published.
[[nodiscard]] std::string user_word(std::string_view name);

}  // namespace rubato
