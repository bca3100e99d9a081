// SPDX-License-Identifier: GPL-2.0-or-later
// All fits of StepTimeModels in advance.
#include <algorithm>
#include <tuple>
#include <utility>

#include "lib/model/step_time_model_fits.h"

namespace rubato {
namespace {

auto order_of(const ProfileShape& one) {
  const ModelShape& shape = one.shape;
  return std::tie(one.profile, shape.params, shape.hidden, shape.layers, shape.seq, shape.heads);
}

}  // namespace

bool operator<(const ProfileShape& a, const ProfileShape& b) { return order_of(a) < order_of(b); }

StepTimeModels::StepTimeModels(const StepTimeModels& other, std::vector<ProfileShape> shapes)
    : shapes_(std::move(shapes)),
      rows_(other.rows_),
      memory_(other.memory_),
      links_(other.links_),
      fits_(std::make_unique<Fits>()) {
  fits_->links = other.fits_->links;
}

std::int64_t StepTimeModels::fits_made() const {
  const std::lock_guard lock(fits_->mutex);
  return fits_->made;
}

std::shared_ptr<const StepTimeModels> StepTimeModels::ready(
    std::vector<ProfileShape> shapes) const {
  std::sort(shapes.begin(), shapes.end());
  shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
  std::shared_ptr<StepTimeModels> made(new StepTimeModels(*this, std::move(shapes)));
  Fits& fits = *made->fits_;
  for (auto at = rows_.begin(); at != rows_.end();) {
    const Rows rows = rows::rows_of(rows_, at->profile, at->gpu_type);
    at += static_cast<std::ptrdiff_t>(rows.size());
    const Fits::ProfileOnType key{rows.front().profile, rows.front().gpu_type};
    const bool on_gpus =
        std::any_of(rows.begin(), rows.end(), [](const MeasuredRow& row) { return row.gpus > 0; });
    const bool on_cpus =
        std::any_of(rows.begin(), rows.end(), [](const MeasuredRow& row) { return row.gpus == 0; });
    if (rows::has_servers(rows) || on_cpus) fits.steps[key] = fits_->step_model(key, rows);
    if (!on_gpus) continue;
    if (!rows::has_servers(rows)) fits.data_parallel[key] = fits_->data_parallel_model(key, rows);
    for (const ProfileShape& one : *made->shapes_) {
      if (one.profile == key.first)
        fits.plans[{key, Fits::key_of(one.shape)}] = fits_->plan_model(key, one.shape, rows);
    }
  }
  fits.complete = true;
  return made;
}

}  // namespace rubato
