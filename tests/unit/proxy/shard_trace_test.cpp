// Tests of a shard's decision log: which connections it covers, when it begins and ends, and that every decision can
// be replayed.

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <initializer_list>
#include <set>

#include "control/decision_log/replay.hpp"
#include "tests/support/proxy_lab.hpp"
#include "tests/unit/law_trace/recorded.hpp"
#include "tests/unit/proxy/shard_acks.hpp"

namespace sluice::test {
namespace {

using control::DecisionLog;
using control::Recorded;
using control::ReplayTotals;
using proxy::ControllerLocation;
using proxy::Intercept;
using proxy::Mode;
using proxy::Policies;
using tcp::Flags;
using testing::Contains;
using testing::IsSupersetOf;
using testing::Not;

class ShardTrace : public testing::Test {
 protected:
  explicit ShardTrace(const proxy::ShardConfig& config = shard_config(Mode::smvs)) : download(config) {}
  ~ShardTrace() override { lab.shard.trace(nullptr); }

  void switch_to(Mode mode, Intercept intercept = Intercept::automatic,
                 ControllerLocation law = ControllerLocation::nodeb) {
    proxy::ShardConfig config = shard_config(mode);
    config.intercept = intercept;
    config.smvs.law = law;
    lab.shard.apply(policies_.emplace_back(config.policy_set()), lab.now);
  }
  /// The server sends, the UE acknowledges, the Node-B reports.
  void carry(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      lab.pass_time(ScriptedReports::period);
      download.offer(2);
      transmitted_ += 1052;
      reports.queue(4 * 1052, transmitted_ + 4 * 1052, transmitted_);
      acknowledged_ = std::min(acknowledged_ + 1000, download.offered);
      hosts.ue(Flags::ack_bit, 0, acknowledged_);
    }
  }
  /// Returns the kinds of controllers whose decisions were recorded.
  [[nodiscard]] std::set<std::string> laws() const {
    std::set<std::string> all;
    for (const std::string& line : recorded.lines) {
      const auto json = nlohmann::json::parse(line);
      if (json.contains("in")) all.insert(json.at("law"));
    }
    return all;
  }
  void expect_the_same_again() {
    const ReplayTotals totals = control::replayed(recorded.lines);
    EXPECT_GT(totals.decisions, 0U);
    EXPECT_EQ(totals.differing, 0U);
    EXPECT_EQ(totals.unknown, 0U);
  }

  ReportedDownload download;
  ProxyLab& lab = download.lab;
  ScriptedHosts& hosts = download.hosts;
  ScriptedReports& reports = download.reports;
  Recorded recorded;
  DecisionLog trace{recorded, {hosts.ue_to_server.src, {}}};

