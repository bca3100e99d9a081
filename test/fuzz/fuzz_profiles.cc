// SPDX-License-Identifier: GPL-2.0-or-later
// Arbitrary bytes as a file of profiles, as a CSV table, and as an order: rows that their own text
// reproduces in both formats, or an error with a text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "lib/base/csv.h"
#include "lib/model/predictor.h"
#include "lib/store/orders.h"
#include "lib/store/profiles.h"

namespace {

using rubato::store::ProfileRow;

void require(bool holds) {
  if (!holds) std::abort();
}

void keeps(const std::vector<ProfileRow>& rows) {
  const std::string json = rubato::store::profiles_to_json(rows);
  const std::string csv = rubato::store::profiles_to_csv(rows);
  const auto from_json = rubato::store::profiles_from(json, "json");
  const auto from_csv = rubato::store::profiles_from(csv, "csv");
  require(from_json && from_csv && *from_json == *from_csv);
  require(rubato::store::profiles_to_json(*from_csv) == json);
  require(rubato::store::profiles_to_csv(*from_json) == csv);
}

/// Every model can be fitted to rows that were read.
void fits(const std::vector<ProfileRow>& rows) {
  std::vector<rubato::MeasuredRow> measured;
  for (const ProfileRow& row : rows) measured.push_back(rubato::store::measured_row(row));
  const rubato::StepTimeModels step_time_models(std::move(measured));
  for (const rubato::MeasuredRow& row : step_time_models.rows()) {
    rubato::JobSpec job{.profile = row.profile, .batch = rubato::Batch{1, 4096}};
    const auto found = step_time_models.predict(job, {.gpu_type = row.gpu_type, .gpus = row.gpus});
    if (found && found->feasible) {
      require(found->throughput > 0 && found->throughput <= 1e300 && found->goodput >= 0);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto rows = rubato::store::profiles_from(text, "file");
  if (rows) {
    keeps(*rows);
    if (rows->size() <= 32) fits(*rows);
  } else {
    require(!rows.error().text.empty());
  }
  const auto order = rubato::store::order_from_json(text);
  if (order) {
    const auto again = rubato::store::order_from_json(rubato::store::order_to_json(*order));
    require(again && *again == *order);
  }
  const auto table = rubato::CsvTable::parse(text, "file");
  if (table && table->rows() > 0) {
    for (std::size_t column = 0; column < table->headings().size(); ++column) {
      require(static_cast<bool>(table->column(table->headings()[column])));
      const auto number = table->number(0, column);
      require(number || !number.error().text.empty());
    }
  }
  return 0;
}
