// Tests of the encoding of feedback records: round trips, bounds and unknown fields.
#include "control/feedback/codec.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <random>

#include "tests/unit/feedback/samples.hpp"

namespace sluice::control::feedback::test {
namespace {

using namespace std::chrono_literals;

Header report_header(std::uint16_t records = 1) {
  Header header;
  header.records = records;
  return header;
}

Failure check(const Datagram& records, std::uint16_t count = 1) {
  return decode_records(records, report_header(count), nullptr);
}

/// One report record around the given fields.
Datagram record(std::initializer_list<int> fields, int kind = 1) {
  Datagram result{0, static_cast<std::uint8_t>(kind), 0, static_cast<std::uint8_t>(fields.size())};
  for (const int octet : fields) result.push_back(static_cast<std::uint8_t>(octet));
  return result;
}

TEST(Codec, WrittenRecordsAreReadBack) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    std::mt19937_64 random(seed);
    std::array<std::uint8_t, 400> buffer{};
    DatagramWriter writer(buffer);
    const BearerReport first = any_report(random);
    const BearerReport second = any_report(random);
    ASSERT_TRUE(writer.add(first));
    ASSERT_TRUE(writer.add(second));
    const Header sent{
        MessageType::report, seed % 2 == 0, 77, 0, random(), random(), random(), 5s, 25ms, {true, false}, {}};
    const Decoded decoded = decode_header(writer.finish(sent));
    ASSERT_EQ(decoded.failure, Failure::none);
    const Header& header = decoded.header;
    EXPECT_EQ(std::tie(header.type, header.poll, header.key_id, header.sender, header.epoch, header.sequence),
              std::tie(sent.type, sent.poll, sent.key_id, sent.sender, sent.epoch, sent.sequence));
    EXPECT_EQ(header.sender_time, 5s);
    EXPECT_EQ(header.period, 25ms);
    EXPECT_EQ(header.records, 2);
    Collector collector;
    ASSERT_EQ(decode_records(decoded.records, header, &collector), Failure::none);
    ASSERT_EQ(collector.reports.size(), 2U);
    EXPECT_EQ(tie(collector.reports[0].second), tie(first)) << "seed " << seed;
    EXPECT_EQ(tie(collector.reports[1].second), tie(second)) << "seed " << seed;
  }
}

TEST(Codec, NegativeAmountsAreEncodedAsZero) {
  std::array<std::uint8_t, 400> buffer{};
  DatagramWriter writer(buffer);
  BearerReport report;
  report.queue = -5_B;
  report.allowance = -1_B;
  report.mean_service_rate = Rate::bits_per_second(-3);
  ASSERT_TRUE(writer.add(report));
  Header header;
  header.period = -1s;
  const Decoded decoded = decode_header(writer.finish(header));
  EXPECT_EQ(decoded.header.period, 0s);
  Collector collector;
  ASSERT_EQ(decode_records(decoded.records, decoded.header, &collector), Failure::none);
  EXPECT_EQ(collector.reports[0].second.queue, 0_B);
  EXPECT_EQ(collector.reports[0].second.allowance, 0_B);
  EXPECT_EQ(collector.reports[0].second.mean_service_rate, Rate());
}

TEST(Codec, ARecordThatDoesNotFitLeavesTheOthersIntact) {
  std::mt19937_64 random(3);
  const BearerReport report = any_report(random);
  std::array<std::uint8_t, 600> buffer{};
  for (std::size_t size = header_size; size < 600; ++size) {
    DatagramWriter writer{std::span(buffer).first(size)};
    int fitted = 0;
    while (writer.add(report)) ++fitted;
    const Decoded decoded = decode_header(writer.finish({}));
    ASSERT_EQ(decoded.failure, Failure::none) << size;
    EXPECT_EQ(decoded.header.records, fitted);
    EXPECT_EQ(decode_records(decoded.records, decoded.header, nullptr), Failure::none) << size;
  }
}

TEST(Codec, HeadersAreChecked) {
  std::array<std::uint8_t, 100> buffer{};
  DatagramWriter writer(buffer);
  const auto bytes = writer.finish({});
  const Datagram good(bytes.begin(), bytes.end());
  const auto judged = [&](std::size_t offset, std::initializer_list<int> octets) {
    Datagram changed = good;
    for (const int octet : octets) changed[offset++] = static_cast<std::uint8_t>(octet);
    return decode_header(changed).failure;
  };
  EXPECT_EQ(decode_header(good).failure, Failure::none);
  EXPECT_EQ(judged(0, {'X'}), Failure::bad_magic);
  EXPECT_EQ(judged(4, {2}), Failure::unknown_version);
  EXPECT_EQ(judged(4, {0}), Failure::unknown_version);
  EXPECT_EQ(judged(5, {0}), Failure::unexpected_type);
  EXPECT_EQ(judged(5, {3}), Failure::unexpected_type);
  EXPECT_EQ(judged(14, {0, 55}), Failure::malformed_header) << "header length too small";
  EXPECT_EQ(judged(14, {0, 57}), Failure::malformed_header) << "header length beyond the datagram";
  EXPECT_EQ(judged(40, {0x80}), Failure::malformed_header) << "sender time";
  EXPECT_EQ(judged(48, {0x80}), Failure::malformed_header) << "period";
  EXPECT_EQ(judged(52, {0xff}), Failure::none) << "period of 4 s";
  EXPECT_EQ(judged(51, {0xff}), Failure::malformed_header) << "period of 18 min";
  for (std::size_t size = 0; size < header_size; ++size) {
    EXPECT_EQ(decode_header(std::span(good).first(size)).failure, Failure::too_short) << size;
  }
}

