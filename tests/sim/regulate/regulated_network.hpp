#pragma once

// A UE and a server whose connections pass the proxy end to end, with a radio queue that sends reports and with
// impaired links. An oracle compares every frame before and behind the proxy.

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/parse.hpp"
#include "emulator/cell/cell.hpp"
#include "emulator/cell/reporter.hpp"
#include "emulator/channel/piecewise.hpp"
#include "emulator/hosts/bulk_client.hpp"
#include "emulator/hosts/host.hpp"
#include "emulator/hosts/pattern_server.hpp"
#include "emulator/net/delay_line.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/net/impairment.hpp"
#include "emulator/random.hpp"
#include "emulator/scheduler/round_robin.hpp"
#include "proxy/engine/shard/shard.hpp"
#include "tests/support/eal.hpp"

namespace sluice::test {

/// Compares the input of the proxy on one side with its output on the other: the same frames in the same order, but
/// for the window. The window is never larger. Its right edge never moves left by a unit of its scale or more (RFC
/// 7323 section 2.4) unless the host itself moves it.
class PassOracle {
 public:
  void entered(const packet::Packet& packet) { waiting_.push_back(taken_apart(packet)); }
  void left(const packet::Packet& packet) {
    const Frame out = taken_apart(packet);
    ++frames_;
    const auto same = [&](const Frame& in) { return in.identity == out.identity && in.bytes == out.bytes; };
    // Damaged frames pass at once; the others of a connection keep their order.
    std::size_t at = 0;
    while (at < waiting_.size() && !same(waiting_[at])) ++at;
    ASSERT_LT(at, waiting_.size()) << "a frame that nobody sent";
    for (std::size_t i = 0; i < at; ++i) {
      if (waiting_[i].identity == out.identity && waiting_[i].good && out.good) ++overtaken_;
    }
    check_window(waiting_[at], out);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  [[nodiscard]] std::uint64_t overtaken() const { return overtaken_; }
  [[nodiscard]] std::uint64_t narrowed() const { return narrowed_; }
  [[nodiscard]] std::uint64_t retracted() const { return retracted_; }
  [[nodiscard]] std::uint64_t widened() const { return widened_; }
  [[nodiscard]] std::uint64_t damaged() const { return damaged_; }
  /// Returns how many frames left with a window or checksum other than that with which they came.
  [[nodiscard]] std::uint64_t changed() const { return changed_; }
  [[nodiscard]] std::uint64_t frames() const { return frames_; }

 private:
  using Identity = std::tuple<IpAddress, IpAddress, std::uint16_t, std::uint16_t>;
  struct Frame {
    Identity identity;
    bool tcp = false;
    bool good = false;
    bool syn = false;
    std::uint32_t ack = 0;
    std::uint16_t window = 0;
    std::uint8_t scale = 0;
    bool has_scale = false;
    std::vector<std::uint8_t> bytes;           ///< with window and checksum blanked
    std::array<std::uint8_t, 4> rewritable{};  ///< window and checksum as they are
  };
  struct Edge {
    bool known = false;
    std::uint32_t edge = 0;
    std::uint8_t scale = 0;
  };

  static Frame taken_apart(const packet::Packet& packet) {
    Frame frame;
    packet::Parsed parsed;
    frame.bytes.assign(packet.data(), packet.data() + packet.size());
    frame.tcp = packet::parse(packet, parsed) == packet::ParseResult::tcp;
    if (!frame.tcp) return frame;
    frame.identity = {parsed.src, parsed.dst, parsed.src_port, parsed.dst_port};
    frame.good = packet::verify_tcp_checksum(packet, parsed) == packet::ChecksumState::good;
    frame.syn = parsed.segment.flags.syn();
    frame.ack = parsed.segment.ack.raw();
    frame.window = parsed.segment.window;
    frame.scale = parsed.segment.syn.window_scale;
    frame.has_scale = parsed.segment.syn.has_window_scale;
    for (std::size_t i = 0; i < frame.rewritable.size(); ++i)
      frame.rewritable[i] = std::exchange(frame.bytes[parsed.l4_offset + 14 + i], std::uint8_t{0});
    return frame;
  }
  void check_window(const Frame& in, const Frame& out) {
    if (!in.tcp) return;
    if (in.rewritable != out.rewritable) ++changed_;
    if (in.good != out.good) ++damaged_;
    if (!in.good) return;
    if (out.window > in.window) ++widened_;
    if (out.window < in.window) ++narrowed_;
    Edge& edge = edges_[in.identity];
    if (in.syn) {
      // The SYN of the initiator acknowledges nothing, so the start of its window is still unknown.
      edge = {out.ack != 0, out.ack + out.window, in.has_scale ? in.scale : std::uint8_t{0}};
      return;
    }
    const std::uint32_t offered = in.ack + (std::uint32_t{in.window} << edge.scale);
    const std::uint32_t written = out.ack + (std::uint32_t{out.window} << edge.scale);
    const auto ahead = [](std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) > 0; };
    const std::uint32_t least = !edge.known || ahead(offered, edge.edge) ? edge.edge : offered;
    const std::uint32_t unit = std::uint32_t{1} << edge.scale;
    if (edge.known && ahead(least, written + unit - 1)) ++retracted_;
    if (!edge.known || ahead(written, edge.edge)) edge.edge = written;
    edge.known = true;
  }

