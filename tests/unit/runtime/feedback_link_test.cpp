// Tests of the link between UDP feedback and the shards: reports, statuses, polls and omission notices.
#include "proxy/daemon/threads/feedback_link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;
using boost::asio::ip::udp;
using testing::HasSubstr;
namespace feedback = control::feedback;

const IpAddress ue_even = IpAddress::v4(10, 0, 0, 2);
const IpAddress ue_odd = IpAddress::v4(10, 0, 0, 3);

config::ProxyFeedbackConfig proxy_config(Duration status_period = 5ms) {
  config::ProxyFeedbackConfig config;
  config.status_period = status_period;
  config.sender = 1;
  config::KeyConfig key;
  key.bytes = std::vector<std::uint8_t>(32, 7);
  config.keys.push_back(key);
  return config;
}

/// The Node-B's end of the protocol.
class NodeB final : public feedback::RecordHandler {
 public:
  NodeB(boost::asio::io_context& context, const udp::endpoint& proxy)
      : session_([] {
          feedback::SessionConfig config;
          config.role = feedback::Role::node_b;
          config.sender = 2;
          config.keys = {{1, std::vector<std::uint8_t>(32, 7)}};
          config.send_key = 1;
          return config;
        }()),
        endpoint_(context, endpoint_config(proxy), session_, *this) {
    endpoint_.start();
  }
  void report(const IpAddress& ue, bool poll = false) {
    feedback::BearerReport report;
    report.ue = ue;
    report.queue = Bytes(4000);
    send(report, poll);
  }
  void send(const feedback::BearerReport& report, bool poll = false) {
    endpoint_.send_reports(std::span(&report, 1), 1s, 5ms, poll);
  }
  /// A report that leaves out all UEs but this one; or all.
  void send_changes(const std::optional<feedback::BearerReport>& report) {
    const std::span<const feedback::BearerReport> all =
        report ? std::span(&*report, 1) : std::span<const feedback::BearerReport>{};
    endpoint_.send_reports(all, 1s, 5ms, false, 500ms);
  }
  [[nodiscard]] feedback::Features proxy_takes() const { return session_.peer_features({}); }
  void lose() { session_.skip(1); }
  void poll() { endpoint_.send_reports({}, 1s, 5ms, true); }
  void on_message(const feedback::Header&) override { ++messages; }
  void on_report(const feedback::Header&, const feedback::BearerReport&) override {}
  void on_status(const feedback::Header&, const feedback::BearerStatus& status) override { received.push_back(status); }

  int messages = 0;
  std::vector<feedback::BearerStatus> received;

 private:
  static feedback::UdpEndpointConfig endpoint_config(const udp::endpoint& proxy) {
    feedback::UdpEndpointConfig config;
    config.local = udp::endpoint(boost::asio::ip::address_v4::loopback(), 0);
    config.peers = {proxy};
    config.clock = [] { return feedback::ReceivedAt{}; };
    return config;
  }
  feedback::Session session_;
  feedback::UdpEndpoint endpoint_;
};

/// A link with two shards that own the even and the odd UEs.
class FeedbackLinkTest : public testing::Test {
 protected:
  explicit FeedbackLinkTest(Duration status_period = 5ms)
      : link_(context_, proxy_config(status_period),
              {{channels_[0].get(), channels_[1].get()},
               [](const IpAddress& ue) { return ue.octets[15] % 2U; },
               [this](unsigned shard) { ++woken_[shard]; }}),
        node_b_(context_, udp::endpoint(boost::asio::ip::address_v4::loopback(), link_.local().port())) {}

  template <typename Condition>
  void run_until(Condition condition) {
    for (int i = 0; i < 2000 && !condition(); ++i) context_.run_for(5ms);
    EXPECT_TRUE(condition());
  }

  [[nodiscard]] std::uint64_t count(const std::string& name) const {
    for (const feedback::SourceCounter& counter : link_.counters()) {
      if (counter.name == name) return counter.value;
    }
    ADD_FAILURE() << "there is no counter " << name;
    return 0;
  }

  boost::asio::io_context context_;
  std::array<int, 2> woken_{};
  std::array<std::unique_ptr<ShardChannel>, 2> channels_{std::make_unique<ShardChannel>(),
                                                         std::make_unique<ShardChannel>()};
  FeedbackLink link_;
  NodeB node_b_;
};

