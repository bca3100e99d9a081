// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "lib/base/text.h"
#include "lib/hints/comment.h"
#include "lib/hints/message.h"
#include "lib/hints/read.h"
#include "lib/hints/request.h"
#include "lib/hints/rules.h"
#include "lib/hints/table.h"
#include "lib/hints/values.h"

namespace rubato {
namespace {

bool coin() { return *rc::gen::arbitrary<bool>(); }

/// From 0 on, independent of the case size: small cases must not always choose the first value.
int below(int end) { return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, end)); }

std::int64_t count_to(std::int64_t most) { return *rc::gen::inRange<std::int64_t>(1, most + 1); }

/// Finite, from very small to very large.
double any_real() {
  const double value = *rc::gen::arbitrary<double>() * std::pow(10.0, below(80) - 40);
  return std::isnormal(value) ? value : 0;
}

std::string any_name(const std::string& signs) {
  const std::string job_messages = "abcXYZ019" + signs;
  const auto name =
      rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::elementOf(job_messages)));
  return (*name).substr(0, 64);
}

GpuSizes any_sizes() {
  std::vector<GpuSizes::Range> ranges;
  const int count = 1 + below(5);
  for (int i = 0; i < count; ++i) {
    const int from = 1 + below(coin() ? 20 : kMaxGpus);
    ranges.emplace_back(from, coin() ? from : std::min(from + below(40), kMaxGpus));
  }
  return GpuSizes(std::move(ranges));
}

GpuTypes any_types() {
  auto names = *rc::gen::nonEmpty(
      rc::gen::container<std::set<std::string>>(rc::gen::exec([] { return any_name("._+-"); })));
  GpuTypes out;
  for (const std::string& name : names) {
    if (out.empty() || coin()) out.emplace_back();
    out.back().push_back(name);
  }
  if (coin()) std::reverse(out.begin(), out.end());
  return out;
}

Checkpoint any_checkpoint() {
  if (coin()) return {};
  const int signal =
      *rc::gen::suchThat(rc::gen::inRange(1, 65), [](int n) { return n != 9 && n != 19; });
  return {signal, below(kMaxLead + 1), coin(), coin()};
}

Work any_work() {
  Work work;
  work.unit = static_cast<WorkUnit>(below(3));
  if (work.unit == WorkUnit::kTargetLoss) {
    work.target_loss = any_real();
  } else {
    work.count = count_to(kMaxWork);
  }
  return work;
}

ModelShape any_model() {
  ModelShape shape;
  shape.params = count_to(kMaxWork);
  for (auto* member : {&shape.hidden, &shape.layers, &shape.seq, &shape.heads}) {
    if (coin()) *member = count_to(kMaxBatch);
  }
  return shape;
}

Plans any_plans() {
  if (coin()) return {true, {}};
  Plans plans;
  for (int kind = 0; kind < 7; ++kind) {
    if (coin()) plans.kinds.insert(static_cast<PlanKind>(kind));
  }
  if (plans.kinds.empty()) plans.kinds.insert(PlanKind::kDp);
  return plans;
}

/// Any hints that one layer can contain.
Hints any_hints() {
  Hints out;
  if (coin()) out.job_type = any_name("._+:@-");
  if (coin()) out.gpus = any_sizes();
  if (coin()) out.gpu_types = any_types();
  if (coin()) {
    const std::int64_t min = count_to(kMaxBatch);
    out.batch = Batch{min, coin() ? min : *rc::gen::inRange(min, kMaxBatch + 1)};
  }
  if (coin()) out.work = any_work();
  if (coin()) out.model = any_model();
  if (coin()) out.plans = any_plans();
  if (coin()) out.checkpoint = any_checkpoint();
  if (coin()) out.resize = static_cast<Resize>(below(3));
  if (coin()) out.device = static_cast<Device>(below(3));
  if (coin()) out.mix_types = coin();
  Hints said = out;
  for_each_field(said, [&](HintField field, const auto& member) {
    if (!member && coin()) out.unset.insert(field);
  });
  return out;
}

