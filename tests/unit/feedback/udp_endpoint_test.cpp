// Tests of the UDP endpoint of feedback on loopback sockets: floods, learned addresses and unreachable peers.
#include "control/feedback/udp_endpoint.hpp"

#include <gtest/gtest.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>

#include "tests/unit/feedback/samples.hpp"

namespace sluice::control::feedback::test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio::ip::udp;

udp::endpoint loopback(bool v6 = false, unsigned short port = 0) {
  return v6 ? udp::endpoint(asio::ip::address_v6::loopback(), port)
            : udp::endpoint(asio::ip::address_v4::loopback(), port);
}

const std::vector<IpPrefix> this_machine{IpPrefix::parse("127.0.0.0/8").value(), IpPrefix::parse("::1/128").value()};

/// Returns a configuration that learns no peer unless a source address is given.
UdpEndpointConfig endpoint(const udp::endpoint& local, std::vector<udp::endpoint> peers,
                           std::vector<IpPrefix> learn = {}) {
  UdpEndpointConfig config;
  config.local = local;
  config.peers = std::move(peers);
  if (!learn.empty()) config.learn = {{7, std::move(learn)}};
  config.datagrams_per_wakeup = 16;
  config.clock = [] { return ReceivedAt{Instant(std::chrono::steady_clock::now().time_since_epoch()), 0}; };
  return config;
}

/// Runs the context until the condition holds. The bound only ends a test that has failed.
bool run_until(asio::io_context& context, const std::function<bool()>& condition) {
  const auto give_up = std::chrono::steady_clock::now() + 20s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    context.restart();
    context.run_one_for(50ms);
  }
  return true;
}

/// A proxy's endpoint without known peers, and a Node-B's endpoint that sends to it.
struct Net {
  explicit Net(bool v6 = false) {
    UdpEndpointConfig at_proxy = endpoint(loopback(v6), {}, this_machine);
    at_proxy.most_learned = 4;
    at_proxy.clock = [this] { return ReceivedAt{now, 0}; };
    proxy = std::make_unique<UdpEndpoint>(context, at_proxy, proxy_session, proxy_received);
    node_b = std::make_unique<UdpEndpoint>(context, endpoint(loopback(v6), {proxy->local()}), node_b_session,
                                           node_b_received);
    proxy->start();
    node_b->start();
  }
  void report(int bearers = 1) {
    std::vector<BearerReport> reports;
    for (int i = 0; i < bearers; ++i) reports.push_back(any_report(random));
    node_b->send_reports(reports, 1s, 5ms);
  }

  asio::io_context context;
  Instant now{1h};  ///< at the proxy
  Session proxy_session{config(Role::proxy, 2002)};
  Session node_b_session{config(Role::node_b, 1001)};
  Collector proxy_received;
  Collector node_b_received;
  std::unique_ptr<UdpEndpoint> proxy;
  std::unique_ptr<UdpEndpoint> node_b;
  std::mt19937_64 random{1};
};

/// Sends what sessions say from one socket.
class OneSocket final : public DatagramSink {
 public:
  OneSocket(asio::io_context& context, udp::endpoint to) : socket_(context, loopback()), to_(std::move(to)) {}
  void send(std::span<const std::uint8_t> datagram) override {
    socket_.send_to(asio::buffer(datagram.data(), datagram.size()), to_);
  }

 private:
  udp::socket socket_;
  udp::endpoint to_;
};

class UdpEndpointFamilies : public testing::TestWithParam<bool> {};

TEST_P(UdpEndpointFamilies, DatagramsPassInBothDirections) {
  Net net(GetParam());
  EXPECT_TRUE(net.proxy->destinations().empty());
  net.report(30);
  ASSERT_TRUE(run_until(net.context, [&] { return net.proxy_received.reports.size() == 30; }));
  ASSERT_EQ(net.proxy->destinations().size(), 1U) << "learned from an authenticated report";
  EXPECT_EQ(net.proxy->destinations()[0], net.node_b->local());
  const std::vector<BearerStatus> statuses{any_status(net.random)};
  net.proxy->send_statuses(statuses, 1s, 0s);
  ASSERT_TRUE(run_until(net.context, [&] { return net.node_b_received.statuses.size() == 1; }));
  EXPECT_EQ(tie(net.node_b_received.statuses[0].second), tie(statuses[0]));
  EXPECT_EQ(net.node_b->counters().send_errors, 0U);
}