 private:
  std::deque<Policies> policies_;
  std::uint64_t transmitted_ = 0;
  std::uint32_t acknowledged_ = 0;
};

TEST_F(ShardTrace, MayBeginAndEndWithinAConnection) {
  hosts.open();
  carry(20);
  EXPECT_TRUE(recorded.lines.empty());
  lab.shard.trace(&trace);
  carry(20);
  EXPECT_THAT(laws(), Contains("node-b"));
  expect_the_same_again();
  lab.shard.trace(nullptr);
  const std::size_t before = recorded.lines.size();
  carry(20);
  EXPECT_EQ(recorded.lines.size(), before);
}

TEST_F(ShardTrace, WaitsForAUeThatIsStillUnknown) {
  lab.shard.trace(&trace);
  hosts.open();
  carry(20);
  EXPECT_THAT(laws(), Contains("node-b"));
  expect_the_same_again();
}

TEST_F(ShardTrace, RecordsNothingOfAnotherUe) {
  Recorded nothing;
  DecisionLog other(nothing, {IpAddress::v4(10, 9, 9, 9), {}});
  lab.shard.trace(&other);
  hosts.open();
  carry(20);
  lab.shard.trace(nullptr);
  EXPECT_TRUE(nothing.lines.empty());
}

TEST_F(ShardTrace, RecordsControllersAfterASwitch) {
  lab.shard.trace(&trace);
  hosts.open();
  carry(10);
  for (const ControllerLocation place : {ControllerLocation::proxy, ControllerLocation::acks}) {
    switch_to(Mode::smvs, Intercept::split, place);
    carry(30);
  }
  for (const Mode mode :
       {Mode::clamp, Mode::wrs, Mode::wrd, Mode::wrb, Mode::gwa_rr, Mode::gwa_fcfs, Mode::ba, Mode::fair_share}) {
    switch_to(mode, Intercept::split);
    carry(10);
  }
  EXPECT_THAT(laws(), IsSupersetOf({"node-b", "smvs", "acks", "clamp", "wrs", "wrd", "wrb", "gwa-rr", "gwa-fcfs", "ba",
                                    "fair-share"}));
  expect_the_same_again();
}

TEST_F(ShardTrace, RecordsControllersOfAnEndToEndConnection) {
  switch_to(Mode::clamp, Intercept::regulate);
  hosts.open();
  carry(10);
  lab.shard.trace(&trace);
  carry(10);
  for (const Mode mode : {Mode::wrb, Mode::ack_regulator, Mode::fair_share, Mode::observe}) {
    switch_to(mode, Intercept::automatic);
    carry(10);
  }
  switch_to(Mode::smvs, Intercept::regulate, ControllerLocation::acks);
  carry(30);
  EXPECT_THAT(laws(), IsSupersetOf({"clamp", "ack-regulator", "fair-share", "acks"}));
  expect_the_same_again();
}

/// A controller that replaces an ended one is recorded from its own beginning.
TEST_F(ShardTrace, TheControllersOfAClosedConnectionEnd) {
  switch_to(Mode::wrd, Intercept::split);
  lab.shard.trace(&trace);
  hosts.open();
  carry(10);
  hosts.ue(Flags::rst_bit, 0, 0);
  hosts.open();
  carry(10);
  std::set<int> numbers;
  bool left = false;
  for (const std::string& line : recorded.lines) {
    const auto json = nlohmann::json::parse(line);
    if (json.at("law") == "wrd" && json.at("event") == "state") numbers.insert(json.at("of").get<int>());
    left = left || (json.at("law") == "wrd" && json.at("event") == "left");
  }
  EXPECT_EQ(numbers.size(), 2U);
  EXPECT_TRUE(left);
  expect_the_same_again();
}

TEST_F(ShardTrace, NamesTheConnectionOfAPerFlowWindowController) {
  hosts.open();
  carry(10);
  switch_to(Mode::wrd, Intercept::split);
  lab.shard.trace(&trace);
  carry(10);
  std::set<int> ports;
  for (const std::string& line : recorded.lines) {
    const auto json = nlohmann::json::parse(line);
    if (json.contains("ue_port") && json.value("law", "") == "wrd") ports.insert(json.at("ue_port").get<int>());
  }
  EXPECT_THAT(ports, testing::ElementsAre(hosts.ue_to_server.src_port));
}

TEST_F(ShardTrace, RecordsOnlyTheConnectionOfAGivenPort) {
  switch_to(Mode::wrd, Intercept::split);
  DecisionLog other(recorded, {hosts.ue_to_server.src, 1});
  lab.shard.trace(&other);
  hosts.open();
  carry(10);
  lab.shard.trace(nullptr);
  EXPECT_THAT(laws(), Not(Contains("wrd")));
}

/// Downloads under the ACK-based controller, and the decisions of the second loop about them.
class WindowsByAcks : public ShardAcks {
 protected:
  WindowsByAcks() { lab.shard.trace(&trace_); }
  ~WindowsByAcks() override { lab.shard.trace(nullptr); }

  struct Download {
    ScriptedHosts& hosts;
    std::uint32_t offered = 0;
  };
  /// In each RTT the server sends a segment and the UE acknowledges one; two are in flight.
  void carry(std::initializer_list<Download*> downloads, int rounds) {
    for (Download* const each : downloads) offer(each->hosts, each->offered, 2);
    for (int i = 0; i < rounds; ++i) {
      lab.pass_time(std::chrono::milliseconds(20));
      for (Download* const each : downloads) {
        offer(each->hosts, each->offered, 1);
        each->hosts.ue(Flags::ack_bit, 0, each->offered - 2 * segment_size);
      }
    }
    lab.pass_time(std::chrono::milliseconds(1));
  }
  /// Returns how often the second loop decides while the server sends that many more segments.
  std::size_t decisions_for(std::uint32_t segments) {
    const std::size_t before = decisions();
    offer(download.hosts, download.offered, segments);
    return decisions() - before;
  }
  [[nodiscard]] std::size_t decisions() const {
    return static_cast<std::size_t>(std::ranges::count_if(recorded_.lines, [](const std::string& line) {
      const auto json = nlohmann::json::parse(line);
      return json.contains("in") && json.at("law") == "receive-window";
    }));
  }

  Download download{hosts};

 private:
  Recorded recorded_;
  DecisionLog trace_{recorded_, {hosts.ue_to_server.src, {}}};
};

TEST_F(WindowsByAcks, DataOfASingleConnectionCausesNoDecision) {
  hosts.open();
  carry({&download}, 80);
  EXPECT_EQ(decisions_for(4), 0U);
  const std::size_t before = decisions();
  hosts.ue(Flags::ack_bit, 0, download.offered - segment_size);
  EXPECT_GT(decisions(), before) << "an acknowledgement does";
}

TEST_F(WindowsByAcks, DataOfOneOfSeveralConnectionsCausesADecision) {
  hosts.open();
  ScriptedHosts second{lab};
  second.ue_to_server.src_port = 40001;
  second.open();
  Download other{second};
  carry({&download, &other}, 80);
  EXPECT_EQ(decisions_for(1), 1U);
}

TEST_F(WindowsByAcks, DataWithNothingInFlightCausesADecision) {
  hosts.open();
  carry({&download}, 80);
  hosts.ue(Flags::ack_bit, 0, download.offered);
  EXPECT_GE(decisions_for(1), 1U);
}

}  // namespace
}  // namespace sluice::test