HintRequest any_request() {
  const auto seldom = [] { return below(8) == 0; };
  HintRequest request;
  if (!seldom()) request.gpus = below(33);
  if (coin()) request.gpus_per_node = below(9);
  if (seldom()) request.gpus_per_task = below(5);
  request.min_nodes = 1 + below(4);
  if (coin()) request.max_nodes = request.min_nodes + below(3);
  if (request.gpus_per_node > 0) {
    request.gpus = coin() ? 0 : request.gpus_per_node * request.min_nodes;
  }
  if (coin()) request.tasks = below(33);
  if (seldom()) request.gpu_types = {"a"};
  request.shared_gpus = seldom();
  request.exclusive = seldom();
  request.batch = !seldom();
  request.requeue = !seldom();
  request.array = seldom();
  request.het = seldom();
  if (coin()) request.time_limit = below(100'000);
  if (seldom()) request.cluster_types = {"a", "b"};
  return request;
}

/// `hints` without those that break a rule; the request's size is added to the sizes.
Hints fitting(Hints hints, const HintRequest& request) {
  const auto own = static_cast<int>(request.total_gpus());
  if (hints.gpus && own > 0) {
    std::vector<GpuSizes::Range> ranges = hints.gpus->ranges();
    if (coin()) ranges.clear();
    ranges.emplace_back(own, coin() ? own : 4 * own);
    hints.gpus = GpuSizes(std::move(ranges));
  }
  if (own > 0 && hints.resize.value_or(Resize::kNone) != Resize::kNone && coin()) {
    hints.gpus = GpuSizes({{own, own}, {2 * own, 2 * own}});
    hints.checkpoint = Checkpoint{10};
  }
  for (int pass = 0; pass < 3; ++pass) {
    for (const HintRule& rule : hint_rules()) {
      for (const HintField field : rule.fields) {
        std::vector<std::string> errors;
        rule.check({hints, request}, errors);
        if (!errors.empty()) forget(hints, field);
      }
    }
  }
  return hints;
}

/// Free text of a site: any bytes, without the marker.
std::string any_site() {
  return *rc::gen::suchThat(rc::gen::arbitrary<std::string>(), [](const std::string& text) {
    return text.find("rubato:") == std::string::npos;
  });
}

bool plain(const std::string& text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), [](char c) {
    return c != '\n' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7F);
  });
}

RC_GTEST_PROP(HintProperty, ParseOfRenderGivesTheSameHints, ()) {
  const Hints hints = any_hints();
  const auto again = parse_comment("rubato:" + render_hints(hints));
  if (!again) RC_LOG() << render_hints(hints) << "\n" << again.error().text;
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == hints);
  RC_ASSERT(render_hints(*again) == render_hints(hints));
}

RC_GTEST_PROP(HintProperty, OptionsSayTheSameAsTheComment, ()) {
  const Hints hints = any_hints();
  std::vector<OptionPair> options;
  std::vector<std::string> environment;
  for (const HintDef& def : hint_table()) {
    const std::string value = show_hint(def, hints);
    if (!value.empty()) options.emplace_back("--" + def.option, value);
    if (!value.empty()) environment.push_back(def.variable + "=" + value);
    if (hints.unset.contains(def.field)) options.emplace_back(def.off_option, "");
  }
  const auto from_options = parse_options(options);
  RC_ASSERT(from_options.has_value());
  RC_ASSERT(*from_options == hints);
  Hints without = hints;
  without.unset.clear();
  const auto from_environment = parse_environment(environment);
  RC_ASSERT(from_environment.has_value());
  RC_ASSERT(*from_environment == without);
}

RC_GTEST_PROP(HintProperty, TheTextOfTheSiteIsKept, ()) {
  const std::string site = any_site();
  const Hints hints = any_hints();
  RC_PRE(!hints.empty());
  const std::string comment = with_hints(site, hints);
  RC_ASSERT(comment.starts_with(site));
  const CommentParts parts = split_comment(comment);
  RC_ASSERT(parts.hints.has_value());
  RC_ASSERT(parts.site.substr(0, site.size()) == site);
  RC_ASSERT(parts.site.size() <= site.size() + 1);
  const auto again = parse_comment(comment);
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == hints);
  // Inserting the hints again changes nothing; removing them leaves the site's text.
  RC_ASSERT(with_hints(comment, hints) == comment);
  const bool blank_added = parts.site.size() > site.size();
  if (blank_added) RC_ASSERT(with_hints(comment, {}) == site);
}

