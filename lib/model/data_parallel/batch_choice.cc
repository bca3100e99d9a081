// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/model/data_parallel/batch_choice.h"

#include <algorithm>
#include <cmath>

#include "lib/model/data_parallel/goodput.h"

namespace rubato {
namespace {

// Batches from the present one, not counted, to the best of the mean forecast.
constexpr int kSteps = 4;

class BatchSearch {
 public:
  BatchSearch(const DataParallelModel& model, const BatchQuestion& question)
      : model_(model), question_(question), reference_(static_cast<double>(question.range.least)) {}

  /// The batch of the highest mean goodput in the range.
  [[nodiscard]] std::optional<BatchForecast> best() const {
    const BatchRange& range = question_.range;
    if (!question_.noise || range.least == range.most)
      return forecast_of(best_batch(range, question_.gpus, seconds()));
    return forecast_of(best_goodput(range, question_.gpus, seconds(), question_.noise));
  }

  /// nullopt if the batch cannot run there.
  [[nodiscard]] std::optional<BatchForecast> at(std::int64_t batch) const {
    BatchRange only = question_.range;
    only.least = only.most = batch;
    return forecast_of(best_batch(only, question_.gpus, seconds()));
  }

 private:
  [[nodiscard]] IterationSeconds seconds() const {
    return [this](double local, int passes) {
      return model_.iteration_seconds({local, question_.gpus, question_.nodes}, passes);
    };
  }

  [[nodiscard]] std::optional<BatchForecast> forecast_of(
      const std::optional<BatchChoice>& choice) const {
    if (!choice || choice->seconds <= 0) return std::nullopt;
    const auto batch = static_cast<double>(choice->batch);
    const double local = batch / question_.gpus / choice->passes;
    const auto step = model_.iteration({local, question_.gpus, question_.nodes}, choice->passes);
    if (!step || !(step->seconds > 0)) return std::nullopt;
    double share = 1;
    if (question_.noise)
      share = statistical_efficiency(*question_.noise, batch, reference_).value_or(1);
    BatchForecast out;
    out.batch = choice->batch;
    out.seconds = step->seconds;
    out.stddev = step->stddev;
    out.log_goodput = std::log(batch / step->seconds * share);
    return out;
  }

  const DataParallelModel& model_;
  const BatchQuestion& question_;
  double reference_;
};

// The uncertainty that both share cancels in the change.
void set_change(const BatchForecast& own, BatchForecast& other) {
  const double speed = static_cast<double>(other.batch) / other.seconds;
  other.gain = std::log(speed / (static_cast<double>(own.batch) / own.seconds));
  const double extra = other.stddev * other.stddev - own.stddev * own.stddev;
  other.gain_stddev = std::sqrt(std::max(extra, 0.0));
}

}  // namespace

std::optional<BatchForecast> choose_batch(const DataParallelModel& model,
                                          const BatchQuestion& question) {
  const BatchSearch search(model, question);
  const std::optional<BatchForecast> best = search.best();
  if (!best) return std::nullopt;
  const std::int64_t present =
      std::clamp(question.present, question.range.least, question.range.most);
  const std::optional<BatchForecast> own = search.at(present);
  if (!own) return best;
  BatchForecast chosen = *own;
  chosen.gain = 0;
  double most = own->log_goodput + kBatchGain;
  const double ratio = std::log(static_cast<double>(best->batch) / static_cast<double>(own->batch));
  for (int i = 1; i <= kSteps; ++i) {
    const double between = static_cast<double>(own->batch) * std::exp(ratio * i / kSteps);
    std::optional<BatchForecast> other = i == kSteps ? best : search.at(std::llround(between));
    if (!other || other->batch == own->batch) continue;
    set_change(*own, *other);
    const double sure = other->log_goodput - question.doubt * other->gain_stddev;
    if (sure <= most) continue;
    most = sure;
    chosen = *other;
  }
  return chosen;
}

}  // namespace rubato
