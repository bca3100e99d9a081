// SPDX-License-Identifier: GPL-2.0-or-later
// Properties of the data-parallel model, the tables and the search for a batch, on any input.
#include "lib/model/data_parallel/data_parallel.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lib/model/data_parallel/best_batch.h"
#include "lib/model/data_parallel/goodput.h"
#include "test/support/gen_snapshot.h"

namespace rubato::test {
namespace {

double gen_seconds() {
  static const std::vector<double> kOdd{0,
                                        -1,
                                        1e-300,
                                        1e300,
                                        1e9,
                                        1e-9,
                                        std::numeric_limits<double>::infinity(),
                                        std::numeric_limits<double>::quiet_NaN()};
  if (gen_chance(10)) return kOdd[static_cast<std::size_t>(gen_int(0, 7))];
  return std::exp(gen_int(-9000, 7000) / 1000.0);
}

std::vector<DataParallelSample> gen_samples() {
  std::vector<DataParallelSample> samples;
  const int count = gen_int(0, 14);
  const bool constant = gen_chance(15);
  for (int i = 0; i < count; ++i) {
    const int nodes = gen_int(1, 4);
    DataParallelSample s{{static_cast<double>(gen_int(1, 512)), gen_int(nodes, 8 * nodes), nodes},
                         constant ? 0.5 : gen_seconds(),
                         {}};
    if (gen_chance(5)) s.at.nodes = s.at.gpus + 1;
    if (gen_chance(40))
      s.sync_time = gen_chance(70) ? s.step_time * gen_int(0, 99) / 100 : gen_seconds();
    samples.push_back(s);
    if (gen_chance(20)) samples.push_back(s);
  }
  return samples;
}

DataParallelConfiguration gen_configuration() {
  const int nodes = gen_int(1, 16);
  return {std::exp(gen_int(0, 14000) / 1000.0), gen_int(nodes, 16 * nodes), nodes};
}

// A random permutation.
template <typename T>
std::vector<T> gen_shuffled(std::vector<T> values) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[static_cast<std::size_t>(gen_int(0, static_cast<int>(i) - 1))]);
  }
  return values;
}

RC_GTEST_PROP(DataParallelProperty, AnySamplesGiveFiniteForecastsAndFlags, ()) {
  const std::vector<DataParallelSample> samples = gen_samples();
  const DataParallelModel model(samples);
  const bool dropped = std::ranges::any_of(samples, [](const DataParallelSample& s) {
    return !valid(s.at) || !(s.step_time > 0) || !std::isfinite(s.step_time);
  });
  if (dropped) {
    RC_ASSERT(std::ranges::find(model.flags(), DataParallelFlag::kDropped) != model.flags().end());
  }
  if (model.configurations() < 3) {
    RC_ASSERT(std::ranges::find(model.flags(), DataParallelFlag::kFewConfigurations) !=
              model.flags().end());
  }
  RC_ASSERT(std::isfinite(model.error()) && model.error() >= 0);
  for (int i = 0; i < 10; ++i) {
    const DataParallelConfiguration at = gen_configuration();
    const int passes = gen_int(1, 8);
    const auto forecast = model.iteration(at, passes);
    RC_ASSERT(forecast.has_value() == !model.empty());
    if (!forecast) continue;
    RC_ASSERT(forecast->seconds > 0 && std::isfinite(forecast->seconds));
    RC_ASSERT(forecast->stddev > 0 && std::isfinite(forecast->stddev));
    RC_ASSERT(model.iteration_seconds(at, passes + 1) >= forecast->seconds);
  }
}

RC_GTEST_PROP(DataParallelProperty, TheOrderOfTheSamplesDoesNotMatter, ()) {
  const std::vector<DataParallelSample> samples = gen_samples();
  const DataParallelModel one(samples);
  const DataParallelModel again(samples);
  const DataParallelModel other(gen_shuffled(samples));
  RC_ASSERT(one.flags() == other.flags());
  for (int i = 0; i < 5; ++i) {
    const DataParallelConfiguration at = gen_configuration();
    const auto a = one.step(at);
    const auto b = other.step(at);
    const auto c = again.step(at);
    RC_ASSERT(a.has_value() == b.has_value() && a.has_value() == c.has_value());
    if (!a) continue;
    RC_ASSERT(a->seconds == b->seconds && a->stddev == b->stddev);
    RC_ASSERT(a->seconds == c->seconds && a->stddev == c->stddev);
  }
}