INSTANTIATE_TEST_SUITE_P(Udp, UdpEndpointFamilies, testing::Values(false, true));

TEST(UdpEndpoint, OneSocketServesBothFamilies) {
  Net net;
  UdpEndpointConfig both = endpoint(udp::endpoint(asio::ip::address_v6::any(), 0), {net.proxy->local()});
  Collector received;
  Session session(config(Role::node_b, 1003));
  UdpEndpoint node_b(net.context, both, session, received);
  node_b.start();
  node_b.send_reports({}, 1s, 5ms);
  ASSERT_TRUE(run_until(net.context, [&] { return net.proxy_session.counters()[0] == 1; }));
  net.proxy->send_statuses({}, 1s, 0s);
  EXPECT_TRUE(run_until(net.context, [&] { return session.counters()[0] == 1; }));
}

TEST(UdpEndpoint, AnIpv4SocketRefusesIpv6Peers) {
  Net net;
  UdpEndpointConfig wrong = endpoint(loopback(false), {loopback(true, 9)});
  EXPECT_THROW(UdpEndpoint(net.context, wrong, net.proxy_session, net.proxy_received), std::invalid_argument);
}

TEST(UdpEndpoint, APortInUseIsAnError) {
  Net net;
  UdpEndpointConfig taken = endpoint(net.proxy->local(), {});
  EXPECT_THROW(UdpEndpoint(net.context, taken, net.proxy_session, net.proxy_received), boost::system::system_error);
}

TEST(UdpEndpoint, AFloodOfGarbageIsCountedAndPassedThrough) {
  Net net;
  udp::socket flooder(net.context, loopback());
  std::uint64_t flooded = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::uint8_t> garbage(net.random() % 3000);
    for (auto& octet : garbage) octet = static_cast<std::uint8_t>(net.random());
    boost::system::error_code error;
    flooder.send_to(asio::buffer(garbage), net.proxy->local(), 0, error);
    if (!error) ++flooded;
    if (i % 100 == 0) net.report();
    net.context.poll();  // leaves room in the socket's buffer
  }
  ASSERT_GT(flooded, 1000U);
  ASSERT_TRUE(run_until(net.context, [&] { return net.proxy_received.reports.size() == 20; }));
  const FailureCounters& counters = net.proxy_session.counters();
  EXPECT_EQ(counters[0], 20U);
  std::uint64_t refused = 0;
  for (std::size_t i = 1; i < failure_count; ++i) refused += counters[i];
  EXPECT_GT(refused, 1000U);
  EXPECT_EQ(net.proxy->destinations().size(), 1U) << "a stranger's address is not learned";
}

TEST(UdpEndpoint, OtherWorkRunsDuringAFlood) {
  Net net;
  for (int i = 0; i < 100; ++i) net.report();
  // 100 datagrams wait. One wakeup reads at most 16 of them; then other work runs first.
  bool other_ran = false;
  std::size_t taken_before = 0;
  ASSERT_TRUE(run_until(net.context, [&] { return !net.proxy_received.reports.empty(); }));
  EXPECT_LE(net.proxy_received.reports.size(), 16U);
  asio::post(net.context, [&] {
    other_ran = true;
    taken_before = net.proxy_received.reports.size();
  });
  ASSERT_TRUE(run_until(net.context, [&] { return other_ran; }));
  EXPECT_LE(taken_before, 48U);
  EXPECT_TRUE(run_until(net.context, [&] { return net.proxy_received.reports.size() == 100; }));
}

// A holder of the key may claim any number of ids from any number of addresses, so the destinations must be bounded.
TEST(UdpEndpoint, StatusesGoOnceToABoundedNumberOfAddresses) {
  Net net;
  std::vector<std::unique_ptr<UdpEndpoint>> places;
  std::vector<std::unique_ptr<Session>> sessions;
  for (std::uint64_t sender = 1; sender <= 30; ++sender) {
    sessions.push_back(std::make_unique<Session>(config(Role::node_b, sender)));
    places.push_back(std::make_unique<UdpEndpoint>(net.context, endpoint(loopback(), {net.proxy->local()}),
                                                   *sessions.back(), net.node_b_received));
    places.back()->send_reports({}, 1s, 5ms);
  }
  ASSERT_TRUE(run_until(net.context, [&] { return net.proxy_session.counters()[0] == 30; }));
  EXPECT_EQ(net.proxy->destinations().size(), 4U);
  EXPECT_EQ(net.proxy->counters().no_room_to_learn, 26U);
  net.proxy->send_statuses({}, 1s, 0s);
  EXPECT_EQ(net.proxy->counters().datagrams_sent, 4U);
  net.now += 10s;
  net.proxy->send_statuses({}, 1s, 0s);
  EXPECT_EQ(net.proxy->counters().datagrams_sent, 4U) << "they have been silent since";
  net.report();
  ASSERT_TRUE(run_until(net.context, [&] { return net.proxy_session.counters()[0] == 31; }));
  EXPECT_EQ(net.proxy->destinations(), std::vector{net.node_b->local()}) << "and made room";
}

