// Tests that contiguous segments of a burst are processed as one run like single segments. Every burst goes to two
// shards, of which one is captured and so processes each segment by itself. Both must produce the same output with any
// impairments. Cut-through is tested likewise: one of two shards rebuilds every segment, and the outputs must be equal
// but for the fields that stay the sender's.
#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "proxy/engine/flow_table/packet_observer.hpp"
#include "tests/sim/tcp/random.hpp"
#include "tests/support/proxy_lab.hpp"

namespace sluice::test {
namespace {

using packet::Packet;
using proxy::Counter;
using proxy::Side;
using tcp::Flags;

using Frame = std::vector<std::uint8_t>;

/// Looks at every frame and thinks nothing of it.
class Onlooker final : public proxy::PacketObserver {
 public:
  void received(const proxy::RxPacket& /*rx*/, const proxy::Counters& /*counters*/) override {}
  void on_done() override {}
};

/// What the stream of a server has at a place.
char byte_at(std::uint32_t seq) {
  return static_cast<char>((seq * 2654435761U) >> 13);
}

/// A server that sends runs of segments to a UE, with random behaviour of both.
class Pair {
 public:
  Pair(ProxyLab& lab, std::uint16_t port, Random& random) : hosts_(lab), random_(random) {
    hosts_.ue_to_server.src_port = port;
    hosts_.options.timestamps = random.chance(0.8);
    hosts_.options.sack_permitted = random.chance(0.8);
    hosts_.options.ecn = random.chance(0.3);
  }

  [[nodiscard]] Frame syn() { return bytes_of(hosts_.frame(true, of_ue(Flags::syn_bit | ecn_setup(true), isn_of_ue))); }
  [[nodiscard]] Frame syn_ack() {
    tcp::Segment content = hosts_.segment(static_cast<std::uint8_t>(Flags::syn_bit | Flags::ack_bit | ecn_setup(false)),
                                          isn_of_server, isn_of_ue + 1);
    return bytes_of(hosts_.frame(false, content));
  }
  [[nodiscard]] Frame opened() { return bytes_of(hosts_.frame(true, of_ue(Flags::ack_bit, isn_of_ue + 1))); }

  /// The server's next segments, or some of before.
  void send_train(std::vector<Frame>& burst, std::size_t most) {
    if (random_.chance(0.1)) next_ = acknowledged_;  // it repeats what was not acknowledged
    const std::size_t count = 1 + random_.below(most);
    const std::uint32_t usual = random_.chance(0.8) ? 1448 : 1 + static_cast<std::uint32_t>(random_.below(1448));
    if (random_.chance(0.3)) ++clock_;
    for (std::size_t i = 0; i < count && next_ - acknowledged_ + 1448 < 60'000; ++i) {
      const std::uint32_t length = i + 1 == count && random_.chance(0.5) ? 1 + usual / 3 : usual;
      if (!random_.chance(0.02)) burst.push_back(data(next_, length));
      if (random_.chance(0.02)) burst.push_back(data(next_, length));
      next_ += length;
    }
  }
  /// The UE acknowledges what it has, sometimes with data of its own.
  void acknowledge(std::vector<Frame>& burst) {
    tcp::Segment content = of_ue(Flags::ack_bit, ue_next_);
    if (random_.chance(0.05)) content.window = static_cast<std::uint16_t>(random_.below(20));
    std::string payload;
    if (random_.chance(0.2)) {
      for (std::uint32_t i = 0; i < 100; ++i) payload.push_back(byte_at(ue_next_ + i));
      ue_next_ += 100;
    }
    burst.push_back(bytes_of(hosts_.frame(true, content, payload)));
  }

