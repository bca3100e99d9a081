// SPDX-License-Identifier: GPL-2.0-or-later
// Forecasts of a job's throughput with given resources: one interface to all models, for the
// policies.
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

/// The resources of a whole job for a forecast. A count of 0 is unknown.
struct Resources {
  std::string gpu_type;  ///< "" without GPUs
  int gpus = 0;          ///< 0: runs on CPUs
  int nodes = 0;
  int cores = 0;
  std::int64_t memory_mib = 0;

  auto operator<=>(const Resources&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// The properties of a job that determine its throughput: profile and hints.
struct JobSpec {
  ProfileName profile;
  std::optional<ModelShape> shape{};
  std::optional<Plans> plans{};  ///< none: as submitted
  std::optional<Batch> batch{};  ///< none: the job's own choice
  Device device = Device::kGpu;
  std::int64_t present_batch = 0;  ///< of its last report; 0: none
  int present_gpus = 0;            ///< with which it ran at that batch; 0: not known
  std::optional<double> noise{};   ///< gradient noise of the work left, samples; none: not known
  std::string plan{};              ///< the plan that the job says it runs; "" if it does not
  /// Of its range only its own batch or larger ones are chosen, if its gradient noise is known.
  bool batch_grows = false;
};

/// The batch that the job runs with on that many GPUs if no other is chosen: its fixed one, or that
/// of its last report; 0: not known. A job without a hint may grow its batch with its GPUs, so its
/// last report says only what it does on as many.
[[nodiscard]] std::int64_t own_batch(const JobSpec& job, int gpus);

/// Which model a forecast comes from.
enum class ModelKind {
  kNone,          ///< only the relative speeds of GPU types
  kThroughput,    ///< the Gaussian process over all job types (throughput.h)
  kPlans,         ///< execution plans (plan_model.h)
  kDataParallel,  ///< data-parallel steps and the batch tables (data_parallel.h, batch_tables.h)
  kStepTime,      ///< parameter servers and workers on CPUs and GPUs (step_time.h)
};

/// One word, such as "plans".
[[nodiscard]] const char* to_string(ModelKind);

/// A forecast. ln(throughput) is normal with mean ln(`throughput`) and standard deviation `stddev`.
struct Prediction {
  double throughput =
      0;  ///< processed samples/s, above 0 if feasible; without a known profile only ratios count
  double stddev = 0;
  double goodput = 0;         ///< efficient samples/s: throughput times statistical efficiency (1
                              ///< without reported noise)
  std::string plan{};         ///< execution plan to run with; "" as submitted
  std::int64_t batch = 0;     ///< global batch to run with; 0: the job's own choice
  bool plan_chosen = false;   ///< chosen among several that its hints allow
  bool batch_chosen = false;  ///< likewise
  /// ln of its throughput over that of the same model at the job's own batch, with its standard
  /// deviation; none without a chosen batch, or if the job cannot run there with its own.
  std::optional<double> batch_gain{};
  double batch_gain_stddev = 0;
  /// The fewest resources that give this within 1 % by the models; never more than requested.
  Resources effective{};
  ModelKind model_kind = ModelKind::kNone;
  bool known_profile = false;
  bool feasible = true;
  std::int64_t samples = 0;  ///< reports of exactly this GPU type and size

  /// 1 - stddev, in 0..1.
  [[nodiscard]] double confidence() const;
};

/// The smallest relative gain for which more resources count as used ("envelope" in the literature
/// on execution plans).
inline constexpr double kEnvelope = 0.01;

/// Summary of one fit for users.
struct FitSummary {
  ProfileName profile;
  std::string gpu_type;
  ModelKind model_kind = ModelKind::kNone;
  int configurations = 0;    ///< number of different ones
  std::int64_t samples = 0;  ///< reports
  /// Relative errors of the fit on its own rows, weighted by their reports.
  double mean_error = 0;
  double max_error = 0;
  std::vector<std::pair<std::string, double>> parameters{};
  std::vector<std::string> flags{};  ///< problems of the fit, a word or two each
};

/// A model shape that jobs of a profile state.
struct ProfileShape {
  ProfileName profile;
  ModelShape shape;

  bool operator==(const ProfileShape&) const = default;
};
/// By profile, then the numbers of the shape.
[[nodiscard]] bool operator<(const ProfileShape& a, const ProfileShape& b);

/// Step-time models, each fitted to rows at its first use, or all in advance (ready()).
/// Thread-safe.
class StepTimeModels {
 public:
  /// Maximum number of rows used: those with the most reports.
  static constexpr std::size_t kMaxRows = 4096;

  /// Drops rows that are not usable() and duplicates. `memory`: configured MiB per GPU of each
  /// type. `links`: configured bandwidth between the GPUs of a node, GB/s per GPU (NvLink=).
  explicit StepTimeModels(std::vector<MeasuredRow> rows,
                          std::map<std::string, std::int64_t> memory = {},
                          std::map<std::string, double> links = {});
  ~StepTimeModels();
  /// Takes the fits of an earlier object for each profile on a GPU type whose rows are the same.
  void take_fits(const StepTimeModels& earlier);
  StepTimeModels(const StepTimeModels&) = delete;
  StepTimeModels& operator=(const StepTimeModels&) = delete;

  /// A version of the same rows in which all fits are made: those of each profile on each GPU type,
  /// and those of execution plans for `shapes`. It makes no other fit: predict() is nullopt for a
  /// job that needs one. Fits that this object has made are not made again.
  [[nodiscard]] std::shared_ptr<const StepTimeModels> ready(std::vector<ProfileShape> shapes) const;
  /// Those of ready(), sorted; nullopt if fits are made at their first use.
  [[nodiscard]] const std::optional<std::vector<ProfileShape>>& shapes() const { return shapes_; }
  /// Number of fits that this object has made.
  [[nodiscard]] std::int64_t fits_made() const;

  /// Sorted.
  [[nodiscard]] const std::vector<MeasuredRow>& rows() const { return rows_; }
  [[nodiscard]] const std::map<std::string, std::int64_t>& memory() const { return memory_; }
  [[nodiscard]] const std::map<std::string, double>& links() const { return links_; }
  /// The gradient noise that the rows of a profile had in the median; none without any.
  [[nodiscard]] std::optional<double> noise(const ProfileName& profile) const;

  /// A prediction by the model for this job. nullopt if the profile has no such model on the GPU
  /// type, or too few observations. Leaves `effective` empty.
  [[nodiscard]] std::optional<Prediction> predict(const JobSpec& job, const Resources& at) const;

  /// The point of the resource-sensitivity curve (plan_curve.h) of a job with a known shape and
  /// plans, at the best of the batches that predict() tries; `effective` has the used part of
  /// `granted`. nullopt for other jobs.
  [[nodiscard]] std::optional<Prediction> curve(const JobSpec& job, const Resources& granted) const;
  /// The fewest resources with which its best plan is as fast as `plan` ("": each GPU has the whole
  /// model) with `guaranteed`. nullopt if unknown, or if the plan cannot run there.
  [[nodiscard]] std::optional<Resources> least(const JobSpec& job, const Resources& guaranteed,
                                               const std::string& plan) const;

  /// Makes all fits now: per profile and GPU type the data-parallel or parameter-server model, and
  /// for job types in `shapes` that of execution plans. Sorted by profile, GPU type, model.
  [[nodiscard]] std::vector<FitSummary> summaries(
      const std::map<std::string, ModelShape>& shapes = {}) const;

  /// Predictions of the fits for ThroughputModel: each measured profile on its measured GPU types,
  /// at sizes up to twice the largest measured.
  [[nodiscard]] std::vector<CurvePoint> curve_points() const;

 private:
  struct Fits;

  [[nodiscard]] std::int64_t memory_of(const std::string& gpu_type) const;
  [[nodiscard]] std::optional<Prediction> curve_at(const JobSpec& job, const Resources& granted,
                                                   std::int64_t batch) const;

  /// Copies rows and memory of `other`.
  StepTimeModels(const StepTimeModels& other, std::vector<ProfileShape> shapes);

  std::optional<std::vector<ProfileShape>> shapes_;
  std::vector<MeasuredRow> rows_;
  std::map<std::string, std::int64_t> memory_;
  std::map<std::string, double> links_;
  std::unique_ptr<Fits> fits_;
};

struct BatchScaling;

/// Immutable and thread-safe; answers any query. Each answer is computed once.
class Predictor {
 public:
  /// Maximum number of cached answers; a full cache is cleared.
  static constexpr std::size_t kMaxKept = 65536;

  /// Either may be null: no such model.
  Predictor(std::shared_ptr<const ThroughputModel> throughput_model,
            std::shared_ptr<const StepTimeModels> step_time_models);

  /// The best way to run the job with these resources. Uses the model of execution plans for a job
  /// with a known shape and plans. Uses that of parameter servers for a job on CPUs or whose
  /// reports name servers. Uses the data-parallel one for a job with a range of batches. Otherwise,
  /// or with too few observations, uses the Gaussian process, which gets the others as curves.
  [[nodiscard]] Prediction predict(const JobSpec& job, const Resources& at) const;

  /// The job as it is: at its own batch, nodes and plan, by the Gaussian process. Where the job
  /// does not say: at the usual batch of its profile in its range, on as few nodes as needed, with
  /// the usual plan. There must be a throughput model.
  [[nodiscard]] Forecast unchanged(const JobSpec& job, const Resources& at) const;

  /// predict() if fewer GPUs than in `at` may be used: at least the throughput of each smaller size
  /// in `sizes`. `effective` has the used size.
  [[nodiscard]] Prediction envelope(const JobSpec& job, const Resources& at,
                                    std::span<const int> sizes) const;

  /// A resource-sensitivity curve: the best with at most each of `sizes` up to the GPUs of `at`,
  /// with nodes, cores and memory in proportion. Never decreases along the sizes; `effective` has
  /// the used resources. For sizing several jobs together.
  [[nodiscard]] std::vector<Prediction> curve(const JobSpec& job, const Resources& at,
                                              std::span<const int> sizes) const;
  /// The fewest resources that keep a guarantee: as fast as with `guaranteed`, within the envelope,
  /// at one of `sizes`. `guaranteed` itself if no smaller size is known to suffice.
  [[nodiscard]] Resources least(const JobSpec& job, const Resources& guaranteed,
                                std::span<const int> sizes, const std::string& plan = {}) const;

  /// Scaling of the best batch in the job's range, by tables of device times and of all-reduces
  /// (batch_scaling.h). `shapes`: of other job types, whose all-reduces then count too. Not cached.
  [[nodiscard]] BatchScaling scaling(const JobSpec& job, const std::string& gpu_type, int max_gpus,
                                     const std::map<std::string, ModelShape>& shapes = {}) const;

  [[nodiscard]] const ThroughputModel* throughput_model() const { return throughput_model_.get(); }
  [[nodiscard]] const StepTimeModels* step_time_models() const { return step_time_models_.get(); }

 private:
  [[nodiscard]] Prediction compute(const JobSpec& job, const Resources& at) const;
  [[nodiscard]] Prediction from_throughput(const JobSpec& job, const Resources& at) const;
  /// Of a job that has reported none.
  [[nodiscard]] std::optional<double> noise_of(const ProfileName& profile) const;
  /// The batch of unchanged(); 0: the usual one, which is not known.
  [[nodiscard]] std::int64_t batch_of(const JobSpec& job, int gpus) const;

  std::shared_ptr<const ThroughputModel> throughput_model_;
  std::shared_ptr<const StepTimeModels> step_time_models_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, Prediction> kept_;
};

}  // namespace rubato
