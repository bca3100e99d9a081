// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/progress/statements.h"

#include <algorithm>
#include <cmath>

#include "lib/base/statistics.h"
#include "lib/model/progress/done_work.h"

namespace rubato {
namespace {

template <typename List>
auto place_of(List& accounts, const std::string& account) {
  return std::ranges::lower_bound(accounts, account, {}, &AccountStatements::account);
}

}  // namespace

std::optional<double> done_of_stated(const Work& work, const Progress& progress) {
  const auto count = static_cast<double>(work.count);
  if (!(count > 0) || work.unit == WorkUnit::kTargetLoss) return std::nullopt;
  if (work.unit == WorkUnit::kSamples) return progress.done() / count;
  if (progress.batch < 1) return std::nullopt;
  return steps_done(progress) / count;
}

void fold_statement(const std::string& account, double ratio, Seconds now,
                    std::vector<AccountStatements>& accounts) {
  if (!std::isfinite(ratio) || !(ratio > 0)) return;
  auto at = place_of(accounts, account);
  if (at == accounts.end() || at->account != account) {
    if (accounts.size() >= kMaxStatedAccounts)
      accounts.erase(std::ranges::min_element(accounts, {}, &AccountStatements::updated));
    at = accounts.insert(place_of(accounts, account), {.account = account});
  }
  at->updated = now;
  if (at->ended.size() >= kMaxStatements) at->ended.erase(at->ended.begin());
  at->ended.push_back({ratio});
}

std::optional<double> statement_factor(const std::vector<AccountStatements>& accounts,
                                       const std::string& account) {
  const auto at = place_of(accounts, account);
  if (at == accounts.end() || at->account != account) return std::nullopt;
  if (at->ended.size() < kMinStatements) return std::nullopt;
  std::vector<double> ratios;
  for (const EndedStatement& one : at->ended) ratios.push_back(one.ratio);
  const double usual = upper_median(std::move(ratios));
  return usual > kStatementSlack ? usual : 1;
}

}  // namespace rubato
