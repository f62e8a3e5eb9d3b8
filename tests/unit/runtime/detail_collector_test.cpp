// Tests of the collector that joins lists of all shards for an admin answer.
#include "proxy/daemon/status/detail_collector.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <memory>
#include <optional>
#include <thread>

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;

/// Stands for a shard's poll thread: answers every request with flows and bearers of its own.
class Responder {
 public:
  Responder(ShardChannel& channel, std::uint16_t entries, const char* phase = "")
      : channel_(channel), entries_(entries), phase_(phase) {
    thread_ = std::thread([this] { run(); });
  }
  ~Responder() {
    stop_ = true;
    thread_.join();
  }

 private:
  void run() {
    while (!stop_) {
      const DetailRequest wanted = channel_.requested_details.load();
      ShardSnapshot& snapshot = channel_.snapshots.back();
      snapshot.details = wanted.id;
      FlowInfo flow;
      flow.phase = phase_;
      snapshot.flows.assign(std::min(entries_, wanted.flows), flow);
      snapshot.bearers.assign(std::min(entries_, wanted.bearers), BearerInfo{});
      channel_.snapshots.publish();
      std::this_thread::yield();
    }
  }
  ShardChannel& channel_;
  std::uint16_t entries_;
  const char* phase_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

class Collector : public testing::Test {
 protected:
  Collector()
      : status_source_({nullptr,
                        {channels_[0].get(), channels_[1].get()},
                        {},
                        nullptr,
                        nullptr,
                        nullptr,
                        nullptr,
                        {},
                        nullptr,
                        Instant{}}),
        collector_(context_, status_source_) {}

  admin::Answer run() {
    while (!answer_) context_.run_one();
    return *std::exchange(answer_, std::nullopt);
  }
  admin::Reply reply() {
    return [this](const admin::Answer& answer) { answer_ = answer; };
  }

  boost::asio::io_context context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{context_.get_executor()};
  std::array<std::unique_ptr<ShardChannel>, 2> channels_{std::make_unique<ShardChannel>(),
                                                         std::make_unique<ShardChannel>()};
  StatusSource status_source_;
  DetailCollector collector_;
  std::optional<admin::Answer> answer_;
};

TEST_F(Collector, JoinsTheListsOfAllShardsUpToTheLimit) {
  const Responder first(*channels_[0], 3);
  const Responder second(*channels_[1], 4);
  collector_.flows(100, reply());
  EXPECT_EQ(run().value.size(), 7U);
  collector_.flows(5, reply());
  EXPECT_EQ(run().value.size(), 5U);
  collector_.bearers(100, reply());
  const admin::Answer bearers = run();
  ASSERT_EQ(bearers.value.size(), 7U);
  EXPECT_TRUE(bearers.value[0].contains("service_rate_bps"));
  EXPECT_EQ(channels_[0]->requested_details.load().id, 0U) << "the shards are left in peace afterwards";
}

TEST_F(Collector, ShardsTakeTurnsInAListThatDoesNotContainAll) {
  const Responder first(*channels_[0], 100, "first");
  const Responder second(*channels_[1], 2, "second");
  collector_.flows(5, reply());
  std::vector<std::string> phases;
  for (const admin::Json& flow : run().value) phases.push_back(flow["phase"]);
  EXPECT_THAT(phases, testing::ElementsAre("first", "second", "first", "second", "first"));
}

TEST_F(Collector, RequestsAtTheSameTimeAreAnsweredOneAfterTheOther) {
  const Responder first(*channels_[0], 3);
  const Responder second(*channels_[1], 4);
  std::vector<std::size_t> sizes;
  for (const std::uint16_t limit : std::array<std::uint16_t, 3>{1, 2, 3}) {
    collector_.flows(limit, [&sizes](const admin::Answer& answer) { sizes.push_back(answer.value.size()); });
  }
  while (sizes.size() < 3) context_.run_one();
  EXPECT_THAT(sizes, testing::ElementsAre(1, 2, 3));
}

TEST_F(Collector, AShardThatDoesNotAnswerIsReported) {
  const Responder only(*channels_[0], 3);
  collector_.flows(10, reply());
  const admin::Answer answer = run();
  EXPECT_FALSE(answer.ok);
  EXPECT_THAT(answer.value.get<std::string>(), testing::HasSubstr("does not answer"));
}

}  // namespace
}  // namespace sluice::proxy
