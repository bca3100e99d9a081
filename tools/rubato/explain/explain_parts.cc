// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/explain/explain_parts.h"

namespace rubato::tools {

Color color_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kStart:
    case Verdict::kAttempt:
      return Color::kGreen;
    case Verdict::kReserve:
    case Verdict::kWait:
      return Color::kYellow;
    case Verdict::kBlocked:
      return Color::kRed;
    case Verdict::kStock:
      break;
  }
  return Color::kPlain;
}

bool tells_earliest(const Explanation& e, Seconds now) {
  const bool to = e.start_latest > 0 && e.start_latest < kForever;
  return e.start_earliest > 0 && (to || e.start_earliest > now);
}

const std::string& node_name(const Snapshot& snapshot, NodeIndex node) {
  return snapshot.nodes.at(node).name;
}

}  // namespace rubato::tools