RC_GTEST_PROP(HintProperty, JoinIsTheInverseOfSplit, (const std::string& before)) {
  const std::string comment =
      before + (coin() ? " rubato:" : "") + *rc::gen::arbitrary<std::string>();
  const CommentParts parts = split_comment(comment);
  if (parts.hints) {
    RC_ASSERT(join_comment(parts.site, *parts.hints) == comment);
  } else {
    RC_ASSERT(parts.site == comment);
  }
}

RC_GTEST_PROP(HintProperty, TheOrderOfPairsDoesNotMatter, ()) {
  std::vector<std::string> pairs;
  const std::string rendered = render_hints(any_hints());
  for (const auto pair : split_at(rendered, ';')) pairs.emplace_back(pair);
  // Includes wrong pairs: the errors are then the same in another order.
  if (coin()) pairs.push_back(*rc::gen::element<std::string>("gpus=0", "colour=red", "no-gpus=1"));
  const auto joined = [&pairs] {
    std::string out = "rubato:";
    for (const std::string& pair : pairs) out += " " + pair + " ;";
    return out;
  };
  const auto first = parse_comment(joined());
  for (std::size_t i = pairs.size(); i > 1; --i) {
    std::swap(pairs[i - 1], pairs[static_cast<std::size_t>(below(static_cast<int>(i)))]);
  }
  const auto second = parse_comment(joined());
  RC_ASSERT(first.has_value() == second.has_value());
  if (first) RC_ASSERT(*first == *second);
}

RC_GTEST_PROP(HintProperty, PrecedenceIsAssociativeWithANeutralElement, ()) {
  const Hints a = any_hints();
  const Hints b = any_hints();
  const Hints c = any_hints();
  RC_ASSERT(merge(merge(a, b), c) == merge(a, merge(b, c)));
  RC_ASSERT(merge(a, b, c) == merge(a, merge(b, c)));
  RC_ASSERT(merge(a, Hints{}) == a);
  RC_ASSERT(merge(Hints{}, a) == a);
  RC_ASSERT(merge(a, a) == a);
}

RC_GTEST_PROP(HintProperty, TheStrongLayerCounts, ()) {
  const Hints strong = any_hints();
  const Hints weak = any_hints();
  const Hints both = merge(strong, weak);
  for (const HintDef& def : hint_table()) {
    const bool decided = says(strong, def.field) || strong.unset.contains(def.field);
    RC_ASSERT(show_hint(def, both) == show_hint(def, decided ? strong : weak));
  }
}

/// A JobType= line never makes a valid job invalid.
RC_GTEST_PROP(HintProperty, AJobTypeLineNeverRefusesAJob, ()) {
  const HintRequest request = any_request();
  const Hints said = fitting(any_hints(), request);
  const Hints type = any_hints();
  RC_ASSERT(resolve_hints(said, {}, request).has_value());
  RC_ASSERT(resolve_hints(said, type, request).has_value());
  RC_ASSERT(resolve_hints({}, type, request).has_value());
}

RC_GTEST_PROP(HintProperty, RefusalsArePlainText, ()) {
  const auto refused = resolve_hints(any_hints(), {}, any_request());
  RC_PRE(!refused.has_value());
  RC_ASSERT(plain(refused.error().text));
}

RC_GTEST_PROP(HintProperty, WhatIsResolvedIsWhatWasSaid, ()) {
  const HintRequest request = any_request();
  const Hints said = fitting(any_hints(), request);
  const auto resolved = resolve_hints(said, {}, request);
  if (!resolved) RC_LOG() << render_hints(said) << "\n" << resolved.error().text;
  RC_ASSERT(resolved.has_value());
  RC_CLASSIFY(said.gpus.has_value());
  RC_CLASSIFY(resolved->resize != Resize::kNone);
  RC_ASSERT(resolved->notes.empty());
  RC_ASSERT(resolved->job_type == said.job_type.value_or(""));
  RC_ASSERT(resolved->batch == said.batch);
  RC_ASSERT(resolved->work == said.work);
  RC_ASSERT(resolved->plans == said.plans);
  RC_ASSERT(resolved->checkpoint == said.checkpoint.value_or(Checkpoint{}));
  RC_ASSERT(resolved->resize == said.resize.value_or(Resize::kNone));
  // The request is one of the sizes, and every size is a multiple of its units.
  const int own = static_cast<int>(request.total_gpus());
  RC_ASSERT(resolved->sizes.empty() == (own == 0));
  if (own > 0 && own % request.size_unit() == 0) RC_ASSERT(resolved->sizes.contains(own));
  if (said.gpus) {
    for (const auto& [from, to] : resolved->sizes.ranges()) {
      RC_ASSERT(from % request.size_unit() == 0 && to % request.size_unit() == 0);
    }
  }
  // Interruption needs consent; an interactive job gives none.
  if (resolved->resize == Resize::kRestart) RC_ASSERT(resolved->checkpoint.consents());
  if (!request.batch) RC_ASSERT(!resolved->checkpoint.consents());
}

