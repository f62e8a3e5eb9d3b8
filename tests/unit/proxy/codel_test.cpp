// CoDel of the proxy and of the emulator are separate implementations of RFC 8289. Both drop the same packets of a
// queue.

#include "proxy/engine/bearer/codel.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <optional>
#include <random>
#include <vector>

#include "emulator/aqm/codel.hpp"

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;

/// A packet in both queues.
struct Numbered : emulator::Queued {
  int number = 0;
};

constexpr Bytes size{1000};

/// A queue from which the proxy's class selects the packets to drop.
class OwnQueue {
 public:
  void push(int number, Instant now) { packets_.push_back({now, number}); }
  /// Returns the next packet that is sent, and adds the numbers of those before it to `dropped`.
  std::optional<int> pop(Instant now, std::vector<int>& dropped) {
    while (!packets_.empty()) {
      const auto [since, number] = packets_.front();
      packets_.pop_front();
      const Bytes behind = size * static_cast<std::int64_t>(packets_.size());
      if (!codel_.should_drop({5ms, 100ms}, now - since, behind, now)) return number;
      dropped.push_back(number);
    }
    return std::nullopt;
  }

 private:
  struct Waiting {
    Instant since;
    int number;
  };
  std::deque<Waiting> packets_;
  Codel codel_;
};

/// A queue under the emulator's class.
class ModelQueue {
 public:
  void push(int number, Instant now) {
    Numbered packet;
    packet.since = now;
    packet.number = number;
    packets_.push_back(std::move(packet));
  }
  std::optional<int> pop(Instant now, std::vector<int>& dropped) {
    const auto pull = [this]() -> std::optional<Numbered> {
      if (packets_.empty()) return std::nullopt;
      Numbered oldest = std::move(packets_.front());
      packets_.pop_front();
      return oldest;
    };
    const auto sent = control_.dequeue(
        now, pull, [this] { return size * static_cast<std::int64_t>(packets_.size()); },
        [&dropped](const Numbered& packet) { dropped.push_back(packet.number); }, [] {});
    return sent ? std::optional(sent->number) : std::nullopt;
  }

 private:
  std::deque<Numbered> packets_;
  emulator::CodelControl control_{{.target = 5ms, .interval = 100ms, .max_packet = Bytes(1499)}};
};

TEST(Codel, DropsWhatTheModelOfTheEmulatorDrops) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    OwnQueue own;
    ModelQueue model;
    std::vector<int> own_drops, model_drops;
    int number = 0;
    unsigned load = 0;
    for (int step = 0; step < 20'000; ++step) {
      const Instant now = Instant{} + 1s + step * 1ms;
      if (step % 500 == 0)
        load = static_cast<unsigned>(random() % 4);  // on average half as many arrive in 1 ms, and one leaves
      const unsigned arrivals = load == 0 ? 0 : static_cast<unsigned>(random() % (load + 1));
      for (unsigned i = 0; i < arrivals; ++i) {
        own.push(++number, now);
        model.push(number, now);
      }
      ASSERT_EQ(own.pop(now, own_drops), model.pop(now, model_drops)) << "seed " << seed << ", step " << step;
      ASSERT_EQ(own_drops, model_drops) << "seed " << seed << ", step " << step;
    }
    EXPECT_FALSE(own_drops.empty());
  }
}

}  // namespace
}  // namespace sluice::proxy
