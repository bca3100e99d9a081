// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/summary.h"

#include <utility>

namespace rubato::store {

Result<bool> Summary::refresh(const std::set<std::string>& shared, bool whole) {
  // Opened each time: the file may have been set aside and begun anew.
  const Result<Reader> reader = Reader::open(path_, vfs_);
  if (!reader) return tl::unexpected<Error>(reader.error());
  const Result<std::int64_t> last = reader->last_sample();
  if (!last) return tl::unexpected<Error>(last.error());
  // Numbers never fall while a store lives.
  whole = whole || last_ < 0 || *last < last_ || shared != shared_;
  if (!whole && *last == last_) return false;

  const Result<void> read = whole ? read_all(*reader, shared) : read_new(*reader, shared);
  if (!read) return tl::unexpected<Error>(read.error());
  shared_ = shared;
  last_ = *last;
  return true;
}

Result<void> Summary::read_all(const Reader& reader, const std::set<std::string>& shared) {
  auto all = reader.all_groups(shared);
  if (!all) return tl::unexpected<Error>(all.error());
  kinds_.clear();
  for (auto& [kind, groups] : *all) kinds_.insert_or_assign(owner_of(kind), std::move(groups));
  return {};
}

Result<void> Summary::read_new(const Reader& reader, const std::set<std::string>& shared) {
  const Result<std::vector<Kind>> kinds = reader.kinds(last_);
  if (!kinds) return tl::unexpected<Error>(kinds.error());
  std::map<Owner, std::vector<KindGroup>> fresh;
  for (Kind kind : *kinds) {
    kind.key.shared = shared.contains(kind.key.job_type);
    if (kind.key.shared) kind.key.account.clear();
    if (fresh.contains(owner_of(kind))) continue;
    auto groups = reader.groups(kind);
    if (!groups) return tl::unexpected<Error>(groups.error());
    fresh.emplace(owner_of(kind), std::move(*groups));
  }
  for (auto& [owner, groups] : fresh) kinds_.insert_or_assign(owner, std::move(groups));
  return {};
}

Summary::Owner Summary::owner_of(const Kind& kind) {
  return {kind.key.account, kind.key.job_type, kind.key.shared, kind.gpu_type, kind.gpus};
}

std::vector<SummaryRow> Summary::rows() const {
  std::vector<SummaryRow> rows;
  for (const auto& [owner, groups] : kinds_) {
    for (const KindGroup& group : groups) {
      const auto& [account, job_type, shared, gpu_type, gpus] = owner;
      rows.push_back({account, job_type, shared, gpu_type, gpus, group});
    }
  }
  return rows;
}

}  // namespace rubato::store