TEST(UdpEndpoint, ManySendersAtOneAddressGetOneDatagram) {
  Net net;
  OneSocket sink(net.context, net.proxy->local());
  for (std::uint64_t sender = 1; sender <= 353; ++sender) {
    Session(config(Role::node_b, sender)).send_reports({}, 1s, 5ms, false, sink);
    net.context.poll();
  }
  ASSERT_TRUE(run_until(net.context, [&] { return net.proxy_session.counters()[0] == 353; }));
  net.proxy->send_statuses({}, 1s, 0s);
  EXPECT_EQ(net.proxy->counters().datagrams_sent, 1U);
}

/// A Node-B with two proxies as its peers, which have both sent to it.
struct TwoProxies : Net {
  TwoProxies() {
    UdpEndpointConfig at_other = endpoint(loopback(), {}, this_machine);
    other = std::make_unique<UdpEndpoint>(context, at_other, other_session, other_received);
    other->start();
    node_b = std::make_unique<UdpEndpoint>(context, endpoint(loopback(), {proxy->local(), other->local()}),
                                           node_b_session, node_b_received);
    node_b->start();
    node_b->send_reports({}, 1s, 5ms);
    EXPECT_TRUE(run_until(context, [&] { return received() == std::pair(1UL, 1UL); }));
    proxy->send_statuses({}, 1s, 0s);
    other->send_statuses({}, 1s, 0s);
    EXPECT_TRUE(run_until(context, [&] { return node_b_session.counters()[0] == 2; }));
  }
  /// Datagrams that each of the proxies has accepted.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> received() const {
    return {proxy_session.counters()[0], other_session.counters()[0]};
  }

  Session other_session{config(Role::proxy, 2003)};
  Collector other_received;
  std::unique_ptr<UdpEndpoint> other;
};

TEST(UdpEndpoint, OneOfSeveralPeersCanBeSentToAlone) {
  TwoProxies net;
  const std::vector<BearerReport> reports{any_report(net.random)};
  EXPECT_EQ(net.node_b->send_reports_to(2003, reports, 1s, 5ms), 2U);
  net.node_b->send_reports(reports, 1s, 5ms);
  ASSERT_TRUE(run_until(net.context, [&] { return net.received() == std::pair(2UL, 3UL); }));
  EXPECT_EQ(net.proxy_received.reports.front().first.sequence, 3U) << "that went to the other one alone";
  EXPECT_EQ(net.node_b->counters().datagrams_sent, 5U);
}

TEST(UdpEndpoint, MessagesForAnUnknownSenderGoToAll) {
  TwoProxies net;
  net.node_b->send_reports_to(2004, {}, 1s, 5ms);
  EXPECT_TRUE(run_until(net.context, [&] { return net.received() == std::pair(2UL, 2UL); }));
}

// A holder of the key may send as any sender from any address, so a second address is not learned.
TEST(UdpEndpoint, AnotherAddressOfAKnownSenderIsNotLearned) {
  TwoProxies net;
  OneSocket stranger(net.context, net.node_b->local());
  Session(config(Role::proxy, 2003, 2)).send_statuses({}, 1s, 0s, false, stranger);
  ASSERT_TRUE(run_until(net.context, [&] { return net.node_b_session.counters()[0] == 3; }));
  net.node_b->send_reports_to(2003, {}, 1s, 5ms);
  EXPECT_TRUE(run_until(net.context, [&] { return net.received() == std::pair(1UL, 2UL); }));
}

