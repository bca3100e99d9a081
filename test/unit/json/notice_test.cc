// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/json/notice.h"

#include <gtest/gtest.h>

#include "lib/json/annotation.h"

namespace rubato {
namespace {

Notice shrink() {
  return {.number = 3,
          .step = NoticeStep::kComing,
          .live = true,
          .from = 8,
          .gpus = 4,
          .due = 1764250000,
          .leave = "n[2-4,7]",
          .come = {}};
}

TEST(Notice, HasAllThatAJobMustKnow) {
  const std::string text = render_notice(shrink());
  EXPECT_EQ(text,
            "{rubato-notice n=3 step=coming how=live from=8 gpus=4 due=1764250000 leave=n[2-4,7]}");
  EXPECT_EQ(find_notice("of the site " + text + " more"), shrink());
}

TEST(Notice, EachStepIsReadAsItWasWritten) {
  Notice notice{.number = 1, .step = NoticeStep::kDone, .from = 4, .gpus = 8, .come = "n3"};
  for (const NoticeStep step : {NoticeStep::kComing, NoticeStep::kDone, NoticeStep::kFailed})
    for (const bool live : {true, false}) {
      notice.step = step;
      notice.live = live;
      EXPECT_EQ(find_notice(render_notice(notice)), notice);
    }
}

TEST(Notice, TellsHowToRunOnTheSameGpus) {
  Notice notice{.number = 2, .step = NoticeStep::kDone, .live = true, .from = 4, .gpus = 4};
  EXPECT_FALSE(notice.keeps_gpus());
  notice.batch = 512;
  notice.plan = "dp=4";
  const std::string text = render_notice(notice);
  EXPECT_EQ(text, "{rubato-notice n=2 step=done how=live from=4 gpus=4 batch=512 plan=dp=4}");
  EXPECT_EQ(find_notice(text), notice);
  EXPECT_TRUE(notice.keeps_gpus());
  notice.from = 2;
  EXPECT_FALSE(notice.keeps_gpus()) << "it has other GPUs";
}

TEST(Notice, NodesThatWouldMakeItTooLongAreLeftOut) {
  Notice notice = shrink();
  for (int i = 0; i < 100; ++i) notice.leave += ",n" + std::to_string(i);
  const std::string text = render_notice(notice);
  EXPECT_LE(text.size(), kMaxNoticeLength);
  notice.leave.clear();
  EXPECT_EQ(find_notice(text), notice);
}

TEST(Notice, StandsBesideTheAnnotation) {
  const JobAnnotation annotation{.gpus = 4};
  const Notice notice = shrink();
  std::string text = with_annotation("site", &annotation);
  text = with_notice(text, &notice);
  EXPECT_EQ(find_notice(text), notice);
  EXPECT_EQ(find_annotation(text), annotation);
  EXPECT_EQ(with_notice(text, nullptr), "site {rubato gpus=4}");
  EXPECT_EQ(with_annotation(text, nullptr), "site " + render_notice(notice));
}

TEST(Notice, WrongTextIsNone) {
  for (const char* text :
       {"", "{rubato-notice}", "{rubato-notice n=0 step=done how=live from=1 gpus=2}",
        "{rubato-notice n=x}", "{rubato-notice n=1 step=soon}", "{rubato-notice n=1 how=up}",
        "{rubato-notice n=1 gpus}", "{rubato n=1}", "{rubato-notice n=1 step=done"})
    EXPECT_FALSE(find_notice(text)) << text;
  EXPECT_TRUE(find_notice("{rubato-notice n=1 step=done how=live from=1 gpus=2 later=x}"));
}

}  // namespace
}  // namespace rubato