TEST(Codec, RecordsAreChecked) {
  const Datagram good = record({1, 4, 10, 0, 0, 1});
  EXPECT_EQ(check(good), Failure::none);
  EXPECT_EQ(check(good, 0), Failure::malformed_record) << "one more than announced";
  EXPECT_EQ(check(good, 2), Failure::malformed_record) << "one fewer than announced";
  for (std::size_t size = 1; size < good.size(); ++size) {
    EXPECT_EQ(check(Datagram(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))),
              Failure::malformed_record)
        << size;
  }
}

TEST(Codec, FieldsAreChecked) {
  EXPECT_EQ(check(record({})), Failure::missing_address);
  EXPECT_EQ(check(record({2, 1, 0})), Failure::missing_address);
  EXPECT_EQ(check(record({1})), Failure::malformed_field) << "no size";
  EXPECT_EQ(check(record({1, 4, 10, 0, 0})), Failure::malformed_field) << "runs past the record";
  EXPECT_EQ(check(record({1, 5, 10, 0, 0, 1, 1})), Failure::malformed_field) << "no address has five octets";
  EXPECT_EQ(check(record({1, 0})), Failure::malformed_field);
  EXPECT_EQ(check(record({1, 4, 10, 0, 0, 1, 1, 4, 10, 0, 0, 1})), Failure::malformed_field) << "twice";
  EXPECT_EQ(check(record({1, 4, 10, 0, 0, 1, 3, 4, 0, 0, 0, 9})), Failure::malformed_field) << "queue of four octets";
  EXPECT_EQ(check(record({1, 4, 10, 0, 0, 1, 14, 8, 0, 0, 0, 0, 0, 0, 0, 9})), Failure::malformed_field);
  EXPECT_EQ(check(record({1, 4, 10, 0, 0, 1, 2, 1, 4})), Failure::value_out_of_range) << "no such state";
  EXPECT_EQ(check(record({1, 4, 10, 0, 0, 1, 3, 8, 128, 0, 0, 0, 0, 0, 0, 0})), Failure::value_out_of_range);
  EXPECT_EQ(check(record({1, 4, 10, 0, 0, 1, 6, 8, 128, 0, 0, 0, 0, 0, 0, 0})), Failure::none) << "a counter may";
}

TEST(Codec, OmissionsAreChecked) {
  constexpr int omission = 3;
  EXPECT_EQ(check(record({1, 8, 0, 0, 0, 0, 0, 0, 0, 1}, omission)), Failure::none);
  EXPECT_EQ(check(record({9, 1, 0, 1, 8, 0, 0, 0, 0, 0, 0, 0, 1}, omission)), Failure::none) << "and something unknown";
  EXPECT_EQ(check(record({}, omission)), Failure::malformed_record) << "until when?";
  EXPECT_EQ(check(record({1, 4, 0, 0, 0, 1}, omission)), Failure::malformed_field);
  EXPECT_EQ(check(record({1, 8, 0, 0, 0, 0, 0, 0, 0, 1, 1, 8, 0, 0, 0, 0, 0, 0, 0, 1}, omission)),
            Failure::malformed_field);
  EXPECT_EQ(check(record({1, 8, 0, 0, 0, 0, 0, 0, 0, 0}, omission)), Failure::value_out_of_range) << "never";
  EXPECT_EQ(check(record({1, 8, 0, 0, 0, 14, 0, 0, 0, 0}, omission)), Failure::value_out_of_range)
      << "a minute and more";
  EXPECT_EQ(check(record({1, 8, 255, 255, 255, 255, 255, 255, 255, 255}, omission)), Failure::value_out_of_range);
}

TEST(Codec, UnknownFieldsAndRecordsAreSkipped) {
  EXPECT_EQ(check(record({99, 3, 1, 2, 3, 1, 4, 10, 0, 0, 1, 99, 0})), Failure::none) << "field";
  EXPECT_EQ(check(record({0, 1, 2, 1, 4, 10, 0, 0, 1})), Failure::none) << "field zero";
  EXPECT_EQ(check(record({255, 255}, 9)), Failure::none) << "a record of unknown kind may hold anything";
}

}  // namespace
}  // namespace sluice::control::feedback::test
