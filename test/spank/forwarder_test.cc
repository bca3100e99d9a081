// SPDX-License-Identifier: GPL-2.0-or-later
// The forwarder process: its start, its permissions, and that it always ends.
#include "plugin/spank/forwarder_process.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <sstream>
#include <thread>

#include "test/spank/scratch.h"

namespace rubato {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

bool until(const std::function<bool()>& condition) {
  const auto end = Clock::now() + 10s;
  while (!condition() && Clock::now() < end) std::this_thread::sleep_for(10ms);
  return condition();
}

std::string text_of(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

class ForwarderTest : public testing::Test {
 protected:
  ForwarderTest() {
    chmod_all(scratch_.path());
    call_.program = "/bin/sh";
    call_.environment = {"ONLY=this", "PATH=/usr/bin:/bin"};
    call_.uid = geteuid();
    call_.gid = getegid();
    call_.groups = {getegid()};
  }

  static void chmod_all(const std::string& path) {
    std::filesystem::permissions(path, std::filesystem::perms::all);
  }

  /// Starts a shell with `script`, which writes into `out`.
  Result<ForwarderProcess> start(const std::string& script, std::vector<std::string> options = {}) {
    call_.arguments = std::move(options);
    call_.arguments.insert(call_.arguments.end(), {"-c", script, out_});
    return ForwarderProcess::start(call_, Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)));
  }

  Scratch scratch_;
  std::string out_ = scratch_ / "out";
  ForwarderCall call_;
};

TEST_F(ForwarderTest, HasItsThreeFilesAndACleanEnvironment) {
  auto process = start(
      "{ ls /proc/self/fd | head -n 6 | tr '\\n' ' '; env | grep -v ^PWD= | "
      "grep -v ^_= | sort; pwd; } > $0; echo end >> $0; read x <&3");
  ASSERT_TRUE(process);
  ASSERT_TRUE(until([&] { return text_of(out_).ends_with("end\n"); })) << text_of(out_);
  process->end();
  const std::string text = text_of(out_);
  // 0 to 5 (6 is ls's own).
  EXPECT_EQ(text.substr(0, 12), "0 1 2 3 4 5 ") << text;
  EXPECT_NE(text.find("ONLY=this\nPATH=/usr/bin:/bin\n/\nend\n"), std::string::npos) << text;
}

TEST_F(ForwarderTest, IsTheOwnerAndNothingElse) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  call_.uid = 65534;
  call_.gid = 65534;
  call_.groups = {65534};
  auto process = start(
      "grep -E '^(Uid|Gid|Groups|CapEff|CapPrm)' /proc/self/status > $0; "
      "cat /proc/self/oom_score_adj >> $0; echo end >> $0; read x <&3",
      {"-p"});  // a shell would otherwise become its real user
  ASSERT_TRUE(process);
  ASSERT_TRUE(until([&] { return text_of(out_).ends_with("end\n"); })) << text_of(out_);
  process->end();
  EXPECT_EQ(text_of(out_),
            "Uid:\t65533\t65534\t65534\t65534\nGid:\t65534\t65534\t65534\t65534\n"
            "Groups:\t65534 \nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n0\nend\n");
}

/// True if a process of the user `uid` can attach to `pid`.
bool can_trace(uid_t uid, pid_t pid) {
  const pid_t child = fork();
  if (child == 0) {
    if (setgroups(0, nullptr) != 0 || setresgid(uid, uid, uid) != 0 ||
        setresuid(uid, uid, uid) != 0) {
      _exit(2);
    }
    _exit(ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) != 2);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(ForwarderTest, CannotBeTracedByTheOwnerNorCanItsPrograms) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  call_.uid = 65534;
  call_.gid = 65534;
  call_.groups = {65534};
  auto process = start("sleep 100 & echo $$ $! > $0; read x <&3; kill $!", {"-p"});
  ASSERT_TRUE(process);
  ASSERT_TRUE(until([&] { return text_of(out_).ends_with("\n"); }));
  pid_t shell = 0;
  pid_t sleeper = 0;
  std::istringstream(text_of(out_)) >> shell >> sleeper;
  EXPECT_FALSE(can_trace(65534, shell));
  EXPECT_FALSE(can_trace(65534, sleeper));
  EXPECT_FALSE(can_trace(65533, shell));  // its real user
  const pid_t usual = fork();
  if (usual == 0) {
    if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) _exit(1);
    execl("/bin/sleep", "sleep", "100", nullptr);
    _exit(1);
  }
  EXPECT_TRUE(until([&] { return can_trace(65534, usual); })) << "any process of the user";
  kill(usual, SIGKILL);
  waitpid(usual, nullptr, 0);
  process->end();
}

TEST_F(ForwarderTest, SaysWhetherItWasKilled) {
  auto process = start("echo $$ > $0; read x <&3");
  ASSERT_TRUE(process);
  ASSERT_TRUE(until([&] { return text_of(out_).ends_with("\n"); }));
  EXPECT_TRUE(process->end());
  std::filesystem::remove(out_);
  process = start("echo $$ > $0; read x <&3");
  ASSERT_TRUE(process);
  ASSERT_TRUE(until([&] { return text_of(out_).ends_with("\n"); }));
  kill(std::stoi(text_of(out_)), SIGKILL);
  EXPECT_TRUE(until([&] { return process && !process->end(); }));
}

TEST_F(ForwarderTest, EndsWhenItIsToldTo) {
  auto process = start("echo $$ > $0; read x <&3; echo told >> $0");
  ASSERT_TRUE(process);
  ASSERT_TRUE(until([&] { return text_of(out_).ends_with("\n"); }));
  process->end();
  EXPECT_TRUE(until([&] { return text_of(out_).find("told") != std::string::npos; }));
}

TEST_F(ForwarderTest, IsKilledWhenItDoesNotEnd) {
  auto process = start("trap '' TERM HUP; echo $$ > $0; exec sleep 100");
  ASSERT_TRUE(process);
  ASSERT_TRUE(until([&] { return text_of(out_).ends_with("\n"); }));
  const int pid = std::stoi(text_of(out_));
  process->end();
  // Killed; a zombie of another parent counts as gone.
  EXPECT_TRUE(until([&] {
    const std::string state = text_of("/proc/" + std::to_string(pid) + "/stat");
    return state.empty() || state.find(") Z") != std::string::npos;
  }));
}

TEST_F(ForwarderTest, EndsWithTheStepDaemonHoweverThatEnds) {
  {
    auto process = start("read x <&3; echo gone > $0");
    ASSERT_TRUE(process);
  }  // as a kill -9 of the step daemon closes it
  EXPECT_TRUE(until([&] { return text_of(out_) == "gone\n"; }));
}

TEST_F(ForwarderTest, AProgramThatIsNotThereHoldsNothingUp) {
  call_.program = scratch_ / "missing";
  auto process = start("echo ran > $0");
  ASSERT_TRUE(process);
  process->end();
  EXPECT_FALSE(std::filesystem::exists(out_));
}

TEST_F(ForwarderTest, IsNoChild) {
  auto process = start("read x <&3");
  ASSERT_TRUE(process);
  EXPECT_EQ(waitpid(-1, nullptr, 1 /* WNOHANG */), -1);
  process->end();
}

}  // namespace
}  // namespace rubato
