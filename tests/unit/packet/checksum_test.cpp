// Tests of Internet checksums (RFC 1071, RFC 1624): all lengths and alignments against a plain sum.
#include "dataplane/packet/checksum.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "dataplane/packet/headers.hpp"

namespace sluice::packet {
namespace {

/// RFC 1071 to the letter, a word at a time.
std::uint16_t plain_sum(std::span<const std::uint8_t> data) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < data.size(); i += 2) {
    const unsigned low = data[i];
    const unsigned high = i + 1 < data.size() ? data[i + 1] : 0U;
    sum += high << 8 | low;
    sum = (sum & 0xffffU) + (sum >> 16);
  }
  return static_cast<std::uint16_t>(sum);
}

/// 0x0000 and 0xffff are the same sum.
std::uint16_t canonical(std::uint16_t sum) {
  return sum == 0xffff ? 0 : sum;
}

std::vector<std::uint8_t> random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<std::uint8_t> bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(generator());
  return bytes;
}

TEST(Checksum, EveryLengthAtEveryAlignmentAgreesWithThePlainSum) {
  const std::vector<std::uint8_t> bytes = random_bytes(1700, 1);
  for (std::size_t length = 0; length <= 1600; ++length) {
    for (std::size_t offset = 0; offset < 64; offset += (length < 200 ? 1 : 7)) {
      const auto data = std::span(bytes).subspan(offset, length);
      ASSERT_EQ(canonical(ones_complement_sum(data)), canonical(plain_sum(data))) << length << " at " << offset;
      ASSERT_EQ(canonical(ones_complement_sum_sse4(data)), canonical(plain_sum(data))) << length << " at " << offset;
    }
  }
}

TEST(Checksum, ExtremeBytesDoNotOverflow) {
  for (const std::size_t length : {64U, 1500U, 9000U, 65535U, 1U << 18U, (1U << 20U) + 63U}) {
    for (const std::uint8_t fill : std::initializer_list<std::uint8_t>{0x00, 0x7f, 0x80, 0xff}) {
      const std::vector<std::uint8_t> bytes(length, fill);
      EXPECT_EQ(canonical(ones_complement_sum(bytes)), canonical(plain_sum(bytes))) << length << " x " << int{fill};
      EXPECT_EQ(canonical(ones_complement_sum_sse4(bytes)), canonical(plain_sum(bytes)))
          << length << " x " << int{fill};
    }
  }
}

TEST(Checksum, EqualsTheExampleOfRfc1071) {
  const std::array<std::uint8_t, 8> example = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
  EXPECT_EQ(ones_complement_sum(example), __builtin_bswap16(0xddf2));
  EXPECT_EQ(ones_complement_sum({}), 0);
}

TEST(Checksum, OneKernelIsInUse) {
  EXPECT_THAT(std::string(checksum_kernel()), testing::AnyOf("avx2", "sse4", "words"));
}

TEST(Checksum, SubtractsASuffixFromASum) {
  const std::vector<std::uint8_t> bytes = random_bytes(333, 2);
  const std::uint16_t whole = ones_complement_sum(bytes);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    const std::uint16_t front = ones_complement_sum(std::span(bytes).first(cut));
    const std::uint16_t back = ones_complement_sum(std::span(bytes).subspan(cut));
    EXPECT_EQ(canonical(subtract_suffix(whole, back, cut)), canonical(front)) << cut;
  }
}

TEST(Checksum, IncrementalUpdateEqualsRecomputation) {
  std::vector<std::uint8_t> bytes = random_bytes(40, 3);
  std::mt19937 generator(4);
  for (int round = 0; round < 10000; ++round) {
    const auto checksum = static_cast<std::uint16_t>(~ones_complement_sum(bytes));
    const std::size_t at = generator() % 10 * 4;
    const std::uint32_t before = load32(bytes.data() + at);
    const auto after = static_cast<std::uint32_t>(generator());
    store32(bytes.data() + at, after);
    const auto fresh = static_cast<std::uint16_t>(~ones_complement_sum(bytes));
    const auto low = update_checksum(checksum, static_cast<std::uint16_t>(before), static_cast<std::uint16_t>(after));
    EXPECT_EQ(canonical(update_checksum(low, static_cast<std::uint16_t>(before >> 16),
                                        static_cast<std::uint16_t>(after >> 16))),
              canonical(fresh));
  }
}

TEST(Checksum, Rfc1624ExampleDoesNotBecomeMinusZero) {
  // Section 4: checksum 0xdd2f, a field goes from 0x5555 to 0x3285; equation 3 gives 0x0000, not 0xffff.
  EXPECT_EQ(update_checksum(0xdd2f, 0x5555, 0x3285), 0x0000);
}

TEST(Checksum, RecognisesASumOfAllOnesWithoutFolding) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t sum = std::max<std::uint64_t>(random() >> random() % 64, 1);
    EXPECT_EQ(sums_to_ones(sum), fold(sum) == 0xffff) << sum;
    const std::uint64_t right = add_wide(sum, static_cast<std::uint16_t>(~fold(sum)));
    EXPECT_TRUE(sums_to_ones(right)) << sum;
    EXPECT_EQ(fold(right), 0xffff) << sum;
  }
}

TEST(Checksum, HeadersOfEveryLengthAreSummed) {
  for (std::size_t length = 20; length <= 60; length += 4) {
    for (unsigned seed = 0; seed < 50; ++seed) {
      const std::vector<std::uint8_t> bytes =
          seed == 0 ? std::vector<std::uint8_t>(length, 0xff) : random_bytes(length, seed);
      for (const std::uint64_t before : {std::uint64_t{0}, std::uint64_t{0x1234}, ~std::uint64_t{0}}) {
        const std::uint16_t whole = append_suffix(fold(before), plain_sum(bytes), 0);
        EXPECT_EQ(canonical(fold(add_header(before, bytes.data(), length))), canonical(whole)) << length;
      }
    }
  }
}

TEST(Checksum, ThePseudoHeaderOfIpv4IsSummed) {
  const IpAddress src = IpAddress::v4(192, 0, 2, 1);
  const IpAddress dst = IpAddress::v4(198, 51, 100, 7);
  const std::array<std::uint8_t, 12> wire = {192, 0, 2, 1, 198, 51, 100, 7, 0, 6, 0x05, 0xdc};
  EXPECT_EQ(canonical(pseudo_header_sum(src, dst, ip_protocol::tcp, 0x05dc)), canonical(plain_sum(wire)));
}

TEST(Checksum, ThePseudoHeaderOfIpv6IsSummed) {
  const IpAddress src = *IpAddress::parse("2001:db8::1:2");
  const IpAddress dst = *IpAddress::parse("fe80::dead:beef");
  std::vector<std::uint8_t> wire(src.octets.begin(), src.octets.end());
  wire.insert(wire.end(), dst.octets.begin(), dst.octets.end());
  wire.insert(wire.end(), {0, 0, 0x12, 0x34, 0, 0, 0, 6});
  EXPECT_EQ(canonical(pseudo_header_sum(src, dst, ip_protocol::tcp, 0x1234)), canonical(plain_sum(wire)));
}

}  // namespace
}  // namespace sluice::packet
