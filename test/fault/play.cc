// SPDX-License-Identifier: GPL-2.0-or-later
#include "test/fault/play.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <set>
#include <utility>

#include "lib/core/resize_request.h"
#include "lib/json/json.h"
#include "lib/policy/memory.h"
#include "lib/policy/round.h"
#include "lib/runtime/files.h"
#include "lib/runtime/publisher.h"
#include "test/support/plan_checks.h"

namespace rubato::test {
namespace {

constexpr Seconds kFaultTime = 5400;    ///< faults are injected for so long
constexpr Seconds kTick = 60;           ///< between rounds without an event
constexpr Seconds kReportEvery = 60;    ///< of a running job
constexpr Seconds kSlack = 3600;        ///< beside the time limits of the jobs that are left
constexpr int kMaxQuietChanges = 6;     ///< per job, after the faults
constexpr std::size_t kStatesKept = 6;  ///< texts of the state file
constexpr double kRefitShare = 1;
constexpr int kTwice = 15;  ///< percent of the rounds that are decided twice
const std::set<ProfileShape> kNoShapes;

Config config_for(Mode mode) {
  Config config;
  config.mode = mode;
  config.manage_all = true;
  config.gpu_types = {{.name = "a100", .speed = 1}, {.name = "h100", .speed = 2}};
  config.test_off = {Mechanism::kStore};  // its thread would make the order of reports random
  return config;
}

MeasuredReport measured(const store::Sample& sample) {
  MeasuredReport report;
  report.throughput = {.profile = {sample.type.account, sample.type.name},
                       .configuration = {.gpu_type = sample.gpu_type,
                                         .gpus = sample.gpus,
                                         .nodes = sample.nodes,
                                         .batch = sample.batch},
                       .job = sample.job,
                       .restarts = sample.restarts,
                       .time = sample.time,
                       .run_start = sample.run_start,
                       .throughput = sample.throughput};
  report.cores = sample.cores;
  return report;
}

}  // namespace

Play::Play(PlayOptions options)
    : options_(std::move(options)),
      site_(options_.seed),
      whole_(site_.nodes),
      faults_(options_.seed, "faults"),
      rest_(options_.seed, "actions"),
      config_(config_for(options_.mode)),
      recorder_(std::make_unique<Recorder>(options_.folder, clock_)),
      learner_(learner_rules(config_)) {
  recorder_->configure(std::make_shared<const Config>(config_));
}

void Play::fail(const std::string& what) {
  if (failure_.empty()) failure_ = what;
}

std::string Play::run(HitCounts& hits) {
  hits_ = &hits;
  const Seconds begin = site_.time;
  while (failure_.empty() && !(site_.done() && !faulty_)) {
    if (faulty_ && site_.time - begin >= kFaultTime) quiet();
    if (!faulty_ && site_.time > deadline_) fail("a job did not end within the bound");
    step();
  }
  return failure_;
}

// The faults stop: all is repaired, and no job is held. The bound is that of jobs one after the
// other, each with one more run.
void Play::quiet() {
  faulty_ = false;
  site_.nodes = whole_;
  repairs_.clear();
  deadline_ = site_.time + kSlack;
  for (SiteJob& job : site_.jobs) {
    job.held = false;
    if (!job.ended) deadline_ += 2 * job.job.time_limit;
  }
}

void Play::step() {
  ++event_;
  happen();
  report();
  if (faulty_) inject_before();
  const Snapshot snapshot = look();
  Plan plan = decide(snapshot);
  check_plan(snapshot, plan);
  if (faulty_) inject_between();
  commit(snapshot, plan);
  memory_ = plan.memory;
  recorder_->record_round(snapshot, plan, memory_, 0);
  states_.push_back(to_json(memory_, snapshot));
  if (states_.size() > kStatesKept) states_.erase(states_.begin());
  note_service();
  check_site();
  Seconds next = std::min(site_.next_event(), site_.time + kTick);
  for (const Repair& repair : repairs_) next = std::min(next, std::max(repair.at, site_.time + 1));
  site_.advance(next);
}

// What is due: repairs, jobs that leave after their signal, places that expire.
void Play::happen() {
  std::erase_if(repairs_, [&](const Repair& repair) {
    if (repair.at > site_.time) return false;
    site_.nodes[repair.node] = whole_[repair.node];
    return true;
  });
  for (SiteJob& job : site_.jobs) {
    if (job.ended || !job.flight) continue;
    if (!job.flight->requeued && job.flight->exits <= site_.time) exit_after_signal(job);
    const bool over = job.flight && job.flight->requeued && job.flight->expires <= site_.time;
    if (over && options_.broken != Broken::kExpiry) job.flight.reset();
  }
}

void Play::exit_after_signal(SiteJob& job) {
  // Checked again: a change whose consent was withdrawn after the signal is called off.
  if (!job.consents && options_.broken != Broken::kConsent) return job.flight.reset();
  if (!job.consents) fail(fmt::format("P6: job {} is interrupted without consent", job.job.label));
  if (options_.broken == Broken::kLoss) return site_.end(job);
  site_.requeue(job);
  const std::vector<NodeShare> place = job.flight->change.shares;
  if (place.empty() || !site_.trouble_at(place).empty()) return job.flight.reset();
  job.flight->requeued = true;
  if (job.flight->lost) return;
  job.flight.reset();
  site_.start(job, place, job.job.time_limit);
}

void Play::report() {
  std::vector<JobMessage> messages;
  for (SiteJob& job : site_.jobs) {
    const bool runs = !job.ended && job.job.state == JobState::kRunning;
    if (!runs || !job.job.hints || site_.time - job.reported < kReportEvery) continue;
    job.reported = site_.time;
    if (hit(FaultPoint::kReportMissing, 60)) continue;
    Report report;
    report.samples = static_cast<std::int64_t>(job.done);
    report.throughput = site_.throughput(job);
    if (hit(FaultPoint::kReportWrong, 40)) report.throughput *= 10;
    messages.push_back({job.job.key, job.job.uid, site_.wall(), job.job.restarts, report});
  }
  recorder_->process_messages(std::move(messages), memory_);
  for (const PendingSample& heard : recorder_->take_pending_samples())
    learner_.take(measured(heard.sample));
}

bool Play::hit(FaultPoint point, int per_mille) {
  const bool elastic = options_.mode == Mode::kElastic;
  const auto index = static_cast<std::size_t>(point);
  if (!faulty_ || (kFaultPoints.at(index).elastic_only && !elastic)) return false;
  const bool drawn = faults_.number(1, 1000) <= (options_.only ? 2 * per_mille : per_mille);
  if (!drawn || (options_.only && *options_.only != point)) return false;
  ++hits_->at(index);
  return true;
}

SiteJob* Play::drawn(JobState state) {
  std::vector<SiteJob*> all;
  for (SiteJob& job : site_.jobs)
    if (!job.ended && job.arrives <= site_.time && job.job.state == state) all.push_back(&job);
  if (all.empty()) return nullptr;
  return all[static_cast<std::size_t>(faults_.number(0, static_cast<int>(all.size()) - 1))];
}

void Play::break_node(FaultPoint point, std::size_t at) {
  Node& node = site_.nodes[at];
  bool lost = point != FaultPoint::kDrain;
  if (point == FaultPoint::kGpuLost) {
    GpuGroup& gpus = node.gpus.front();
    if (gpus.total < 2) return;
    --gpus.total;
    --gpus.free;
    lost = site_.free_nodes()[at].gpus_free() < 0;
  } else {
    node.usable = false;
  }
  for (SiteJob& job : site_.jobs) {
    const auto there = [&](const NodeShare& share) { return share.node == NodeIndex{at}; };
    if (lost && !job.ended && std::ranges::any_of(place_of(job), there)) job.flight.reset();
    if (!lost || job.ended || !std::ranges::any_of(job.job.allocation, there)) continue;
    job.flight.reset();
    site_.requeue(job);
  }
  const bool flaps = point == FaultPoint::kNodeFlaps;
  if (flaps)
    node = whole_[at];
  else
    repairs_.push_back({site_.time + faults_.number(30, 900), at});
}

// The wall clock alone: jobs do not notice.
void Play::jump_clock(Seconds by) {
  const Seconds before = site_.wall();
  site_.offset += by;
  if (site_.wall() < before) (void)set_back(memory_, site_.wall());
  site_.advance(site_.time);
}

void Play::kill(FaultPoint point) {
  std::string text = states_.empty() ? "" : states_.back();
  if (point == FaultPoint::kOldState && !states_.empty()) text = states_.front();
  if (point == FaultPoint::kTornState && !text.empty())
    text.resize(static_cast<std::size_t>(faults_.number(0, static_cast<int>(text.size()) - 1)));
  const std::string error = replace_file(options_.folder + "/state.json", text, FileKind::kState);
  if (!error.empty()) fail(error);
  recorder_ = std::make_unique<Recorder>(options_.folder, clock_);
  recorder_->configure(std::make_shared<const Config>(config_));
  const Snapshot empty = site_.snapshot({});
  auto memory = memory_from_json(Publisher::read_state(options_.folder), empty);
  if (!memory && point == FaultPoint::kKilled && !text.empty()) fail(memory.error().text);
  memory_ = memory ? std::move(*memory) : Memory{};
  (void)set_back(memory_, site_.wall());
  for (SiteJob& job : site_.jobs) {  // who is in flight was known to that process alone
    job.flight.reset();
    job.attained = 0;
  }
}

void Play::inject_before() {
  const int last = static_cast<int>(site_.nodes.size()) - 1;
  const auto node = [&] { return static_cast<std::size_t>(faults_.number(0, last)); };
  for (const FaultPoint point : {FaultPoint::kNodeDown, FaultPoint::kDrain, FaultPoint::kGpuLost})
    if (hit(point, 10)) break_node(point, node());
  if (hit(FaultPoint::kClockForward, 8)) jump_clock(faults_.number(1, 3600));
  if (hit(FaultPoint::kClockBack, 8)) jump_clock(-faults_.number(1, 3600));
  if (hit(FaultPoint::kModelsGone, 8)) learner_ = ReportedModels(learner_rules(config_));
  for (const FaultPoint point :
       {FaultPoint::kKilled, FaultPoint::kTornState, FaultPoint::kOldState})
    if (hit(point, 8)) kill(point);
  SiteJob* const job = drawn(JobState::kRunning);
  if (job == nullptr || !hit(FaultPoint::kRequeue, 10)) return;
  job->flight.reset();
  site_.requeue(*job);
}

void Play::inject_between() {
  const int last = static_cast<int>(site_.nodes.size()) - 1;
  const auto node = [&] { return static_cast<std::size_t>(faults_.number(0, last)); };
  for (const FaultPoint point : {FaultPoint::kNodeFlaps, FaultPoint::kDrain, FaultPoint::kNodeDown})
    if (hit(point, 10)) break_node(point, node());
  SiteJob* const job = drawn(faults_.chance(50) ? JobState::kPending : JobState::kRunning);
  if (job != nullptr) change_request(*job);
}

void Play::change_request(SiteJob& one) {
  Job& job = one.job;
  if (hit(FaultPoint::kTimeLimit, 15)) {
    job.time_limit = std::max<Seconds>(600, job.time_limit * faults_.number(5, 20) / 10);
    if (job.state == JobState::kRunning) job.end_limit = job.start + job.time_limit;
  }
  if (hit(FaultPoint::kPriority, 15))
    job.priority = static_cast<std::uint32_t>(faults_.number(1, 20'000));
  if (job.hints && hit(FaultPoint::kHints, 15)) {
    one.consents = false;
    job.hints->checkpoint.signal = 0;
  }
  if (job.state == JobState::kPending && hit(FaultPoint::kHold, 15))
    one.held = true;
  else if (faults_.chance(5))
    one.held = false;
  if (!hit(FaultPoint::kCancel, 5)) return;
  one.cancelled = one.due = true;
  site_.end(one);
}

Snapshot Play::look() const {
  Snapshot snapshot = site_.snapshot(memory_);
  for (Job& job : snapshot.jobs) {
    if (options_.broken == Broken::kConsent && job.hints) job.hints->checkpoint.signal = SIGUSR1;
    if (options_.broken == Broken::kFlight) job.starting = 0;
  }
  return snapshot;
}

Plan Play::decide(const Snapshot& snapshot) {
  const auto models = learner_.fit_when_due(
      {config_.speeds(), config_.gpu_memory(), config_.gpu_links()}, kNoShapes, kRefitShare);
  promote_predictable(memory_);
  Plan plan = round(snapshot, *models, config_, snapshot.taken);
  if (rest_.chance(kTwice) &&
      to_json(plan, snapshot) !=
          to_json(round(snapshot, *models, config_, snapshot.taken), snapshot))
    fail("P7: the same input gave another plan");
  return plan;
}

void Play::check_plan(const Snapshot& snapshot, const Plan& plan) {
  Plan now = plan;
  std::erase_if(now.starts, [](const Start& start) { return !start.after.empty(); });
  if (const std::string wrong = check_starts(snapshot, now); !wrong.empty())
    fail("P2, P3: " + wrong);
  if (options_.mode == Mode::kPlace) {
    const std::string wrong = check_reservations(snapshot, plan);
    if (!wrong.empty()) fail("P2: " + wrong);
  }
  check_changes(snapshot, plan);
  std::size_t pending = 0;
  for (const Job& job : snapshot.jobs) pending += job.state == JobState::kPending ? 1 : 0;
  if (plan.explanations.size() != pending) fail("a pending job has no explanation");
}

void Play::check_changes(const Snapshot& snapshot, const Plan& plan) {
  if (options_.mode == Mode::kPlace && !plan.changes.empty())
    fail("P6: mode place changes a running job");
  for (const Change& change : plan.changes) {
    const auto job = std::ranges::find(snapshot.jobs, change.job, &Job::key);
    if (job == snapshot.jobs.end() || job->state != JobState::kRunning)
      return fail("a change of a job that does not run");
    if (!job->hints || !job->hints->checkpoint.consents())
      fail(fmt::format("P6: the plan interrupts job {} without consent", job->label));
    if (change.gpus > 0 && !job->hints->sizes.contains(change.gpus))
      fail(fmt::format("P3: job {} cannot run on {} GPUs", job->label, change.gpus));
  }
  if (!faulty_) quiet_changes_ += static_cast<int>(plan.changes.size());
  if (quiet_changes_ > kMaxQuietChanges * static_cast<int>(site_.jobs.size()))
    fail("the plan does not settle");
}

void Play::commit(const Snapshot& snapshot, Plan& plan) {
  for (const Change& change : plan.changes) begin_change(change);
  std::vector<RefusedStart> refused;
  for (const Start& start : plan.starts) {
    SiteJob* const job = site_.find(start.job);
    // A start that needs the nodes of a change waits a round.
    if (job == nullptr || !start.after.empty() || start.shares.empty()) continue;
    const std::string words = try_start(start, *job);
    if (!words.empty()) refused.push_back({start.job, words});
  }
  plan.memory = fold_refusals(std::move(plan.memory), refused, snapshot.taken);
}

std::string Play::try_start(const Start& start, SiteJob& job) {
  if (job.job.state != JobState::kPending || job.held || job.flight) return "";
  if (hit(FaultPoint::kStartRefused, 60)) return "Resources";
  const std::string trouble = site_.trouble_at(start.shares);
  if (!trouble.empty() && options_.broken != Broken::kFree) return trouble;
  if (!trouble.empty()) fail(fmt::format("P2: job {} starts, but {}", job.job.label, trouble));
  const Result<Job> sized =
      at_size(job.job, start.gpus > 0 ? start.gpus : job.job.request.gpus, start.gpu_type);
  if (!sized) fail("P3: " + sized.error().text);
  site_.start(job, start.shares, start.time_limit > 0 ? start.time_limit : job.job.time_limit);
  return "";
}

void Play::begin_change(const Change& change) {
  SiteJob* const job = site_.find(change.job);
  if (job == nullptr || job->job.state != JobState::kRunning) return;
  if (job->flight) return fail(fmt::format("two changes of job {} are in flight", job->job.label));
  // Checked again: its user may have changed that since the snapshot.
  if (!job->consents && options_.broken != Broken::kConsent) return;
  if (change.action == ChangeAction::kNotify) return;
  const int lead = job->job.hints ? job->job.hints->checkpoint.lead : 0;
  const bool ignores = hit(FaultPoint::kSignalIgnored, 200);
  ChangeInFlight flight;
  flight.change = change;
  flight.exits = site_.time + (ignores ? lead : rest_.number(1, std::max(1, lead / 2)));
  flight.expires = flight.exits + 2 * lead;
  flight.lost = hit(FaultPoint::kRestartLost, 200) || options_.broken == Broken::kExpiry;
  job->flight = std::move(flight);
}

// A requeue must not cost a job its attained service.
void Play::note_service() {
  for (SiteJob& job : site_.jobs) {
    const Service* const service = job.ended ? nullptr : service_of(memory_, job.job.key);
    if (service == nullptr) continue;
    if (service->attained + 1 < job.attained)
      fail(fmt::format("job {} lost its attained service", job.job.label));
    job.attained = service->attained;
  }
}

void Play::check_site() {
  for (const Node& node : site_.free_nodes())
    if (node.cores_free < 0 || node.memory_free < 0 || node.gpus_free() < 0)
      fail("P2: more than " + node.name + " has is allocated");
  for (const SiteJob& job : site_.jobs) {
    if (job.ended && !job.due) fail(fmt::format("job {} is lost", job.job.label));
    const bool late =
        job.flight && job.flight->requeued && job.flight->expires + kTick < site_.time;
    if (late) fail(fmt::format("the place of job {} does not expire", job.job.label));
  }
}

}  // namespace rubato::test
