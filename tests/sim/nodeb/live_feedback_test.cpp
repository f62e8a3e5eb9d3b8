#include "emulator/runtime/live_feedback.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/unit/emulator_models/one_cell.hpp"

// The Node-B's end of the feedback over UDP, before a proxy of the test's own.

namespace sluice::emulator {
namespace {

using namespace std::chrono_literals;
using boost::asio::ip::udp;
namespace feedback = control::feedback;

const std::vector<std::uint8_t> secret(32, 7);

class ProxyEnd final : private feedback::RecordHandler {
 public:
  explicit ProxyEnd(boost::asio::io_context& context)
      : session_([] {
          feedback::SessionConfig config;
          config.sender = 2;
          config.keys = {{1, secret}};
          config.send_key = 1;
          return config;
        }()),
        endpoint_(context, endpoint_config(), session_, *this) {
    endpoint_.start();
  }
  void poll() { endpoint_.send_statuses({}, 1s, 0s, true); }
  [[nodiscard]] std::uint16_t port() const { return endpoint_.local().port(); }

  std::vector<feedback::Header> messages;

 private:
  void on_message(const feedback::Header& header) override { messages.push_back(header); }
  void on_report(const feedback::Header&, const feedback::BearerReport&) override {}
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

class LiveFeedbackTest : public testing::Test, protected test::OneCell {
 protected:
  LiveFeedbackTest() : OneCell(1ms) {}

  /// Lets both ends run until it is so; the Node-B's time stands still but for what is due.
  void run_until(const std::function<bool()>& condition) {
    for (int i = 0; i < 2000 && !condition(); ++i) {
      context_.run_for(5ms);
      feedback_.deliver(reporter_, loop.now());
      loop.run_until(loop.now() + timing_.delay);
    }
    ASSERT_TRUE(condition());
  }
  static config::FeedbackConfig nodeb(std::uint16_t proxy_port) {
    config::FeedbackConfig config;
    config.sender = 1;
    config::KeyConfig key;
    key.bytes = secret;
    config.keys.push_back(key);
    config.peers = {{IpAddress::v4(127, 0, 0, 1), proxy_port}};
    return config;
  }

  const LiveFeedback::Timing timing_{60s, 1us};
  Scenario scenario_;
  Meter meter_{loop, cell, scenario_};
  boost::asio::io_context context_;
  ProxyEnd proxy_{context_};
  dpdk::PollPolicy poll_thread_{dpdk::PollMode::busy};
  LiveFeedback feedback_{loop, nodeb(proxy_.port()), timing_, meter_, poll_thread_};
  Reporter reporter_{loop, cell, {.period = 60s, .law = {}}, feedback_};
};

TEST_F(LiveFeedbackTest, AProxyThatAsksIsAnsweredAtOnceEvenIfThereIsNoUe) {
  reporter_.start(loop.now());
  feedback_.send({}, loop.now());
  run_until([&] { return proxy_.messages.size() == 1; });
  EXPECT_EQ(proxy_.messages[0].records, 0U);
  proxy_.poll();
  run_until([&] { return proxy_.messages.size() == 2; });
  EXPECT_EQ(proxy_.messages[1].records, 0U);
  EXPECT_EQ(proxy_.messages[1].sequence, 2U);
}

}  // namespace
}  // namespace sluice::emulator
