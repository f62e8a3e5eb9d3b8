// Tests of scalar values in configuration files: durations, sizes, rates, numbers and addresses are parsed, printed
// and refused.
#include "proxy/yaml/scalar.hpp"

#include <gtest/gtest.h>

namespace sluice::config {
namespace {

using namespace std::chrono_literals;

template <typename T>
void expect_reads(std::string_view text, T value) {
  const auto parsed = Scalar<T>::parse(text);
  ASSERT_TRUE(parsed.has_value()) << text;
  EXPECT_TRUE(*parsed == value) << text << " read as " << Scalar<T>::format(*parsed);
}

template <typename T>
void expect_round_trip(T value, std::string_view text) {
  EXPECT_EQ(Scalar<T>::format(value), text);
  expect_reads<T>(text, value);
}

template <typename T>
void expect_refused(std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) EXPECT_FALSE(Scalar<T>::parse(text).has_value()) << text;
}

TEST(Scalar, DurationsAreParsed) {
  expect_reads<Duration>("20ms", 20ms);
  expect_reads<Duration>("1.5s", 1500ms);
  expect_reads<Duration>("250us", 250us);
  expect_reads<Duration>("0.02 s", 20ms);
  expect_reads<Duration>("2h", 2h);
  expect_round_trip<Duration>(0ns, "0s");
  expect_round_trip<Duration>(1500ms, "1500ms");
  expect_round_trip<Duration>(90s, "90s");
  expect_round_trip<Duration>(5min, "5min");
  expect_round_trip<Duration>(1ns, "1ns");
  expect_refused<Duration>({"", "20", "ms", "20 m s", "20msx", "1e400s", "nan s", "inf s", "0.5ns", "1e12h", "20MS"});
}

TEST(Scalar, TypedSecondsAreParsed) {
  EXPECT_EQ(parse_seconds("2", 10s), 2s);
  EXPECT_EQ(parse_seconds("0.5", 10s), 500ms);
  EXPECT_EQ(parse_seconds("0.0001", 10s), 1ms) << "no less than asked for";
  EXPECT_EQ(parse_seconds("10", 10s), 10s);
  for (const char* const text : {"", "0", "-1", "10.1", "nan", "inf", "2s", " 2"})
    EXPECT_FALSE(parse_seconds(text, 10s)) << text;
}

TEST(Scalar, SizesAreParsed) {
  expect_reads<Bytes>("64KiB", Bytes(65536));
  expect_reads<Bytes>("4000B", Bytes(4000));
  expect_reads<Bytes>("1.5 MiB", Bytes(1572864));
  expect_round_trip<Bytes>(Bytes(65536), "64KiB");
  expect_round_trip<Bytes>(Bytes(4000), "4kB");
  expect_round_trip<Bytes>(Bytes(1448), "1448B");
  expect_round_trip<Bytes>(Bytes(0), "0B");
  expect_refused<Bytes>({"", "64", "64K", "1.5B", "64 kib", "1e30GiB", "0x10B"});
}

TEST(Scalar, RatesAreParsed) {
  expect_reads<Rate>("10Mb/s", Rate::bits_per_second(10e6));
  expect_reads<Rate>("9600b/s", Rate::bits_per_second(9600));
  expect_reads<Rate>("1.2MB/s", Rate::bytes_per_second(1.2e6));
  expect_round_trip<Rate>(Rate::bits_per_second(10e6), "10Mb/s");
  expect_round_trip<Rate>(Rate::bits_per_second(9600), "9.6kb/s");
  expect_round_trip<Rate>(Rate(), "0b/s");
  expect_refused<Rate>({"", "10", "10M", "10Mbps", "Mb/s", "10mb/s"});
}

TEST(Scalar, PercentagesNumbersAndSwitchesAreParsed) {
  expect_round_trip<Percentage>({0.05}, "5%");
  expect_round_trip<Percentage>({0.29}, "29%");
  expect_refused<Percentage>({"5", "0.05", "%"});
  expect_round_trip<double>(0.85, "0.85");
  expect_refused<double>({"", "1.5x", "nan", "inf", "1 ", "--1"});
  expect_round_trip<bool>(true, "true");
  expect_refused<bool>({"yes", "on", "1", "True"});
  expect_round_trip<std::uint16_t>(65535, "65535");
  expect_refused<std::uint16_t>({"65536", "-1", "1.5", "0x10", " 1", "1 "});
  expect_round_trip<std::uint64_t>(UINT64_MAX, "18446744073709551615");
}

TEST(Scalar, AddressesAreParsed) {
  expect_round_trip<IpAddress>(IpAddress::v4(10, 0, 0, 1), "10.0.0.1");
  expect_refused<IpAddress>({"10.0.0", "10.0.0.256", "localhost"});
  expect_round_trip<IpPrefix>(*IpPrefix::parse("10.45.0.0/16"), "10.45.0.0/16");
  expect_refused<IpPrefix>({"10.45.0.1/16", "10.45.0.0/33", "10.45.0.0"});
  expect_round_trip<SocketAddress>({IpAddress::v4(127, 0, 0, 1), 9000}, "127.0.0.1:9000");
  expect_round_trip<SocketAddress>({*IpAddress::parse("::1"), 9000}, "[::1]:9000");
  expect_refused<SocketAddress>({"127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "::1:9000", "[127.0.0.1]:80", "[]:1"});
}

TEST(Scalar, TextHasNoControlCharacters) {
  expect_round_trip<std::string>("/run/sluice.sock", "/run/sluice.sock");
  expect_refused<std::string>({"a\nb", "a\x7f", std::string_view("a\0b", 3)});
}

TEST(Scalar, QuantitiesNeedTheirUnit) {
  EXPECT_EQ(parse_quantity("3km/h", "km/h"), 3.0);
  EXPECT_EQ(parse_quantity("-6 dBm", "dBm"), -6.0);
  EXPECT_FALSE(parse_quantity("3", "km/h"));
  EXPECT_FALSE(parse_quantity("3dB", "dBm"));
}

TEST(Nearest, FindsTheMostSimilarName) {
  const std::vector<std::string> keys{"mode", "ports", "limits", "logging"};
  EXPECT_EQ(nearest("prots", keys), "ports");
  EXPECT_EQ(nearest("mod", keys), "mode");
  EXPECT_EQ(nearest("loging", keys), "logging");
  EXPECT_EQ(nearest("zzzzzz", keys), "");
  EXPECT_EQ(nearest(std::string(100'000, 'x'), keys), "");
}

}  // namespace
}  // namespace sluice::config
