// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/hints/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lib/base/lex.h"
#include "lib/base/nearest.h"
#include "lib/base/text.h"
#include "lib/hints/numbers.h"
#include "lib/hints/statements.h"
#include "lib/hints/types.h"

namespace rubato {
namespace {

constexpr std::string_view kPrefix = "rubato!";
/// Maximum time in a message: a year.
constexpr std::int64_t kMaxSeconds = 31'536'000;

using Pairs = std::map<std::string, std::string, std::less<>>;

/// Reads the values of a message from its pairs; adds mistakes to `errors`.
class PairReader {
 public:
  PairReader(const Pairs& pairs, HintErrors& errors) : pairs_(pairs), errors_(errors) {}

  void count(const char* key, std::int64_t min, std::int64_t max, std::int64_t& to) {
    std::optional<std::int64_t> value;
    count(key, min, max, value);
    to = value.value_or(to);
  }
  void count(const char* key, std::int64_t min, std::int64_t max, std::optional<std::int64_t>& to) {
    const auto pair = pairs_.find(key);
    if (pair == pairs_.end()) return;
    const auto value = parse_count(pair->second, min, max);
    if (value) {
      to = *value;
    } else {
      errors_.add(fmt::format("{}: {}", key, value.error().text));
    }
  }
  enum class Sign { kAny, kNotNegative, kPositive };
  void real(const char* key, Sign sign, double& to) {
    std::optional<double> value;
    real(key, sign, value);
    to = value.value_or(to);
  }
  void real(const char* key, Sign sign, std::optional<double>& to) {
    const auto pair = pairs_.find(key);
    if (pair == pairs_.end()) return;
    const auto value = parse_real(pair->second);
    if (!value) return errors_.add(fmt::format("{}: {}", key, value.error().text));
    if (sign == Sign::kPositive && *value <= 0) {
      return errors_.add(fmt::format("{}: {} is not above 0", key, in_quotes(pair->second)));
    }
    if (sign == Sign::kNotNegative && *value < 0) {
      return errors_.add(fmt::format("{}: {} is below 0", key, in_quotes(pair->second)));
    }
    to = *value == 0 ? 0.0 : *value;  // -0 is 0
  }
  /// A choice of two words.
  void choice(const char* key, const char* yes, const char* no, bool& to) {
    std::optional<bool> value;
    choice(key, yes, no, value);
    to = value.value_or(to);
  }
  void choice(const char* key, const char* yes, const char* no, std::optional<bool>& to) {
    const auto found = one_of(key, {yes, no});
    if (found) to = *found == 0;
  }
  /// The index of the value in `words`; nullopt without the key, and with another value.
  std::optional<std::size_t> one_of(const char* key, const std::vector<std::string>& words) {
    const auto pair = pairs_.find(key);
    if (pair == pairs_.end()) return std::nullopt;
    const std::string word = lower(pair->second);
    const auto at = std::ranges::find(words, word);
    if (at != words.end()) return static_cast<std::size_t>(at - words.begin());
    errors_.add(fmt::format("{}: {} is not one of {}{}", key, in_quotes(pair->second),
                            fmt::join(words, ", "), did_you_mean(word, words)));
    return std::nullopt;
  }

