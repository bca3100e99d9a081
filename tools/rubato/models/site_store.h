// SPDX-License-Identifier: GPL-2.0-or-later
// The store of this site: its profiles, read and changed by commands.
#pragma once

#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/model/measured_row.h"
#include "lib/store/orders.h"
#include "lib/store/reader.h"
#include "tools/shared/site.h"

namespace rubato::tools {

/// StoreDir, or StateSaveLocation/rubato.
[[nodiscard]] std::string store_folder(const Site& site);

/// Fails with who can read it, where this user cannot.
[[nodiscard]] Result<store::Reader> open_site_store(const Site& site);

/// All profiles: of the database where this user can read it, else what models.json shows.
/// `from_store` says which.
struct SiteProfiles {
  std::vector<store::ProfileRow> rows;
  bool from_store = false;
};
[[nodiscard]] Result<SiteProfiles> read_profiles(const Site& site);

/// What models are fitted to.
[[nodiscard]] std::vector<MeasuredRow> measured_rows(const std::vector<store::ProfileRow>& rows);

/// Has the writer of the store do an order: slurmctld's where it runs, else this process with the
/// lock of the store. Only root and the owner of the store's folder may; root acts as that owner.
/// Waits for the answer; an order that nobody takes in time is taken back.
[[nodiscard]] Result<store::OrderDone> give_order(const Site& site, const store::Order& order);

/// Why this user may not give orders; "" if it may.
[[nodiscard]] std::string why_not_admin(const Site& site);

}  // namespace rubato::tools
