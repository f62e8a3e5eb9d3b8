// AES-256-GMAC: a key of each session, and no number signed twice.
#include "control/feedback/gmac.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <vector>

#include "tests/unit/feedback/samples.hpp"

namespace sluice::control::feedback::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t sequence_at = 32;

Key gmac_key(std::uint32_t id = 8) {
  Key key = test_key(id);
  key.algorithm = TagAlgorithm::aes_256_gmac;
  return key;
}

SessionId session_id(std::uint8_t first) {
  SessionId id{};
  for (std::size_t i = 0; i < id.size(); ++i) id[i] = static_cast<std::uint8_t>(first + i);
  return id;
}

SessionConfig gmac_config(Role role, std::uint64_t sender, std::uint8_t session = 0xa0, std::uint64_t epoch = 1) {
  SessionConfig result = config(role, sender, epoch);
  result.keys = {test_key(7), gmac_key()};
  result.send_key = 8;
  result.session_id = session_id(session);
  return result;
}

/// One datagram of a session, as it goes over the wire.
Datagram one_of(Session& session) {
  Recorder wire;
  std::mt19937_64 random(1);
  session.send_reports(std::array{any_report(random)}, 1s, 5ms, false, wire);
  return wire.sent.back();
}
Datagram one_of(std::uint64_t sender, std::uint8_t session, std::uint64_t epoch = 1) {
  Session node_b(gmac_config(Role::node_b, sender, session, epoch));
  return one_of(node_b);
}

std::span<const std::uint8_t> body_of(const Datagram& datagram) {
  return std::span(datagram).first(datagram.size() - tag_size);
}
Tag tag_of(const Datagram& datagram) {
  Tag tag{};
  std::copy(datagram.end() - tag_size, datagram.end(), tag.begin());
  return tag;
}

struct Receiver {
  Session proxy{gmac_config(Role::proxy, 2002)};
  Collector received;
  ReceivedAt at{Instant(1h), 1'700'000'000'000'000'000};
  Failure give(const Datagram& datagram) { return proxy.receive(datagram, received, at); }
};

TEST(Gmac, CarriesReportsAndStatuses) {
  Receiver receiver;
  std::mt19937_64 random(3);
  Session node_b(gmac_config(Role::node_b, 1001));
  Recorder wire;
  std::vector<BearerReport> reports;
  for (int i = 0; i < 40; ++i) reports.push_back(any_report(random));
  node_b.send_reports(reports, 1s, 5ms, false, wire);
  ASSERT_GT(wire.sent.size(), 2U);
  for (const Datagram& datagram : wire.sent) {
    EXPECT_LE(datagram.size(), default_max_datagram);
    EXPECT_EQ(receiver.give(datagram), Failure::none);
    EXPECT_EQ(receiver.give(datagram), Failure::replayed);
  }
  ASSERT_EQ(receiver.received.reports.size(), reports.size());
  for (std::size_t i = 0; i < reports.size(); ++i) EXPECT_EQ(tie(receiver.received.reports[i].second), tie(reports[i]));
  const BearerStatus status = any_status(random);
  receiver.proxy.send_statuses(std::array{status}, 1s, 5ms, false, wire);
  Collector answer;
  ASSERT_EQ(node_b.receive(wire.sent.back(), answer, receiver.at), Failure::none);
  EXPECT_EQ(tie(answer.statuses.at(0).second), tie(status));
}

