// Tests of the Node-B's end of the feedback over UDP, before scripted proxies.
#include "emulator/runtime/live_feedback.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/unit/emulator_models/one_cell.hpp"

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;
using boost::asio::ip::udp;
namespace feedback = control::feedback;

const std::vector<std::uint8_t> secret(32, 7);

class ProxyEnd final : private feedback::RecordHandler {
 public:
  explicit ProxyEnd(boost::asio::io_context& context, std::uint64_t sender = 2, bool takes_all = false)
      : session_([sender, takes_all] {
          feedback::SessionConfig config;
          config.features = {takes_all, takes_all};
          config.sender = sender;
          config.keys = {{1, secret}};
          config.send_key = 1;
          return config;
        }()),
        endpoint_(context, endpoint_config(), session_, *this) {
    endpoint_.start();
  }
  void poll() { endpoint_.send_statuses({}, 1s, 0s, true); }
  /// Reports that `injected` bytes have been sent to the UE over `flows` connections.
  void notify(const IpAddress& ue, std::uint64_t injected, std::uint32_t flows) {
    feedback::BearerStatus status;
    status.ue = ue;
    status.injected = injected;
    status.active_flows = flows;
    endpoint_.send_statuses({&status, 1}, 1s, 0s);
  }
  [[nodiscard]] std::uint16_t port() const { return endpoint_.local().port(); }

  std::vector<feedback::Header> messages;
  std::vector<feedback::BearerReport> reports;

 private:
  void on_message(const feedback::Header& header) override { messages.push_back(header); }
  void on_report(const feedback::Header&, const feedback::BearerReport& report) override { reports.push_back(report); }
  void on_status(const feedback::Header&, const feedback::BearerStatus&) override {}

  static feedback::UdpEndpointConfig endpoint_config() {
    feedback::UdpEndpointConfig config;
    config.local = udp::endpoint(boost::asio::ip::address_v4::loopback(), 0);
    config.learn = {{1, {{IpAddress::v4(127, 0, 0, 1), 128}}}};
    config.clock = [] { return feedback::ReceivedAt{}; };
    return config;
  }

  feedback::Session session_;
  feedback::UdpEndpoint endpoint_;
};

/// The Node-B's end before proxies on these ports.
config::FeedbackConfig nodeb(const std::vector<std::uint16_t>& proxies) {
  config::FeedbackConfig config;
  config.sender = 1;
  config::KeyConfig key;
  key.bytes = secret;
  config.keys.push_back(key);
  for (const std::uint16_t port : proxies) config.peers.push_back({IpAddress::v4(127, 0, 0, 1), port});
  return config;
}

class LiveFeedbackTest : public testing::Test, protected test::OneCell {
 protected:
  LiveFeedbackTest() : OneCell(1ms) {}

  /// Runs both ends until the condition holds; the Node-B's time advances only to due events.
  void run_until(const std::function<bool()>& condition) {
    for (int i = 0; i < 2000 && !condition(); ++i) {
      context_.run_for(5ms);
      feedback_.deliver(reporter_, loop.now());
      loop.run_until(loop.now() + timing_.delay);
    }
    ASSERT_TRUE(condition());
  }
  const LiveFeedback::Timing timing_{60s, 1us};
  Scenario scenario_;
  Meter meter_{loop, cell, scenario_};
  boost::asio::io_context context_;
  ProxyEnd proxy_{context_};
  dpdk::PollPolicy poll_thread_{dpdk::PollMode::busy};
  LiveFeedback feedback_{loop, nodeb({proxy_.port()}), timing_, meter_, poll_thread_};
  Reporter reporter_{loop, cell, {.period = 60s, .law = {}}, feedback_};
};

TEST_F(LiveFeedbackTest, APollIsAnsweredAtOnceEvenWithoutUes) {
  reporter_.start(loop.now());
  feedback_.send({}, loop.now());
  run_until([&] { return proxy_.messages.size() == 1; });
  EXPECT_EQ(proxy_.messages[0].records, 0U);
  proxy_.poll();
  run_until([&] { return proxy_.messages.size() == 2; });
  EXPECT_EQ(proxy_.messages[1].records, 0U);
  EXPECT_EQ(proxy_.messages[1].sequence, 2U);
}

