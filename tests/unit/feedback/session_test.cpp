// Tests of feedback sessions: authentication, replay protection, epochs and splitting into datagrams. The other end
// may be hostile.
#include "control/feedback/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>

#include "tests/unit/feedback/samples.hpp"

namespace sluice::control::feedback::test {
namespace {

using namespace std::chrono_literals;

/// A Node-B (sender 1001) and a proxy (sender 2002) with a hand in between.
struct Pair {
  Session node_b{config(Role::node_b, 1001)};
  Session proxy{config(Role::proxy, 2002)};
  Recorder wire;
  Collector received;
  std::mt19937_64 random{1};
  ReceivedAt at{Instant(1h), 1'700'000'000'000'000'000};

  /// The next report's only datagram.
  Datagram report() {
    const std::array reports{any_report(random)};
    node_b.send_reports(reports, 1s, 5ms, false, wire);
    return wire.sent.back();
  }
  Failure give(const Datagram& datagram) { return proxy.receive(datagram, received, at); }
  Failure give(Session& sender) {
    sender.send_reports({}, 1s, 5ms, false, wire);
    return give(wire.sent.back());
  }
};

/// Signs anything, as only a holder of the key can.
Datagram sealed(Datagram body) {
  const std::vector<Key> keys{test_key()};
  Authenticator authenticator(keys);
  const Tag tag = authenticator.sign(7, body).value();
  body.insert(body.end(), tag.begin(), tag.end());
  return body;
}

/// Returns a report with values that no wire format carries unchanged: fractions of a bit/s and negative amounts.
BearerReport any_local_report(std::mt19937_64& random) {
  BearerReport report = any_report(random);
  report.service_rate = Rate::bits_per_second(static_cast<double>(random() >> (11 + random() % 53)) / 4 - 100);
  report.mean_service_rate = Rate::bits_per_second(static_cast<double>(random() % 1000) / 1000);
  if (random() % 4 == 0) report.queue = Bytes(-5);
  if (random() % 4 == 0) report.allowance = Bytes(-1);
  if (random() % 4 == 0) report.clamp = ClampPrice{Bytes(-7), Duration(-3)};
  return report;
}

/// Each datagram holds as many records as with a wire, and each is read in the same way.
TEST(Session, BatchesOfRecordsAreSentCompletely) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Pair pair;
    pair.random.seed(seed);
    std::vector<BearerReport> reports(pair.random() % 60);
    for (BearerReport& report : reports) report = any_local_report(pair.random);
    pair.node_b.send_reports(reports, 1s, 5ms, false, pair.wire);
    std::vector<BearerStatus> statuses(pair.random() % 90);
    for (BearerStatus& status : statuses) {
      status = any_status(pair.random);
      if (pair.random() % 4 == 0) status.allowance_left = Bytes(-9);
    }
    std::span<const BearerReport> left = reports;
    for (const Datagram& datagram : pair.wire.sent) {
      pair.received.reports.clear();
      ASSERT_EQ(pair.give(datagram), Failure::none);
      ASSERT_EQ(pair.received.reports.size(), fitting(left, default_max_datagram)) << "seed " << seed;
      for (std::size_t i = 0; i < pair.received.reports.size(); ++i) {
        ASSERT_EQ(tie(pair.received.reports[i].second), tie(as_received(left[i]))) << "seed " << seed;
      }
      left = left.subspan(pair.received.reports.size());
    }
    EXPECT_TRUE(left.empty());
    pair.wire.sent.clear();
    pair.proxy.send_statuses(statuses, 1s, 5ms, false, pair.wire);
    std::span<const BearerStatus> untold = statuses;
    for (const Datagram& datagram : pair.wire.sent) {
      pair.received.statuses.clear();
      ASSERT_EQ(pair.node_b.receive(datagram, pair.received, pair.at), Failure::none);
      ASSERT_EQ(pair.received.statuses.size(), fitting(untold, default_max_datagram)) << "seed " << seed;
      for (std::size_t i = 0; i < pair.received.statuses.size(); ++i) {
        ASSERT_EQ(tie(pair.received.statuses[i].second), tie(as_received(untold[i]))) << "seed " << seed;
      }
      untold = untold.subspan(pair.received.statuses.size());
    }
    EXPECT_TRUE(untold.empty());
  }
}