TEST(Gmac, AnyFlippedBitIsDetected) {
  Receiver receiver;
  Datagram datagram = one_of(1001, 0xa0);
  for (std::size_t bit = 0; bit < 8 * datagram.size(); ++bit) {
    datagram[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    ASSERT_NE(receiver.give(datagram), Failure::none) << bit;
    datagram[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
  }
  EXPECT_EQ(receiver.give(datagram), Failure::none);
}

/// An algorithm belongs to its key: who knows neither secret cannot have one taken for the other, and who knows one
/// cannot sign with it in the other's name.
TEST(Gmac, TheKeyAloneDeterminesTheAlgorithm) {
  Receiver receiver;
  SessionConfig by_hmac = gmac_config(Role::node_b, 1001);
  by_hmac.keys = {gmac_key()};
  by_hmac.keys[0].algorithm = TagAlgorithm::hmac_sha_256;  // the same secret and id
  Session weaker(by_hmac);
  EXPECT_EQ(receiver.give(one_of(weaker)), Failure::bad_tag);
  Datagram renamed = one_of(1001, 0xa0);
  renamed[11] = 7;  // the key id of HMAC
  EXPECT_EQ(receiver.give(renamed), Failure::bad_tag);
}

TEST(Gmac, ASecretHasOneAlgorithm) {
  Key other = test_key(8);
  const std::vector<Key> keys{gmac_key(), Key{9, other.secret}};
  EXPECT_THROW(Authenticator{keys}, std::invalid_argument);
}

TEST(Gmac, ASessionNeedsAnId) {
  SessionConfig without = gmac_config(Role::node_b, 1001);
  without.session_id = {};
  EXPECT_THROW(Session{without}, std::invalid_argument);
  without.send_key = 7;
  EXPECT_NO_THROW(Session{without}) << "HMAC needs none";
}

/// The tags of a datagram and of three others in which bits of one octet differ, added up. GMAC is linear: under one
/// key and nonce the sum is zero, since 0 + 1 + 2 + 3 is.
Tag sum_of_tags(Datagram datagram, std::size_t octet) {
  Tag sum{};
  for (std::uint8_t change = 0; change < 4; ++change) {
    datagram[octet] ^= change;
    GmacSessions signer(gmac_key());
    const Tag tag = signer.sign(datagram).value();
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] ^= tag[i];
    datagram[octet] ^= change;
  }
  return sum;
}

/// Type, key id, sender, epoch and session id have a key of their own, each sequence number has a nonce, and nothing
/// else has.
TEST(Gmac, NoTwoDatagramsShareKeyAndNonce) {
  const auto differs = [](std::size_t octet) {
    const auto within = [octet](std::size_t from, std::size_t size) { return octet >= from && octet < from + size; };
    return octet == 5 || within(8, 4) || within(16, 16) || within(sequence_at, 8) ||
           within(header_size, sizeof(SessionId));
  };
  Session session(gmac_config(Role::node_b, 1001));
  session.skip(7);  // the low bits of its number change, and none is zero
  const Datagram sent = one_of(session);
  const Datagram datagram(sent.begin(), sent.end() - tag_size);
  for (std::size_t octet = 0; octet < datagram.size(); ++octet) {
    ASSERT_EQ(sum_of_tags(datagram, octet) != Tag{}, differs(octet)) << octet;
  }
}

TEST(Gmac, SignsOnlyIncreasingSequenceNumbers) {
  GmacSessions signer(gmac_key());
  Datagram datagram = one_of(1001, 0xa0);
  datagram.resize(datagram.size() - tag_size);
  const auto number = [&](std::uint8_t sequence) { datagram[sequence_at + 7] = sequence; };
  number(5);
  EXPECT_TRUE(signer.sign(datagram));
  datagram.back() ^= 1;
  EXPECT_FALSE(signer.sign(datagram)) << "another message under the same number";
  number(4);
  EXPECT_FALSE(signer.sign(datagram));
  number(6);
  EXPECT_TRUE(signer.sign(datagram));
  datagram[header_size] ^= 1;
  EXPECT_FALSE(signer.sign(datagram)) << "of another session";
  number(7);
  EXPECT_TRUE(signer.sign(datagram));
}

TEST(Gmac, NothingIsSignedOrVerifiedWithoutASessionId) {
  GmacSessions gmac(gmac_key());
  Datagram datagram = one_of(1001, 0xa0);
  const Tag tag = tag_of(datagram);
  datagram.resize(datagram.size() - tag_size);
  Datagram shorter = datagram;
  shorter[15] = header_size;  // the header's length
  EXPECT_FALSE(gmac.verify(shorter, tag));
  EXPECT_FALSE(gmac.sign(shorter));
  EXPECT_FALSE(gmac.verify(std::span(datagram).first(header_size + sizeof(SessionId) - 1), tag));
  EXPECT_TRUE(gmac.verify(datagram, tag));
}

/// Only the keys of datagrams with a valid tag are kept, up to a limit; the others are derived again.
TEST(Gmac, ForgedSessionsTakeNoMemoryAndManySessionsVerify) {
  GmacSessions gmac(gmac_key());
  const Datagram first = one_of(1, 0xa0);
  for (std::uint32_t i = 0; i < 50; ++i) {
    Datagram forged = first;
    forged[header_size] = static_cast<std::uint8_t>(i);
    EXPECT_FALSE(gmac.verify(body_of(forged), tag_of(forged)));
  }
  EXPECT_EQ(gmac.kept(), 0U);
  for (std::uint64_t sender = 1; sender <= GmacSessions::max_kept + 20; ++sender) {
    const Datagram datagram = one_of(sender, 0xa0);
    ASSERT_TRUE(gmac.verify(body_of(datagram), tag_of(datagram)));
  }
  EXPECT_EQ(gmac.kept(), GmacSessions::max_kept);
  EXPECT_TRUE(gmac.verify(body_of(first), tag_of(first))) << "long forgotten";
}

}  // namespace
}  // namespace sluice::control::feedback::test