// Times of a job that follows the family: extrapolations must stay plausible.
RC_GTEST_PROP(DataParallelProperty, SaneSamplesExtrapolateSanely, ()) {
  const double fixed = std::exp(gen_int(-5000, 0) / 1000.0);
  const double per_sample = fixed * gen_int(1, 100) / 1000.0;
  const double sync = fixed * gen_int(0, 200) / 100.0;
  const auto truth = [&](const DataParallelConfiguration& at) {
    return fixed + per_sample * at.local_batch + (at.gpus > 1 ? sync * (at.nodes > 1 ? 2 : 1) : 0);
  };
  std::vector<DataParallelSample> samples;
  for (const double batch : {8.0, 32.0, 128.0}) {
    for (const int gpus : {1, 2, 8}) {
      const DataParallelConfiguration at{batch, gpus, gpus > 4 ? 2 : 1};
      samples.push_back({at, truth(at), {}});
    }
  }
  const DataParallelModel model(samples);
  for (int i = 0; i < 5; ++i) {
    const int nodes = gen_int(1, 4);
    const DataParallelConfiguration at{static_cast<double>(gen_int(4, 512)),
                                       gen_int(nodes, 4 * nodes), nodes};
    const double ratio = model.iteration_seconds(at, 1) / truth(at);
    RC_ASSERT(ratio > 1.0 / 3 && ratio < 3);
  }
}

RC_GTEST_PROP(DataParallelProperty, ChoosesWhatIsNotTaken, ()) {
  const DataParallelModel model(gen_samples());
  std::vector<DataParallelConfiguration> configurations;
  std::vector<bool> taken;
  for (int i = gen_int(1, 12); i > 0; --i) {
    configurations.push_back(gen_configuration());
    taken.push_back(gen_chance(40));
  }
  const auto row = model.most_informative_row(configurations, taken);
  RC_ASSERT(row.has_value() == (std::ranges::find(taken, false) != taken.end()));
  if (row) RC_ASSERT(!taken[*row]);
}

RC_GTEST_PROP(BatchTableProperty, NeverShorterForMore, ()) {
  std::vector<BatchTime> rows;
  for (int i = gen_int(0, 8); i > 0; --i) {
    rows.push_back({static_cast<double>(gen_int(-1, 256)), gen_seconds()});
  }
  const BatchTable table(rows);
  double before = 0;
  for (int batch = 1; batch < 600; batch += gen_int(1, 40)) {
    const auto seconds = table.seconds(batch);
    RC_ASSERT(seconds.has_value() == !table.empty());
    if (!seconds) continue;
    RC_ASSERT(std::isfinite(*seconds) && *seconds > 0 && *seconds >= before);
    before = *seconds;
  }
}

RC_GTEST_PROP(CommunicationTableProperty, NeverShorterForMoreBytes, ()) {
  std::vector<CommunicationTime> rows;
  for (int i = gen_int(0, 8); i > 0; --i) {
    rows.push_back({std::exp(gen_int(0, 25)), gen_int(0, 16), gen_seconds()});
  }
  const CommunicationTable table(rows, {.bandwidth = std::exp(gen_int(0, 30)), .latency = 1e-5});
  const int devices = gen_int(1, 40);
  double before = 0;
  for (double bytes = 1; bytes < 1e12; bytes *= 1 + gen_int(1, 50) / 10.0) {
    const auto seconds = table.seconds(bytes, devices);
    RC_ASSERT(seconds.has_value());
    RC_ASSERT(std::isfinite(*seconds) && *seconds >= before * (1 - 1e-12));
    before = *seconds;
  }
}

