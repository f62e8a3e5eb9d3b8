#include "emulator/scenario/live_mode.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/nodeb/scenario_errors.hpp"

// Tests which mode `nodeb live` serves by default, and what that mode requires.

namespace sluice::emulator {
namespace {

using testing::HasSubstr;

const std::string between = "live: {cell_core: net_null0, cell_ue: net_null1";
const std::string peer = ", peers: [127.0.0.1:38425]";

std::string feedback(const std::string& peers) {
  return ", feedback: {listen: 127.0.0.1:0" + peers +
         ", allow_readable_secrets: true, keys: [{id: 1, secret: 00112233445566778899aabbccddeeff}]}";
}

std::string served(const std::string& text) {
  const auto plan = parse_plan(smallest + text, "s.yaml");
  EXPECT_TRUE(plan) << config::to_string(plan.errors);
  return plan ? std::string(to_string(live_mode(plan->base))) : "";
}

std::string said(const std::string& text, RunMode mode) {
  const auto plan = parse_plan(smallest + text, "s.yaml");
  EXPECT_TRUE(plan) << config::to_string(plan.errors);
  return plan ? live_summary(plan->base, mode) : "";
}

TEST(LiveMode, IsTheFirstModeWithoutAProxyPort) {
  EXPECT_EQ(served(""), "none");
}

// `none` comes first by default. It would pass the proxy by, and cut real UEs off from servers behind it.
TEST(LiveMode, IsTheFirstProxiedModeWithAProxyPort) {
  EXPECT_EQ(served(between + "}\n"), "i-tcp");
  EXPECT_EQ(served("modes: [none, wrb, bypass]\n" + between + "}\n"), "bypass");
}

TEST(LiveMode, IsTheFirstReportBasedModeWithFeedback) {
  EXPECT_EQ(served(between + feedback(peer) + "}\n"), "smvs");
  EXPECT_EQ(served("modes: [none, i-tcp, wrb, smvs]\n" + between + feedback(peer) + "}\n"), "wrb");
}

TEST(LiveMode, AReportBasedModeNeedsAPeerForReports) {
  EXPECT_THAT(errors_of(smallest + "modes: [smvs]\n" + between + "}\n"),
              HasSubstr("live.feedback, expected addresses and a key in mode smvs, got none"));
  EXPECT_THAT(errors_of(smallest + "modes: [smvs]\n" + between + feedback("") + "}\n"),
              HasSubstr("live.feedback.peers, expected the proxy's feedback.listen in mode smvs"));
  EXPECT_EQ(errors_of(smallest + "modes: [smvs]\nsmvs: {law: acks}\n" + between + "}\n"), "");
}

TEST(LiveMode, ModeNoneWithRealUesNeedsAServerPort) {
  EXPECT_THAT(errors_of(smallest + "modes: [none]\n" + between + "}\n"),
              HasSubstr("live.hop_server, expected a port towards the servers in mode none"));
}

TEST(LiveMode, IsLoggedWithThePeersOfItsReports) {
  const std::string text = between + feedback(peer) + "}\n";
  EXPECT_EQ(said(text, RunMode::smvs), "reports serve mode smvs, to 127.0.0.1:38425 every 5ms");
  EXPECT_EQ(said(text, RunMode::i_tcp), "mode i-tcp: no reports are sent");
  EXPECT_EQ(said(text, RunMode::none), "mode none: no proxy, no reports");
}

}  // namespace
}  // namespace sluice::emulator