  std::deque<Frame> waiting_;
  std::map<Identity, Edge> edges_;
  std::uint64_t overtaken_ = 0;
  std::uint64_t narrowed_ = 0;
  std::uint64_t retracted_ = 0;
  std::uint64_t widened_ = 0;
  std::uint64_t damaged_ = 0;
  std::uint64_t changed_ = 0;
  std::uint64_t frames_ = 0;
};

/// A shard as a node of the network, with an oracle for each direction.
class WatchedShard final : public proxy::Transmitter, public emulator::EventTarget {
 public:
  WatchedShard(emulator::EventLoop& loop, const proxy::ShardConfig& config)
      : loop_(loop), shard(config, pool(), *this, {7, 8}, Instant{}) {}

  class Port final : public emulator::Element {
   public:
    Port(WatchedShard& node, proxy::Side side) : node_(node), side_(side) {}
    void receive(packet::Packet packet, Instant now) override {
      if (node_.watched) node_.oracle(side_).entered(packet);
      node_.shard.receive(side_, {&packet, 1}, now);
      EXPECT_FALSE(packet) << "it was neither kept nor dropped";
      node_.arm();
    }

   private:
    WatchedShard& node_;
    proxy::Side side_;
  };

  void connect(emulator::Element& radio, emulator::Element& core) { out_ = {&radio, &core}; }
  void transmit(proxy::Side out, std::span<packet::Packet> burst, Instant now) override {
    for (packet::Packet& packet : burst) {
      if (watched) oracle(proxy::opposite(out)).left(packet);
      packet::Packet frame = packet.shared() ? pool().copy(packet) : std::move(packet);
      packet.reset();
      if (frame) out_[static_cast<std::size_t>(out)]->receive(std::move(frame), now);
    }
  }
  void on_event(std::uint64_t, Instant now) override {
    if (now >= alarm_) alarm_ = never;
    shard.advance(now);
    arm();
  }
  void arm() {
    if (shard.next_deadline() == never) return;
    const Instant next = std::max(shard.next_deadline(), loop_.now() + Duration(1000));
    if (next >= alarm_) return;
    alarm_ = next;
    loop_.at(next, *this);
  }
  /// Returns the oracle of frames received on `side`.
  [[nodiscard]] PassOracle& oracle(proxy::Side side) { return oracles_[static_cast<std::size_t>(side)]; }

 private:
  emulator::EventLoop& loop_;
  std::array<emulator::Element*, 2> out_{};
  std::array<PassOracle, 2> oracles_;
  Instant alarm_ = never;

 public:
  bool watched = true;  ///< false where connections are split too
  proxy::Shard shard;
};

/// An element whose target is known later.
class LaterElement final : public emulator::Element {
 public:
  void set(emulator::Element& next) { next_ = &next; }
  void receive(packet::Packet packet, Instant now) override { next_->receive(std::move(packet), now); }

 private:
  emulator::Element* next_ = nullptr;
};

struct RegulatedWires {
  emulator::ImpairmentConfig radio_down, radio_up, core_down, core_up;
  Duration radio_delay = std::chrono::milliseconds(20);
  Duration core_delay = std::chrono::milliseconds(15);
  emulator::QueueConfig queue{Bytes(0), emulator::BufferUnit::bytes, 60'000};
  Rate slowest = Rate::bits_per_second(8e6);
  Rate fastest = Rate::bits_per_second(8e6);
  Duration feedback_delay = std::chrono::milliseconds(5);
  /// Reports from here to there do not arrive.
  Instant silent_from = never;
  Instant silent_until = never;
};

/// UE ← radio queue ← wire ← proxy ← wire ← server, and back.
class RegulatedNetwork final : public emulator::ReportSink, public emulator::EventTarget {
 public:
  static constexpr std::uint16_t port = 80;
  static IpAddress ue_address() { return IpAddress::v4(10, 45, 0, 2); }
  static IpAddress server_address() { return IpAddress::v4(198, 51, 100, 7); }

