// SPDX-License-Identifier: GPL-2.0-or-later
// How the work that jobs did compares with what their hints stated, by account.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "lib/core/progress_history.h"
#include "lib/core/snapshot.h"
#include "lib/hints/types.h"

namespace rubato {

/// Maximum number of accounts, of which the one updated the longest ago is dropped, and of ended
/// jobs of each, of which the oldest is.
inline constexpr std::size_t kMaxStatedAccounts = 1024;
inline constexpr std::size_t kMaxStatements = 16;
/// From fewer ended jobs nothing follows.
inline constexpr std::size_t kMinStatements = 3;
/// More than this of the stated work: the statement did not hold. The last epoch may be counted
/// whole.
inline constexpr double kStatementSlack = 1.25;

/// What a job did of its stated work; nullopt if that does not follow from its last report: a
/// target loss, or steps without a batch.
[[nodiscard]] std::optional<double> done_of_stated(const Work& work, const Progress& progress);

/// Adds what an ended job did of its stated work, above 0, to those of its account. `accounts` is
/// sorted by account and stays so.
void fold_statement(const std::string& account, double ratio, Seconds now,
                    std::vector<AccountStatements>& accounts);

/// By which the stated work of the account's jobs is multiplied: the upper median of what its ended
/// jobs did of theirs, and 1 where that is at most kStatementSlack. nullopt with fewer than
/// kMinStatements.
[[nodiscard]] std::optional<double> statement_factor(const std::vector<AccountStatements>& accounts,
                                                     const std::string& account);

}  // namespace rubato
