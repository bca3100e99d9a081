// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/hints/warnings.h"

#include <gtest/gtest.h>

#include "lib/hints/comment.h"

namespace rubato {
namespace {

TEST(HintWarnings, AMarkerWithCapitalsOrWithoutColonIsNamed) {
  EXPECT_EQ(misspelt_marker("Rubato: gpus=4"),
            "comment: \"Rubato:\" does not begin hints; write rubato:gpus=4");
  EXPECT_EQ(misspelt_marker("night run rubato job-type=x;gpus=2"),
            "comment: \"rubato\" does not begin hints; write rubato:job-type=x;gpus=2");
  EXPECT_EQ(misspelt_marker("RUBATO : no-plans"),
            "comment: \"RUBATO :\" does not begin hints; write rubato:no-plans");
}

TEST(HintWarnings, OtherCommentsAreLeftAlone) {
  for (const char* comment : {"", "rubato: gpus=4", "Rubato is fun", "my rubato", "rubato",
                              "Rubatogpus=4", "xrubato gpus=4", "rubato speed=4"}) {
    EXPECT_EQ(misspelt_marker(comment), std::nullopt) << comment;
  }
}

TEST(HintWarnings, ASignalForStepsNamesTheOneForTheScript) {
  const auto warning = [](const char* comment) {
    return signal_for_steps_only(parse_comment(comment).value());
  };
  EXPECT_EQ(warning("rubato: checkpoint=USR1@60"),
            "checkpoint: Slurm sends USR1@60 to job steps only; if the batch script starts the "
            "program without srun, write checkpoint=B:USR1@60");
  EXPECT_EQ(warning("rubato: checkpoint=B:USR1@60"), std::nullopt);
  EXPECT_EQ(warning("rubato: checkpoint=none"), std::nullopt);
  EXPECT_EQ(warning("rubato: gpus=4"), std::nullopt);
}

}  // namespace
}  // namespace rubato