TEST(Session, CarriesReportsAndStatuses) {
  Pair pair;
  const std::vector<BearerReport> reports{any_report(pair.random), any_report(pair.random)};
  pair.node_b.send_reports(reports, 3s, 5ms, true, pair.wire);
  Header header;
  ASSERT_EQ(pair.proxy.receive(pair.wire.sent[0], pair.received, pair.at, header), Failure::none);
  ASSERT_EQ(pair.received.reports.size(), 2U);
  EXPECT_EQ(tie(pair.received.reports[1].second), tie(reports[1]));
  EXPECT_EQ(header.sequence, 1U);
  EXPECT_TRUE(header.poll);

  const std::vector<BearerStatus> statuses{any_status(pair.random)};
  pair.proxy.send_statuses(statuses, 3s, 0s, false, pair.wire);
  ASSERT_EQ(pair.node_b.receive(pair.wire.sent[1], pair.received, pair.at), Failure::none);
  ASSERT_EQ(pair.received.statuses.size(), 1U);
  EXPECT_EQ(tie(pair.received.statuses[0].second), tie(statuses[0]));
  EXPECT_EQ(pair.proxy.counters()[0], 1U);
}

TEST(Session, AMessageIsDeliveredOnceWithAndWithoutRecords) {
  Pair pair;
  pair.node_b.send_reports({}, 3s, 5ms, true, pair.wire);
  ASSERT_EQ(pair.give(pair.wire.sent.back()), Failure::none);
  ASSERT_EQ(pair.received.messages.size(), 1U);
  EXPECT_TRUE(pair.received.messages[0].poll);
  const std::vector<BearerReport> reports{any_report(pair.random), any_report(pair.random)};
  pair.node_b.send_reports(reports, 3s, 5ms, false, pair.wire);
  ASSERT_EQ(pair.give(pair.wire.sent.back()), Failure::none);
  ASSERT_EQ(pair.received.messages.size(), 2U);
  EXPECT_FALSE(pair.received.messages[1].poll);
  EXPECT_EQ(pair.give(pair.wire.sent.back()), Failure::replayed);
  EXPECT_EQ(pair.received.messages.size(), 2U);
}

TEST(Session, SplitsRecordsThatDoNotFitIntoOneDatagram) {
  for (const std::size_t limit : {256U, 600U, 1400U}) {
    SessionConfig small = config(Role::node_b, 1001);
    small.max_datagram = limit;
    Session node_b(small);
    Pair pair;
    std::vector<BearerReport> reports;
    for (int i = 0; i < 1000; ++i) reports.push_back(any_report(pair.random));
    const std::uint64_t last = node_b.send_reports(reports, 1s, 5ms, false, pair.wire);
    EXPECT_EQ(last, pair.wire.sent.size());
    EXPECT_EQ(node_b.next_sequence(), last + 1);
    for (const Datagram& datagram : pair.wire.sent) {
      EXPECT_LE(datagram.size(), limit);
      ASSERT_EQ(pair.give(datagram), Failure::none);
    }
    ASSERT_EQ(pair.received.reports.size(), reports.size());
    for (std::size_t i = 0; i < reports.size(); ++i) {
      ASSERT_EQ(tie(pair.received.reports[i].second), tie(reports[i])) << i;
    }
  }
}

TEST(Session, ATruncatedDatagramIsRefusedAtEveryLength) {
  Pair pair;
  const Datagram whole = pair.report();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Datagram part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    ASSERT_EQ(pair.give(part), size < header_size + tag_size ? Failure::too_short : Failure::bad_tag) << size;
  }
  Datagram longer = whole;
  longer.push_back(0);
  EXPECT_EQ(pair.give(longer), Failure::bad_tag);
  EXPECT_TRUE(pair.received.reports.empty());
  EXPECT_EQ(pair.give(whole), Failure::none);
}

