// Downloads of a UE beside connections of the same UE whose programs read slowly, stop, or have tiny receive buffers.
// The ACK-based controller must leave the UE's window to the downloads that can use it.

#include <algorithm>
#include <string>

#include "tests/sim/regulate/regulated_network.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using proxy::Intercept;
using proxy::Mode;
using proxy::Side;

/// How a program of the UE reads: at `rate` bytes/s while it reads, from a receive buffer of `buffer` bytes. It reads
/// for `reads` and then stops for `stops`, again and again.
struct Reader {
  std::string name;
  std::int64_t buffer;
  double rate = 1e9;
  Duration reads = 3600s;
  Duration stops = 0s;
};

/// Wire of the UE that gives some of its connections the windows of slow readers: the `count` ones that it opened
/// first. Sends a window update when a program has read half of its buffer or two segments.
class SlowReaders final : public emulator::Element, public emulator::EventTarget {
 public:
  SlowReaders(emulator::EventLoop& loop, emulator::Element& next, Reader reader, int count)
      : loop_(loop), next_(next), reader_(std::move(reader)), count_(count) {
    loop_.at(loop_.now() + tick, *this);
  }

  void receive(packet::Packet packet, Instant now) override {
    packet::Parsed parsed;
    const bool tcp = packet::parse(packet, parsed) == packet::ParseResult::tcp;
    if (tcp && parsed.src_port >= first_port && parsed.src_port < first_port + count_) {
      State& state = states_[parsed.src_port];
      if (parsed.segment.flags.syn()) {
        state = {};
        state.scale = parsed.segment.syn.window_scale;
        state.at = state.begin = now;
      } else {
        if (!state.open) state.start = parsed.segment.ack;
        state.open = true;
        state.received = std::max<std::int64_t>(state.received, parsed.segment.ack - state.start);
        read(state, now);
        write_window(state, packet, parsed);
        if (parsed.segment.payload_len == 0 && !parsed.segment.flags.fin()) state.ack = pool().copy(packet);
      }
    }
    next_.receive(std::move(packet), now);
  }
  void on_event(std::uint64_t, Instant now) override {
    for (auto& [port, state] : states_) {
      if (!state.ack) continue;
      read(state, now);
      const std::int64_t gain = state.read + reader_.buffer - state.edge;
      if (gain < std::min<std::int64_t>(reader_.buffer / 2, 2 * 1448)) continue;
      packet::Packet update = pool().copy(state.ack);
      packet::Parsed parsed;
      if (!update || packet::parse(update, parsed) != packet::ParseResult::tcp) continue;
      write_window(state, update, parsed);
      next_.receive(std::move(update), now);
    }
    loop_.at(now + tick, *this);
  }

 private:
  static constexpr std::uint16_t first_port = 49152;
  static constexpr Duration tick = std::chrono::milliseconds(10);

  struct State {
    tcp::SeqNum start;
    bool open = false;
    std::uint8_t scale = 0;
    std::int64_t received = 0;
    std::int64_t read = 0;
    std::int64_t edge = 0;
    Instant begin{}, at{};
    packet::Packet ack;
  };

  void read(State& state, Instant now) const {
    const bool reads = (now - state.begin) % (reader_.reads + reader_.stops) < reader_.reads;
    const double seconds = std::chrono::duration<double>(now - state.at).count();
    state.at = now;
    if (reads) state.read = std::min(state.received, state.read + static_cast<std::int64_t>(reader_.rate * seconds));
  }
  void write_window(State& state, packet::Packet& packet, const packet::Parsed& parsed) const {
    std::uint8_t* const header = packet.data() + parsed.l4_offset;
    const std::int64_t ack = parsed.segment.ack - state.start;
    const std::int64_t most = std::max<std::int64_t>(state.read + reader_.buffer - ack, 0) >> state.scale;
    const auto field = static_cast<std::uint16_t>(std::min<std::int64_t>(most, parsed.segment.window));
    state.edge = ack + (std::int64_t{field} << state.scale);
    const std::uint16_t before = packet::load16(header + 14);
    packet::store_be16(header + 14, field);
    packet::store16(header + 16,
                    packet::update_checksum(packet::load16(header + 16), before, packet::load16(header + 14)));
  }

  emulator::EventLoop& loop_;
  emulator::Element& next_;
  Reader reader_;
  int count_;
  std::map<std::uint16_t, State> states_;
};

proxy::ShardConfig shard(Mode mode, Intercept intercept) {
  proxy::ShardConfig config;
  config.mode = mode;
  config.intercept = intercept;
  config.smvs.law = proxy::ControllerLocation::acks;
  config.limits.max_flows = 256;
  config.limits.max_bearers = 16;
  return config;
}
const proxy::ShardConfig end_to_end = shard(Mode::smvs, Intercept::regulate);
const proxy::ShardConfig split = shard(Mode::smvs, Intercept::split);
const proxy::ShardConfig none = shard(Mode::bypass, Intercept::split);