  /// The UE checks that every byte arrived in its place.
  void ue_hears(const Seen& seen) {
    EXPECT_TRUE(seen.checksum_good);
    const std::uint32_t seq = seen.segment().seq.raw();
    for (std::uint32_t i = 0; i < seen.payload.size(); ++i) ASSERT_EQ(seen.payload[i], byte_at(seq + i)) << seq + i;
    if (seq == received_) received_ += static_cast<std::uint32_t>(seen.payload.size());
  }
  void server_hears(const Seen& seen) {
    const std::uint32_t ack = seen.segment().ack.raw();
    if (seen.segment().flags.ack() && ack - acknowledged_ < 1U << 30) acknowledged_ = ack;
    if (next_ - acknowledged_ >= 1U << 31) next_ = acknowledged_;
    const std::uint32_t end = seen.segment().seq.raw() + static_cast<std::uint32_t>(seen.payload.size());
    if (end - received_of_ue_ < 1U << 30) received_of_ue_ = end;
  }
  [[nodiscard]] std::uint32_t delivered() const { return received_ - isn_of_server - 1; }
  [[nodiscard]] bool is_of(const Seen& seen) const {
    const std::uint16_t port = hosts_.ue_to_server.src_port;
    return seen.parsed.src_port == port || seen.parsed.dst_port == port;
  }

 private:
  static constexpr std::uint32_t isn_of_ue = 1000, isn_of_server = 0xffff0000;  // which wraps early

  [[nodiscard]] std::uint8_t ecn_setup(bool syn) const {
    if (!hosts_.options.ecn) return 0;
    return syn ? Flags::ece_bit | Flags::cwr_bit : Flags::ece_bit;
  }
  [[nodiscard]] tcp::Segment of_ue(unsigned flags, std::uint32_t seq) {
    tcp::Segment content = hosts_.segment(static_cast<std::uint8_t>(flags), seq, received_);
    content.ts_value = ++ue_clock_;
    return content;
  }
  [[nodiscard]] static Frame bytes_of(const Packet& packet) { return {packet.bytes().begin(), packet.bytes().end()}; }

  /// A segment of the server, now and then with something about it.
  [[nodiscard]] Frame data(std::uint32_t seq, std::uint32_t length) {
    if (random_.chance(0.05)) told_ = received_of_ue_;
    if (random_.chance(0.02)) window_ = static_cast<std::uint16_t>(random_.chance(0.5) ? random_.below(6) : 1000);
    tcp::Segment content = hosts_.segment(Flags::ack_bit, seq, told_);
    content.window = window_;
    content.ts_value = clock_;
    std::string payload;
    for (std::uint32_t i = 0; i < length; ++i) payload.push_back(byte_at(seq + i));
    const auto kind = random_.below(120);
    if (kind == 0) content.flags.bits |= Flags::ece_bit;
    if (kind == 1) content.ack = tcp::SeqNum(told_ - 100);
    if (kind == 2) content.ts_value = clock_ - 5;
    if (kind == 3) content.flags.bits |= Flags::urg_bit;
    if (kind == 4) content.sack_count = 1;
    if (kind == 5) content.ecn = tcp::congestion_experienced;
    if (kind == 6) content.has_timestamps = false;
    if (kind == 7) content.ts_value = ++clock_;
    if (kind >= 100) content.flags.bits |= Flags::psh_bit;
    Frame frame = bytes_of(hosts_.frame(false, content, payload));
    spoil(frame, kind);
    return frame;
  }
  /// What concerns the bytes of a frame.
  void spoil(Frame& frame, std::uint64_t kind) {
    constexpr std::size_t mac = 6, tos = 15, ttl = 22, ip_checksum = 24;
    const auto change = [&](std::size_t at, std::uint8_t to) {  // one of the IP header, its checksum with it
      std::uint16_t before = 0, after = 0, checksum = 0;
      std::memcpy(&before, frame.data() + (at & ~1U), 2);
      frame[at] = to;
      std::memcpy(&after, frame.data() + (at & ~1U), 2);
      std::memcpy(&checksum, frame.data() + ip_checksum, 2);
      checksum = packet::update_checksum(checksum, before, after);
      std::memcpy(frame.data() + ip_checksum, &checksum, 2);
    };
    if (kind == 8) frame.back() ^= 1U;
    if (kind == 9) frame[mac + 5] ^= 4U;
    if (kind == 10) change(tos, frame[tos] ^ 0x20U);
    if (kind == 11) change(ttl, frame[ttl] - 1);
    if (kind == 12) frame.resize(frame.size() + 6, 0xee);  // padding
  }

