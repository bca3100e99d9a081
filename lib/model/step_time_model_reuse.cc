// SPDX-License-Identifier: GPL-2.0-or-later
// Fits that a new version of StepTimeModels takes from the one before it.
#include <algorithm>

#include "lib/model/step_time_model_fits.h"

namespace rubato {

void StepTimeModels::take_fits(const StepTimeModels& earlier) {
  if (memory_ != earlier.memory_) return;
  const auto same = [&](const Fits::ProfileOnType& key) {
    const Rows now = rows::rows_of(rows_, key.first, key.second);
    const Rows before = rows::rows_of(earlier.rows_, key.first, key.second);
    return std::ranges::equal(now, before);
  };
  const auto take = [&](auto& into, const auto& from, auto profile_on_type) {
    for (const auto& [key, fit] : from)
      if (fit && same(profile_on_type(key))) into.emplace(key, fit);
  };
  const std::scoped_lock lock(fits_->mutex, earlier.fits_->mutex);
  const auto itself = [](const Fits::ProfileOnType& key) { return key; };
  take(fits_->plans, earlier.fits_->plans, [](const auto& key) { return key.first; });
  take(fits_->curves, earlier.fits_->curves, [](const auto& key) { return std::get<0>(key); });
  take(fits_->data_parallel, earlier.fits_->data_parallel, itself);
  take(fits_->steps, earlier.fits_->steps, itself);
}

}  // namespace rubato
