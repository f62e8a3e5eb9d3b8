// Downloads of a UE without SACK while the radio path loses frames for a few seconds, mostly under the ACK-based
// controller.
// The reference is the same download end to end, from a server with NewReno.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/sim/proxy/network.hpp"

namespace sluice::test {
namespace {

using std::chrono::milliseconds;

/// When a radio path loses frames, and which.
struct Losses {
  double down = 0;  ///< probability per frame to the UE
  double up = 0;    ///< probability per frame from the UE
  Duration length = std::chrono::seconds(3);
  Duration burst{}, cycle{};  ///< if `cycle` is positive, frames are lost only in the first `burst` of each cycle
};

constexpr Instant losses_begin = Instant(milliseconds(500));

constexpr Losses tenth_down{.down = 0.1};
constexpr Losses tenth_both_ways{.down = 0.1, .up = 0.1};
constexpr Losses half_in_bursts{.down = 0.5, .burst = milliseconds(100), .cycle = milliseconds(400)};
constexpr Losses outage{.down = 1, .up = 1, .length = std::chrono::seconds(2)};

/// An element that loses frames.
class LossyElement final : public Element {
 public:
  LossyElement(const Losses& losses, double probability, Random random, Element& next)
      : losses_(losses), probability_(probability), random_(random), next_(next) {}
  void receive(packet::Packet packet, Instant now) override {
    const Duration since = now - losses_begin;
    const bool in_burst = losses_.cycle == Duration::zero() || since % losses_.cycle < losses_.burst;
    const bool active = since >= Duration::zero() && since < losses_.length && in_burst;
    if (random_.chance(probability_) && active) return;
    next_.receive(std::move(packet), now);
  }

 private:
  const Losses losses_;
  const double probability_;
  Random random_;
  Element& next_;
};

struct Path {
  double rate;
  Duration radio_delay, core_delay;
};

constexpr Path fast{20e6, milliseconds(20), milliseconds(15)};
constexpr Path slow{5e6, milliseconds(20), milliseconds(15)};
constexpr Path far{10e6, milliseconds(50), milliseconds(25)};

struct Ue {
  bool timestamps = false;
  std::uint32_t ack_every = 2;
};

/// Returns how long a download of 3 MB takes, in seconds.
double seconds_of_download(proxy::Mode mode, const Path& path, const Losses& losses, const Ue& ue, std::uint64_t seed) {
  proxy::ShardConfig config = small_shard();
  config.mode = mode;
  config.smvs.law = proxy::ControllerLocation::acks;
  Wires wires;
  wires.radio_rate = Rate::bits_per_second(path.rate);
  wires.radio_delay = path.radio_delay;
  wires.core_delay = path.core_delay;
  HostConfig client;
  client.sack = false;
  client.timestamps = ue.timestamps;
  client.ack_every = ue.ack_every;
  HostConfig server;
  server.tcp.congestion = tcp::CongestionAlgorithm::newreno;
  Network network(seed, config, wires, client, server);
  LossyElement down(losses, losses.down, Random::stream(seed, "down"), network.ue);
  LossyElement up(losses, losses.up, Random::stream(seed, "up"), network.up_radio);
  network.precede_ue(down);
  network.follow_ue(up);
  network.transfer(3'000'000, false);
  while (!network.clients[0]->complete() && network.loop.now() < Instant(std::chrono::minutes(5))) {
    network.loop.run_until(network.loop.now() + milliseconds(10));
  }
  EXPECT_TRUE(network.clients[0]->complete());
  return to_seconds(network.loop.now().time_since_epoch());
}

/// Times of many downloads, in seconds.
struct Times {
  double mean = 0;
  double longest = 0;
};

Times times_of(proxy::Mode mode, const Path& path, const Losses& losses, const Ue& ue) {
  constexpr std::uint64_t seeds = 20;
  Times times;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const double seconds = seconds_of_download(mode, path, losses, ue, seed);
    times.mean += seconds / seeds;
    times.longest = std::max(times.longest, seconds);
  }
  return times;
}

// Most of the time is spent on timeouts, because a lost retransmission is detected by nothing else.
TEST(LossWithoutSack, ADownloadTakesNoLongerThanOneOfAPlainUeEndToEnd) {
  for (const Path& path : {fast, slow, far}) {
    for (const Losses& losses : {tenth_down, tenth_both_ways}) {
      const Times end_to_end = times_of(proxy::Mode::bypass, path, losses, {});
      for (const Ue& ue : {Ue{.timestamps = true}, Ue{}, Ue{.ack_every = 8}}) {
        const Times split = times_of(proxy::Mode::smvs, path, losses, ue);
        std::printf(
            "%2.0f Mb/s, lost upwards %.1f, timestamps %d, an ACK per %u: %5.2f s, longest %5.2f s; end to end "
            "%5.2f s, longest %5.2f s\n",
            path.rate / 1e6, losses.up, ue.timestamps, ue.ack_every, split.mean, split.longest, end_to_end.mean,
            end_to_end.longest);
        EXPECT_LE(split.mean, 0.96 * end_to_end.mean);
        EXPECT_LE(split.longest, 1.4 * end_to_end.longest) << "one of 20, in which retransmissions are lost, too";
      }
    }
  }
}

// Between the bursts of loss, data that was sent once is acknowledged. It ends the backoff of the timeout, although the
// recovery never ends. Otherwise the last of many timeouts is 8 s long, and the download takes 26 s.
TEST(LossWithoutSack, TimeoutsOfDifferentBurstsDoNotAddUp) {
  EXPECT_LE(seconds_of_download(proxy::Mode::smvs, slow, half_in_bursts, {}, 58), 9);
}

// The leg to the UE then has a congestion window. An ACK of a segment that was sent once ends the backoff there, too.
TEST(LossWithoutSack, TheBackoffEndsUnderCongestionControl) {
  EXPECT_LE(times_of(proxy::Mode::i_tcp, slow, tenth_down, {}).longest, 10) << "11.2 s if it lasts for the recovery";
  EXPECT_LE(times_of(proxy::Mode::i_tcp, fast, tenth_both_ways, {}).longest, 6.9) << "7.3 s";
}

// All that was in flight is lost. It is retransmitted in slow start, and no new data delays it.
TEST(LossWithoutSack, AnOutageIsRepairedInSlowStart) {
  for (const bool timestamps : {true, false}) {
    EXPECT_LE(seconds_of_download(proxy::Mode::smvs, far, outage, {.timestamps = timestamps}, 1), 8.5);
  }
}

// With timestamps the first ACK after the outage shows that the oldest segment had arrived before. The timeout then
// counts as spurious. Three duplicate ACKs of new data show that the rest is lost, and they end the backoff. With the
// backoff left, the recovery waits 3 s for its next timeout.
TEST(LossWithoutSack, TheBackoffEndsAfterAnOutageThatLooksSpurious) {
  for (const Path& path : {fast, slow}) {
    const double without = seconds_of_download(proxy::Mode::i_tcp, path, outage, {}, 1);
    EXPECT_LE(seconds_of_download(proxy::Mode::i_tcp, path, outage, {.timestamps = true}, 1), 1.1 * without);
  }
}

}  // namespace
}  // namespace sluice::test