TEST(Session, AnyFlippedBitIsRefused) {
  Pair pair;
  Datagram datagram = pair.report();
  for (std::size_t bit = 0; bit < 8 * datagram.size(); ++bit) {
    datagram[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    const Failure failure = pair.give(datagram);
    datagram[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    const std::size_t octet = bit / 8;
    const Failure expected = octet < 4                  ? Failure::bad_magic
                             : octet == 4               ? Failure::unknown_version
                             : octet >= 8 && octet < 12 ? Failure::unknown_key
                                                        : Failure::bad_tag;
    ASSERT_EQ(failure, expected) << "bit " << bit;
  }
  EXPECT_TRUE(pair.received.reports.empty());
  EXPECT_EQ(pair.give(datagram), Failure::none) << "a forgery must not use up the true one's sequence number";
}

TEST(Session, AForgeryUnderAnotherKeyIsRefused) {
  Pair pair;
  SessionConfig forger = config(Role::node_b, 1001, 99);
  forger.keys = {{7, std::vector<std::uint8_t>(32, 0x55)}};
  Session session(forger);
  session.send_reports({}, 1s, 5ms, false, pair.wire);
  EXPECT_EQ(pair.give(pair.wire.sent.back()), Failure::bad_tag);
  EXPECT_EQ(pair.give(pair.report()), Failure::none) << "the forger's epoch 99 left no trace";
}

TEST(Session, GarbageIsRefused) {
  Pair pair;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    std::mt19937_64 random(seed);
    Datagram garbage(random() % 1600);
    for (auto& octet : garbage) octet = static_cast<std::uint8_t>(random());
    ASSERT_NE(pair.give(garbage), Failure::none) << "seed " << seed;
  }
  EXPECT_EQ(pair.give(Datagram(largest_datagram + 1)), Failure::too_long);
}

TEST(Session, AReplayIsAlwaysRefused) {
  Pair pair;
  std::vector<Datagram> all;
  for (int i = 0; i < 1000; ++i) {
    all.push_back(pair.report());
    ASSERT_EQ(pair.give(all.back()), Failure::none);
  }
  for (const Datagram& datagram : all) ASSERT_EQ(pair.give(datagram), Failure::replayed);
  EXPECT_EQ(pair.received.reports.size(), 1000U);
  EXPECT_EQ(pair.proxy.counters()[static_cast<std::size_t>(Failure::replayed)], 1000U);
}

// Lost 30 %, one in ten twice, reordered by up to 100: each datagram counts exactly once.
TEST(Session, LossDuplicationAndReorderingAffectNoOtherDatagram) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Pair pair;
    std::mt19937_64 random(seed);
    std::vector<std::pair<std::uint64_t, Datagram>> wire;  // by arrival
    std::uint64_t kept = 0;
    for (std::uint64_t i = 0; i < 500; ++i) {
      const Datagram datagram = pair.report();
      if (random() % 10 < 3) continue;
      ++kept;
      wire.emplace_back(i + random() % 100, datagram);
      if (random() % 10 == 0) wire.emplace_back(i + random() % 100, datagram);
    }
    std::stable_sort(wire.begin(), wire.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::uint64_t replayed = 0;
    for (const auto& [when, datagram] : wire) {
      const Failure failure = pair.give(datagram);
      ASSERT_TRUE(failure == Failure::none || failure == Failure::replayed) << "seed " << seed;
      if (failure == Failure::replayed) ++replayed;
    }
    EXPECT_EQ(pair.received.reports.size(), kept) << "seed " << seed;
    EXPECT_EQ(replayed, wire.size() - kept) << "seed " << seed;
  }
}

TEST(Session, ARestartedSenderIsAcceptedAndItsOldEpochRefused) {
  Pair pair;
  for (int i = 0; i < 500; ++i) ASSERT_EQ(pair.give(pair.report()), Failure::none);
  const Datagram straggler = pair.report();
  pair.node_b = Session(config(Role::node_b, 1001, 2));
  EXPECT_EQ(pair.give(pair.report()), Failure::none);
  EXPECT_EQ(pair.received.reports.back().first.sequence, 1U);
  EXPECT_EQ(pair.give(straggler), Failure::stale_epoch);
}

// Any holder of the key may say that he is the sender, and that his epoch is the last there can be.
TEST(Session, AForgedLargestEpochDoesNotBlockTheSender) {
  Pair pair;
  const std::uint64_t now = pair.at.wall_clock_ns;
  pair.node_b = Session(config(Role::node_b, 1001, now));
  Session forger(config(Role::node_b, 1001, std::numeric_limits<std::uint64_t>::max()));
  ASSERT_EQ(pair.give(pair.node_b), Failure::none);
  EXPECT_EQ(pair.give(forger), Failure::epoch_ahead) << "while the true one speaks nobody takes its place";
  EXPECT_EQ(pair.give(pair.node_b), Failure::none);
  pair.at.now += 1min;
  EXPECT_EQ(pair.give(forger), Failure::none) << "he has the key, and nobody else speaks";
  EXPECT_EQ(pair.give(pair.node_b), Failure::none) << "goes on at once";
  pair.at.now += 1min;
  EXPECT_EQ(pair.give(forger), Failure::none);
  Session restarted(config(Role::node_b, 1001, now + 1000));
  EXPECT_EQ(pair.give(restarted), Failure::none) << "and so does the next run";
}

