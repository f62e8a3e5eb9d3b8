// Tests of decision-log streams for a client: begin, end, limits and lost lines.
#include "proxy/ops/decision_log/traces.hpp"

#include <gmock/gmock.h>

namespace sluice::tracing {
namespace {

using control::DecisionLog;
using testing::HasSubstr;
using namespace std::chrono_literals;

/// Traces of two shards that a test plays.
class TracesTest : public testing::Test {
 protected:
  using Laws = control::RecordedController<control::NodeBAllowance>;
  static constexpr std::size_t much = std::size_t{8} << 20U;

  std::shared_ptr<admin::ByteStream> begin(std::vector<std::string> words = {}) {
    words.insert(words.begin(), "10.0.0.2");
    admin::Answer answer = traces.begin(words);
    EXPECT_TRUE(answer.ok) << answer.value;
    return answer.stream;
  }
  /// The shards look who looks.
  void look() {
    for (std::size_t i = 0; i < slots.size(); ++i) used.at(i) = slots.at(i).take();
  }
  /// A law of that shard decides something: two lines the first time, one later.
  void decide(std::size_t shard) {
    const auto identify = [] { return control::ControllerIdentity<Laws::Origin>{{IpAddress::v4(10, 0, 0, 2)}, {}}; };
    control::traced<Laws::OnReport>(used.at(shard), laws.at(shard), identify, control::AllowanceReport{});
  }
  static std::vector<admin::Json> lines_of(const std::string& text) {
    std::vector<admin::Json> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(admin::Json::parse(line));
    return lines;
  }

  std::array<TraceSlot, 2> slots;
  std::array<DecisionLog*, 2> used{};
  std::array<control::NodeBAllowance, 2> laws;
  Instant now{100s};
  int woken = 0;
  Traces traces{{"sluice 1",
                 {&slots[0], &slots[1]},
                 [this] { ++woken; },
                 [this] { return now; },
                 [] { return std::uint64_t{1'700'000'000} * 1'000'000'000; }}};
};

TEST_F(TracesTest, BeginsWithAHeaderAndEndsWithTotals) {
  const auto stream = begin();
  EXPECT_EQ(used[0], nullptr);
  look();
  EXPECT_NE(used[0], nullptr);
  EXPECT_TRUE(traces.running());
  decide(0);
  decide(1);
  std::string text;
  EXPECT_TRUE(stream->take(text, much));
  stream->finish();
  EXPECT_FALSE(traces.running());
  decide(0);
  EXPECT_TRUE(stream->take(text, much)) << "a shard may still tell something";
  look();
  EXPECT_EQ(used[0], nullptr);
  EXPECT_FALSE(stream->take(text, much));
  EXPECT_EQ(woken, 2);

  const std::vector<admin::Json> lines = lines_of(text);
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(lines[0].at("sluice_trace"), 1);
  EXPECT_EQ(lines[0].at("program"), "sluice 1");
  EXPECT_EQ(lines[0].at("ue"), "10.0.0.2");
  EXPECT_EQ(lines[0].at("at"), 100'000'000'000);
  EXPECT_EQ(lines[0].at("since_1970"), 1'700'000'000'000'000'000);
  EXPECT_NE(lines[1].at("of"), lines[3].at("of")) << "a law's number is its own, whichever shard it lives on";
  EXPECT_EQ(lines[6], (admin::Json{{"at", 100'000'000'000}, {"event", "end"}, {"lines", 5}, {"lost", 0}}));
}

TEST_F(TracesTest, EndsAfterItsDuration) {
  const auto stream = begin({"--seconds", "2"});
  look();
  std::string text;
  now += 1999ms;
  EXPECT_TRUE(stream->take(text, much));
  EXPECT_TRUE(traces.running());
  now += 1ms;
  EXPECT_TRUE(stream->take(text, much));
  EXPECT_FALSE(traces.running());
  look();
  EXPECT_FALSE(stream->take(text, much));
}

TEST_F(TracesTest, EndsAfterItsNumberOfLines) {
  const auto stream = begin({"--lines", "3"});
  look();
  for (int i = 0; i < 10; ++i) decide(0);
  std::string text;
  EXPECT_TRUE(stream->take(text, much));
  EXPECT_FALSE(traces.running());
  look();
  EXPECT_FALSE(stream->take(text, much));
  const std::vector<admin::Json> lines = lines_of(text);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines.back().at("lines"), 3);
}

TEST_F(TracesTest, ReadingInSmallPartsLosesNothing) {
  const auto stream = begin();
  look();
  decide(0);
  decide(1);
  std::string text;
  for (int i = 0; i < 200; ++i) stream->take(text, 20);
  for (const admin::Json& line : lines_of(text)) EXPECT_TRUE(line.is_object());
  EXPECT_EQ(lines_of(text).size(), 5U);
}

TEST_F(TracesTest, LinesThatFindNoRoomAreCounted) {
  const auto stream = begin();
  look();
  constexpr std::size_t lines = 40'000;
  for (std::size_t i = 0; i < lines; ++i) decide(0);
  std::string text;
  EXPECT_TRUE(stream->take(text, much));
  stream->finish();
  look();
  EXPECT_FALSE(stream->take(text, much));
  const admin::Json end = lines_of(text).back();
  EXPECT_GT(end.at("lost"), 0);
  EXPECT_GT(end.at("lines"), 10'000);
}

TEST_F(TracesTest, AStalledShardDelaysTheEndByOneSecond) {
  const auto stream = begin();
  look();
  std::string text;
  stream->finish();
  EXPECT_TRUE(stream->take(text, much));
  now += 1s;
  EXPECT_FALSE(stream->take(text, much));
  EXPECT_THAT(traces.begin({"10.0.0.2"}).value.get<std::string>(), HasSubstr("try again"));
  look();
  EXPECT_TRUE(traces.begin({"10.0.0.2"}).ok);
}

TEST_F(TracesTest, ATraceEndsWhenItsClientDisconnects) {
  auto stream = begin();
  look();
  stream.reset();
  EXPECT_FALSE(traces.running());
}

TEST_F(TracesTest, OnlyOneRunsAtOnce) {
  const auto stream = begin();
  EXPECT_THAT(traces.begin({"10.0.0.2"}).value.get<std::string>(), HasSubstr("a trace runs already"));
  EXPECT_FALSE(traces.begin({"nobody"}).ok);
}

/// The shard may be about to use the offered trace, so that trace is kept although it was taken back soon.
TEST_F(TracesTest, ATraceIsFreedOnlyAfterTheShardPollsAgain) {
  auto stream = begin();
  const DecisionLog* const offered = slots[0].take();
  EXPECT_TRUE(slots[0].uses(*offered));
  stream.reset();
  EXPECT_TRUE(slots[0].uses(*offered)) << "the shard has not looked again";
  EXPECT_TRUE(slots[0].differs(offered));
  EXPECT_EQ(slots[0].take(), nullptr);
  EXPECT_FALSE(slots[0].uses(*offered));
}

}  // namespace
}  // namespace sluice::tracing
