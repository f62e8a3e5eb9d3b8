// Tests of reloads and mode switches at run time, with confirmation and revert.
#include "proxy/daemon/runtime/reloader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/runtime/program.hpp"

namespace sluice::proxy {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr const char* base = R"(ports:
  radio: { device: "net_memif0,role=server,id=0,socket=/tmp/a" }
  core: { device: "net_memif1,role=server,id=0,socket=/tmp/b" }
feedback:
  listen: 127.0.0.1:38425
  keys: [{ id: 1, secret: 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff }]
)";

class ReloaderTest : public testing::Test {
 protected:
  ReloaderTest() : file(folder.write("sluice.yaml", base + std::string("mode: smvs\n"))), config(*load_config(file)) {}
  void rewrite(const std::string& more) { static_cast<void>(folder.write("sluice.yaml", base + more)); }
  static std::string text(const admin::Answer& answer) {
    return answer.value.is_string() ? answer.value.get<std::string>() : answer.value.dump();
  }

  test::TemporaryFolder folder;
  std::string file;
  Config config;
  boost::asio::io_context context;
  std::vector<Mode> applied;
  tcp::EndpointConfig legs;
  Reloader reloader{context, config, file, [this](const Policies& policies) {
                      applied.push_back(policies.otherwise.mode);
                      legs = policies.legs;
                    }};
};

TEST_F(ReloaderTest, AModeIsSetAndReported) {
  EXPECT_EQ(text(reloader.mode({})), "smvs");
  const admin::Answer answer = reloader.mode({"wrb", "regulate"});
  EXPECT_TRUE(answer.ok) << text(answer);
  EXPECT_THAT(applied, testing::ElementsAre(Mode::wrb));
  EXPECT_EQ(config.shard.intercept, Intercept::regulate);
  EXPECT_EQ(text(reloader.mode({})), "wrb");
}

TEST_F(ReloaderTest, ARefusedModeChangesNothing) {
  EXPECT_FALSE(reloader.mode({"wbr"}).ok);
  EXPECT_FALSE(reloader.mode({"i-tcp", "regulate"}).ok);
  EXPECT_TRUE(applied.empty());
}

TEST_F(ReloaderTest, SmvsCanRegulateIfItNeedsNoAllowance) {
  EXPECT_TRUE(reloader.mode({"smvs", "regulate"}).ok);
  EXPECT_EQ(config.shard.intercept, Intercept::regulate);
  rewrite("mode: smvs\nsmvs: { law: proxy }\n");
  EXPECT_TRUE(reloader.reload({}).ok);
  EXPECT_FALSE(reloader.mode({"smvs", "regulate"}).ok);
}

TEST_F(ReloaderTest, ModesThatTheConfigurationDoesNotAllowHaveTheRuleThatTheyBreak) {
  const auto why_not = [this](Mode mode) {
    for (const ModeAvailability& offer : reloader.modes()) {
      if (offer.mode == mode) return offer.why_not;
    }
    return std::string("not listed");
  };
  const std::vector<ModeAvailability> offers = reloader.modes();  // a copy, because each change discards them
  EXPECT_EQ(offers.size(), mode_table.size());
  for (const ModeAvailability& offer : offers) {
    EXPECT_EQ(offer.why_not.empty(), reloader.mode({std::string(to_string(offer.mode))}).ok || offer.mode == Mode::smvs)
        << to_string(offer.mode) << ": " << offer.why_not;
    EXPECT_TRUE(reloader.mode({"smvs"}).ok);
  }
  EXPECT_EQ(why_not(Mode::bypass), "");
  EXPECT_EQ(why_not(Mode::observe), "");
  rewrite("mode: smvs\nobserved: i-tcp\n");
  EXPECT_FALSE(reloader.reload({}).ok) << "no decision of i-tcp can be observed";
}

TEST_F(ReloaderTest, AReloadReportsAndAppliesTheDifferences) {
  rewrite("mode: clamp\nclamp: { gain: 700B }\n");
  const admin::Answer answer = reloader.reload({});
  ASSERT_TRUE(answer.ok) << text(answer);
  EXPECT_THAT(text(answer), HasSubstr(R"({"key":"mode","before":"smvs","after":"clamp"})"));
  EXPECT_THAT(text(answer), HasSubstr(R"({"key":"clamp.gain","before":"500B","after":"700B"})"));
  EXPECT_THAT(applied, testing::ElementsAre(Mode::clamp));
  EXPECT_EQ(text(reloader.reload({})), "nothing has changed");
}

TEST_F(ReloaderTest, AFileWithErrorsChangesNothing) {
  rewrite("mode: clamp\nglamp: {}\n");
  const admin::Answer answer = reloader.reload({});
  EXPECT_FALSE(answer.ok);
  EXPECT_THAT(text(answer), HasSubstr("glamp"));
  EXPECT_TRUE(applied.empty());
}

TEST_F(ReloaderTest, AReloadThatNeedsARestartIsRefusedAsAWhole) {
  rewrite("mode: clamp\npool: { buffers: 65536 }\n");
  const admin::Answer answer = reloader.reload({});
  EXPECT_FALSE(answer.ok);
  EXPECT_THAT(text(answer), HasSubstr("pool.buffers"));
  EXPECT_TRUE(applied.empty());
  EXPECT_EQ(config.shard.mode, Mode::smvs);
}

