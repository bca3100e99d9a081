// SPDX-License-Identifier: GPL-2.0-or-later
// `rubato hold-size`: the round does not change the size of a running job.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <thread>

#include "lib/config/values.h"
#include "lib/hints/message.h"
#include "lib/json/record_writer.h"
#include "lib/policy/algorithms/growth_cap.h"
#include "lib/policy/algorithms/size_holds.h"
#include "tools/rubato/resize/asking.h"
#include "tools/rubato/resize/hold_size_records.h"
#include "tools/shared/command_line.h"
#include "tools/shared/format.h"
#include "tools/shared/output.h"

namespace rubato::tools {
namespace {

constexpr auto kLook = std::chrono::milliseconds(250);
constexpr Seconds kUnseen = 30;  // a request that shows nowhere for so long was lost

struct Options {
  std::string job;
  std::string time;
  bool release = false;
};

int failure(const Globals& globals, Exit code, const std::string& text) {
  return report_failure(globals, kHoldSizeSchema, code, text);
}

/// Waits until the published memory says what was asked for; its hold, or none.
Result<std::optional<SizeHold>> follow(const FoundJob& found, bool held, Seconds asked) {
  for (;;) {
    if (const auto published = read_plan(found.site)) {
      const SizeHold* const hold =
          hold_of(published->plan.memory, found.job().key, published->plan.made);
      if (held && hold != nullptr && hold->since >= asked) return std::optional(*hold);
      if (!held && hold == nullptr) return std::optional<SizeHold>();
    }
    if (now() - asked > kUnseen)
      return fail("slurmctld took the request, but no published file shows it; its log tells more");
    std::this_thread::sleep_for(kLook);
  }
}

std::string text_of(const std::string& job, const HoldAnswer& answer) {
  if (!answer.held) return fmt::format("Job {}: Rubato may change its size again.", job);
  return fmt::format("Job {} keeps its {} until {}.", job, gpus_text(answer.gpus, ""),
                     answer.until > 0 ? format_time(answer.until)
                                      : fmt::format("rubato hold-size {} --release", job));
}

int ask(const Globals& globals, const FoundJob& found, const Options& options,
        const HoldSize& request) {
  const Seconds asked = now();
  if (const auto sent = send_request("hold-size", options.job, request); !sent)
    return failure(globals, kFailed, sent.error().text);
  const auto hold = follow(found, request.on, asked);
  if (!hold) return failure(globals, kUnreachable, hold.error().text);
  HoldAnswer answer{.job = found.job().key.id, .gpus = held_gpus(found.job()), .held = request.on};
  if (*hold) {
    answer.since = (*hold)->since;
    answer.until = (*hold)->until;
  }
  if (globals.json) {
    Json json = document(kHoldSizeSchema, found.snapshot().slurm_version);
    json.update(json::json_of(answer));
    print_json(json);
  } else {
    fmt::print("{}\n", text_of(options.job, answer));
  }
  return kOk;
}

int run(const Globals& globals, const Options& options) {
  const auto selector = parse_selector(options.job);
  if (!selector) return failure(globals, kUsage, selector.error().text);
  if (options.release && !options.time.empty())
    return failure(globals, kUsage, "hold-size: --for excludes --release; give one");
  HoldSize request{.on = !options.release, .seconds = {}};
  if (!options.time.empty()) {
    const auto length = parse_duration(options.time);
    if (!length || *length < 1)
      return failure(globals, kUsage, "--for: invalid duration " + options.time);
    request.seconds = static_cast<std::int64_t>(*length);
  }
  // The grammar of messages has the largest time.
  if (const auto valid = parse_message(render_message(request)); !valid)
    return failure(globals, kUsage, valid.error().text);
  const auto found = find_running(*selector, globals.publish_dir);
  if (!found) return failure(globals, found.error().code, found.error().text);
  return ask(globals, *found, options, request);
}

std::function<int()> setup(CommandLine& line, const Globals& globals) {
  auto options = std::make_shared<Options>();
  line.argument("JOBID", options->job, "A running job or array task");
  line.text("--for", options->time, "TIME",
            "End the hold after this time: seconds, or MM:SS, HH:MM:SS, D-HH");
  line.flag("--release", options->release, "End the hold");
  return [options, &globals] { return run(globals, *options); };
}

}  // namespace

Command hold_size_command() {
  return {"hold-size", "Let a running job keep its number of GPUs", "JOBID", &setup};
}

}  // namespace rubato::tools
