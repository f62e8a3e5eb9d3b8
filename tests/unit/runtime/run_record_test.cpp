// Tests the record of how the last run ended. A child process is the last run where that one has to be killed.
#include "proxy/daemon/runtime/run_record.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <stdexcept>

#include "tests/unit/runtime/program.hpp"

namespace sluice::proxy {
namespace {

using testing::HasSubstr;

class Run : public testing::Test {
 protected:
  /// Returns how the last run ended, as a new run sees it.
  [[nodiscard]] LastRun last() const {
    RunRecord record(path(), {"fedcba9876543210fedcba9876543210", service_.result_file});
    record.end(EndReason::command);
    return record.last().value_or(LastRun{"none", "", true});
  }
  /// Runs `what` with a record in another process, which is killed then.
  void killed_after(const std::function<void(RunRecord&)>& what) const {
    const pid_t child = fork();
    if (child == 0) {
      RunRecord record(path(), service_);
      what(record);
      kill(getpid(), SIGKILL);
    }
    waitpid(child, nullptr, 0);
  }
  [[nodiscard]] std::string path() const { return (folder_.path() / "state.run").string(); }
  /// Writes what ExecStopPost= of the unit writes.
  void systemd_records(const std::string& line) const { static_cast<void>(folder_.write("service_result", line)); }

  test::TemporaryFolder folder_;
  RunRecord::ServiceEnvironment service_{"0123456789abcdef0123456789abcdef",
                                         (folder_.path() / "service_result").string()};
};

TEST_F(Run, TheFirstHasNoLast) {
  EXPECT_EQ(last().ended, "none");
}

TEST_F(Run, AnEndInOrderIsKnown) {
  for (const auto& [ending, word] :
       {std::pair(EndReason::command, "command"), {EndReason::sigterm, "sigterm"}, {EndReason::sigint, "sigint"}}) {
    RunRecord(path(), service_).end(ending);
    const LastRun ended = last();
    EXPECT_EQ(ended.ended, word);
    EXPECT_TRUE(ended.orderly);
  }
}

TEST_F(Run, ThatThrowsIsKnownAsFailed) {
  { const RunRecord begun(path(), service_); }
  EXPECT_EQ(last().ended, "failed");
}

TEST_F(Run, ThatIsKilledIsKnownAsThat) {
  killed_after([](RunRecord&) {});
  EXPECT_EQ(last().ended, "killed");
  EXPECT_EQ(last().ended, "command") << "the run that read it has ended since";
}

TEST_F(Run, ThatHungNamesItsThread) {
  killed_after([](RunRecord& record) { record.killed_by_watchdog(EndReason::hang, 3); });
  const LastRun ended = last();
  EXPECT_EQ(ended.ended, "hang");
  EXPECT_THAT(ended.text, HasSubstr("the poll thread of shard 2 hung"));
  killed_after([](RunRecord& record) { record.killed_by_watchdog(EndReason::hang, 0); });
  EXPECT_THAT(last().text, HasSubstr("the control thread hung"));
  killed_after([](RunRecord& record) { record.killed_by_watchdog(EndReason::stopped, 0); });
  EXPECT_EQ(last().ended, "stopped");
}

TEST_F(Run, SystemdKnowsWhatItEnded) {
  const std::string run = service_.invocation;
  killed_after([](RunRecord& record) { record.note_stall(1); });
  systemd_records(run + " watchdog dumped ABRT\n");
  const LastRun stalled = last();
  EXPECT_EQ(stalled.ended, "watchdog");
  EXPECT_THAT(stalled.text, HasSubstr("the poll thread of shard 1 had stalled"));
  for (const auto& [line, word] : {std::pair(" oom-kill killed KILL\n", "out_of_memory"),
                                   {" core-dump dumped SEGV\n", "signal"},
                                   {" timeout killed KILL\n", "timeout"},
                                   {" exit-code exited 127\n", "failed"}}) {
    killed_after([](RunRecord& record) {
      record.note_stall(1);
      record.note_stall(std::nullopt);
    });
    systemd_records(run + line);
    const LastRun ended = last();
    EXPECT_EQ(ended.ended, word);
    EXPECT_EQ(ended.text.find("stalled"), std::string::npos);
  }
}

TEST_F(Run, WhatSystemdRecordedOfAnotherRunIsIgnored) {
  for (const std::string line : {"ffff oom-kill killed KILL\n", "oom-kill killed KILL\n", "\n", ""}) {
    killed_after([](RunRecord&) {});
    systemd_records(line);
    EXPECT_EQ(last().ended, "killed") << line;
  }
}

TEST_F(Run, WhatSystemdCannotHaveWrittenIsIgnored) {
  killed_after([](RunRecord&) {});
  systemd_records(service_.invocation + " signal killed \x1b[2J\n");
  EXPECT_EQ(last().ended, "killed");
  killed_after([](RunRecord&) {});
  systemd_records(service_.invocation + " signal killed " + std::string(1000, 'x') + "\n");
  EXPECT_EQ(last().ended, "killed");
}

TEST_F(Run, ADamagedRecordIsNone) {
  for (const std::string& damaged : {std::string(), std::string(5, 'S'), std::string(4096, '\xff')}) {
    static_cast<void>(folder_.write("state.run", damaged));
    EXPECT_EQ(last().ended, "none");
  }
}

TEST_F(Run, AFileOfOthersIsRefused) {
  static_cast<void>(folder_.write("state.run", ""));
  std::filesystem::permissions(path(), std::filesystem::perms::others_read, std::filesystem::perm_options::add);
  EXPECT_THROW(RunRecord(path(), service_), std::runtime_error);
}

TEST_F(Run, ASecondOneDoesNotUseTheFile) {
  const RunRecord first(path(), service_);
  const pid_t child = fork();
  if (child == 0) {
    try {
      const RunRecord second(path(), service_);
    } catch (const std::runtime_error&) {
      _exit(7);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
}  // namespace sluice::proxy
