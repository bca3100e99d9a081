// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/store/summary.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace rubato::store {

namespace {

auto shown_of(const SummaryRow& row) {
  return std::tie(row.account, row.job_type, row.shared, row.gpu_type, row.gpus, row.group.nodes,
                  row.group.plan, row.group.batch);
}

std::int64_t used(const JobTypeGroup& group) { return group.samples - group.flagged; }

/// Merges `more` into `group`; the number of jobs is an upper bound.
void join(JobTypeGroup& group, const JobTypeGroup& more) {
  const std::int64_t before = used(group);
  const std::int64_t added = used(more);
  if (added > 0) {
    const auto weight = static_cast<double>(before);
    const auto other = static_cast<double>(added);
    if (before == 0 || more.last >= group.last) group.last_throughput = more.last_throughput;
    group.min_throughput =
        before == 0 ? more.min_throughput : std::min(group.min_throughput, more.min_throughput);
    group.max_throughput = std::max(group.max_throughput, more.max_throughput);
    group.mean_throughput = (group.mean_throughput * weight + more.mean_throughput * other) /
                            std::max(weight + other, 1.0);
  }
  group.samples += more.samples;
  group.flagged += more.flagged;
  for (const auto& [flag, count] : more.flags) group.flags[flag] += count;
  group.jobs += more.jobs;
  group.last = std::max(group.last, more.last);
  group.imported = group.imported && more.imported;
}

}  // namespace

std::vector<SummaryRow> joined(std::vector<SummaryRow> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const SummaryRow& a, const SummaryRow& b) {
    return shown_of(a) < shown_of(b);
  });
  std::vector<SummaryRow> out;
  for (SummaryRow& row : rows) {
    if (!out.empty() && shown_of(out.back()) == shown_of(row)) {
      join(out.back().group, row.group);
    } else {
      out.push_back(std::move(row));
    }
  }
  return out;
}

Result<bool> Summary::refresh(const std::set<std::string>& shared, bool whole) {
  // Opens the file each time: it may have been set aside and replaced.
  const Result<Reader> reader = Reader::open(path_, vfs_);
  if (!reader) return tl::unexpected<Error>(reader.error());
  const Result<std::int64_t> last = reader->last_sample();
  if (!last) return tl::unexpected<Error>(last.error());
  const Result<std::int64_t> changes = reader->profile_changes();
  if (!changes) return tl::unexpected<Error>(changes.error());
  // Numbers never decrease in one store.
  whole = whole || last_ < 0 || *last < last_ || *changes != changes_ || shared != shared_;
  if (!whole && *last == last_) return false;

  const Result<void> read = whole ? read_all(*reader, shared) : read_new(*reader, shared);
  if (!read) return tl::unexpected<Error>(read.error());
  shared_ = shared;
  last_ = *last;
  changes_ = *changes;
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
  const Result<std::vector<JobTypeKey>> kinds = reader.kinds(last_);
  if (!kinds) return tl::unexpected<Error>(kinds.error());
  std::map<Owner, std::vector<JobTypeGroup>> fresh;
  for (JobTypeKey kind : *kinds) {
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

Result<std::vector<ProfileRow>> all_profiles(const Reader& reader,
                                             const std::set<std::string>& shared) {
  auto all = reader.all_groups(shared);
  if (!all) return tl::unexpected(all.error());
  std::vector<ProfileRow> rows;
  for (auto& [kind, groups] : *all) {
    if (kind.key.job_type.empty()) continue;
    for (JobTypeGroup& group : groups) {
      rows.push_back({{kind.key.account, kind.key.job_type, kind.key.shared},
                      kind.gpu_type,
                      kind.gpus,
                      std::move(group)});
    }
  }
  return rows;
}

Summary::Owner Summary::owner_of(const JobTypeKey& kind) {
  return {kind.key.account, kind.key.job_type, kind.key.shared, kind.gpu_type, kind.gpus};
}

std::vector<SummaryRow> Summary::rows() const {
  std::vector<SummaryRow> rows;
  for (const auto& [owner, groups] : kinds_) {
    for (const JobTypeGroup& group : groups) {
      const auto& [account, job_type, shared, gpu_type, gpus] = owner;
      rows.push_back({account, job_type, shared, gpu_type, gpus, group});
    }
  }
  return rows;
}

}  // namespace rubato::store