TEST(Session, AcceptedDatagramsAreNeverAcceptedAgain) {
  Pair pair;
  const std::uint64_t now = pair.at.wall_clock_ns;
  Session forger(config(Role::node_b, 1001, std::numeric_limits<std::uint64_t>::max()));
  std::vector<Datagram> recorded;
  for (std::uint64_t run = 0; run < 3; ++run) {
    pair.node_b = Session(config(Role::node_b, 1001, now + run));
    for (int i = 0; i < 300; ++i) {
      recorded.push_back(pair.report());
      ASSERT_EQ(pair.give(recorded.back()), Failure::none);
    }
    pair.at.now += 10s;
    ASSERT_EQ(pair.give(forger), Failure::none);
    recorded.push_back(pair.wire.sent.back());
  }
  pair.at.now += 24h;
  for (const Datagram& datagram : recorded) ASSERT_NE(pair.give(datagram), Failure::none);
}

TEST(Session, AnEpochFromTheFutureKeepsItsNumbersWhenOurClockReachesIt) {
  Pair pair;
  constexpr std::uint64_t two_days = 2ULL * 24 * 3600 * 1'000'000'000;
  pair.node_b = Session(config(Role::node_b, 1001, pair.at.wall_clock_ns + two_days));
  const Datagram ahead = pair.report();
  EXPECT_EQ(pair.give(ahead), Failure::none) << "a sender whose clock is wrong is heard all the same";
  pair.at.now += 48h;
  pair.at.wall_clock_ns += two_days;
  EXPECT_EQ(pair.give(ahead), Failure::replayed);
  EXPECT_EQ(pair.give(pair.node_b), Failure::none);
  pair.at.wall_clock_ns -= two_days;  // our clock was set back
  EXPECT_EQ(pair.give(ahead), Failure::replayed);
  EXPECT_EQ(pair.give(pair.node_b), Failure::none);
}

TEST(Session, ManyForgedSendersDoNotBlockATrueOne) {
  Pair pair;
  const std::uint64_t now = pair.at.wall_clock_ns;
  pair.node_b = Session(config(Role::node_b, 1001, now + 5000));
  std::vector<Datagram> claimed;
  for (std::uint64_t sender = 10'000; sender < 11'024; ++sender) {
    Session claimant(config(Role::node_b, sender, now));
    ASSERT_EQ(pair.give(claimant), Failure::none);
    claimed.push_back(pair.wire.sent.back());
  }
  EXPECT_EQ(pair.give(pair.node_b), Failure::too_many_senders);
  pair.at.now += 61s;
  EXPECT_EQ(pair.give(pair.node_b), Failure::none) << "the silent ones make room";
  for (const Datagram& datagram : claimed) ASSERT_NE(pair.give(datagram), Failure::none);
}

TEST(Session, TheClockOfASenderMayJump) {
  Pair pair;
  for (const Duration now : {Duration(5s), Duration(1h), Duration(0s), Duration(-5s), Duration::max(), Duration(1s)}) {
    pair.node_b.send_reports({}, now, 5ms, false, pair.wire);
    Header header;
    ASSERT_EQ(pair.proxy.receive(pair.wire.sent.back(), pair.received, pair.at, header), Failure::none);
    EXPECT_EQ(header.sender_time, std::max(now, Duration(0)));
  }
}

TEST(Session, KeysAreRotatedWithoutInterruption) {
  Pair pair;
  SessionConfig both = config(Role::proxy, 2002);
  both.keys = {test_key(7), test_key(8)};
  pair.proxy = Session(both);
  EXPECT_EQ(pair.give(pair.report()), Failure::none);
  SessionConfig switched = config(Role::node_b, 1001, 2);
  switched.keys = {test_key(8)};
  switched.send_key = 8;
  pair.node_b = Session(switched);
  EXPECT_EQ(pair.give(pair.report()), Failure::none);
  Session old_only(config(Role::proxy, 2002));
  EXPECT_EQ(old_only.receive(pair.report(), pair.received, pair.at), Failure::unknown_key);
}

