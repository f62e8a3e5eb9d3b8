#include "control/feedback/authenticator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "tests/unit/feedback/samples.hpp"

namespace sluice::control::feedback::test {
namespace {

std::vector<std::uint8_t> octets(std::string_view text) {
  return {text.begin(), text.end()};
}

// RFC 4231 test case 5: a key of twenty 0x0c, output truncated to 128 bits.
TEST(Authenticator, TruncatesAsTheStandardRequires) {
  const std::vector<Key> keys{{1, std::vector<std::uint8_t>(20, 0x0c)}};
  Authenticator authenticator(keys);
  const Tag expected{0xa3, 0xb6, 0x16, 0x74, 0x73, 0x10, 0x0e, 0xe0, 0x6e, 0x0c, 0x79, 0x6c, 0x29, 0x55, 0x55, 0x2b};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(authenticator.sign(1, octets("Test With Truncation")), expected);
}

// RFC 4231 test case 6: a key that is longer than the hash's block, its tag cut to 128 bits.
TEST(Authenticator, HashesALongKeyFirst) {
  const std::vector<Key> keys{{1, std::vector<std::uint8_t>(131, 0xaa)}};
  const Tag expected{0x60, 0xe4, 0x31, 0x59, 0x1e, 0xe0, 0xb6, 0x7f, 0x0d, 0x8a, 0x26, 0xaa, 0xcb, 0xf5, 0xb7, 0x7f};
  EXPECT_EQ(Authenticator(keys).sign(1, octets("Test Using Larger Than Block-Size Key - Hash Key First")), expected);
}

TEST(Authenticator, AcceptsOnlyItsOwnTags) {
  const std::vector<Key> keys{test_key(7), test_key(8)};
  Authenticator authenticator(keys);
  const auto data = octets("what is said");
  Tag tag = authenticator.sign(7, data).value();
  EXPECT_TRUE(authenticator.verify(7, data, tag));
  EXPECT_FALSE(authenticator.verify(8, data, tag));
  EXPECT_FALSE(authenticator.verify(9, data, tag));
  EXPECT_FALSE(authenticator.verify(7, octets("what is sent"), tag));
  for (std::size_t bit = 0; bit < 8 * tag_size; ++bit) {
    tag[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    EXPECT_FALSE(authenticator.verify(7, data, tag)) << bit;
    tag[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
  }
  EXPECT_TRUE(authenticator.verify(7, data, tag));
}

TEST(Authenticator, SignsNothingWithoutTheKey) {
  const std::vector<Key> keys{test_key(7)};
  Authenticator authenticator(keys);
  EXPECT_FALSE(authenticator.sign(8, octets("x")).has_value());
  EXPECT_TRUE(authenticator.knows(7));
  EXPECT_FALSE(authenticator.knows(8));
}

TEST(Authenticator, RefusesBadKeys) {
  EXPECT_THROW(Authenticator{std::vector<Key>{}}, std::invalid_argument);
  const std::vector<Key> shorty{{1, std::vector<std::uint8_t>(15)}};
  EXPECT_THROW(Authenticator{shorty}, std::invalid_argument);
  const std::vector<Key> twice{test_key(7), test_key(7)};
  EXPECT_THROW(Authenticator{twice}, std::invalid_argument);
}

TEST(Key, IsParsedFromHexadecimal) {
  const auto key = Key::from_hex(3, "000102030405060708090A0b0c0d0e0f");
  ASSERT_TRUE(key.has_value());
  EXPECT_EQ(key->id, 3U);
  ASSERT_EQ(key->secret.size(), 16U);
  EXPECT_EQ(key->secret[10], 10);
  EXPECT_FALSE(Key::from_hex(3, "000102030405060708090a0b0c0d0e").has_value()) << "too short";
  EXPECT_FALSE(Key::from_hex(3, "000102030405060708090a0b0c0d0e0f0").has_value()) << "odd";
  EXPECT_FALSE(Key::from_hex(3, "000102030405060708090a0b0c0d0e0g").has_value()) << "no digit";
  EXPECT_FALSE(Key::from_hex(3, "").has_value());
}

}  // namespace
}  // namespace sluice::control::feedback::test