TEST_F(FeedbackLinkTest, AReportReachesTheShardThatOwnsTheUe) {
  node_b_.report(ue_odd);
  run_until([&] { return channels_[1]->reports.read_available() == 1; });
  EXPECT_EQ(channels_[0]->reports.read_available(), 0U);
  ReportArrival arrival;
  ASSERT_TRUE(channels_[1]->reports.pop(arrival));
  EXPECT_EQ(arrival.bearer.ue, ue_odd);
  EXPECT_EQ(arrival.bearer.queue, Bytes(4000));
  EXPECT_EQ(arrival.sender, 2U);
  EXPECT_EQ(arrival.sequence, 1U);
  EXPECT_EQ(arrival.sender_time, 1s);
  EXPECT_EQ(arrival.period, 5ms);
  EXPECT_EQ(woken_[0], 0);
  EXPECT_EQ(woken_[1], 1);
  node_b_.report(ue_even);
  run_until([&] { return channels_[0]->reports.read_available() == 1; });
}

TEST_F(FeedbackLinkTest, StatusesOfAllShardsReachTheReportingNodeB) {
  node_b_.report(ue_even);
  run_until([&] { return channels_[0]->reports.read_available() == 1; });
  EXPECT_EQ(link_.destinations(), 1U);
  feedback::BearerStatus status;
  status.ue = ue_even;
  status.injected = 12345;
  ASSERT_TRUE(channels_[0]->statuses.push(status));
  status.ue = ue_odd;
  ASSERT_TRUE(channels_[1]->statuses.push(status));
  run_until([&] { return node_b_.received.size() == 2; });
  EXPECT_EQ(node_b_.received[0].ue, ue_even);
  EXPECT_EQ(node_b_.received[0].injected, 12345U);
  EXPECT_EQ(node_b_.received[1].ue, ue_odd);
}

/// A link that sends no statuses by itself.
class QuietFeedbackLinkTest : public FeedbackLinkTest {
 protected:
  QuietFeedbackLinkTest() : FeedbackLinkTest(60s) {}
};

TEST_F(QuietFeedbackLinkTest, APollRequestsAllStatusesOfEveryShard) {
  node_b_.report(ue_even, true);
  run_until([&] { return node_b_.messages == 1; });
  for (const auto& channel : channels_) EXPECT_TRUE(channel->all_statuses_requested.load());
  EXPECT_EQ(woken_, (std::array{1, 1}));
}

TEST_F(QuietFeedbackLinkTest, APollIsAnsweredEvenWithoutStatuses) {
  node_b_.poll();
  run_until([&] { return node_b_.messages == 1; });
  for (const auto& channel : channels_) EXPECT_TRUE(channel->all_statuses_requested.load());
  EXPECT_EQ(woken_, (std::array{1, 1}));
  EXPECT_TRUE(node_b_.received.empty());
  feedback::BearerStatus status;
  status.ue = ue_odd;
  ASSERT_TRUE(channels_[1]->statuses.push(status));
  node_b_.poll();
  run_until([&] { return node_b_.messages == 2; });
  ASSERT_EQ(node_b_.received.size(), 1U);
  EXPECT_EQ(node_b_.received[0].ue, ue_odd);
}

TEST_F(FeedbackLinkTest, AShardThatReadsNoReportsLosesOnlyItsOwn) {
  constexpr std::uint64_t sent = 9000;  // the queue holds 8192
  std::uint64_t accepted = 0;
  for (std::uint64_t i = 0; i < sent; ++i) {
    node_b_.report(ue_even);
    if (i % 64 == 63) context_.run_for(1ms);
  }
  run_until([&] {
    const std::uint64_t before = std::exchange(accepted, link_.accepted());
    return link_.reports_lost() > 0 && before == accepted;
  });
  EXPECT_EQ(channels_[0]->reports.read_available() + link_.reports_lost(), accepted);
  node_b_.report(ue_odd);
  run_until([&] { return channels_[1]->reports.read_available() == 1; });
}