  ScriptedHosts hosts_;
  Random& random_;
  std::uint32_t next_ = isn_of_server + 1;          ///< the server's
  std::uint32_t acknowledged_ = isn_of_server + 1;  ///< position acknowledged to the server
  std::uint32_t received_ = isn_of_server + 1;      ///< by the UE, in order
  std::uint32_t ue_next_ = isn_of_ue + 1;
  std::uint32_t received_of_ue_ = isn_of_ue + 1;
  std::uint32_t told_ = isn_of_ue + 1;  ///< what the server acknowledges
  std::uint16_t window_ = 1000;         ///< the server's
  std::uint32_t clock_ = 1000;
  std::uint32_t ue_clock_ = 1;
};

/// What differs between the shards.
enum class Difference : std::uint8_t {
  runs,        ///< one takes each segment by itself
  cut_through  ///< one shard rebuilds each segment; every burst has one frame, because times would differ otherwise
};

/// The frame without PSH, IPv4 identification and checksums: in a frame that passes these are the sender's.
Frame without_what_stays(const Seen& seen) {
  Frame frame = seen.frame;
  const std::size_t ip = seen.parsed.ip_offset;
  const std::size_t tcp = seen.parsed.l4_offset;
  frame[tcp + 13] &= static_cast<std::uint8_t>(~Flags::psh_bit);
  for (const std::size_t at : {ip + 4, ip + 10, tcp + 16}) frame[at] = frame[at + 1] = 0;
  return frame;
}

/// Both shards, given the same.
class Twins {
 public:
  explicit Twins(std::uint64_t seed, Difference difference = Difference::runs)
      : random_(seed), difference_(difference), config_(configuration()) {
    for (std::uint16_t port = 40000; port < 40003; ++port) pairs_.emplace_back(together_, port, random_);
    for (Pair& pair : pairs_) {
      put(Side::radio, {pair.syn()});
      put(Side::core, {pair.syn_ack()});
      put(Side::radio, {pair.opened()});
    }
  }

  void play(int rounds) {
    for (int i = 0; i < rounds && !testing::Test::HasFailure(); ++i) {
      std::vector<Frame> burst;
      const bool down = random_.chance(0.5);
      while (burst.size() < 24 && random_.chance(0.8)) {
        Pair& pair = pairs_[random_.below(pairs_.size())];
        if (down) {
          pair.send_train(burst, 12);
        } else {
          pair.acknowledge(burst);
        }
      }
      if (burst.empty()) continue;
      if (burst.size() > 1 && random_.chance(0.05)) std::swap(burst[0], burst[random_.below(burst.size())]);
      const Side in = down ? Side::core : Side::radio;
      if (difference_ == Difference::runs) {
        put(in, burst);
      } else {
        for (const Frame& frame : burst) put(in, {frame});
      }
      if (random_.chance(0.4))
        pass_time(random_.chance(0.05) ? std::chrono::seconds(2) : std::chrono::milliseconds(15));
    }
    for (std::size_t i = 0; i < proxy::counter_count; ++i) {
      if (difference_ == Difference::cut_through && i == static_cast<std::size_t>(Counter::segments_cut_through))
        continue;
      EXPECT_EQ(together_.shard.counters().at(i), apart_.shard.counters().at(i)) << proxy::counter_text(i).name;
    }
  }
  [[nodiscard]] std::uint32_t delivered() const {
    std::uint32_t bytes = 0;
    for (const Pair& pair : pairs_) bytes += pair.delivered();
    return bytes;
  }
  [[nodiscard]] std::uint64_t cut_through() const { return together_.count(Counter::segments_cut_through); }
  [[nodiscard]] std::uint64_t split() const { return together_.count(proxy::Counter::flows_split); }

