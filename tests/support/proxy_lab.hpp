#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/packet/build.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/pool.hpp"
#include "proxy/engine/shard/shard.hpp"
#include "tests/support/eal.hpp"

namespace sluice::test {

/// What came out of a port, taken apart.
struct Seen {
  packet::ParseResult result{};
  packet::Parsed parsed;
  std::vector<std::uint8_t> frame;
  std::string payload;
  bool checksum_good = false;

  [[nodiscard]] const tcp::Segment& segment() const { return parsed.segment; }
};

/// A shard of a mode, small.
inline proxy::ShardConfig shard_config(proxy::Mode mode = proxy::Mode::i_tcp) {
  proxy::ShardConfig config;
  config.mode = mode;
  config.limits.max_flows = 64;
  config.limits.max_bearers = 8;
  return config;
}

/// A shard between two ports that only a test touches: put frames in, look at what comes out, let time pass.
class ProxyLab final : public proxy::Transmitter {
 public:
  explicit ProxyLab(const proxy::ShardConfig& config, proxy::FlowJournal journal = {})
      : shard(config, pool(), *this, {42, 43}, Instant{}, journal) {}

  void transmit(proxy::Side out, std::span<packet::Packet> burst, Instant) override {
    for (packet::Packet& packet : burst) {
      out_[static_cast<std::size_t>(out)].push_back(take_apart(packet));
      packet.reset();
    }
  }

  void put(proxy::Side in, packet::Packet packet) {
    shard.receive(in, {&packet, 1}, now);
    EXPECT_FALSE(packet) << "it was neither kept nor dropped";
  }
  void put(proxy::Side in, const std::vector<std::uint8_t>& frame) {
    packet::Packet packet = pool().allocate();
    std::copy(frame.begin(), frame.end(), packet.append(static_cast<std::uint16_t>(frame.size())));
    put(in, std::move(packet));
  }
  void pass_time(Duration duration) {
    const Instant end = now + duration;
    while (shard.next_deadline() <= end) {
      now = std::max(now, shard.next_deadline());
      shard.advance(now);
    }
    now = end;
    shard.advance(now);
  }

  /// The oldest frame that came out and was not looked at.
  std::optional<Seen> next(proxy::Side out) {
    auto& queue = out_[static_cast<std::size_t>(out)];
    if (queue.empty()) return std::nullopt;
    Seen seen = std::move(queue.front());
    queue.pop_front();
    return seen;
  }
  /// Returns the newest frame and drops all older ones.
  std::optional<Seen> last(proxy::Side out) {
    std::optional<Seen> newest;
    while (auto seen = next(out)) newest = std::move(seen);
    return newest;
  }
  [[nodiscard]] bool silent(proxy::Side out) const { return out_[static_cast<std::size_t>(out)].empty(); }
  void forget_output() {
    for (auto& queue : out_) queue.clear();
  }
  [[nodiscard]] std::uint64_t count(proxy::Counter counter) const { return shard.counters()[counter]; }

  Instant now{std::chrono::seconds(100)};
  proxy::Shard shard;

 private:
  static Seen take_apart(const packet::Packet& packet) {
    Seen seen;
    seen.frame.assign(packet.data(), packet.data() + packet.size());
    seen.result = packet::parse(packet, seen.parsed);
    if (seen.result == packet::ParseResult::tcp) {
      seen.checksum_good = packet::verify_tcp_checksum(packet, seen.parsed) == packet::ChecksumState::good;
      const std::uint8_t* const data = packet.data() + seen.parsed.payload_offset;
      seen.payload.assign(data, data + seen.segment().payload_len);
    }
    return seen;
  }

  std::array<std::deque<Seen>, 2> out_;
};

/// A UE and a server as a script writes them: every field of every segment is the test's.
class ScriptedHosts {
 public:
  static constexpr std::array<std::uint8_t, 6> ue_mac = {2, 0, 0, 0, 0, 1};
  static constexpr std::array<std::uint8_t, 6> server_mac = {2, 0, 0, 0, 0, 2};

  explicit ScriptedHosts(ProxyLab& lab) : lab_(lab) {}

  packet::Addresses ue_to_server{IpAddress::v4(10, 45, 0, 2), IpAddress::v4(198, 51, 100, 7), 40000, 80};
  tcp::SynOptions options{
      .mss = 1460, .window_scale = 7, .has_window_scale = true, .sack_permitted = true, .timestamps = true};
  std::uint8_t ip_version = 4;
  tcp::SeqNum ue_isn{1000};
  tcp::SeqNum server_isn{5000};
  std::uint16_t window = 1000;  ///< scaled by 2^7
  int ue_window = -1;           ///< the UE's, where it is another

