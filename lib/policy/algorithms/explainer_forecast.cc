// SPDX-License-Identifier: GPL-2.0-or-later
// What the forecasts of a job's speed have to do with where it goes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lib/base/text.h"
#include "lib/core/resize_request.h"
#include "lib/model/progress/statements.h"
#include "lib/policy/algorithms/explainer.h"
#include "lib/policy/algorithms/forecast.h"
#include "lib/policy/algorithms/stated_work.h"

namespace rubato {
namespace {

// From here on samples count as at the smallest batch.
constexpr double kAllCount = 0.995;

// 812, 45.3, 0.0312: three digits are more than a forecast is worth.
std::string throughput_text(double throughput) {
  return throughput >= 1000 ? fmt::format("{:.0f}", throughput) : fmt::format("{:.3g}", throughput);
}

// How sure it is: within this share of the rate for two of three jobs.
std::string stddev_text(double stddev) {
  return fmt::format("{:.0f} %", 100 * (std::exp(std::min(stddev, 3.0)) - 1));
}

}  // namespace

std::string Explainer::forecast_of(const TypeChoice& choice, TypeId type, Account& account) const {
  const Forecast& forecast = choice.forecasts[type];
  const std::string& name = capacity_.types()[type];
  std::string source =
      forecast.samples > 0
          ? fmt::format("{} {}", forecast.samples, forecast.samples == 1 ? "report" : "reports")
          : "estimated";
  if (forecast.efficiency < kAllCount)
    source += fmt::format(", {:.0f} % efficient", 100 * forecast.efficiency);
  if (forecast.jobs == 1) source += " of one job, unproven";
  if (forecast.jobs != 1 && forecast.profile_jobs == 1) source += ", unproven";
  return name + " " +
         account.say("rate." + name, fmt::format("{} samples/s ({}, within {})",
                                                 throughput_text(forecast.throughput()), source,
                                                 stddev_text(forecast.stddev)));
}

// Why it starts on a slower type than the one it was matched to, if that is for those who wait.
void Explainer::slower_type(const PendingEntry& entry, const Placement& placement,
                            Account& account) const {
  const TypeChoice* const choice = entry.types;
  if (choice == nullptr || !choice->matched.valid() || choice->behind == 0) return;
  if (choice->forecasts.empty() || !choice->configurations.empty() || !placement.type.valid())
    return;
  const TypeId given = placement.type;
  const TypeId matched = choice->matched;
  const bool slower = choice->forecasts[given].goodput() < choice->forecasts[matched].goodput();
  const bool cheaper = choice->speed[given] > choice->speed[matched];
  const bool hinted_order = choice->bound && entry.job->hints->gpu_types.size() > 1;
  if (!slower || !cheaper || hinted_order) return;
  const auto named = [](const std::string& type) {
    return type.empty() ? std::string("GPUs without a type") : type;
  };
  account.reason += fmt::format(
      "; {} {} for {}, so it takes {}", account.say("jobs_waiting", choice->behind),
      choice->behind == 1 ? "job waits" : "jobs wait",
      named(account.say("matched", capacity_.types()[matched])), named(capacity_.types()[given]));
}

// Why it starts without the GPUs that it asks for.
void Explainer::on_cpus(const PendingEntry& entry, int gpus, Account& account) const {
  const TypeChoice* const choice = entry.types;
  if (gpus > 0 || choice == nullptr || !choice->on_cpus || !entry.demand.wants_gpus()) return;
  const auto text = [](double seconds) { return duration_text(static_cast<Seconds>(seconds)); };
  account.reason += fmt::format(
      " instead of GPUs, on which it would end later: in {}, with the wait for them, not in {}",
      account.say("seconds_on_gpus", text(choice->seconds_on_gpus)),
      account.say("seconds_on_cpus", text(choice->on_cpus->cost)));
}

// At which size it starts, where that is not the one it asks for.
void Explainer::size(const PendingEntry& entry, const Placement& placement,
                     Account& account) const {
  if (placement.model != nullptr) {
    account.reason += "; it is to run with";
    if (!placement.plan.empty())
      account.reason += " plan " + account.say(kPlanGiven, placement.plan);
    if (placement.batch > 0) {
      account.reason += placement.plan.empty() ? " a global batch of " : " and a global batch of ";
      account.reason += account.say("batch_given", placement.batch);
    }
    account.reason += ", as the model " + account.say("model", placement.model) + " says";
  }
  if (placement.gpus == 0) return;
  const auto asked = static_cast<int>(requested_gpus(*entry.job));
  account.reason += fmt::format(
      "; it asks for {} and can run on {} as well, where {} samples/s are "
      "expected",
      account.say("gpus_asked", asked), account.say("gpus_given", placement.gpus),
      account.say("rate_given", throughput_text(placement.throughput)));
}

// Where it stands in the multi-level queue.
void Explainer::level(const PendingEntry& entry, Account& account) const {
  const Service* const found = service_of(forecasts_.service, entry.job->key);
  if (found == nullptr) return;
  const std::string number = account.say("level", found->level);
  const std::string had =
      account.say("service", fmt::format("{:.0f} GPU-seconds", found->attained));
  account.say("order", entry.order.value() + 1);
  if (found->level > 0)
    account.reason += fmt::format("; it is in level {} of the queue, having had {}", number, had);
  predictable(entry, *found, account);
}

// From what its need follows.
std::string Explainer::need_by(const JobNeed& need, const Job& job) const {
  if (need.overran != 0)
    return fmt::format("by its time limit, since job {} of its user ran past its stated work",
                       need.overran);
  const auto& statements = input_.snapshot.memory.statements;
  const double factor = statement_factor(statements, job.account).value_or(1);
  const bool stated = job.hints && job.hints->work;
  if (need.told && factor > 1 && stated && job.hints->work->unit != WorkUnit::kTargetLoss)
    return fmt::format(
        "by its own work and speed; jobs of its account did {:.1f} times the work that they "
        "stated, so its own counts {:.1f} times",
        factor, factor);
  if (need.told) return "by its own work and speed";
  if (!believed(forecasts_.service, job.key))
    return fmt::format(
        "if it runs as long as is usual: its stated work counts once {} jobs of its account have "
        "ended and reported how much of theirs they did",
        kMinStatements);
  return "if it runs as long as is usual";
}

// What it is expected to need, which decides inside its level, and why it has nothing reserved.
void Explainer::need(const PendingEntry& entry, const EntryOutcome& outcome,
                     Account& account) const {
  if (const JobNeed* const found = need_of(forecasts_.needs, entry.job->key)) {
    account.say("need", fmt::format("{:.0f} GPU-seconds, {}", found->gpu_seconds,
                                    need_by(*found, *entry.job)));
    account.say("response_ratio", fmt::format("{:.1f}", found->response));
    account.say("size_class", found->size_class);
  }
  if (outcome.kept_gpus == 0) return;
  const std::string kept = account.say("reserved_gpus", outcome.kept_gpus);
  account.reason += fmt::format("; {} {} reserved for jobs before it, so it has no reservation yet",
                                kept, outcome.kept_gpus == 1 ? "GPU is" : "GPUs are");
}

// Whether the time it still needs counts, and what that changes.
void Explainer::predictable(const PendingEntry& entry, const Service& service,
                            Account& account) const {
  const Job& job = *entry.job;
  if (!job.hints || !job.hints->work) return;
  account.say("class", std::string(service.predictable ? "P" : "U"));
  const ProgressHistory* const progress_history =
      progress_history_of(input_.snapshot.memory, job.key);
  if (progress_history != nullptr && progress_history->scored > 0) {
    account.say("forecast_quality",
                fmt::format("{:.2f}, of {} forecasts of its remaining time",
                            progress_history->quality, progress_history->scored));
  }
  if (service.level == service.level_unpredictable) return;
  account.reason += fmt::format("; its remaining time puts it there instead of in level {}",
                                account.say("level_unpredictable", service.level_unpredictable));
}

void Explainer::forecasts(const PendingEntry& entry, Account& account) const {
  const TypeChoice* choice = entry.types;
  if (choice == nullptr) return;
  const bool known = std::any_of(choice->forecasts.begin(), choice->forecasts.end(),
                                 [](const Forecast& f) { return f.known_profile; });
  if (!known) return;
  account.say("job_type", entry.job->hints->job_type);
  account.reason += "; its job type does on ";
  std::vector<TypeId> shown = forecasts_.fastest;
  std::stable_sort(shown.begin(), shown.end(), [&](TypeId a, TypeId b) {
    const auto throughput = [&](TypeId type) { return choice->forecasts[type].log_throughput; };
    return throughput(a) > throughput(b);
  });
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (i > 0) account.reason += i + 1 == shown.size() ? " and on " : ", on ";
    account.reason += forecast_of(*choice, shown[i], account);
  }
  if (!choice->matched.valid()) return;
  if (choice->load > 0) account.say("load", fmt::format("{:.2f}", choice->load));
  account.say("jobs_delayed", fmt::format("{:.1f}", choice->delayed));
  const std::string matched = account.say("matched", capacity_.types()[choice->matched]);
  if (choice->waits_for_match) {
    account.reason += "; beside all jobs it is best off on " + matched;
  }
}

}  // namespace rubato