TEST(Session, EachSideAcceptsOnlyItsMessages) {
  Pair pair;
  const Datagram report = pair.report();
  Session other_node_b(config(Role::node_b, 1002));
  EXPECT_EQ(other_node_b.receive(report, pair.received, pair.at), Failure::unexpected_type);
  pair.proxy.send_statuses({}, 1s, 0s, false, pair.wire);
  EXPECT_EQ(pair.give(pair.wire.sent.back()), Failure::unexpected_type) << "reflected to its sender";
  Session namesake(config(Role::proxy, 1001));
  EXPECT_EQ(namesake.receive(report, pair.received, pair.at), Failure::own_sender);
}

TEST(Session, SendersAreBounded) {
  SessionConfig small = config(Role::proxy, 2002);
  small.max_senders = 2;
  Session proxy(small);
  Pair pair;
  for (std::uint64_t sender = 1; sender <= 3; ++sender) {
    Session node_b(config(Role::node_b, sender));
    node_b.send_reports({}, 1s, 5ms, false, pair.wire);
    EXPECT_EQ(proxy.receive(pair.wire.sent.back(), pair.received, pair.at),
              sender <= 2 ? Failure::none : Failure::too_many_senders);
  }
}

// A holder of the key may still be mad: one bad record and none is taken.
TEST(Session, ADatagramIsAcceptedAsAWholeOrRefused) {
  Pair pair;
  const std::vector<BearerReport> reports{any_report(pair.random), any_report(pair.random)};
  pair.node_b.send_reports(reports, 1s, 5ms, false, pair.wire);
  Datagram body = pair.wire.sent.back();
  body.resize(body.size() - tag_size);
  body[13] = 3;  // a third record is announced
  EXPECT_EQ(pair.give(sealed(body)), Failure::malformed_record);
  EXPECT_TRUE(pair.received.reports.empty());
}

TEST(Session, ZeroEpochOrSequenceIsMalformed) {
  Pair pair;
  Datagram body = pair.report();
  body.resize(body.size() - tag_size);
  for (const std::ptrdiff_t offset : {24, 32}) {
    Datagram changed = body;
    std::fill_n(changed.begin() + offset, 8, std::uint8_t{0});
    EXPECT_EQ(pair.give(sealed(changed)), Failure::malformed_header) << offset;
  }
}

TEST(Session, AnyOctetOfAnAuthenticDatagramIsChecked) {
  Pair pair;
  Datagram body = pair.report();
  body.resize(body.size() - tag_size);
  std::uint64_t epoch = 2;  // each its own, so that replay does not hide the decoder
  for (std::size_t i = 48; i < body.size(); ++i) {
    for (const int value : {0, 1, 0x7f, 0x80, 0xff}) {
      Datagram changed = body;
      changed[i] = static_cast<std::uint8_t>(value);
      ++epoch;
      for (std::size_t k = 0; k < 8; ++k) changed[24 + k] = static_cast<std::uint8_t>(epoch >> (56 - 8 * k));
      const std::size_t before = pair.received.reports.size();
      const Failure failure = pair.give(sealed(changed));
      const bool other_kind = i == 56 || i == 57;  // a record of unknown kind is skipped
      const std::size_t expected = failure == Failure::none && (!other_kind || body[i] == changed[i]) ? 1 : 0;
      ASSERT_EQ(pair.received.reports.size() - before, expected) << i << " " << value;
    }
  }
}

TEST(Session, RefusesInvalidConfigurations) {
  const auto refused = [](auto change) {
    SessionConfig broken = config(Role::proxy, 1);
    change(broken);
    EXPECT_THROW(Session{broken}, std::invalid_argument);
  };
  refused([](auto& c) { c.keys.clear(); });
  refused([](auto& c) { c.send_key = 9; });
  refused([](auto& c) { c.epoch = 0; });
  refused([](auto& c) { c.max_datagram = 255; });
  refused([](auto& c) { c.max_datagram = largest_datagram + 1; });
  refused([](auto& c) { c.max_senders = 0; });
}

TEST(Session, EpochsGrowEvenIfTheClockGoesBack) {
  EXPECT_EQ(next_epoch({}, 1000), 1000U);
  EXPECT_EQ(next_epoch(5, 1000), 1000U);
  EXPECT_EQ(next_epoch(1000, 1000), 1001U);
  EXPECT_EQ(next_epoch(5000, 1000), 5001U);
  EXPECT_EQ(next_epoch({}, 0), 1U);
}

}  // namespace
}  // namespace sluice::control::feedback::test