/// Results of downloads of 2.5 MB each that start 5 s after the slow readers.
struct Result {
  double seconds = 0;         ///< until all downloads are complete, or the limit
  std::uint64_t slow = 0;     ///< bytes that the slow readers received meanwhile
  std::uint64_t dropped = 0;  ///< packets that the radio queue dropped
};
constexpr double limit = 30;

Result run(const proxy::ShardConfig& config, const Reader& reader, int slow, int downloads, int delay_ms = 40,
           double rate = 20e6) {
  RegulatedWires wires;
  wires.queue.limit = 600'000;
  wires.core_delay = std::chrono::milliseconds(delay_ms);
  wires.slowest = wires.fastest = Rate::bits_per_second(rate);
  emulator::HostConfig ue;
  ue.window_scale = 4;
  ue.receive_buffer = Bytes(1'000'000);
  RegulatedNetwork network(1, config, wires, ue);
  network.node.watched = config.intercept == Intercept::regulate;
  SlowReaders readers(network.loop, network.up_radio, reader, slow);
  network.send_through(readers);
  for (int i = 0; i < slow; ++i) network.transfer(100'000'000, false, 10ms * i);
  for (int i = 0; i < downloads; ++i) network.transfer(2'500'000, false, 5s + 1ms * i);
  network.loop.run_until(Instant(5s));
  Result result;
  const auto received = [&] {
    std::uint64_t sum = 0;
    for (int i = 0; i < slow; ++i) sum += network.clients[static_cast<std::size_t>(i)]->transferred();
    return sum;
  };
  const std::uint64_t before = received();
  const auto first = network.clients.begin() + slow;
  while (result.seconds < limit &&
         !std::all_of(first, network.clients.end(), [](const auto& client) { return client->complete(); })) {
    network.loop.run_until(network.loop.now() + 20ms);
    result.seconds += 0.02;
  }
  result.slow = received() - before;
  result.dropped = network.cell.queue(0).counters().dropped_packets;
  for (const Side side : {Side::radio, Side::core}) {
    EXPECT_EQ(network.node.oracle(side).retracted(), 0U) << "a right edge moved left by a unit or more";
    EXPECT_EQ(network.node.oracle(side).widened(), 0U) << "more than the host offered";
  }
  return result;
}

const Reader tiny{"tiny buffers", 1152};
const Reader slow_program{"20 kB/s from 64 KiB", 65536, 20e3};
const Reader stops{"stops for 2 of 4 s, 64 KiB", 65536, 1e9, 2s, 2s};
const Reader never_reads{"never reads, 64 KiB", 65536, 0};
const Reader medium{"64 KiB buffers", 65536};

// The controller divides the window of a UE among the connections that wait for it. A connection that its own window
// limits does not wait. If it counted all the same, the rest of its share would be unused. The rate that the controller
// measures would then fall, and the window with it.
void expect_leave_the_window(const proxy::ShardConfig& config) {
  for (const Reader& reader : {tiny, slow_program, stops, never_reads}) {
    for (const int slow : {1, 4, 8}) {
      for (const int downloads : {1, 2, 4}) {
        SCOPED_TRACE(reader.name + ", " + std::to_string(slow) + " beside " + std::to_string(downloads));
        const Result plain = run(none, reader, slow, downloads);
        const Result result = run(config, reader, slow, downloads);
        EXPECT_LT(result.seconds, 1.3 * plain.seconds + 0.2);
        EXPECT_LE(result.dropped, plain.dropped);
      }
    }
  }
}

TEST(SlowReaders, LeaveTheWindowToDownloadsEndToEnd) {
  expect_leave_the_window(end_to_end);
}

TEST(SlowReaders, LeaveTheWindowToDownloadsOnSplitConnections) {
  expect_leave_the_window(split);
}

// Connections whose windows are smaller than their share do not use more of the link than that share.
TEST(SlowReaders, SmallWindowsGetNoMoreThanTheirShare) {
  for (const proxy::ShardConfig& config : {end_to_end, split}) {
    for (const int slow : {1, 2, 4}) {
      SCOPED_TRACE(std::to_string(slow) + " small windows");
      const Result result = run(config, medium, slow, 2);
      const double part = static_cast<double>(slow) / (slow + 2);
      EXPECT_LT(static_cast<double>(result.slow) / result.seconds, 1.1 * part * 20e6 / 8);
    }
  }
}

// Downloads that start together share the window before any of them waits for it.
TEST(SlowReaders, DownloadsThatStartTogetherDropLittle) {
  EXPECT_GT(run(none, tiny, 0, 4).dropped, 100U);
  EXPECT_LE(run(end_to_end, tiny, 0, 4).dropped, 10U);
}

}  // namespace
}  // namespace sluice::test
