// Tests of the parsing of TCP options in common and other layouts, including malformed ones.
#include <gmock/gmock.h>

#include "dataplane/packet/parse.hpp"
#include "tests/unit/packet/frame.hpp"

namespace sluice::packet {
namespace {

using namespace test;

struct Outcome {
  ParseResult result;
  Parsed parsed;
};

Outcome read(std::uint8_t flags, const Bytes& options, bool ipv6 = false) {
  const Packet packet = packet_of(ipv6 ? tcp_over_v6(flags, options) : tcp_over_v4(flags, options));
  Outcome outcome{};
  outcome.result = parse(packet, outcome.parsed);
  return outcome;
}

TEST(Options, TimestampsAreParsedInTheCommonLayout) {
  const Outcome got = read(ack_flag, {1, 1, 8, 10, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88});
  EXPECT_EQ(got.result, ParseResult::tcp);
  EXPECT_TRUE(got.parsed.segment.has_timestamps);
  EXPECT_EQ(got.parsed.segment.ts_value, 0x11223344U);
  EXPECT_EQ(got.parsed.segment.ts_echo, 0x55667788U);
}

TEST(Options, TimestampsAreParsedAnywhereInTheList) {
  const Outcome got = read(ack_flag, {8, 10, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0, 0});
  EXPECT_TRUE(got.parsed.segment.has_timestamps);
  EXPECT_EQ(got.parsed.segment.ts_echo, 0x55667788U);
}

TEST(Options, SackBlocksAreParsedBesideTimestamps) {
  const Outcome got = read(
      ack_flag, {1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 1, 5, 18, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0});
  ASSERT_EQ(got.result, ParseResult::tcp);
  EXPECT_TRUE(got.parsed.segment.has_timestamps);
  EXPECT_THAT(got.parsed.segment.sacks(), testing::ElementsAre(tcp::SackBlock{tcp::SeqNum(0x100), tcp::SeqNum(0x200)},
                                                               tcp::SackBlock{tcp::SeqNum(0x300), tcp::SeqNum(0x400)}));
}

TEST(Options, FourSackBlocksAreParsed) {
  Bytes options = {1, 1, 5, 34};
  for (std::uint8_t i = 0; i < 32; ++i) options.push_back(i);
  const Outcome got = read(ack_flag, options);
  EXPECT_EQ(got.parsed.segment.sack_count, 4);
  EXPECT_EQ(got.parsed.segment.sack_blocks[3].right, tcp::SeqNum(0x1c1d1e1f));
  EXPECT_FALSE(got.parsed.unknown_options.any());
}

TEST(Options, OptionsOfACommonSynAreParsed) {
  const Outcome got = read(syn_flag, {2, 4, 0x05, 0xb4, 4, 2, 8, 10, 0, 0, 0, 9, 0, 0, 0, 0, 1, 3, 3, 7});
  EXPECT_EQ(got.result, ParseResult::tcp);
  const tcp::SynOptions expected{
      .mss = 1460, .window_scale = 7, .has_window_scale = true, .sack_permitted = true, .timestamps = true};
  EXPECT_EQ(got.parsed.segment.syn, expected);
  EXPECT_EQ(got.parsed.segment.ts_value, 9U);
}

/// The order of Linux is parsed at once, and any other order option by option.
TEST(Options, TheOrderOfASynsOptionsDoesNotMatter) {
  const Bytes usual{2, 4, 0x05, 0xb4, 4, 2, 8, 10, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 1, 3, 3, 99};
  const Bytes other{1, 3, 3, 99, 4, 2, 8, 10, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 2, 4, 0x05, 0xb4};
  for (const bool ipv6 : {false, true}) {
    const Outcome first = read(syn_flag, usual, ipv6);
    const Outcome second = read(syn_flag, other, ipv6);
    EXPECT_EQ(first.result, second.result);
    EXPECT_EQ(first.parsed.segment.syn, second.parsed.segment.syn);
    EXPECT_EQ(first.parsed.segment.syn.window_scale, 14);
    EXPECT_EQ(first.parsed.segment.syn.mss, 1460);
    EXPECT_TRUE(first.parsed.segment.has_timestamps && second.parsed.segment.has_timestamps);
    EXPECT_EQ(first.parsed.segment.ts_value, second.parsed.segment.ts_value);
    EXPECT_EQ(first.parsed.segment.ts_echo, second.parsed.segment.ts_echo);
  }
  const Outcome without = read(ack_flag, usual);
  EXPECT_FALSE(without.parsed.segment.syn.has_window_scale) << "no SYN";
}

TEST(Options, SynWithoutOptionsHasTheDefaultMss) {
  EXPECT_EQ(read(syn_flag, {}).parsed.segment.syn, (tcp::SynOptions{.mss = 536}));
  EXPECT_EQ(read(syn_flag, {}, true).parsed.segment.syn, (tcp::SynOptions{.mss = 1220}));
}

TEST(Options, WindowScaleIsAtMost14) {
  EXPECT_EQ(read(syn_flag, {3, 3, 99, 0}).parsed.segment.syn.window_scale, 14);
}

TEST(Options, SynOptionsOutsideASynAreIgnored) {
  const Outcome got = read(ack_flag, {2, 4, 0x05, 0xb4, 3, 3, 7, 4, 2, 0, 0, 0});
  EXPECT_EQ(got.result, ParseResult::tcp);
  EXPECT_EQ(got.parsed.segment.syn, tcp::SynOptions{});
}

struct UnknownCase {
  const char* name;
  Bytes options;
  std::uint8_t expected;
};

class UnknownOption : public testing::TestWithParam<UnknownCase> {};

TEST_P(UnknownOption, PreventsSplittingInASynAndIsReportedOtherwise) {
  const Outcome syn = read(syn_flag, GetParam().options);
  EXPECT_EQ(syn.result, ParseResult::tcp_options_unknown);
  EXPECT_EQ(syn.parsed.unknown_options.bits, GetParam().expected);
  EXPECT_EQ(syn.parsed.dst_port, 443) << "everything else is read all the same";
  const Outcome ack = read(ack_flag, GetParam().options);
  EXPECT_EQ(ack.result, ParseResult::tcp);
  EXPECT_EQ(ack.parsed.unknown_options.bits, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, UnknownOption,
    testing::Values(UnknownCase{"multipath", {30, 12, 0, 0x81, 1, 2, 3, 4, 5, 6, 7, 8}, UnknownOptions::multipath},
                    UnknownCase{"authentication", {29, 4, 1, 2}, UnknownOptions::authentication},
                    UnknownCase{"md5", Bytes{19, 18} + Bytes(16, 7) + Bytes{1, 1}, UnknownOptions::md5},
                    UnknownCase{"fast_open", {34, 2, 1, 1}, UnknownOptions::fast_open},
                    UnknownCase{"fast_open_experiment", {254, 4, 0xf9, 0x89}, UnknownOptions::fast_open},
                    UnknownCase{"other_experiment", {253, 4, 0x12, 0x34}, UnknownOptions::other},
                    UnknownCase{"short_experiment", {253, 2, 1, 1}, UnknownOptions::other},
                    UnknownCase{"user_timeout", {28, 4, 0, 9}, UnknownOptions::other},
                    UnknownCase{"two_of_them", {30, 2, 34, 2}, UnknownOptions::multipath | UnknownOptions::fast_open},
                    UnknownCase{"length_zero", {8, 0, 1, 1}, UnknownOptions::malformed},
                    UnknownCase{"length_one", {77, 1, 1, 1}, UnknownOptions::malformed},
                    UnknownCase{"past_the_end", {8, 10, 0, 0}, UnknownOptions::malformed},
                    UnknownCase{"no_length", {1, 1, 1, 8}, UnknownOptions::malformed},
                    UnknownCase{"wrong_mss_length", {2, 3, 5, 1}, UnknownOptions::malformed},
                    UnknownCase{"wrong_scale_length", {3, 4, 5, 1}, UnknownOptions::malformed},
                    UnknownCase{"wrong_permitted_length", {4, 3, 5, 1}, UnknownOptions::malformed},
                    UnknownCase{"half_a_sack_block", {5, 6, 0, 0, 0, 1, 1, 1}, UnknownOptions::malformed},
                    UnknownCase{"empty_sack", {5, 2, 1, 1}, UnknownOptions::malformed}),
    [](const auto& unknown) { return unknown.param.name; });

TEST(Options, OptionsAfterTheEndAreIgnored) {
  const Outcome got = read(syn_flag, {2, 4, 1, 0, 0, 30, 12, 9});
  EXPECT_EQ(got.result, ParseResult::tcp);
  EXPECT_EQ(got.parsed.segment.syn.mss, 256);
}

TEST(Options, OptionsBeforeAMalformedOneAreParsed) {
  const Outcome got = read(ack_flag, {8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 5, 99});
  EXPECT_TRUE(got.parsed.segment.has_timestamps);
  EXPECT_EQ(got.parsed.unknown_options.bits, UnknownOptions::malformed);
}

}  // namespace
}  // namespace sluice::packet