TEST_F(FeedbackLinkTest, ImplausibleReportsAreCountedAndDropped) {
  feedback::BearerReport sane;
  sane.ue = ue_even;
  sane.buffer = Bytes(std::int64_t{1} << 40);  // without limit, as some say it
  sane.service_rate = sane.mean_service_rate = Rate::bits_per_second(20e9);
  std::vector<feedback::BearerReport> mad(6, sane);
  mad[0].queue = Bytes((1 << 30) + 1);
  mad[1].service_rate = Rate::bits_per_second(21e9);
  mad[2].mean_service_rate = Rate::bits_per_second(1e15);
  mad[3].arrived = 2'000'000'000;
  mad[3].transmitted = 500'000'000;
  mad[4].allowance = Bytes(std::int64_t{1} << 40);
  mad[5].clamp = feedback::ClampPrice{Bytes(std::int64_t{1} << 40), 1ms};
  for (const feedback::BearerReport& report : mad) node_b_.send(report);
  node_b_.send(sane);
  run_until([&] { return link_.accepted() == mad.size() + 1; });
  EXPECT_EQ(link_.reports_implausible(), mad.size());
  EXPECT_EQ(channels_[0]->reports.read_available(), 1U);
}

TEST_F(FeedbackLinkTest, EveryShardGetsOmissionNotices) {
  feedback::BearerReport report;
  report.ue = ue_even;
  node_b_.send_changes(report);
  node_b_.send_changes({});
  node_b_.lose();
  node_b_.send_changes({});
  for (const auto& channel : channels_) {
    run_until([&] { return channel->omissions.read_available() == 3; });
    std::array<OmissionNotice, 3> words;
    ASSERT_EQ(channel->omissions.pop(words.data(), 3), 3U);
    EXPECT_EQ(words[0].sender, 2U);
    EXPECT_EQ(words[0].refresh, 500ms);
    EXPECT_EQ(words[0].period, 5ms);
    EXPECT_EQ(words[1].sequence, 2U);
    EXPECT_EQ(words[1].since, 1U);
    EXPECT_EQ(words[2].since, 4U) << "one is missing";
  }
  EXPECT_EQ(channels_[0]->reports.read_available(), 1U);
  EXPECT_GT(woken_[1], 0);
}

TEST_F(FeedbackLinkTest, ARefusedRecordCountsAsMissing) {
  feedback::BearerReport mad;
  mad.ue = ue_even;
  mad.queue = Bytes(std::int64_t{1} << 40);
  node_b_.send_changes(mad);
  node_b_.send_changes({});
  run_until([&] { return channels_[0]->omissions.read_available() == 2; });
  std::array<OmissionNotice, 2> words;
  ASSERT_EQ(channels_[0]->omissions.pop(words.data(), 2), 2U);
  EXPECT_EQ(words[1].since, 2U);
}

TEST_F(FeedbackLinkTest, ItAnnouncesItsAbilities) {
  node_b_.poll();
  run_until([&] { return node_b_.messages > 0; });
  EXPECT_TRUE(node_b_.proxy_takes().changes);
  EXPECT_TRUE(node_b_.proxy_takes().large);
}

TEST_F(FeedbackLinkTest, GarbageIsCountedAndDropped) {
  udp::socket socket(context_, udp::v4());
  const udp::endpoint proxy(boost::asio::ip::address_v4::loopback(), link_.local().port());
  const std::vector<std::string> garbage{"", "x", std::string(200, '\0'), std::string(1400, 'S'),
                                         std::string(2000, 'y')};
  for (const std::string& datagram : garbage) socket.send_to(boost::asio::buffer(datagram), proxy);
  run_until([&] { return count("feedback.datagrams_received") == garbage.size(); });
  EXPECT_EQ(link_.accepted(), 0U);
  EXPECT_EQ(link_.refused(), garbage.size());
  EXPECT_THAT(wiring(proxy_config(), link_), HasSubstr("2 too_short"));
  EXPECT_EQ(channels_[0]->reports.read_available() + channels_[1]->reports.read_available(), 0U);
  EXPECT_EQ(link_.destinations(), 0U);
}

TEST_F(FeedbackLinkTest, AnAddressInUseIsReported) {
  config::ProxyFeedbackConfig second = proxy_config();
  second.listen.port = link_.local().port();
  try {
    const FeedbackLink link(context_, second,
                            {{channels_[0].get()}, [](const IpAddress&) { return 0U; }, [](unsigned) {}});
    FAIL();
  } catch (const std::runtime_error& problem) {
    EXPECT_THAT(problem.what(), HasSubstr("feedback.listen 127.0.0.1:" + std::to_string(second.listen.port)));
    EXPECT_THAT(problem.what(), HasSubstr("Address already in use"));
  }
}

}  // namespace
}  // namespace sluice::proxy
