// Tests of the pairs of files in configs/live: each program accepts its file, and both files match.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "emulator/scenario/plan.hpp"
#include "proxy/config/config.hpp"

namespace sluice::emulator {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

const std::filesystem::path folder = std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/live";

std::vector<std::string> names_with(const std::string& ending) {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string name = file.path().filename().string();
    if (name.ends_with(ending)) names.push_back(name.substr(0, name.size() - ending.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(LivePairs, EveryFileHasACounterpart) {
  EXPECT_EQ(names_with(".nodeb.yaml"), names_with(".sluice.yaml"));
  EXPECT_THAT(names_with(".nodeb.yaml"), Contains("smvs"));
}

class LivePair : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto plan = load_plan((folder / (GetParam() + ".nodeb.yaml")).string());
    ASSERT_TRUE(plan) << config::to_string(plan.errors);
    EXPECT_THAT(plan.warnings, IsEmpty());
    scenario_ = plan->base;
    auto proxy = proxy::load_config((folder / (GetParam() + ".sluice.yaml")).string());
    ASSERT_TRUE(proxy) << config::to_string(proxy.errors);
    EXPECT_THAT(proxy.warnings, IsEmpty());
    proxy_ = std::move(*proxy);
  }

  Scenario scenario_;
  proxy::Config proxy_;
};

TEST_P(LivePair, BothFilesHaveTheSameModeAndController) {
  ASSERT_EQ(scenario_.modes.size(), 1U);
  EXPECT_TRUE(scenario_.modes.front().proxied);
  EXPECT_EQ(scenario_.modes.front().mode, proxy_.shard.mode);
  if (proxy_.shard.mode != proxy::Mode::smvs) return;
  EXPECT_EQ(scenario_.proxy.smvs.law, proxy_.shard.smvs.law);
}

TEST_P(LivePair, TheNodeBReportsIfTheModeNeedsReports) {
  const bool needed = proxy_.shard.needs_reports();
  EXPECT_EQ(report_period(scenario_, scenario_.modes.front()).has_value(), needed);
  EXPECT_EQ(scenario_.live.feedback.has_value(), needed);
  EXPECT_EQ(proxy_.feedback.has_value(), needed);
}

TEST_P(LivePair, PeersAndKeysOfBothFilesMatch) {
  if (!proxy_.feedback || !scenario_.live.feedback) return;
  const config::FeedbackConfig& nodeb = *scenario_.live.feedback;
  EXPECT_THAT(nodeb.peers, Contains(proxy_.feedback->listen));
  EXPECT_NE(nodeb.listen, proxy_.feedback->listen);
  EXPECT_NE(nodeb.sender, proxy_.feedback->sender);
  ASSERT_EQ(nodeb.keys.size(), 1U);
  ASSERT_EQ(proxy_.feedback->keys.size(), 1U);
  const config::KeyConfig& theirs = proxy_.feedback->keys.front();
  EXPECT_EQ(nodeb.keys.front().id, theirs.id);
  EXPECT_EQ(nodeb.keys.front().bytes, theirs.bytes);
  EXPECT_TRUE(std::any_of(theirs.learn_from.begin(), theirs.learn_from.end(), [&](const IpPrefix& prefix) {
    return prefix.contains(nodeb.listen.address);
  })) << "statuses would go nowhere";
}

// The lab makes these interfaces, and the README shows them.
TEST_P(LivePair, EachCableHasAnInterfaceAtEachEnd) {
  EXPECT_THAT(scenario_.live.hop_server, HasSubstr("iface=core,"));
  EXPECT_THAT(scenario_.live.hop_proxy, HasSubstr("iface=hop,"));
  EXPECT_THAT(proxy_.ports.core.device, HasSubstr("iface=proxy-core,"));
  EXPECT_THAT(proxy_.ports.radio.device, HasSubstr("iface=proxy-radio,"));
  EXPECT_THAT(scenario_.live.cell_core, HasSubstr("iface=cell,"));
  EXPECT_THAT(scenario_.live.cell_ue, HasSubstr("iface=radio,"));
}

INSTANTIATE_TEST_SUITE_P(Live, LivePair, testing::ValuesIn(names_with(".sluice.yaml")), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace sluice::emulator
