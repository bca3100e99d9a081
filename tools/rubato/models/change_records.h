// SPDX-License-Identifier: GPL-2.0-or-later
// The records of `rubato models import` and `forget`, described as those of lib/json/records.h.
#pragma once

#include "lib/json/record_description.h"
#include "lib/store/orders.h"

namespace rubato::tools {

/// The document.
struct ModelsChange {
  bool dry_run = false;
  store::OrderDone done;
};

}  // namespace rubato::tools

namespace rubato::json {

template <typename Visitor, Is<store::OrderDone> R>
void describe(Visitor& v, R& done) {
  v.number("samples", done.samples, kMaxSamples, kAlways);
  v.number("imported", done.rows, kMaxSamples, kAlways);
  v.note("imported", "rows of other sites");
  v.number("fits", done.fits, kMaxSamples, kAlways);
}

template <typename Visitor, Is<tools::ModelsChange> R>
void describe(Visitor& v, R& change) {
  v.yes("dry_run", change.dry_run, kAlways);
  v.note("dry_run", "true: nothing was changed; the members say what would be");
  v.number("imported", change.done.imported, kMaxSamples, kAlways);
  v.note("imported", "imported rows");
  v.object("forgotten", change.done, kAlways);
}

}  // namespace rubato::json