TEST_F(LiveFeedbackTest, ReportsThatFindNoRoomConsumeTheirSequenceNumbers) {
  constexpr std::size_t more_than_fit = 5000;
  const std::vector<feedback::BearerReport> reports(more_than_fit);
  feedback_.send(reports, loop.now());
  const std::uint64_t next = feedback_.next_sequence();
  feedback_.send({}, loop.now());
  run_until([&] { return proxy_.messages.size() == 1; });
  EXPECT_EQ(feedback_.reports_lost(), more_than_fit);
  EXPECT_GT(next, 2U);
  EXPECT_EQ(proxy_.messages[0].sequence, next) << "by it the proxy says whose grant it has";
}

/// A Node-B before a proxy that announces its abilities.
class AbleProxyTest : public testing::Test, protected test::OneCell {
 protected:
  AbleProxyTest() : OneCell(1ms) {}
  /// Sends from the Node-B and receives the answer of the proxy.
  void receive_from(ProxyEnd& proxy, LiveFeedback& feedback) {
    feedback.send({}, loop.now());
    loop.run_until(loop.now() + timing_.delay);
    for (int i = 0; i < 400 && proxy.messages.empty(); ++i) context_.run_for(5ms);
    ASSERT_FALSE(proxy.messages.empty());
    proxy.messages.clear();
    for (int i = 0; i < 40 && !feedback.may_leave_out(); ++i) {
      proxy.poll();
      context_.run_for(5ms);
    }
  }
  static config::FeedbackConfig large(const std::vector<std::uint16_t>& proxies) {
    config::FeedbackConfig config = nodeb(proxies);
    config.max_datagram = Bytes(8952);
    return config;
  }
  std::vector<feedback::BearerReport> many() {
    std::vector<feedback::BearerReport> reports(200);
    for (std::size_t i = 0; i < reports.size(); ++i) {
      reports[i].ue = IpAddress::v4(10, 45, 0, static_cast<std::uint8_t>(i));
      reports[i].arrived = i + 1;
    }
    return reports;
  }

  const LiveFeedback::Timing timing_{60s, 1us};
  Scenario scenario_;
  Meter meter_{loop, cell, scenario_};
  boost::asio::io_context context_;
  dpdk::PollPolicy poll_thread_{dpdk::PollMode::busy};
};

TEST_F(AbleProxyTest, AProxyWithTheAbilityIsSentLargeDatagramsWithoutUnchangedUes) {
  ProxyEnd proxy(context_, 2, true);
  LiveFeedback feedback(loop, large({proxy.port()}), timing_, meter_, poll_thread_);
  EXPECT_FALSE(feedback.may_leave_out()) << "nobody was heard";
  receive_from(proxy, feedback);
  ASSERT_TRUE(feedback.may_leave_out());
  feedback.send_changes(many(), 500ms, loop.now());
  const std::uint64_t next = feedback.next_sequence();
  loop.run_until(loop.now() + timing_.delay);
  for (int i = 0; i < 400 && proxy.reports.size() < 200; ++i) context_.run_for(5ms);
  EXPECT_EQ(proxy.reports.size(), 200U);
  EXPECT_EQ(proxy.messages.size(), 1U);
  EXPECT_EQ(proxy.messages.at(0).refresh, 500ms);
  EXPECT_EQ(proxy.messages.back().sequence + 1, next);
}

TEST_F(AbleProxyTest, AProxyWithoutTheAbilityIsSentAllUesInSmallDatagrams) {
  ProxyEnd proxy(context_, 2, false);
  LiveFeedback feedback(loop, large({proxy.port()}), timing_, meter_, poll_thread_);
  receive_from(proxy, feedback);
  EXPECT_FALSE(feedback.may_leave_out());
  feedback.send(many(), loop.now());
  const std::uint64_t next = feedback.next_sequence();
  loop.run_until(loop.now() + timing_.delay);
  for (int i = 0; i < 400 && proxy.reports.size() < 200; ++i) context_.run_for(5ms);
  EXPECT_GT(proxy.messages.size(), 3U);
  EXPECT_EQ(proxy.messages.back().sequence + 1, next);
}

TEST_F(AbleProxyTest, SeveralProxiesAreSentAllUes) {
  ProxyEnd first(context_, 2, true);
  ProxyEnd second(context_, 3, true);
  LiveFeedback feedback(loop, large({first.port(), second.port()}), timing_, meter_, poll_thread_);
  receive_from(first, feedback);
  EXPECT_FALSE(feedback.may_leave_out());
}

