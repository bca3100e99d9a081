// SPDX-License-Identifier: GPL-2.0-or-later
#include <gtest/gtest.h>

#include <set>

#include "lib/hints/message.h"

namespace rubato {
namespace {

struct Case {
  const char* text;
  const char* result;  // rendered, or the error
};

const Case kGood[] = {
    {"rubato!report samples=1.28e6;rate=850.5;batch=256",
     "rubato!report samples=1.28e6;rate=850.5;batch=256"},
    {"rubato!report batch=1;rate=0;samples=0", "rubato!report samples=0;rate=0;batch=1"},
    {"rubato!report "
     "samples=5;rate=1;batch=8;workers=4;servers=0;server-cores=2;sync=0;optimise=1e-2",
     "rubato!report samples=5;rate=1;batch=8;sync=0;optimise=0.01;workers=4;servers=0;"
     "server-cores=2"},
    {"rubato!REPORT  Samples = 5 ; rate = 1e2;;batch=8;loss=-2.5;noise=0;forward=0.1;iteration=1;",
     "rubato!report samples=5;rate=100;batch=8;loss=-2.5;forward=0.1;iteration=1;noise=0"},
    {"rubato!report samples=1e18;rate=1e300;batch=1e9",
     "rubato!report samples=1e18;rate=1e+300;batch=1e9"},
    {"rubato! report samples=1;rate=1;batch=1\n", "rubato!report samples=1;rate=1;batch=1"},
    {"rubato!ack notice=3", "rubato!ack notice=3;state=ready"},
    {"rubato!ack notice=3;state=Refused;seconds=1.5",
     "rubato!ack notice=3;state=refused;seconds=1.5"},
    {"rubato!resize gpus=8", "rubato!resize gpus=8"},
    {"rubato!resize gpus=100000", "rubato!resize gpus=100000"},
    {"rubato!resize how=Live; gpus=4", "rubato!resize gpus=4;how=live"},
    {"rubato!resize gpus=4;how=restart", "rubato!resize gpus=4;how=restart"},
    {"rubato!resize gpus=8;how=rehearsal", "rubato!resize gpus=8;how=rehearsal"},
    {"rubato!hold-size", "rubato!hold-size state=on"},
    {"rubato!hold-size state=off", "rubato!hold-size state=off"},
    {"rubato!hold-size seconds=3600", "rubato!hold-size state=on;seconds=3600"},
    {"rubato!hold-size\tseconds=31536000", "rubato!hold-size state=on;seconds=31536000"},
};

TEST(HintMessage, GoodOnesAreReadAndWritten) {
  std::set<std::size_t> kinds;
  for (const auto& [text, result] : kGood) {
    const auto message = parse_message(text);
    ASSERT_TRUE(message) << text << ": " << message.error().text;
    EXPECT_EQ(render_message(*message), result) << text;
    const auto again = parse_message(result);
    ASSERT_TRUE(again) << result;
    EXPECT_EQ(*again, *message) << result;
    kinds.insert(message->index());
  }
  EXPECT_EQ(kinds.size(), message_kinds().size());
}

constexpr const char* kWhole = "rubato!report samples=1.28e6;rate=850.5;batch=256";

const Case kBad[] = {
    {"", "message: does not begin with rubato!"},
    {" rubato!ack notice=1", "message: does not begin with rubato!"},
    {"rubato: gpus=2", "message: does not begin with rubato!"},
    {"rubato!", "message: \"\" is not one of report, ack, resize, hold-size"},
    {"rubato!repport",
     "message: \"repport\" is not one of report, ack, resize, hold-size; did you "
     "mean report?"},
    {"rubato!hold",
     "message: \"hold\" is not one of report, ack, resize, hold-size; did you mean "
     "hold-size?"},
    {"rubato!report;samples=1",
     "message: \"report;samples=1\" is not one of report, ack, resize, hold-size"},
    {"rubato!report samples=1;rate=1",
     "report: batch: missing; a complete message is rubato!report "
     "samples=1.28e6;rate=850.5;batch=256"},
    {"rubato!report samples=1;rate=1;batch=0",
     "report: batch: \"0\" is out of range; choose a whole number from 1 to 1e9"},
    {"rubato!report samples=-1;rate=1;batch=1",
     "report: samples: \"-1\" is out of range; choose a whole number from 0 to 1e18"},
    {"rubato!report samples=1;rate=-1;batch=1", "report: rate: \"-1\" is below 0"},
    {"rubato!report samples=1;rate=nan;batch=1", "report: rate: \"nan\" is not a number"},
    {"rubato!report samples=1;rate=1e999;batch=1", "report: rate: \"1e999\" is out of range"},
    {"rubato!report samples=1;rate=1;batch=1;loss=inf", "report: loss: \"inf\" is not a number"},
    {"rubato!report samples=1;rate=1;batch=1;forward=0", "report: forward: \"0\" is not above 0"},
    {"rubato!report samples=1;rate=1;batch=1;iteration=-2",
     "report: iteration: \"-2\" is not above 0"},
    {"rubato!report samples=1;rate=1;batch=1;noise=-0.1", "report: noise: \"-0.1\" is below 0"},
    {"rubato!report samples=1;rate=1;batch=1;rate=2", "report: rate: set twice; keep one"},
    {"rubato!report samples;rate=1;batch=1",
     "report: samples: no value; write samples=VALUE\n"
     "report: samples: missing; a complete message is rubato!report "
     "samples=1.28e6;rate=850.5;batch=256"},
    {"rubato!report sample=1;rate=1;batch=1;samples=1",
     "report: sample: unknown in report, which accepts samples, rate, batch, loss, forward, "
     "iteration, "
     "noise, sync, optimise, workers, servers, server-cores; did you mean samples?"},
    {"rubato!report samples=1;rate=1;batch=1;workers=0;servers=-1;server-cores=0;sync=-1",
     "report: sync: \"-1\" is below 0\n"
     "report: workers: \"0\" is out of range; choose a whole number from 1 to 100000\n"
     "report: servers: \"-1\" is out of range; choose a whole number from 0 to 100000\n"
     "report: server-cores: \"0\" is out of range; choose a whole number from 1 to 100000"},
    {"rubato!ack", "ack: notice: missing; a complete message is rubato!ack notice=1"},
    {"rubato!ack notice=1;state=redy",
     "ack: state: \"redy\" is not one of ready, refused; did you mean ready?"},
    {"rubato!ack notice=1;seconds=-1", "ack: seconds: \"-1\" is below 0"},
    {"rubato!resize", "resize: gpus: missing; a complete message is rubato!resize gpus=8"},
    {"rubato!resize gpus=0",
     "resize: gpus: \"0\" is out of range; choose a whole number from 1 to 100000"},
    {"rubato!resize gpus=4;how=lively",
     "resize: how: \"lively\" is not one of live, restart, rehearsal; did you mean live?"},
    {"rubato!resize gpus=100001",
     "resize: gpus: \"100001\" is out of range; choose a whole number from 1 to 100000"},
    {"rubato!hold-size state=off;seconds=5",
     "hold-size: seconds: not valid with state=off; remove it"},
    {"rubato!hold-size seconds=31536001",
     "hold-size: seconds: \"31536001\" is out of range; choose a whole number from 1 to 31536000"},
};

TEST(HintMessage, BadOnesNameWordAndReason) {
  for (const auto& [text, result] : kBad) {
    const auto message = parse_message(text);
    ASSERT_FALSE(message) << text;
    EXPECT_EQ(message.error().text, result) << text;
  }
}

TEST(HintMessage, HasAtMost1024Bytes) {
  std::string text = kWhole;
  text.append(kMaxMessageLength - text.size(), ';');
  EXPECT_TRUE(parse_message(text));
  const auto longer = parse_message(text + ";");
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().text, "message: 1025 bytes is too long; the maximum is 1024");
}

TEST(HintMessage, TheLargestFits) {
  const Report report{123456789012345678,       1.2345678901234567e-100, 123456789,
                      -1.2345678901234567e-100, 1.2345678901234567e-100, 1.2345678901234567e-100,
                      1.2345678901234567e-100};
  const std::string text = render_message(report);
  EXPECT_LT(text.size(), 256U);
  const auto again = parse_message(text);
  ASSERT_TRUE(again) << again.error().text;
  EXPECT_EQ(*again, Message(report));
}

TEST(HintMessage, IsKnownByItsBeginning) {
  EXPECT_TRUE(is_message("rubato!"));
  EXPECT_TRUE(is_message("rubato!nonsense"));
  EXPECT_FALSE(is_message("rubato: gpus=2"));
  EXPECT_FALSE(is_message("x rubato!report"));
  EXPECT_FALSE(is_message("Rubato!report"));
}

TEST(HintMessage, ExamplesOfTheTableAreGood) {
  std::size_t index = 0;
  for (const MessageKind& kind : message_kinds()) {
    const auto message = parse_message(kind.example);
    ASSERT_TRUE(message) << kind.example << ": " << message.error().text;
    EXPECT_EQ(message->index(), index++) << kind.name;
  }
}

}  // namespace
}  // namespace rubato
