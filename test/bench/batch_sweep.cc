// SPDX-License-Identifier: GPL-2.0-or-later
// How much doubt counts against another batch (batch_choice.h): jobs of generated types start one
// after the other, each at the batch that the measurements so far suggest. Prints, for each doubt,
// the mean time of a job relative to that at its best batch, of the first and of all tries, the
// part of starts that were slower than the user's own batch, and the worst.
//
//   batch_sweep [TYPES [SEED]]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include "lib/model/data_parallel/batch_choice.h"
#include "lib/model/data_parallel/goodput.h"

namespace {

using namespace rubato;  // NOLINT(google-build-using-namespace)

constexpr int kStarts = 8;
constexpr double kReportNoise = 0.03;  // of the mean of a run's reports

struct JobKind {
  double fixed, per_sample, sync, overlap;
  BatchRange range;
  std::int64_t own;
  std::optional<double> noise;
  std::vector<int> gpus;  // of each start

  [[nodiscard]] double seconds(double batch, int size) const {
    const double pass = fixed + per_sample * batch / size;
    const double exchange = size > 1 ? sync * (1 + 0.05 * (size - 2)) : 0;
    return std::pow(std::pow(pass, overlap) + std::pow(exchange, overlap), 1 / overlap);
  }
  [[nodiscard]] double goodput(std::int64_t batch, int size) const {
    const auto b = static_cast<double>(batch);
    const double share =
        noise ? *statistical_efficiency(*noise, b, static_cast<double>(range.least)) : 1;
    return b / seconds(b, size) * share;
  }
};

JobKind draw(std::mt19937_64& random) {
  const auto log_between = [&](double low, double high) {
    return low * std::exp(std::uniform_real_distribution<>(0, std::log(high / low))(random));
  };
  JobKind kind{};
  kind.fixed = log_between(0.002, 0.2);
  kind.per_sample = log_between(0.0001, 0.02);
  kind.sync = log_between(0.001, 0.1);
  kind.overlap = log_between(1, 4);
  kind.range.least = std::int64_t{8} << std::uniform_int_distribution<>(0, 4)(random);
  kind.range.most = kind.range.least << std::uniform_int_distribution<>(1, 6)(random);
  const bool lower_end = std::bernoulli_distribution(0.5)(random);
  kind.own = lower_end
                 ? kind.range.least
                 : static_cast<std::int64_t>(log_between(static_cast<double>(kind.range.least),
                                                         static_cast<double>(kind.range.most)));
  if (std::bernoulli_distribution(0.5)(random))
    kind.noise = log_between(static_cast<double>(kind.range.least) / 2,
                             static_cast<double>(kind.range.most) * 4);
  const int usual = 1 << std::uniform_int_distribution<>(0, 3)(random);
  for (int i = 0; i < kStarts; ++i) {
    const bool other = std::bernoulli_distribution(0.25)(random);
    kind.gpus.push_back(other ? 1 << std::uniform_int_distribution<>(0, 3)(random) : usual);
  }
  return kind;
}

struct Score {
  double all = 0, first = 0, last = 0, worst = 0;
  int starts = 0, slower = 0, kinds = 0;
};

void play(const JobKind& kind, double doubt, std::uint64_t seed, Score& score) {
  std::mt19937_64 random(seed);
  std::vector<DataParallelSample> samples;
  std::int64_t largest = 0;
  for (int i = 0; i < kStarts; ++i) {
    const int gpus = kind.gpus[static_cast<std::size_t>(i)];
    std::int64_t batch = std::max<std::int64_t>(kind.own, gpus);
    if (i > 0) {
      BatchQuestion question{.range = kind.range, .gpus = gpus, .present = batch};
      question.range.max_local = 2 * largest;
      question.range.one_pass = true;
      question.noise = kind.noise;
      question.doubt = doubt;
      const DataParallelModel model(samples);
      if (const auto chosen = choose_batch(model, question)) batch = chosen->batch;
      double best = 0;
      for (std::int64_t b = std::max<std::int64_t>(kind.range.least, gpus); b <= kind.range.most;
           b = std::max(b + 1, b * 102 / 100))
        best = std::max(best, kind.goodput(b, gpus));
      const double time = best / kind.goodput(batch, gpus);
      const double against =
          kind.goodput(std::max<std::int64_t>(kind.own, gpus), gpus) / kind.goodput(batch, gpus);
      score.all += time;
      if (i == 1) score.first += time;
      if (i == kStarts - 1) score.last += time;
      ++score.starts;
      score.slower += against > 1.01 ? 1 : 0;
      score.worst = std::max(score.worst, against);
    }
    largest = std::max(largest, (batch + gpus - 1) / gpus);
    const double step = kind.seconds(static_cast<double>(batch), gpus) *
                        std::exp(std::normal_distribution<>(0, kReportNoise)(random));
    samples.push_back({{static_cast<double>(batch) / gpus, gpus, 1}, step, {}});
  }
  ++score.kinds;
}

}  // namespace

int main(int argc, char** argv) {
  const int kinds = argc > 1 ? std::atoi(argv[1]) : 300;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  fmt::print(
      "| doubt | first | last | all | slower than own | worst |\n|---|---|---|---|---|---|\n");
  for (const double doubt : {0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 1e9}) {
    std::mt19937_64 random(seed);
    Score score;
    for (int i = 0; i < kinds; ++i)
      play(draw(random), doubt, seed * 1000003 + static_cast<std::uint64_t>(i), score);
    fmt::print("| {} | {:.3f} | {:.3f} | {:.3f} | {:.1f} % | {:.2f} |\n",
               doubt > 100 ? "never" : fmt::format("{}", doubt), score.first / score.kinds,
               score.last / score.kinds, score.all / score.starts,
               100.0 * score.slower / score.starts, score.worst);
  }
  return 0;
}