/// A Node-B with one UE before two proxies.
class TwoProxiesTest : public testing::Test, protected test::OneCell {
 protected:
  TwoProxiesTest() : OneCell(1ms) { report(); }

  void settle() {
    for (int i = 0; i < 4; ++i) {
      context_.run_for(5ms);
      feedback_.deliver(reporter_, loop.now());
      loop.run_until(loop.now() + timing_.delay);
    }
  }
  void run_until(const std::function<bool()>& condition) {
    for (int i = 0; i < 2000 && !condition(); ++i) settle();
    ASSERT_TRUE(condition());
  }
  /// Sends one report of the UE. Both proxies have received from the Node-B when the first report arrives.
  void report() {
    feedback::BearerReport of_ue;
    of_ue.ue = ue_;
    feedback_.send({&of_ue, 1}, loop.now());
  }
  void notify(ProxyEnd& proxy, std::uint64_t injected, std::uint32_t flows) {
    const std::uint64_t before = feedback_.statuses();
    proxy.notify(ue_, injected, flows);
    run_until([&] { return feedback_.statuses() == before + 1; });
    settle();
  }
  /// Returns how many reports each proxy has, once they have `together` in all.
  std::pair<std::size_t, std::size_t> reports_when(std::size_t together) {
    run_until([&] { return first_.reports.size() + second_.reports.size() >= together; });
    settle();
    return {first_.reports.size(), second_.reports.size()};
  }

  const LiveFeedback::Timing timing_{60s, 1us};
  const IpAddress ue_ = IpAddress::v4(10, 45, 0, 2);
  Scenario scenario_;
  Meter meter_{loop, cell, scenario_};
  boost::asio::io_context context_;
  ProxyEnd first_{context_, 2};
  ProxyEnd second_{context_, 3};
  dpdk::PollPolicy poll_thread_{dpdk::PollMode::busy};
  LiveFeedback feedback_{loop, nodeb({first_.port(), second_.port()}), timing_, meter_, poll_thread_};
  Reporter reporter_{loop, cell, {.period = 60s, .law = {}}, feedback_};
};

using Reports = std::pair<std::size_t, std::size_t>;

TEST_F(TwoProxiesTest, ReportsOfAUeWithoutAnOwnerGoToAll) {
  EXPECT_EQ(reports_when(2), Reports(1, 1));
  report();
  EXPECT_EQ(reports_when(4), Reports(2, 2));
}

TEST_F(TwoProxiesTest, ReportsGoToTheNewOwnerOfAUe) {
  ASSERT_EQ(reports_when(2), Reports(1, 1));
  notify(first_, 1500, 1);
  report();
  EXPECT_EQ(reports_when(3), Reports(2, 1));
  notify(second_, 40, 1);
  report();
  EXPECT_EQ(reports_when(4), Reports(2, 2));
  notify(first_, 1500, 1);
  report();
  EXPECT_EQ(reports_when(5), Reports(2, 3)) << "what the first one has of it is of the past";
  EXPECT_EQ(feedback_.claims().moved, 1U);
}

// A proxy that gets no message of the Node-B for two seconds would no longer know where to send its statuses.
TEST_F(TwoProxiesTest, AProxyWithoutUesStillGetsMessages) {
  ASSERT_EQ(reports_when(2), Reports(1, 1));
  for (std::uint64_t i = 1; i <= 20; ++i) {
    notify(first_, 1500 * i, 1);
    loop.run_until(loop.now() + 100ms);
    report();
  }
  EXPECT_EQ(reports_when(22), Reports(21, 1));
  run_until([&] { return second_.messages.size() >= 4; });
  EXPECT_EQ(second_.messages.back().records, 0U);
  EXPECT_LE(second_.messages.size(), 6U) << "twice a second, not with each report";
}

TEST_F(TwoProxiesTest, AProxyWithoutUesGetsAnAnswerToItsPoll) {
  reporter_.start(loop.now());
  ASSERT_EQ(reports_when(2), Reports(1, 1));
  notify(first_, 1500, 1);
  const std::size_t before = second_.messages.size();
  second_.poll();
  run_until([&] { return second_.messages.size() > before; });
}

}  // namespace
}  // namespace sluice::emulator