TEST_F(ReloaderTest, TheTcpConfigurationIsApplied) {
  rewrite("mode: smvs\ntcp: { min_rto: 300ms }\n");
  const admin::Answer answer = reloader.reload({});
  ASSERT_TRUE(answer.ok) << text(answer);
  EXPECT_THAT(text(answer), HasSubstr(R"({"key":"tcp.min_rto","before":"200ms","after":"300ms"})"));
  EXPECT_EQ(legs.min_rto, 300ms);
}

TEST_F(ReloaderTest, AnUnconfirmedChangeIsRevertedAfterItsTime) {
  rewrite("mode: i-tcp\n");
  ASSERT_TRUE(reloader.reload({"--confirm-within", "20ms"}).ok);
  EXPECT_FALSE(reloader.reload({}).ok) << "one at a time";
  context.run();
  EXPECT_THAT(applied, testing::ElementsAre(Mode::i_tcp, Mode::smvs));
  EXPECT_EQ(config.shard.mode, Mode::smvs);
  EXPECT_FALSE(reloader.confirm().ok);
}

TEST_F(ReloaderTest, AConfirmedChangeStays) {
  rewrite("mode: i-tcp\n");
  ASSERT_TRUE(reloader.reload({"--confirm-within", "1h"}).ok);
  EXPECT_TRUE(reloader.confirm().ok);
  context.run();
  EXPECT_THAT(applied, testing::ElementsAre(Mode::i_tcp));
}

TEST_F(ReloaderTest, AnUnconfirmedChangeIsRevertedAtOnce) {
  rewrite("mode: i-tcp\n");
  ASSERT_TRUE(reloader.reload({"--confirm-within", "1h"}).ok);
  EXPECT_TRUE(reloader.revert().ok);
  context.run();  // no timer is left
  EXPECT_THAT(applied, testing::ElementsAre(Mode::i_tcp, Mode::smvs));
  EXPECT_FALSE(reloader.unconfirmed());
  EXPECT_FALSE(reloader.last_reload_successful());
  EXPECT_FALSE(reloader.revert().ok);
  EXPECT_FALSE(reloader.confirm().ok);
}

TEST_F(ReloaderTest, TheBypassRevertsAnUnconfirmedChange) {
  rewrite("mode: i-tcp\ntcp: { min_rto: 300ms }\n");
  ASSERT_TRUE(reloader.reload({"--confirm-within", "1h"}).ok);
  EXPECT_THAT(text(reloader.mode({"wrs"})), HasSubstr("not confirmed"));
  EXPECT_FALSE(reloader.mode({"no-such-mode"}).ok);
  EXPECT_TRUE(reloader.unconfirmed());
  const admin::Answer answer = reloader.mode({"bypass"});
  ASSERT_TRUE(answer.ok) << text(answer);
  context.run();
  EXPECT_EQ(config.shard.mode, Mode::bypass);
  EXPECT_EQ(legs.min_rto, 200ms);
  EXPECT_FALSE(reloader.unconfirmed());
  EXPECT_FALSE(reloader.reload_by_signal().ok) << "the file holds what was taken back";
  EXPECT_EQ(config.shard.mode, Mode::bypass);
}

TEST_F(ReloaderTest, ASignalDoesNotApplyARevertedChange) {
  rewrite("mode: i-tcp\n");
  ASSERT_TRUE(reloader.reload({"--confirm-within", "20ms"}).ok);
  EXPECT_FALSE(reloader.reload_by_signal().ok) << "it is not confirmed";
  context.run();
  rewrite("# by value, not byte for byte\nmode: 'i-tcp'\n");
  EXPECT_THAT(text(reloader.reload_by_signal()), HasSubstr("taken back"));
  EXPECT_FALSE(reloader.last_reload_successful());
  EXPECT_EQ(config.shard.mode, Mode::smvs);
  rewrite("mode: smvs\n");
  EXPECT_TRUE(reloader.reload_by_signal().ok);
  rewrite("mode: i-tcp\n");
  EXPECT_FALSE(reloader.reload_by_signal().ok) << "a mended file does not make it forgotten";
  ASSERT_TRUE(reloader.reload({}).ok) << "somebody asks for it";
  EXPECT_EQ(config.shard.mode, Mode::i_tcp);
  rewrite("mode: smvs\n");
  EXPECT_TRUE(reloader.reload_by_signal().ok);
  rewrite("mode: i-tcp\n");
  EXPECT_TRUE(reloader.reload_by_signal().ok) << "an explicit reload has put it in force since";
}

TEST_F(ReloaderTest, ASignalAppliesAnotherFileThanTheRevertedOne) {
  rewrite("mode: i-tcp\n");
  ASSERT_TRUE(reloader.reload({"--confirm-within", "1h"}).ok);
  ASSERT_TRUE(reloader.revert().ok);
  rewrite("mode: clamp\n");
  EXPECT_TRUE(reloader.reload_by_signal().ok);
  EXPECT_EQ(config.shard.mode, Mode::clamp);
}

TEST_F(ReloaderTest, BadArgumentsAreRefused) {
  EXPECT_FALSE(reloader.reload({"--confirm-within"}).ok);
  EXPECT_FALSE(reloader.reload({"--confirm-within", "soon"}).ok);
  EXPECT_FALSE(reloader.reload({"now"}).ok);
}

}  // namespace
}  // namespace sluice::proxy