  [[nodiscard]] tcp::Segment segment(std::uint8_t flags, std::uint32_t seq, std::uint32_t ack) const {
    tcp::Segment result;
    result.flags.bits = flags;
    result.seq = tcp::SeqNum(seq);
    result.ack = tcp::SeqNum(ack);
    result.window = result.flags.syn() ? std::uint16_t{64240} : window;  // never scaled in a SYN
    result.has_timestamps = options.timestamps;
    result.ts_value = 7;
    result.syn = options;
    return result;
  }
  [[nodiscard]] packet::Packet frame(bool from_ue, tcp::Segment content, const std::string& payload = {}) const {
    packet::Packet packet = pool().allocate();
    std::copy(payload.begin(), payload.end(), packet.append(static_cast<std::uint16_t>(payload.size())));
    content.payload_len = static_cast<std::uint16_t>(payload.size());
    const std::uint16_t sum = packet::ones_complement_sum(packet.bytes());
    const auto header = packet::make_template(from_ue ? ue_mac : server_mac, from_ue ? server_mac : ue_mac, ip_version);
    packet::write_headers(packet, header, from_ue ? ue_to_server : ue_to_server.reversed(), content, sum, 99);
    return packet;
  }
  /// From the UE, offsets counted from the first byte of data of either side.
  void ue(std::uint8_t flags, std::uint32_t seq, std::uint32_t ack, const std::string& payload = {}) {
    tcp::Segment content = segment(flags, ue_isn.raw() + 1 + seq, server_isn.raw() + 1 + ack);
    if (ue_window >= 0) content.window = static_cast<std::uint16_t>(ue_window);
    lab_.put(proxy::Side::radio, frame(true, content, payload));
  }
  void server(std::uint8_t flags, std::uint32_t seq, std::uint32_t ack, const std::string& payload = {}) {
    lab_.put(proxy::Side::core,
             frame(false, segment(flags, server_isn.raw() + 1 + seq, ue_isn.raw() + 1 + ack), payload));
  }
  void send_syn() { lab_.put(proxy::Side::radio, frame(true, segment(tcp::Flags::syn_bit, ue_isn.raw(), 0))); }
  void send_syn_ack() {
    lab_.put(proxy::Side::core,
             frame(false, segment(tcp::Flags::syn_bit | tcp::Flags::ack_bit, server_isn.raw(), ue_isn.raw() + 1)));
  }
  /// Opens the connection and drops the frames of the handshake.
  void open() {
    send_syn();
    send_syn_ack();
    ue(tcp::Flags::ack_bit, 0, 0);
    lab_.forget_output();
  }

 private:
  ProxyLab& lab_;
};

/// A test of what a shard does between a UE and a server, frame by frame.
class ScriptedShard : public testing::Test {
 protected:
  explicit ScriptedShard(const proxy::ShardConfig& config = shard_config()) : lab(config) {}

 public:
  ProxyLab lab;
  ScriptedHosts hosts{lab};
};

/// The reports of a Node-B on the queue of a script's UE: 5 Mb/s, every 5 ms by their own word.
class ScriptedReports {
 public:
  static constexpr Duration period = std::chrono::milliseconds(5);

  ScriptedReports(ProxyLab& lab, const ScriptedHosts& hosts) : lab_(lab), hosts_(hosts) {}

  /// The next one, for the test to fill in and send().
  [[nodiscard]] proxy::ReportArrival next() {
    proxy::ReportArrival arrival;
    arrival.bearer.ue = hosts_.ue_to_server.src;
    arrival.bearer.mean_service_rate = arrival.bearer.service_rate = Rate::bits_per_second(5e6);
    arrival.epoch = 1;
    arrival.sequence = ++sequence_;
    arrival.period = period;
    arrival.sender_time = lab_.now.time_since_epoch();
    return arrival;
  }
  void send(const proxy::ReportArrival& arrival) { lab_.shard.on_report(arrival, lab_.now); }
  /// A queue of `buffer` bytes: `arrived` and `transmitted` since the start.
  void queue(std::int64_t buffer, std::uint64_t arrived = 0, std::uint64_t transmitted = 0) {
    proxy::ReportArrival arrival = next();
    arrival.bearer.buffer = Bytes(buffer);
    arrival.bearer.arrived = arrived;
    arrival.bearer.transmitted = transmitted;
    send(arrival);
  }

 private:
  ProxyLab& lab_;
  const ScriptedHosts& hosts_;
  std::uint64_t sequence_ = 0;
};

/// Connection whose server has data for the UE, in a shard that gets reports of the UE's queue.
struct ReportedDownload {
  explicit ReportedDownload(const proxy::ShardConfig& config) : lab(config) {}

  /// The server sends segments of 1000 bytes.
  void offer(std::uint32_t segments) {
    for (std::uint32_t i = 0; i < segments; ++i, offered += 1000) {
      hosts.server(tcp::Flags::ack_bit, offered, 0, std::string(1000, 's'));
    }
  }
  /// Takes what came out towards the UE; how many packets with data.
  int packets_sent() {
    int count = 0;
    while (const auto seen = lab.next(proxy::Side::radio)) count += seen->payload.empty() ? 0 : 1;
    return count;
  }

  ProxyLab lab;
  ScriptedHosts hosts{lab};
  ScriptedReports reports{lab, hosts};
  std::uint32_t offered = 0;  ///< bytes
};

}  // namespace sluice::test
