// SPDX-License-Identifier: GPL-2.0-or-later
// The store of this site: commands read and change its profiles.
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

/// Fails if this user cannot read it; the error names the users who can.
[[nodiscard]] Result<store::Reader> open_site_store(const Site& site);

/// All profiles: from the database if this user can read it, otherwise from models.json.
/// `from_store` is true for the database.
struct SiteProfiles {
  std::vector<store::ProfileRow> rows;
  bool from_store = false;
};
[[nodiscard]] Result<SiteProfiles> read_profiles(const Site& site);

/// The data to which models are fitted.
[[nodiscard]] std::vector<MeasuredRow> measured_rows(const std::vector<store::ProfileRow>& rows);

/// Executes an order in the store: slurmctld does it if it runs, otherwise this process with the
/// store's lock. Requires root (who acts as the owner) or the owner of the store's directory.
/// Waits for the answer; an order without an answer in time is withdrawn.
[[nodiscard]] Result<store::OrderDone> give_order(const Site& site, const store::Order& order);

/// Why this user may not change the store; "" if the user may.
[[nodiscard]] std::string why_not_admin(const Site& site);

}  // namespace rubato::tools