 private:
  const Pairs& pairs_;
  HintErrors& errors_;
};

using Sign = PairReader::Sign;

Report read_report(PairReader& in) {
  Report out;
  in.count("samples", 0, kMaxWork, out.samples);
  in.real("rate", Sign::kNotNegative, out.throughput);
  in.count("batch", 1, kMaxBatch, out.batch);
  in.real("loss", Sign::kAny, out.loss);
  in.real("forward", Sign::kPositive, out.forward);
  in.real("iteration", Sign::kPositive, out.iteration);
  in.real("noise", Sign::kNotNegative, out.noise);
  in.real("sync", Sign::kNotNegative, out.sync);
  in.real("optimise", Sign::kNotNegative, out.optimise);
  in.count("workers", 1, kMaxGpus, out.workers);
  in.count("servers", 0, kMaxGpus, out.servers);
  in.count("server-cores", 1, kMaxGpus, out.server_cores);
  return out;
}

Ack read_ack(PairReader& in) {
  Ack out;
  in.count("notice", 0, kMaxNotice, out.notice);
  in.choice("state", "ready", "refused", out.ready);
  in.real("seconds", Sign::kNotNegative, out.seconds);
  return out;
}

ResizeRequest read_resize(PairReader& in) {
  std::int64_t gpus = 0;
  in.count("gpus", 1, kMaxGpus, gpus);
  ResizeRequest out{.gpus = static_cast<int>(gpus)};
  enum { kLive, kRestart, kRehearsal };
  const auto how = in.one_of("how", {"live", "restart", "rehearsal"});
  if (how) out.live = *how == kLive;
  out.rehearsal = how && *how == kRehearsal;
  return out;
}

HoldSize read_hold(PairReader& in, HintErrors& errors) {
  HoldSize out;
  in.choice("state", "on", "off", out.on);
  in.count("seconds", 1, kMaxSeconds, out.seconds);
  if (!out.on && out.seconds) errors.add("seconds: not valid with state=off; remove it");
  return out;
}

const MessageField* find_field(const MessageKind& kind, std::string_view key) {
  for (const MessageField& field : kind.fields) {
    if (field.key == key) return &field;
  }
  return nullptr;
}

/// Adds key and value of one pair to `out`.
void read_pair(const MessageKind& kind, std::string_view pair, Pairs& out, HintErrors& errors) {
  const std::size_t equals = pair.find('=');
  const std::string key = lower(trimmed(pair.substr(0, equals)));
  if (find_field(kind, key) == nullptr) {
    std::vector<std::string> keys;
    for (const MessageField& field : kind.fields) keys.emplace_back(field.key);
    return errors.add(fmt::format("{}: unknown in {}, which accepts {}{}", printable(key),
                                  kind.name, fmt::join(keys, ", "), did_you_mean(key, keys)));
  }
  const std::string value(equals == std::string_view::npos ? "" : trimmed(pair.substr(equals + 1)));
  if (value.empty()) return errors.add(fmt::format("{}: no value; write {}=VALUE", key, key));
  if (!out.emplace(key, value).second) {
    errors.add(fmt::format("{}: set twice; keep one", key));
  }
}

Message read_kind(std::size_t kind, PairReader& in, HintErrors& errors) {
  if (kind == 0) return read_report(in);
  if (kind == 1) return read_ack(in);
  if (kind == 2) return read_resize(in);
  return read_hold(in, errors);
}

/// Reads the text after `rubato!`, split into words.
Message read_message(std::size_t number, std::string_view pairs, HintErrors& errors) {
  const MessageKind& kind = message_kinds()[number];
  Pairs found;
  for (const std::string_view part : split_at(pairs, ';')) {
    if (const auto pair = trimmed(part); !pair.empty()) read_pair(kind, pair, found, errors);
  }
  for (const MessageField& field : kind.fields) {
    if (field.required && !found.contains(field.key)) {
      errors.add(fmt::format("{}: missing; a complete message is {}", field.key, kind.example));
    }
  }
  PairReader reader(found, errors);
  return read_kind(number, reader, errors);
}

struct Render {
  static void add(std::string& out, const char* key, const std::optional<double>& value) {
    if (value) out += fmt::format(";{}={}", key, show_real(*value));
  }
  static void add(std::string& out, const char* key, const std::optional<std::int64_t>& value) {
    if (value) out += fmt::format(";{}={}", key, show_count(*value));
  }
  std::string operator()(const Report& report) const {
    std::string out =
        fmt::format("rubato!report samples={};rate={};batch={}", show_count(report.samples),
                    show_real(report.throughput), show_count(report.batch));
    add(out, "loss", report.loss);
    add(out, "forward", report.forward);
    add(out, "iteration", report.iteration);
    add(out, "noise", report.noise);
    add(out, "sync", report.sync);
    add(out, "optimise", report.optimise);
    add(out, "workers", report.workers);
    add(out, "servers", report.servers);
    add(out, "server-cores", report.server_cores);
    return out;
  }
  std::string operator()(const Ack& ack) const {
    std::string out =
        fmt::format("rubato!ack notice={};state={}", ack.notice, ack.ready ? "ready" : "refused");
    add(out, "seconds", ack.seconds);
    return out;
  }
  std::string operator()(const ResizeRequest& resize) const {
    std::string out = fmt::format("rubato!resize gpus={}", resize.gpus);
    if (resize.rehearsal) return out + ";how=rehearsal";
    if (resize.live) out += *resize.live ? ";how=live" : ";how=restart";
    return out;
  }
  std::string operator()(const HoldSize& hold) const {
    const std::string out = fmt::format("rubato!hold-size state={}", hold.on ? "on" : "off");
    return hold.seconds ? fmt::format("{};seconds={}", out, *hold.seconds) : out;
  }
};

std::vector<MessageKind> make_kinds() {
  return {
      {"report",
       "Reports the progress of the training",
       {{"samples", "a whole number",
         "samples processed since the first start of the job, over all restarts", true},
        {"rate", "samples/s, at least 0", "throughput since the last report", true},
        {"batch", "a whole number from 1", "global batch in samples", true},
        {"loss", "a number", "training loss"},
        {"forward", "seconds, above 0", "forward pass of one iteration"},
        {"iteration", "seconds, above 0", "one complete iteration"},
        {"noise", "samples, at least 0", "gradient noise scale"},
        {"sync", "seconds, at least 0",
         "communication time of one iteration that is not overlapped"},
        {"optimise", "seconds, at least 0", "update of the parameters in one iteration"},
        {"workers", "a whole number from 1", "workers of a job with parameter servers"},
        {"servers", "a whole number", "parameter servers of the job"},
        {"server-cores", "a whole number from 1", "cores of one parameter server"}},
       "rubato!report samples=1.28e6;rate=850.5;batch=256"},
      {"ack",
       "Answers a notice from Rubato",
       {{"notice", "a whole number", "number of the notice, 0 for the last one", true},
        {"state", "ready or refused",
         "ready: Rubato continues (the default); refused: Rubato leaves the job as it is"},
        {"seconds", "seconds, at least 0", "time that the job needed to get ready"}},
       "rubato!ack notice=1"},
      {"resize",
       "Requests another size, one of gpus",
       {{"gpus", "a whole number from 1", "number of GPUs", true},
        {"how", "live, restart or rehearsal",
         "live: gets GPUs or gives back nodes while it runs; restart: stops and starts again; "
         "rehearsal: the same at the size that it has; without it as its hint resize allows"}},
       "rubato!resize gpus=8"},
      {"hold-size",
       "Keeps the size of the job",
       {{"state", "on or off", "on: keep it (the default); off: end this"},
        {"seconds", "a whole number from 1 to 31536000", "how long; without it until state=off"}},
       "rubato!hold-size seconds=3600"},
  };
}

}  // namespace

const std::vector<MessageKind>& message_kinds() {
  static const std::vector<MessageKind> kinds = make_kinds();
  return kinds;
}

bool is_message(std::string_view comment) { return comment.starts_with(kPrefix); }

Result<Message> parse_message(std::string_view text) {
  if (!is_message(text)) return fail("message: does not begin with rubato!");
  if (text.size() > kMaxMessageLength) {
    return fail(fmt::format("message: {} bytes is too long; the maximum is {}", text.size(),
                            kMaxMessageLength));
  }
  text = trimmed(text.substr(kPrefix.size()));
  const std::size_t end =
      static_cast<std::size_t>(std::find_if(text.begin(), text.end(), is_blank) - text.begin());
  const std::string word = lower(text.substr(0, end));
  std::vector<std::string> names;
  for (const MessageKind& kind : message_kinds()) names.emplace_back(kind.name);
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) {
    return fail(fmt::format("message: {} is not one of {}{}", in_quotes(word),
                            fmt::join(names, ", "), did_you_mean(word, names)));
  }
  HintErrors errors(*found + ": ");
  Message message =
      read_message(static_cast<std::size_t>(found - names.begin()), text.substr(end), errors);
  if (!errors.none()) return tl::unexpected(errors.all());
  return message;
}

std::string render_message(const Message& message) { return std::visit(Render{}, message); }

}  // namespace rubato
