// SPDX-License-Identifier: GPL-2.0-or-later
// Limits of associations and QOS: the room that they leave, and the answer that is kept while it
// stays. slurmctld's functions are replaced by those below.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "plugin/slurm/read/blocks.h"
#include "plugin/slurm/read/limit_room.h"
#include "plugin/slurm/release/slurm_headers.h"

namespace {

bool allowed = true;
int tests = 0;
std::uint32_t reason = WAIT_ASSOC_GRP_GRES;

}  // namespace

extern "C" {
int slurmctld_tres_cnt = 5;
std::uint16_t accounting_enforce = ACCOUNTING_ENFORCE_LIMITS;
bitstr_t* avail_node_bitmap = nullptr;

void assoc_mgr_lock(assoc_mgr_lock_t* /*locks*/) {}
void assoc_mgr_unlock(assoc_mgr_lock_t* /*locks*/) {}
void* list_find_first_ro(list_t* /*list*/, ListFindF /*same*/, void* /*key*/) { return nullptr; }
int xstrcmp(const char* a, const char* b) { return std::strcmp(a, b); }
void slurm_xfree(void** item) { *item = nullptr; }
int bit_super_set(bitstr_t* /*part*/, bitstr_t* /*whole*/) { return 1; }
char* job_reason_string(enum job_state_reason /*reason*/) { return const_cast<char*>("reason"); }
// As it is called since Slurm 24.11.
const char* job_state_reason_string(enum job_state_reason /*reason*/) { return "reason"; }
bool job_array_start_test(job_record_t* /*job*/) { return true; }
int license_job_test(job_record_t* /*job*/, time_t /*when*/, bool /*reboot*/) {
  return SLURM_SUCCESS;
}
// As in slurmctld: false once a limit has set its reason on the job.
bool acct_policy_job_runnable_state(job_record_t* job) { return job->state_reason != reason; }
bool acct_policy_job_runnable_pre_select(job_record_t* /*job*/, bool /*locked*/) { return true; }
bool acct_policy_job_runnable_post_select(job_record_t* job, std::uint64_t* /*tres*/,
                                          bool /*locked*/) {
  ++tests;
  if (!allowed) job->state_reason = reason;
  return allowed;
}
}

namespace rubato {
namespace {

constexpr std::size_t kGpu = 4;  // by TRES; TRES_ARRAY_NODE is before it

class LimitTest : public testing::Test {
 protected:
  LimitTest() {
    allowed = true;
    tests = 0;
    limits_.fill(INFINITE64);
    limits_[kGpu] = 8;
    usage_.grp_used_tres = used_.data();
    assoc_.usage = &usage_;
    assoc_.grp_tres_ctld = limits_.data();
    assoc_.grp_wall = INFINITE;
    part_.state_up = PARTITION_UP;
    job_.assoc_ptr = &assoc_;
    job_.details = &details_;
    job_.tres_req_cnt = wanted_.data();
    wanted_[kGpu] = 4;
  }

  /// What a look says of the job.
  Block look() {
    rooms_.begin();
    return find_block(job_, part_, {.may_write = true, .rooms = &rooms_, .known = &known_}).kind;
  }

  std::array<std::uint64_t, 5> limits_{};
  std::array<std::uint64_t, 5> used_{};
  std::array<std::uint64_t, 5> wanted_{};
  slurmdb_assoc_usage_t usage_{};
  slurmdb_assoc_rec_t assoc_{};
  job_details_t details_{};
  part_record_t part_{};
  job_record_t job_{};
  LimitRooms rooms_;
  KnownLimit known_;
};

TEST_F(LimitTest, ARoomIsWhatTheLimitsLeave) {
  used_[kGpu] = 5;
  const LimitRoom& room = rooms_.of(job_, part_);
  EXPECT_EQ(room.most[kGpu], 3U);
  EXPECT_FALSE(room.timed);
  EXPECT_FALSE(room.surely_allows(wanted_.data()));
  wanted_[kGpu] = 3;
  EXPECT_TRUE(room.surely_allows(wanted_.data()));
  used_[kGpu] = 9;  // an admin lowered the limit
  EXPECT_EQ(&rooms_.of(job_, part_), &room) << "once for a look";
  rooms_.begin();
  EXPECT_EQ(rooms_.of(job_, part_).most[kGpu], 0U);
}

TEST_F(LimitTest, AJobThatSaysNoNodesAsksForOne) {
  limits_[TRES_ARRAY_NODE] = 0;
  EXPECT_FALSE(rooms_.of(job_, part_).surely_allows(wanted_.data()));
}

TEST_F(LimitTest, ALimitOnMinutesIsAlwaysTested) {
  assoc_.grp_tres_mins_ctld = limits_.data();
  EXPECT_TRUE(rooms_.of(job_, part_).timed);
  EXPECT_EQ(look(), Block::kNone);
  EXPECT_EQ(tests, 1);
}

TEST_F(LimitTest, AJobFarFromItsLimitsIsNotTested) {
  EXPECT_EQ(look(), Block::kNone);
  EXPECT_EQ(tests, 0);
}

TEST_F(LimitTest, AnAnswerHoldsUntilLimitsOrUseChange) {
  used_[kGpu] = 6;
  allowed = false;
  EXPECT_EQ(look(), Block::kLimit);
  EXPECT_EQ(look(), Block::kLimit);
  EXPECT_EQ(tests, 1);

  // Stock Slurm sets another reason in between.
  job_.state_reason = WAIT_RESOURCES;
  EXPECT_EQ(look(), Block::kLimit);
  EXPECT_EQ(job_.state_reason, reason);
  EXPECT_EQ(tests, 1);

  used_[kGpu] = 5;  // still too much
  EXPECT_EQ(look(), Block::kLimit);
  EXPECT_EQ(tests, 2);
  limits_[kGpu] = 16;
  job_.state_reason = WAIT_RESOURCES;
  allowed = true;
  EXPECT_EQ(look(), Block::kNone);
}

TEST_F(LimitTest, ALimitPerNodeDoesNotBlockBeforeTheNodesAreChosen) {
  used_[kGpu] = 6;
  allowed = false;
  reason = WAIT_QOS_MAX_GRES_PER_NODE;
  EXPECT_EQ(look(), Block::kNone);
  EXPECT_EQ(job_.state_reason, static_cast<std::uint32_t>(WAIT_NO_REASON));
  reason = WAIT_ASSOC_GRP_GRES;
}

}  // namespace
}  // namespace rubato