Message any_message() {
  const auto maybe = [](double value) { return coin() ? std::optional(value) : std::nullopt; };
  const auto positive = [] { return std::abs(any_real()) + 1e-300; };
  const auto number = [](int least) {
    return coin() ? std::optional<std::int64_t>(least + below(1000)) : std::nullopt;
  };
  switch (below(4)) {
    case 0:
      return Report{count_to(kMaxWork),
                    std::abs(any_real()),
                    count_to(kMaxBatch),
                    maybe(any_real()),
                    maybe(positive()),
                    maybe(positive()),
                    maybe(std::abs(any_real())),
                    maybe(std::abs(any_real())),
                    maybe(std::abs(any_real())),
                    number(1),
                    number(0),
                    number(1)};
    case 1:
      return Ack{below(1000), coin(), maybe(std::abs(any_real()))};
    case 2:
      return ResizeRequest{1 + below(kMaxGpus)};
    default:
      break;
  }
  HoldSize hold{coin(), std::nullopt};
  if (hold.on && coin()) hold.seconds = count_to(31'536'000);
  return hold;
}

RC_GTEST_PROP(MessageProperty, ParseOfRenderGivesTheSameMessage, ()) {
  const Message message = any_message();
  const std::string text = render_message(message);
  RC_ASSERT(text.size() <= kMaxMessageLength);
  const auto again = parse_message(text);
  if (!again) RC_LOG() << text << "\n" << again.error().text;
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == message);
}

/// Random sequences of real pieces reach more code than random bytes.
std::string any_pieces() {
  std::vector<std::string> pieces{"=",    ";",   ",", "-",       "/",    ">",
                                  ":",    "@",   " ", "rubato:", "no-",  "auto",
                                  "none", "1e9", "0", "\n",      "\xFF", std::string(1, '\0')};
  for (const HintDef& def : hint_table()) {
    pieces.push_back(def.key);
    pieces.push_back(";" + def.key + "=" + def.example);
    for (const HintWord& word : def.words) pieces.push_back(word.name);
  }
  for (const MessageKind& kind : message_kinds()) {
    for (const MessageField& field : kind.fields)
      pieces.push_back(";" + std::string(field.key) + "=1");
  }
  std::string text;
  for (const auto& piece :
       *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces))) {
    text += piece;
  }
  return text;
}

RC_GTEST_PROP(HintProperty, AnyTextGivesHintsOrErrors, ()) {
  const std::string text = coin() ? any_pieces() : *rc::gen::arbitrary<std::string>();
  const auto hints = parse_comment("rubato:" + text);
  if (!hints) {
    RC_ASSERT(plain(hints.error().text));
    return;
  }
  const auto again = parse_comment("rubato:" + render_hints(*hints));
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == *hints);
}

RC_GTEST_PROP(MessageProperty, AnyTextGivesAMessageOrErrors, ()) {
  const MessageKind& kind = *rc::gen::elementOf(message_kinds());
  const std::string text = coin() ? any_pieces() : *rc::gen::arbitrary<std::string>();
  const auto message = parse_message("rubato!" + std::string(coin() ? kind.name : "") + " " + text);
  if (!message) {
    RC_ASSERT(plain(message.error().text));
    return;
  }
  const auto again = parse_message(render_message(*message));
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == *message);
}

}  // namespace
}  // namespace rubato
