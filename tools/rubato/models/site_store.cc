// SPDX-License-Identifier: GPL-2.0-or-later
#include "tools/rubato/models/site_store.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <set>
#include <thread>

#include "lib/store/folder.h"
#include "lib/store/session.h"
#include "lib/store/summary.h"
#include "tools/shared/output.h"
#include "tools/shared/published.h"

namespace rubato::tools {
namespace {

// slurmctld looks for orders every second; a store that is off tries again every ten.
constexpr auto kPatience = std::chrono::seconds(60);
constexpr auto kLook = std::chrono::milliseconds(100);

std::set<std::string> shared_types(const Config& config) {
  std::set<std::string> shared;
  for (const JobTypeConfig& type : config.job_types) {
    if (type.shared) shared.insert(type.name);
  }
  return shared;
}

std::string user_name(uid_t uid) {
  const passwd* entry = ::getpwuid(uid);
  return entry != nullptr ? entry->pw_name : fmt::format("{}", uid);
}

store::ProfileRow profile_of(const ModelRow& row) {
  store::ProfileRow out;
  out.type = {row.account, row.job_type, row.shared};
  out.gpu_type = row.gpu_type;
  out.gpus = row.gpus;
  store::JobTypeGroup& group = out.group;
  group.nodes = row.nodes;
  group.plan = row.plan;
  group.batch = row.batch;
  group.samples = row.samples;
  group.flagged = row.flagged;
  group.flags = {row.flags.begin(), row.flags.end()};
  group.jobs = row.jobs;
  group.mean_throughput = row.throughput_mean;
  group.min_throughput = row.throughput_min;
  group.max_throughput = row.throughput_max;
  group.last_throughput = row.throughput_last;
  group.last = row.last;
  return out;
}

std::string who_may(uid_t owner) {
  return owner == 0
             ? "only root may change Rubato's measurements"
             : fmt::format("only root and {} may change Rubato's measurements", user_name(owner));
}

/// From here on this process is the owner of the folder.
Result<void> become_owner(const std::string& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) {
    return fail(fmt::format("{}: {}; slurmctld creates it when it first runs with Rubato", folder,
                            std::strerror(errno)));
  }
  if (::geteuid() == status.st_uid) return {};
  if (::geteuid() != 0) return fail(who_may(status.st_uid));
  if (::setgroups(0, nullptr) != 0 || ::setegid(status.st_gid) != 0 ||
      ::seteuid(status.st_uid) != 0) {
    return fail(
        fmt::format("cannot act as {}: {}", user_name(status.st_uid), std::strerror(errno)));
  }
  return {};
}

Result<store::OrderDone> wait_for_answer(const store::OrderFolder& orders,
                                         const std::string& name) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  bool taken = false;
  while (true) {
    if (auto answer = orders.fetch(name)) return *answer;
    if (std::chrono::steady_clock::now() >= deadline) {
      if (taken) break;
      if (orders.take_back(name)) {
        return fail(
            fmt::format("no answer within {} s: the process that holds store.lock is not slurmctld "
                        "with Rubato, or its store is off; see rubato stats and store.lock",
                        kPatience.count()));
      }
      taken = true;  // it is being done: one last look
    }
    std::this_thread::sleep_for(kLook);
  }
  return fail(fmt::format(
      "slurmctld accepted the command but has not answered yet; its answer will be in {}/{}.answer",
      orders.path(), name));
}

}  // namespace

std::string store_folder(const Site& site) {
  return site.config.store_dir.empty() ? site.state_dir + "/rubato" : site.config.store_dir;
}

Result<store::Reader> open_site_store(const Site& site) {
  const std::string database = store_folder(site) + "/" + store::kDatabaseName;
  if (::access(database.c_str(), R_OK) != 0) {
    return fail(fmt::format("{}: {}{}", database, std::strerror(errno),
                            errno == EACCES ? "; root and SlurmUser can read it" : ""));
  }
  return store::Reader::open(database);
}

Result<SiteProfiles> read_profiles(const Site& site) {
  SiteProfiles profiles;
  const auto reader = open_site_store(site);
  if (!reader) {
    const auto table = read_models(site);
    if (!table) {
      return fail(fmt::format("{}; and {}", reader.error().text, table.error().text));
    }
    for (const ModelRow& row : table->rows) profiles.rows.push_back(profile_of(row));
    return profiles;
  }
  auto rows = store::all_profiles(*reader, shared_types(site.config));
  if (!rows) return tl::unexpected(rows.error());
  profiles.rows = std::move(*rows);
  profiles.from_store = true;
  return profiles;
}

std::vector<MeasuredRow> measured_rows(const std::vector<store::ProfileRow>& rows) {
  std::vector<MeasuredRow> out;
  out.reserve(rows.size());
  for (const store::ProfileRow& row : rows) out.push_back(store::measured_row(row));
  return out;
}

std::string why_not_admin(const Site& site) {
  struct stat status {};
  const std::string folder = store_folder(site);
  if (::stat(folder.c_str(), &status) != 0) {
    return fmt::format("{}: {}; slurmctld creates it when it first runs with Rubato", folder,
                       std::strerror(errno));
  }
  if (::geteuid() == 0 || ::geteuid() == status.st_uid) return {};
  return who_may(status.st_uid);
}

Result<store::OrderDone> give_order(const Site& site, const store::Order& order) {
  const std::string folder = store_folder(site);
  if (auto owner = become_owner(folder); !owner) return tl::unexpected(owner.error());
  store::StoreOptions options;
  options.folder = folder;
  std::vector<std::string> notes;
  auto session = store::Session::open(options, now(), notes);
  for (const std::string& note : notes) print_warning(note);
  if (session) {
    auto done = (*session)->apply(order);
    if (!done) return fail(done.error().text);
    return *done;
  }
  // Somebody has the lock: slurmctld.
  const store::OrderFolder orders(folder);
  const auto name = orders.give(order);
  if (!name) return fail(fmt::format("{}; and {}", session.error().text, name.error().text));
  return wait_for_answer(orders, *name);
}

}  // namespace rubato::tools
