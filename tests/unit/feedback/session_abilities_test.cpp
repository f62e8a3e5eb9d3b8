// Tests of the abilities that a receiver announces: large datagrams, and reports that omit UEs.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "control/feedback/session.hpp"
#include "tests/unit/feedback/samples.hpp"

namespace sluice::control::feedback::test {
namespace {

using namespace std::chrono_literals;

/// A Node-B and a proxy that receives its datagrams.
struct Pair {
  Session node_b{config(Role::node_b, 1001)};
  Session proxy{config(Role::proxy, 2002)};
  Recorder wire;
  Collector received;
  std::mt19937_64 random{1};
  Failure give(const Datagram& datagram) { return proxy.receive(datagram, received, {Instant(1h), 1}); }
};

TEST(SessionAbilities, LargeDatagramsAreSentOnlyIfAllPeersSupportThem) {
  SessionConfig large = config(Role::node_b, 1001);
  large.max_datagram = largest_datagram;
  Session node_b(large);
  EXPECT_EQ(node_b.limit(), default_max_datagram);
  const Instant start(1h);
  Recorder wire;
  Collector ignored;
  const auto receive = [&](std::uint64_t sender, bool takes_large, Instant now) {
    SessionConfig peer = config(Role::proxy, sender, static_cast<std::uint64_t>(now.time_since_epoch().count()));
    peer.features.large = takes_large;
    Session(peer).send_statuses({}, 1s, 5ms, false, wire);
    ASSERT_EQ(node_b.receive(wire.sent.back(), ignored, {now, UINT64_MAX}), Failure::none);
  };
  EXPECT_EQ(node_b.limit_of_peers(start), default_max_datagram) << "nobody is there";
  receive(1, true, start);
  EXPECT_EQ(node_b.limit_of_peers(start), largest_datagram);
  receive(2, false, start + 1s);
  EXPECT_EQ(node_b.limit_of_peers(start + 1s), default_max_datagram) << "one of two does not take them";
  receive(1, true, start + 2s);
  EXPECT_EQ(node_b.limit_of_peers(start + 2s), default_max_datagram);
  receive(1, true, start + 3s);
  EXPECT_EQ(node_b.limit_of_peers(start + 3s), largest_datagram) << "it has gone";
  EXPECT_EQ(node_b.limit_of_peers(start + 5s), default_max_datagram) << "all have";
}

TEST(SessionAbilities, ADatagramOfAJumboFrameIsAccepted) {
  SessionConfig large = config(Role::node_b, 1001);
  large.max_datagram = largest_datagram;
  Session node_b(large);
  node_b.set_limit(largest_datagram + 1000);
  EXPECT_EQ(node_b.limit(), largest_datagram);
  Pair pair;
  std::vector<BearerReport> reports;
  for (int i = 0; i < 1000; ++i) reports.push_back(any_report(pair.random));
  node_b.send_reports(reports, 1s, 5ms, false, pair.wire);
  EXPECT_LE(pair.wire.sent.size(), 20U);
  for (const Datagram& datagram : pair.wire.sent) ASSERT_EQ(pair.give(datagram), Failure::none);
  ASSERT_EQ(pair.received.reports.size(), reports.size());
  EXPECT_EQ(tie(pair.received.reports.back().second), tie(reports.back()));
}

TEST(SessionAbilities, EachDatagramAnnouncesOmittedUesAndTheNumberOfDatagrams) {
  for (const std::size_t limit : {256U, 300U, 1400U, 8952U}) {
    for (const Duration refresh : {Duration(0), Duration(500ms)}) {
      SessionConfig small = config(Role::node_b, 1001);
      small.max_datagram = limit;
      Session node_b(small);
      node_b.set_limit(limit);
      Pair pair;
      std::vector<BearerReport> reports;
      for (int i = 0; i < 300; ++i) reports.push_back(any_report(pair.random));
      const std::uint64_t last = node_b.send_reports(reports, 1s, 5ms, false, pair.wire, refresh);
      EXPECT_EQ(last, datagrams_of(reports, node_b.record_room(limit), refresh > Duration{}));
      for (const Datagram& datagram : pair.wire.sent) ASSERT_EQ(pair.give(datagram), Failure::none);
      ASSERT_EQ(pair.received.reports.size(), reports.size());
      if (limit == 256) continue;  // a record may need all of one
      for (const Header& header : pair.received.messages) EXPECT_EQ(header.refresh, refresh);
    }
  }
}

TEST(SessionAbilities, TheRefreshIntervalAppliesToItsMessageOnly) {
  Pair pair;
  pair.node_b.send_reports({}, 1s, 5ms, false, pair.wire, 500ms);
  pair.node_b.send_reports({}, 1s, 5ms, false, pair.wire);
  for (const Datagram& datagram : pair.wire.sent) ASSERT_EQ(pair.give(datagram), Failure::none);
  EXPECT_EQ(pair.received.messages[0].refresh, 500ms);
  EXPECT_EQ(pair.received.messages[1].refresh, 0s);
}

}  // namespace
}  // namespace sluice::control::feedback::test