  RegulatedNetwork(std::uint64_t seed, const proxy::ShardConfig& config, const RegulatedWires& wires,
                   emulator::HostConfig ue_config = {}, emulator::HostConfig server_config = {})
      : wires_(wires),
        node(loop, config),
        radio_port_(node, proxy::Side::radio),
        core_port_(node, proxy::Side::core),
        cell(loop, std::chrono::milliseconds(1), std::make_unique<emulator::RoundRobin>(), to_ue_),
        radio_line_(loop, {wires.radio_delay, {}, {}}, cell),
        up_line_(loop, {wires.radio_delay, {}, {}}, radio_port_),
        server_line_(loop, {wires.core_delay, {}, {}}, to_server_),
        core_line_(loop, {wires.core_delay, {}, {}}, core_port_),
        down_radio(loop, pool(), wires.radio_down, stream(seed, "radio down"), radio_line_),
        up_radio(loop, pool(), wires.radio_up, stream(seed, "radio up"), up_line_),
        up_core(loop, pool(), wires.core_up, stream(seed, "core up"), server_line_),
        down_core(loop, pool(), wires.core_down, stream(seed, "core down"), core_line_),
        ue(loop, pool(), addressed(std::move(ue_config), ue_address()), stream(seed, "ue"), from_ue_),
        server(loop, pool(), addressed(std::move(server_config), server_address()), stream(seed, "server"), down_core) {
    node.connect(down_radio, up_core);
    to_ue_.set(ue);
    from_ue_.set(up_radio);
    to_server_.set(server);
    emulator::UeConfig cell_ue;
    cell_ue.address = ue_address();
    cell_ue.queue = wires.queue;
    cell_ue.channel = std::make_unique<emulator::PiecewiseChannel>(
        emulator::PiecewiseParameters{wires.slowest, wires.fastest, std::chrono::milliseconds(300)},
        std::chrono::milliseconds(1), stream(seed, "channel"));
    cell.add_ue(std::move(cell_ue));
    emulator::ReporterConfig reports;
    reports.price = config.laws.price;
    reporter = std::make_unique<emulator::Reporter>(loop, cell, reports, *this);
    reporter->start(Instant{});
    for (emulator::Host* host : {&server, &ue}) {
      host->listen(port, [this](const packet::Addresses& ours) {
        return std::make_unique<emulator::PatternServer>(ours, server_counters);
      });
    }
  }

  /// Makes the UE send its frames to `element` instead of to `up_radio`.
  void send_through(emulator::Element& element) { from_ue_.set(element); }
  /// `from_ue`: the UE opens the connection; else the server does.
  emulator::BulkClient& transfer(std::uint64_t size, bool upload, Duration start = {}, bool from_ue = true) {
    emulator::BulkConfig config;
    config.server = from_ue ? server_address() : ue_address();
    config.port = port;
    config.size = size;
    config.upload = upload;
    config.start = Instant(start);
    clients.push_back(std::make_unique<emulator::BulkClient>(loop, from_ue ? ue : server, config, log));
    return *clients.back();
  }
  bool run(Duration limit) {
    const Instant end = loop.now() + limit;
    while (loop.now() < end) {
      loop.run_until(loop.now() + std::chrono::seconds(1));
      bool all = true;
      for (const auto& client : clients) all = all && client->complete();
      if (all) return true;
    }
    return false;
  }

  // Reports reach the shard after the delay, as arrivals that passed the session; or go where they are taken to.
  [[nodiscard]] std::uint64_t next_sequence() const override { return sequence_ + 1; }
  void send(std::span<const control::feedback::BearerReport> reports, Instant now) override {
    if (take_reports) return take_reports(reports, now);
    ++sequence_;
    for (const auto& report : reports) {
      in_flight_.push_back({.bearer = report,
                            .sender = 1,
                            .epoch = 1,
                            .sequence = sequence_,
                            .sender_time = now.time_since_epoch(),
                            .period = std::chrono::milliseconds(5)});
    }
    loop.at(now + wires_.feedback_delay, *this, reports.size());
  }
  void on_event(std::uint64_t count, Instant now) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      if (now < wires_.silent_from || now >= wires_.silent_until) node.shard.on_report(in_flight_.front(), now);
      in_flight_.pop_front();
    }
    node.arm();
  }

 private:
  static emulator::Random stream(std::uint64_t seed, const char* name) { return emulator::Random::stream(seed, name); }
  static emulator::HostConfig addressed(emulator::HostConfig config, const IpAddress& address) {
    config.address = address;
    return config;
  }
  RegulatedWires wires_;
  std::uint64_t sequence_ = 0;
  std::deque<proxy::ReportArrival> in_flight_;
  LaterElement to_ue_, to_server_, from_ue_;

 public:
  emulator::EventLoop loop;
  emulator::ServerCounters server_counters;
  emulator::FlowLog log;
  WatchedShard node;
  std::vector<std::unique_ptr<emulator::BulkClient>> clients;
  std::function<void(std::span<const control::feedback::BearerReport>, Instant)> take_reports;

 private:
  WatchedShard::Port radio_port_, core_port_;

 public:
  emulator::Cell cell;

 private:
  emulator::DelayLine radio_line_, up_line_, server_line_, core_line_;

 public:
  emulator::Impairment down_radio, up_radio, up_core, down_core;
  emulator::Host ue, server;
  std::unique_ptr<emulator::Reporter> reporter;  ///< goes before the cell that it watches
};

}  // namespace sluice::test