// Ids cost a holder of the key nothing. Those beyond the bound are accepted, and datagrams for them go to all peers.
TEST(UdpEndpoint, TheNumberOfSenderAddressesIsBounded) {
  Net net;
  UdpEndpointConfig several = endpoint(loopback(), {net.proxy->local()}, this_machine);
  several.clock = [] { return ReceivedAt{Instant(1h), 0}; };
  SessionConfig roomy = config(Role::node_b, 1001);
  roomy.max_senders = 2 * UdpEndpoint::max_places;
  Session session(roomy);
  UdpEndpoint node_b(net.context, several, session, net.node_b_received);
  node_b.start();
  OneSocket place(net.context, node_b.local());
  const std::uint64_t first = 5000;
  for (std::uint64_t sender = first; sender <= first + UdpEndpoint::max_places; ++sender) {
    Session(config(Role::proxy, sender)).send_statuses({}, 1s, 0s, false, place);
    net.context.poll();
  }
  ASSERT_TRUE(run_until(net.context, [&] { return session.counters()[0] == UdpEndpoint::max_places + 1; }));
  node_b.send_reports_to(first, {}, 1s, 5ms);
  EXPECT_EQ(node_b.counters().datagrams_sent, 1U);
  node_b.send_reports_to(first + UdpEndpoint::max_places, {}, 1s, 5ms);
  EXPECT_EQ(node_b.counters().datagrams_sent, 3U) << "to both places";
}

TEST(UdpEndpoint, AKeyIsAnsweredOnlyAtItsAllowedAddresses) {
  Net net;
  const UdpEndpointConfig elsewhere =
      endpoint(loopback(), {}, {IpPrefix::parse("192.0.2.0/24").value(), IpPrefix::parse("127.0.0.2/32").value()});
  Session session(config(Role::proxy, 2003));
  Collector received;
  UdpEndpoint proxy(net.context, elsewhere, session, received);
  proxy.start();
  UdpEndpoint node_b(net.context, endpoint(loopback(), {proxy.local()}), net.node_b_session, net.node_b_received);
  node_b.send_reports({}, 1s, 5ms);
  ASSERT_TRUE(run_until(net.context, [&] { return session.counters()[0] == 1; })) << "what it says is heard";
  EXPECT_TRUE(proxy.destinations().empty());
  EXPECT_EQ(proxy.counters().not_answered, 1U);
}

TEST(UdpEndpoint, APeerMayGoDownAndReturn) {
  Net net;
  const udp::endpoint address = net.proxy->local();
  net.proxy.reset();
  for (int i = 0; i < 20; ++i) {
    net.report();
    net.context.poll();
  }
  UdpEndpointConfig back = endpoint(address, {}, this_machine);
  net.proxy = std::make_unique<UdpEndpoint>(net.context, back, net.proxy_session, net.proxy_received);
  net.proxy->start();
  net.report();
  EXPECT_TRUE(run_until(net.context, [&] { return !net.proxy_received.reports.empty(); }));
}

TEST(UdpEndpoint, AnUnreachablePeerIsCounted) {
  Net net;
  // 240.0.0.1 is reserved: the kernel refuses to send there.
  UdpEndpointConfig lost = endpoint(loopback(), {udp::endpoint(asio::ip::make_address("240.0.0.1"), 9)});
  UdpEndpoint node_b(net.context, lost, net.node_b_session, net.node_b_received);
  EXPECT_EQ(node_b.send_reports({}, 1s, 5ms), 1U);
  EXPECT_EQ(node_b.counters().send_errors, 1U);
  EXPECT_NE(node_b.counters().last_error, 0);
  EXPECT_EQ(node_b.counters().datagrams_sent, 0U);
}

TEST(UdpEndpoint, StopsAndStartsAgain) {
  Net net;
  net.proxy->stop();
  net.report();
  net.context.restart();
  net.context.run_for(20ms);
  EXPECT_EQ(net.proxy->counters().datagrams_received, 0U);
  net.proxy->start();
  EXPECT_TRUE(run_until(net.context, [&] { return net.proxy_received.reports.size() == 1; }));
  net.proxy->stop();
  net.proxy->start();
  net.report();
  EXPECT_TRUE(run_until(net.context, [&] { return net.proxy_received.reports.size() == 2; }));
  EXPECT_EQ(net.proxy->counters().receive_errors, 0U) << "to be stopped is no error";
  net.node_b.reset();
  net.proxy.reset();
  net.context.restart();
  net.context.run_for(10s);
  EXPECT_TRUE(net.context.stopped()) << "nothing is left to wait for";
}

}  // namespace
}  // namespace sluice::control::feedback::test
