// SPDX-License-Identifier: GPL-2.0-or-later
// How fast a job would be with given resources: one interface to all models, for the policies.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/hints/types.h"
#include "lib/model/measured_row.h"
#include "lib/model/throughput/throughput.h"

namespace rubato {

/// What a forecast is asked for: the whole job. Counts of 0 are not known.
struct Resources {
  std::string gpu_type;  ///< "" without GPUs
  int gpus = 0;          ///< 0: on CPUs
  int nodes = 0;
  int cores = 0;
  std::int64_t memory_mib = 0;

  auto operator<=>(const Resources&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// What of a job matters to its speed: its profile and its hints.
struct JobSpec {
  ProfileName profile;
  std::optional<ModelShape> shape{};
  std::optional<Plans> plans{};  ///< none: as submitted
  std::optional<Batch> batch{};  ///< none: what the job chose
  Device device = Device::kGpu;
};

/// Which model a forecast comes from.
enum class ModelKind {
  kNone,          ///< nothing is known but the speed of GPU types
  kThroughput,    ///< the Gaussian process over all job types (throughput.h)
  kPlans,         ///< execution plans (plan_model.h)
  kDataParallel,  ///< data-parallel steps and the batch tables (data_parallel.h, batch_tables.h)
  kStepTime,      ///< parameter servers and workers on CPUs and GPUs (step_time.h)
};

/// One word, such as "plans".
[[nodiscard]] const char* to_string(ModelKind);

/// A forecast. ln(theta) is normal with mean ln(`throughput`) and standard deviation `stddev`.
struct Prediction {
  double throughput =
      0;  ///< samples/s, above 0 if feasible; without a known profile only ratios count
  double stddev = 0;
  double goodput = 0;      ///< theta times statistical efficiency; theta where no noise is reported
  std::string plan{};      ///< execution plan to run with; "" as submitted
  std::int64_t batch = 0;  ///< global batch to run with; 0: what the job chose
  bool plan_chosen = false;   ///< of several that its hints allow
  bool batch_chosen = false;  ///< likewise
  /// The least resources that give this within 1 %, so far as the models know: never more than
  /// asked for.
  Resources effective{};
  ModelKind model_kind = ModelKind::kNone;
  bool known_profile = false;
  bool feasible = true;
  std::int64_t samples = 0;  ///< reports of exactly this type and size

  /// 1 - spread, in 0..1.
  [[nodiscard]] double confidence() const;
};

/// The least gain for which more resources count as used: what the authors of execution plans call
/// the envelope.
inline constexpr double kEnvelope = 0.01;

/// One fit, for a person.
struct FitSummary {
  ProfileName profile;
  std::string gpu_type;
  ModelKind model_kind = ModelKind::kNone;
  int configurations = 0;    ///< that differ
  std::int64_t samples = 0;  ///< reports
  /// Relative errors of the fit on the rows it was made from, weighted by their reports.
  double mean_error = 0;
  double max_error = 0;
  std::vector<std::pair<std::string, double>> parameters{};
  std::vector<std::string> flags{};  ///< what is wrong with it, a word or two each
};

/// Models of step times fitted to rows, each when it is first asked for. Safe from several threads.
class StepTimeModels {
 public:
  /// Most rows that are used; of more, those with most reports.
  static constexpr std::size_t kMaxRows = 4096;

  /// Rows that are not usable() are left out; of equal ones the first counts. `memory`: MiB of one
  /// GPU of a type, where it is configured.
  explicit StepTimeModels(std::vector<MeasuredRow> rows,
                          std::map<std::string, std::int64_t> memory = {});
  ~StepTimeModels();
  StepTimeModels(const StepTimeModels&) = delete;
  StepTimeModels& operator=(const StepTimeModels&) = delete;

  /// Sorted.
  [[nodiscard]] const std::vector<MeasuredRow>& rows() const { return rows_; }
  [[nodiscard]] const std::map<std::string, std::int64_t>& memory() const { return memory_; }

  /// From the model that suits the job; none where there is no such model for the profile on the
  /// GPU type, or it has not seen enough. `effective` is not filled.
  [[nodiscard]] std::optional<Prediction> predict(const JobSpec& job, const Resources& at) const;

  /// The point of the resource-sensitivity curve of a job that says its shape and its plans
  /// (plan_curve.h), with what it uses of `granted` in `effective`; none for other jobs.
  [[nodiscard]] std::optional<Prediction> curve(const JobSpec& job, const Resources& granted) const;
  /// The least resources in which its best plan is as fast as `plan` ("": every GPU has the whole
  /// model) is with `guaranteed`; none where that is not known, or the plan cannot run there.
  [[nodiscard]] std::optional<Resources> least(const JobSpec& job, const Resources& guaranteed,
                                               const std::string& plan) const;

  /// All fits, made now: of each profile on each GPU type the data-parallel one, or that of
  /// parameter servers, and for job types in `shapes` that of execution plans. By profile, GPU
  /// type, back-end.
  [[nodiscard]] std::vector<FitSummary> summaries(
      const std::map<std::string, ModelShape>& shapes = {}) const;

  /// What the fits expect of the profiles that were measured: on the GPU types they were measured
  /// on, at the sizes up to twice the largest measured. For ThroughputModel.
  [[nodiscard]] std::vector<CurvePoint> curve_points() const;

 private:
  struct Fits;

  std::vector<MeasuredRow> rows_;
  std::map<std::string, std::int64_t> memory_;
  std::unique_ptr<Fits> fits_;
};

struct BatchScaling;

/// Immutable, total, safe from several threads. Each answer is computed once.
class Predictor {
 public:
  /// Most answers that are kept; then all are forgotten at once.
  static constexpr std::size_t kMaxKept = 65536;

  /// Null: nothing of that kind.
  Predictor(std::shared_ptr<const ThroughputModel> throughput_model,
            std::shared_ptr<const StepTimeModels> step_time_models);

  /// The best way to run the job with these resources. Which model answers: that of execution plans
  /// for a job that says its shape and which plans it can run; that of parameter servers for one
  /// whose reports name servers, or that runs on CPUs; the data-parallel one for a job with a range
  /// of batches; else, and where those know too little, the Gaussian process, into which the others
  /// enter as curves.
  [[nodiscard]] Prediction predict(const JobSpec& job, const Resources& at) const;

  /// The same, where fewer GPUs than `at` has may be used: never less than with any size of `sizes`
  /// that is smaller, with that size in `effective`.
  [[nodiscard]] Prediction envelope(const JobSpec& job, const Resources& at,
                                    std::span<const int> sizes) const;

  /// A resource-sensitivity curve: the best within as much or less, for each of `sizes` that `at`
  /// has GPUs for; nodes, cores and memory in proportion. Never falls along the sizes, and
  /// `effective` says what is used. For what sizes jobs together.
  [[nodiscard]] std::vector<Prediction> curve(const JobSpec& job, const Resources& at,
                                              std::span<const int> sizes) const;
  /// The least resources that keep a guarantee: as fast as the job is with `guaranteed`, within
  /// the envelope, at one of `sizes`. `guaranteed` itself where nothing less is known to do.
  [[nodiscard]] Resources least(const JobSpec& job, const Resources& guaranteed,
                                std::span<const int> sizes, const std::string& plan = {}) const;

  /// How the best batch of the job's range scales, by tables of a device's times and of its
  /// interconnect's all-reduces (batch_scaling.h). `shapes`: of other job types, whose all-reduces
  /// then count too. Not kept.
  [[nodiscard]] BatchScaling scaling(const JobSpec& job, const std::string& gpu_type, int max_gpus,
                                     const std::map<std::string, ModelShape>& shapes = {}) const;

  [[nodiscard]] const ThroughputModel* throughput_model() const { return throughput_model_.get(); }
  [[nodiscard]] const StepTimeModels* step_time_models() const { return step_time_models_.get(); }

 private:
  [[nodiscard]] Prediction compute(const JobSpec& job, const Resources& at) const;
  [[nodiscard]] Prediction from_throughput(const JobSpec& job, const Resources& at) const;

  std::shared_ptr<const ThroughputModel> throughput_model_;
  std::shared_ptr<const StepTimeModels> step_time_models_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, Prediction> kept_;
};

}  // namespace rubato