// Tries all batches and passes one by one.
std::optional<BatchChoice> brute_force(const BatchRange& range, int gpus,
                                       const IterationSeconds& seconds, const BatchWorth& worth) {
  std::optional<BatchChoice> best;
  std::int64_t needed = range.max_passes;
  if (range.max_local > 0) {
    const std::int64_t full = gpus * range.max_local;
    needed = std::max<std::int64_t>(needed, (range.most + full - 1) / full);
  }
  for (std::int64_t batch = range.least; batch <= range.most; ++batch) {
    for (std::int64_t passes = 1; passes <= needed; ++passes) {
      const std::int64_t share = gpus * passes;
      // A sample for every GPU in every pass, at the maximum batch.
      if (range.most < share) break;
      const std::int64_t local = (batch + share - 1) / share;
      if (range.max_local > 0 && local > range.max_local) continue;
      if (local < range.min_local) continue;
      const double time = seconds(static_cast<double>(local), static_cast<int>(passes));
      if (!(time > 0) || !std::isfinite(time)) continue;
      const double value = static_cast<double>(batch) / time * worth(static_cast<double>(batch));
      if (!best || value > best->value) {
        best = BatchChoice{batch, local, static_cast<int>(passes), time, value};
      }
    }
  }
  return best;
}

RC_GTEST_PROP(BestBatchProperty, IsWhatTryingAllFinds, ()) {
  BatchRange range;
  range.least = gen_int(1, 60);
  range.most = range.least + (gen_chance(30) ? 0 : gen_int(0, 200));
  range.max_local = gen_chance(50) ? 0 : gen_int(1, 40);
  range.min_local = gen_chance(70) ? 1 : gen_int(1, 8);
  range.max_passes = gen_int(1, 4);
  const int gpus = gen_int(4, 12);
  // Arbitrary, unordered times.
  std::vector<double> times;
  for (int i = 0; i < 100; ++i) times.push_back(gen_chance(5) ? -1 : gen_int(1, 1000) / 100.0);
  const IterationSeconds seconds = [&](double local_batch, int passes) {
    return times[static_cast<std::size_t>(local_batch) % times.size()] * passes + 0.1;
  };
  const double noise = gen_int(0, 500);
  const BatchWorth worth = [&](double batch) {
    return *statistical_efficiency(noise, batch, static_cast<double>(range.least));
  };
  const auto found = best_batch(range, gpus, seconds, worth);
  const auto tried = brute_force(range, gpus, seconds, worth);
  RC_ASSERT(found.has_value() == tried.has_value());
  if (!found) return;
  RC_ASSERT(std::abs(found->value - tried->value) <= 1e-12 * tried->value);
  RC_ASSERT(found->batch >= range.least && found->batch <= range.most);
  RC_ASSERT(found->batch >= gpus * found->passes || found->batch == range.most);
  RC_ASSERT(found->local * gpus * found->passes >= found->batch);
}

RC_GTEST_PROP(EfficiencyProperty, IsAShareThatFallsWithTheBatch, ()) {
  const double noise = gen_chance(10) ? 0 : std::exp(gen_int(-10, 40));
  const double reference = gen_int(1, 1000);
  double before = 1;
  double counted = 0;
  for (double batch = reference; batch < 1e6; batch *= 1 + gen_int(1, 20) / 10.0) {
    const double share = *statistical_efficiency(noise, batch, reference);
    RC_ASSERT(share > 0 && share <= before);
    RC_ASSERT(batch * share >= counted * (1 - 1e-12));
    before = share;
    counted = batch * share;
  }
}

RC_GTEST_PROP(JobScalabilityProperty, TheEnvelopeNeverFallsAndNeverGrantsMore, ()) {
  std::vector<BatchTime> rows;
  for (int i = gen_int(0, 6); i > 0; --i) {
    rows.push_back({static_cast<double>(gen_int(1, 256)), gen_seconds()});
  }
  BatchRange range{.least = gen_int(1, 64)};
  range.most = range.least * gen_int(1, 8);
  range.max_local = gen_chance(50) ? 0 : gen_int(1, 64);
  const JobScalability job(BatchTable(rows), CommunicationTable({}), 1e8, range, 12);
  double before = 0;
  for (int gpus = 1; gpus <= 12; ++gpus) {
    const auto effective = job.effective(gpus);
    RC_ASSERT(effective.gpus <= gpus && effective.scaling >= before);
    RC_ASSERT(effective.scaling >= job.scaling(gpus) && std::isfinite(effective.scaling));
    before = effective.scaling;
  }
}

}  // namespace
}  // namespace rubato::test
