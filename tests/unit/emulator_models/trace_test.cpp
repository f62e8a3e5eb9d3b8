// Tests of link traces: their file format, errors, and their replay TTI by TTI.
#include "emulator/channel/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace sluice::emulator {
namespace {

using std::chrono::milliseconds;

CapacityTrace read(const std::string& text) {
  std::istringstream in(text);
  return CapacityTrace::read(in, "link.down");
}

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(read(text));
  } catch (const TraceError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(TraceFile, HoldsOneMillisecondPerLine) {
  const CapacityTrace trace = read("0\n5\n5\n10\n");
  EXPECT_THAT(trace.milliseconds(), testing::ElementsAre(0, 5, 5, 10));
  EXPECT_EQ(trace.period(), milliseconds(10));
  EXPECT_DOUBLE_EQ(trace.mean_rate().bps(), 4 * 1500 * 8 / 0.01);
}

TEST(TraceFile, MayLackTheLastNewline) {
  EXPECT_THAT(read("1\n2").milliseconds(), testing::ElementsAre(1, 2));
}

TEST(TraceFile, IsWrittenInTheFormatThatIsRead) {
  const std::string text = "3\n3\n7\n1000000000\n";
  std::ostringstream out;
  read(text).write(out);
  EXPECT_EQ(out.str(), text);
}

TEST(TraceFile, ErrorsNameFileAndLine) {
  EXPECT_EQ(error_of("1\nabc\n"), "link.down:2: expected a time in whole milliseconds, got \"abc\"");
  EXPECT_EQ(error_of("1\n2.5\n"), "link.down:2: expected a time in whole milliseconds, got \"2.5\"");
  EXPECT_EQ(error_of("-1\n"), "link.down:1: expected a time in whole milliseconds, got \"-1\"");
  EXPECT_EQ(error_of("+1\n"), "link.down:1: expected a time in whole milliseconds, got \"+1\"");
  EXPECT_EQ(error_of("1\r\n"), "link.down:1: expected a time in whole milliseconds, got \"1?\"");
  EXPECT_EQ(error_of(" 1\n"), "link.down:1: expected a time in whole milliseconds, got \" 1\"");
  EXPECT_EQ(error_of("1\n\n2\n"), "link.down:2: empty line, expected a time in whole milliseconds");
  EXPECT_EQ(error_of("5\n9\n8\n"), "link.down:3: times must not decrease, expected at least 9, got 8");
  EXPECT_EQ(error_of(""), "link.down:1: the trace is empty, expected at least one line");
  EXPECT_EQ(error_of("0\n0\n"), "link.down:2: the last time must be above 0 ms, got 0");
  EXPECT_EQ(error_of("1\n1000000001\n"), "link.down:2: expected at most 1000000000 ms, got \"1000000001\"");
  EXPECT_EQ(error_of("99999999999999999999999\n"),
            "link.down:1: expected at most 1000000000 ms, got \"99999999999999999999\"");
  EXPECT_EQ(error_of("1\n" + std::string(1'000'000, '7')),
            "link.down:2: the line is too long, expected a time in whole milliseconds");
}

TEST(TraceFile, NonTextBytesAreEscaped) {
  EXPECT_EQ(error_of(std::string("\x1b[2J\0\xff", 6)),
            "link.down:1: expected a time in whole milliseconds, got \"?[2J??\"");
  EXPECT_EQ(error_of(std::string("12\0", 3)), "link.down:1: expected a time in whole milliseconds, got \"12?\"");
}

TEST(TraceFile, AMissingFileIsNamed) {
  try {
    static_cast<void>(CapacityTrace::load("/nonexistent/link.down"));
    FAIL() << "was loaded";
  } catch (const TraceError& error) {
    EXPECT_STREQ(error.what(), "/nonexistent/link.down: cannot be opened");
  }
  EXPECT_THROW(static_cast<void>(CapacityTrace::load(std::filesystem::temp_directory_path().string())), TraceError);
}

TEST(TraceFile, IsLoadedFromDisk) {
  const auto path = std::filesystem::temp_directory_path() / "sluice_trace_test.down";
  std::ofstream(path) << "2\n4\n";
  EXPECT_THAT(CapacityTrace::load(path.string()).milliseconds(), testing::ElementsAre(2, 4));
  std::filesystem::remove(path);
}

TEST(Trace, NumbersAreCheckedByTheSameRules) {
  EXPECT_THROW(CapacityTrace({}), TraceError);
  EXPECT_THROW(CapacityTrace({0}), TraceError);
  EXPECT_THROW(CapacityTrace({2, 1}), TraceError);
  EXPECT_THROW(CapacityTrace({2'000'000'000}), TraceError);
}

class TraceReplay : public testing::Test {
 protected:
  static std::shared_ptr<const CapacityTrace> trace(std::vector<std::uint32_t> lines) {
    return std::make_shared<const CapacityTrace>(std::move(lines));
  }
  static std::vector<std::int64_t> capacities(Channel& channel, std::uint64_t ttis) {
    std::vector<std::int64_t> result;
    for (std::uint64_t tti = 0; tti < ttis; ++tti) result.push_back(channel.at(tti).capacity.count());
    return result;
  }
};

TEST_F(TraceReplay, OffersEachOpportunityInItsMillisecond) {
  TraceChannel channel(trace({1, 3, 3, 3, 4}), milliseconds(1));
  EXPECT_THAT(capacities(channel, 5), testing::ElementsAre(0, 1500, 0, 4500, 1500));
}

TEST_F(TraceReplay, WrapsByAddingTheLastLine) {
  TraceChannel channel(trace({0, 2, 3}), milliseconds(1));
  // 0, 2, 3; then 3+0, 3+2, 3+3; then 6+0 …
  EXPECT_THAT(capacities(channel, 8), testing::ElementsAre(1500, 0, 1500, 3000, 0, 1500, 3000, 0));
}

TEST_F(TraceReplay, SkippingChangesNothing) {
  const auto lines = trace({1, 4, 4, 9, 10});
  TraceChannel all(lines, milliseconds(1));
  TraceChannel some(lines, milliseconds(1));
  const auto every = capacities(all, 100);
  for (const std::uint64_t tti : {0U, 3U, 4U, 30U, 31U, 59U, 99U}) {
    EXPECT_EQ(some.at(tti).capacity.count(), every[tti]) << tti;
  }
  EXPECT_EQ(some.offered_through(99), all.offered_through(99));
  EXPECT_EQ(some.offered_through(99), 9U * 5 * 1500 + 4 * 1500);
}

TEST_F(TraceReplay, ReturnsTheNextTtiWithAnOpportunity) {
  TraceChannel channel(trace({5, 20}), milliseconds(1));
  static_cast<void>(channel.at(0));
  EXPECT_EQ(channel.next_useful(1), 5U);
  static_cast<void>(channel.at(5));
  EXPECT_EQ(channel.next_useful(6), 20U);
  static_cast<void>(channel.at(20));
  EXPECT_EQ(channel.next_useful(21), 25U);
}

TEST_F(TraceReplay, LongerTtisCollectOpportunitiesSinceTheLast) {
  TraceChannel channel(trace({1, 2, 3, 3, 8}), milliseconds(2));
  // TTI k is at 2k ms. TTI 1 has the opportunities 1 and 2, TTI 2 those of 3 and 3, and TTI 4 that of 8.
  EXPECT_THAT(capacities(channel, 5), testing::ElementsAre(0, 3000, 3000, 0, 1500));
}

TEST_F(TraceReplay, MayBeginInTheMiddle) {
  TraceChannel channel(trace({1, 4, 6}), milliseconds(1), milliseconds(4));
  EXPECT_THAT(capacities(channel, 5), testing::ElementsAre(1500, 0, 1500, 1500, 0));
}

TEST_F(TraceReplay, RefusesInvalidParameters) {
  EXPECT_THROW(TraceChannel(nullptr, milliseconds(1)), std::invalid_argument);
  EXPECT_THROW(TraceChannel(trace({1}), milliseconds(0)), std::invalid_argument);
  EXPECT_THROW(TraceChannel(trace({1}), milliseconds(1), milliseconds(-1)), std::invalid_argument);
}

}  // namespace
}  // namespace sluice::emulator