 private:
  [[nodiscard]] proxy::ShardConfig configuration() {
    proxy::ShardConfig config = shard_config(random_.chance(0.5) ? proxy::Mode::i_tcp : proxy::Mode::smvs);
    if (config.mode == proxy::Mode::smvs) config.smvs.law = proxy::ControllerLocation::acks;
    // The second loop sees a segment as sent after cut-through but as unsent when it is rebuilt.
    if (difference_ == Difference::cut_through) config.mode = proxy::Mode::i_tcp;
    return config;
  }
  [[nodiscard]] proxy::ShardConfig other_configuration() const {
    proxy::ShardConfig config = config_;
    config.cut_through = difference_ == Difference::runs;
    return config;
  }
  void put(Side in, const std::vector<Frame>& frames) {
    std::vector<Packet> packets = packets_of(frames);
    together_.shard.receive(in, packets, together_.now);
    packets = packets_of(frames);
    apart_.shard.receive_observed(in, packets, apart_.now, onlooker_);
    compare();
  }
  static std::vector<Packet> packets_of(const std::vector<Frame>& frames) {
    std::vector<Packet> packets;
    for (const Frame& frame : frames) {
      packets.push_back(pool().allocate());
      std::copy(frame.begin(), frame.end(), packets.back().append(static_cast<std::uint16_t>(frame.size())));
    }
    return packets;
  }
  void pass_time(Duration duration) {
    together_.pass_time(duration);
    apart_.pass_time(duration);
    compare();
  }
  void compare() {
    for (const Side side : {Side::radio, Side::core}) {
      // A burst is grouped by connection, so frames are compared in the order of their connection.
      auto others = frames_by_connection(side);
      while (const auto seen = together_.next(side)) {
        std::deque<Seen>& of_connection = others[connection_of(*seen)];
        ASSERT_FALSE(of_connection.empty());
        const std::optional<Seen> other = std::move(of_connection.front());
        of_connection.pop_front();
        if (difference_ == Difference::runs) {
          ASSERT_EQ(seen->frame, other->frame);
        } else {
          ASSERT_EQ(without_what_stays(*seen), without_what_stays(*other));
          ASSERT_TRUE(seen->checksum_good);
        }
        receive(side, *seen);
      }
      for (const auto& [connection, left] : others) ASSERT_TRUE(left.empty());
    }
  }
  /// Number of the pair of hosts to which the frame belongs.
  [[nodiscard]] std::size_t connection_of(const Seen& seen) const {
    const auto is_of = [&seen](const Pair& pair) { return pair.is_of(seen); };
    return static_cast<std::size_t>(std::find_if(pairs_.begin(), pairs_.end(), is_of) - pairs_.begin());
  }
  [[nodiscard]] std::map<std::size_t, std::deque<Seen>> frames_by_connection(Side side) {
    std::map<std::size_t, std::deque<Seen>> frames;
    while (auto seen = apart_.next(side)) frames[connection_of(*seen)].push_back(std::move(*seen));
    return frames;
  }
  void receive(Side side, const Seen& seen) {
    for (Pair& pair : pairs_) {
      if (!pair.is_of(seen) || seen.segment().flags.syn()) continue;
      if (side == Side::radio) {
        pair.ue_hears(seen);
      } else {
        pair.server_hears(seen);
      }
    }
  }

  Random random_;
  Difference difference_;
  proxy::ShardConfig config_;
  ProxyLab together_{config_};
  ProxyLab apart_{other_configuration()};
  Onlooker onlooker_;
  std::vector<Pair> pairs_;
};

TEST(SegmentRunSimulation, RunsEqualSingleSegments) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Twins twins(seed);
    twins.play(400);
    EXPECT_EQ(twins.split(), 3U);
    EXPECT_GT(twins.delivered(), 300'000U);
    if (HasFailure()) return;
  }
}

TEST(CutThroughSimulation, EqualsRebuildingTheSegments) {
  std::uint64_t passed = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Twins twins(seed, Difference::cut_through);
    twins.play(400);
    passed += twins.cut_through();
    EXPECT_EQ(twins.split(), 3U);
    EXPECT_GT(twins.delivered(), 300'000U);
    if (HasFailure()) return;
  }
  EXPECT_GT(passed, 5'000U);
}

}  // namespace
}  // namespace sluice::test
