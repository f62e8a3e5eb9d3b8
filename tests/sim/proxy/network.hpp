#pragma once

// A UE and a server of ours with a shard between them, over wires on which everything goes wrong that can, in virtual
// time: what the simulations of the relay share.

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/packet/parse.hpp"
#include "emulator/hosts/bulk_client.hpp"
#include "emulator/hosts/host.hpp"
#include "emulator/hosts/pattern_server.hpp"
#include "emulator/net/delay_line.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/net/impairment.hpp"
#include "emulator/random.hpp"
#include "proxy/engine/shard/shard.hpp"
#include "tests/support/eal.hpp"

namespace sluice::test {

using namespace emulator;  // NOLINT(google-build-using-namespace): the whole test plays inside it

using proxy::Counter;
using proxy::Side;

inline constexpr std::uint16_t port = 80;
inline const IpAddress ue_address = IpAddress::v4(10, 45, 0, 2);
inline const IpAddress server_address = IpAddress::v4(198, 51, 100, 7);

/// With SLUICE_SIM_LOG set: a line for every packet that passes the shard, for reading a seed that failed.
inline void log_packet(const char* direction, Side side, const packet::Packet& packet, Instant now) {
  static const bool wanted = std::getenv("SLUICE_SIM_LOG") != nullptr;
  if (!wanted || !packet) return;
  packet::Parsed parsed;
  const packet::ParseResult result = packet::parse(packet, parsed);
  const tcp::Segment& segment = parsed.segment;
  const bool good =
      result == packet::ParseResult::tcp && packet::verify_tcp_checksum(packet, parsed) == packet::ChecksumState::good;
  std::uint32_t hash = 2166136261U;
  for (std::size_t i = parsed.payload_offset; good && i < parsed.payload_offset + std::size_t{segment.payload_len};
       ++i) {
    hash = (hash ^ packet.data()[i]) * 16777619U;
  }
  std::fprintf(stderr, "%9.4f %s %-5s %-8s %s %u>%u flags %02x seq %u ack %u len %u win %u payload %08x\n",
               to_seconds(now.time_since_epoch()), direction, side == Side::radio ? "radio" : "core",
               std::string(to_string(result)).c_str(), good ? "good" : "bad ", parsed.src_port, parsed.dst_port,
               segment.flags.bits, segment.seq.raw(), segment.ack.raw(), segment.payload_len, segment.window, hash);
}

/// A shard as a node of the network: what it sends is copied, as a device would.
class ShardNode final : public proxy::Transmitter, public EventTarget {
 public:
  ShardNode(EventLoop& loop, const proxy::ShardConfig& config) : loop_(loop), config_(config) { start(); }

  /// Starts the proxy without any known connection.
  void start() { shard_.emplace(config_, pool(), *this, flow::HashKey{7, 8}, Instant{}, proxy::FlowJournal(journal_)); }
  /// Stops the proxy: its connections are lost, and nothing passes until it starts again.
  void stop() {
    shard_.reset();
    stopped_ = loop_.now();
  }
  /// Starts the proxy after a kill: it inherits the journal of the killed run.
  void start_as_next_run() {
    std::vector<proxy::CrashedConnection> crashed_connections;
    std::vector<proxy::RecoveredConnection> recovered;
    const auto look = [&](std::vector<proxy::JournalEntry>& entries) {
      for (const proxy::JournalEntry& entry : entries) {
        const auto crashed = proxy::read(entry);
        if (crashed && entry.state == proxy::JournalEntry::exposed) crashed_connections.push_back(*crashed);
        if (const auto connection = proxy::read_recovered(entry)) recovered.push_back(*connection);
      }
      entries.clear();
    };
    look(journal_);
    look(inherited_);
    for (const proxy::CrashedConnection& crashed : crashed_connections) inherited_.push_back(proxy::to_entry(crashed));
    journal_.resize(config_.limits.max_flows);
    start();
    shard_->adopt_recovered(recovered, {stopped_, loop_.now()});
    shard_->inherit(crashed_connections, inherited_, std::chrono::minutes(10));
    arm();
  }

  class Port final : public Element {
   public:
    Port(ShardNode& node, Side side) : node_(node), side_(side) {}
    void receive(packet::Packet packet, Instant now) override {
      log_packet("in ", side_, packet, now);
      if (!node_.shard_) return;
      node_.shard_->receive(side_, {&packet, 1}, now);
      EXPECT_FALSE(packet) << "it was neither kept nor dropped";
      node_.arm();
    }

   private:
    ShardNode& node_;
    Side side_;
  };

  void connect(Element& radio, Element& core) { out_ = {&radio, &core}; }
  void transmit(Side out, std::span<packet::Packet> burst, Instant now) override {
    for (packet::Packet& packet : burst) {
      packet::Packet frame = packet.shared() ? pool().copy(packet) : std::move(packet);
      packet.reset();
      log_packet("out", out, frame, now);
      if (frame) out_[static_cast<std::size_t>(out)]->receive(std::move(frame), now);
    }
  }
  void on_event(std::uint64_t, Instant now) override {
    if (now >= alarm_) alarm_ = never;
    if (!shard_) return;
    shard_->advance(now);
    arm();
  }
  [[nodiscard]] proxy::Shard& shard() { return *shard_; }
  /// Sends the shard a command that is not a packet.
  void order(const std::function<void(proxy::Shard&)>& order) {
    order(*shard_);
    arm();
  }

 private:
  void arm() {
    const Instant next = std::max(shard_->next_deadline(), loop_.now());
    if (shard_->next_deadline() == never || next >= alarm_) return;
    alarm_ = next;
    loop_.at(next, *this);
  }

  EventLoop& loop_;
  std::array<Element*, 2> out_{};
  Instant alarm_ = never;
  const proxy::ShardConfig config_;
  std::vector<proxy::JournalEntry> journal_{config_.limits.max_flows};
  std::vector<proxy::JournalEntry> inherited_;
  Instant stopped_{};
  std::optional<proxy::Shard> shard_;
};

/// An element whose target is known later.
class Later final : public Element {
 public:
  void set(Element& next) { next_ = &next; }
  void receive(packet::Packet packet, Instant now) override { next_->receive(std::move(packet), now); }

 private:
  Element* next_ = nullptr;
};

struct Wires {
  ImpairmentConfig radio_down, radio_up, core_down, core_up;
  Duration radio_delay = std::chrono::milliseconds(20);
  Duration core_delay = std::chrono::milliseconds(15);
  Rate radio_rate = Rate::bits_per_second(20e6);  ///< downwards
  Rate core_rate = Rate::bits_per_second(50e6);
  Bytes radio_buffer{100'000};
  Bytes core_buffer{300'000};
};

/// UE — wire — proxy — wire — server.
class Network {
 public:
  Network(std::uint64_t seed, const proxy::ShardConfig& config, const Wires& wires, HostConfig ue_config = {},
          HostConfig server_config = {})
      : node(loop, config),
        radio_port(node, Side::radio),
        core_port(node, Side::core),
        ue_line(loop, {wires.radio_delay, wires.radio_rate, wires.radio_buffer}, to_ue_),
        radio_line(loop, {wires.radio_delay, {}, {}}, radio_port),
        server_line(loop, {wires.core_delay, {}, {}}, to_server_),
        core_line(loop, {wires.core_delay, wires.core_rate, wires.core_buffer}, at_core_),
        down_radio(loop, pool(), wires.radio_down, Random::stream(seed, "radio down"), ue_line),
        up_radio(loop, pool(), wires.radio_up, Random::stream(seed, "radio up"), radio_line),
        up_core(loop, pool(), wires.core_up, Random::stream(seed, "core up"), server_line),
        down_core(loop, pool(), wires.core_down, Random::stream(seed, "core down"), core_line),
        server_at_(server_config.address == IpAddress{} ? server_address : server_config.address),
        ue(loop, pool(), addressed(std::move(ue_config), ue_address), Random::stream(seed, "ue"), from_ue_),
        server(loop, pool(), addressed(std::move(server_config), server_address), Random::stream(seed, "server"),
               from_server_) {
    node.connect(down_radio, up_core);
    from_ue_.set(up_radio);
    from_server_.set(down_core);
    to_ue_.set(ue);
    at_core_.set(core_port);
    to_server_.set(server);
    server.listen(
        port, [this](const packet::Addresses& ours) { return std::make_unique<PatternServer>(ours, server_counters); });
  }

  BulkClient& transfer(std::uint64_t size, bool upload, Duration start = {}) {
    BulkConfig config;
    config.server = server_at_;
    config.port = port;
    config.size = size;
    config.upload = upload;
    config.start = Instant(start);
    clients.push_back(std::make_unique<BulkClient>(loop, ue, config, log));
    return *clients.back();
  }
  /// Puts `element` in front of the proxy's core port; what it lets through goes to core_port.
  void precede_core(Element& element) { at_core_.set(element); }
  /// Puts `element` in front of the UE; what it lets through goes to ue.
  void precede_ue(Element& element) { to_ue_.set(element); }
  /// Puts `element` in front of the server; what it lets through goes to server.
  void precede_server(Element& element) { to_server_.set(element); }
  /// Puts `element` behind the UE, or the server; what it lets through goes to up_radio, or down_core.
  void follow_ue(Element& element) { from_ue_.set(element); }
  void follow_server(Element& element) { from_server_.set(element); }
  /// Runs until every transfer is complete; false when they are not after `limit` of virtual time.
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

  EventLoop loop;
  ServerCounters server_counters;
  FlowLog log;
  ShardNode node;
  ShardNode::Port radio_port, core_port;
  std::vector<std::unique_ptr<BulkClient>> clients;

 private:
  static HostConfig addressed(HostConfig config, const IpAddress& address) {
    if (config.address == IpAddress{}) config.address = address;
    return config;
  }
  Later to_ue_, to_server_, at_core_, from_ue_, from_server_;

 public:
  DelayLine ue_line, radio_line, server_line, core_line;
  Impairment down_radio, up_radio, up_core, down_core;
  const IpAddress server_at_;
  Host ue, server;
};

inline proxy::ShardConfig small_shard() {
  proxy::ShardConfig config;
  config.mode = proxy::Mode::i_tcp;
  config.limits.max_flows = 256;
  config.limits.max_bearers = 16;
  config.limits.relay_buffer = Bytes(200'000);
  return config;
}

inline ImpairmentConfig random_impairment(Random& random) {
  ImpairmentConfig config;
  config.loss = random.chance(0.7) ? random.uniform(0, 0.05) : 0;
  config.duplicate = random.chance(0.5) ? random.uniform(0, 0.03) : 0;
  config.reorder = random.chance(0.5) ? random.uniform(0, 0.05) : 0;
  config.reorder_delay = Duration(1'000'000 + random.below(20'000'000));
  config.corrupt = random.chance(0.5) ? random.uniform(0, 0.02) : 0;
  config.corrupt_bits = 1;  // TCP's checksum sees every single bit, but one in 32 pairs cancels out
  if (random.chance(0.3)) {
    const Instant from(std::chrono::milliseconds(random.below(3000)));
    config.jumps.push_back({from, from + std::chrono::milliseconds(300 + random.below(700)),
                            std::chrono::milliseconds(50 + random.below(500))});
  }
  return config;
}

inline Wires random_wires(Random& random) {
  Wires wires;
  for (ImpairmentConfig* config : {&wires.radio_down, &wires.radio_up, &wires.core_down, &wires.core_up}) {
    *config = random_impairment(random);
  }
  wires.radio_delay = Duration(1'000'000 + random.below(80'000'000));
  wires.core_delay = Duration(1'000'000 + random.below(60'000'000));
  return wires;
}

inline HostConfig random_host(Random& random) {
  HostConfig config;
  config.timestamps = random.chance(0.7);
  config.sack = random.chance(0.8);
  config.receive_buffer = Bytes(random.chance(0.3) ? 20'000 + random.below(40'000) : 1'000'000);
  config.tcp.congestion = random.chance(0.5) ? tcp::CongestionAlgorithm::cubic : tcp::CongestionAlgorithm::newreno;
  config.accurate_ecn = config.tcp.congestion == tcp::CongestionAlgorithm::newreno;  // so no further random number
  return config;
}

/// Sometimes no cap on what is acknowledged before it is delivered, sometimes none at all, sometimes a small one.
inline void random_exposure(Random& random, proxy::ShardLimits& limits) {
  if (random.chance(0.3)) limits.exposure_per_flow = Bytes(random.chance(0.5) ? 0 : random.below(50'000));
  if (random.chance(0.2)) limits.exposure_per_bearer = Bytes(random.chance(0.5) ? 0 : random.below(100'000));
}

/// Every frame has one outcome.
inline void expect_accounted(const proxy::Counters& counters) {
  EXPECT_EQ(counters.received(), counters[Counter::optimised] + counters.forwarded() + counters.dropped());
}

/// Every byte arrives, and it is the right one.
inline void expect_complete(Network& network, Duration limit) {
  ASSERT_TRUE(network.run(limit)) << "stuck";
  EXPECT_EQ(network.log.corrupted, 0U);
  EXPECT_EQ(network.server_counters.corrupted, 0U);
  for (const auto& client : network.clients) EXPECT_EQ(client->corrupted(), 0U);
}
/// Expects that nothing is left of any connection. The wait is an hour: a host without SACK and timestamps keeps its
/// longest timeout, a minute, until it sends new data (RFC 6298 section 5). Such a host meets that timeout again with
/// every tenth segment here.
inline void expect_end(Network& network) {
  expect_complete(network, std::chrono::hours(1));
  network.loop.run_until(network.loop.now() + std::chrono::seconds(700));
  EXPECT_EQ(network.node.shard().flow_count(), 0U) << "flows outlived their connections";
  expect_accounted(network.node.shard().counters());
}

/// Up to four connections in the first two seconds, each of up to `most` bytes.
inline void transfer_at_random(Network& network, Random& random, std::uint64_t most, double uploads = 0.4) {
  const std::uint64_t count = 1 + random.below(4);
  for (std::uint64_t i = 0; i < count; ++i) {
    network.transfer(1 + random.below(most), random.chance(uploads), std::chrono::milliseconds(random.below(2000)));
  }
}

/// A relay of a random size, whose bytes may be exposed as far as it happens.
inline proxy::ShardConfig random_shard(Random& random) {
  proxy::ShardConfig config = small_shard();
  config.limits.relay_buffer = Bytes(65'536 + random.below(400'000));
  random_exposure(random, config.limits);
  return config;
}

/// What passes untouched is checked by the hosts alone, and two bits of it, damaged on either side, may cancel out.
inline Wires random_wires_sound_in_the_core(Random& random) {
  Wires wires = random_wires(random);
  wires.core_down.corrupt = wires.core_up.corrupt = 0;
  return wires;
}

inline std::uint64_t seeds_to_run() {
  const char* const text = std::getenv("SLUICE_SIM_SEEDS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 300;
}

/// Runs `live` for every seed, or for the one in SLUICE_SIM_SEED, until one fails. Where a life takes long,
/// `share` is by how much fewer seeds are enough.
inline void for_each_seed(const std::function<void(std::uint64_t)>& live, std::uint64_t share = 1) {
  if (const char* const one = std::getenv("SLUICE_SIM_SEED")) {
    live(std::strtoull(one, nullptr, 10));
    return;
  }
  for (std::uint64_t seed = 1; seed <= seeds_to_run() / share; ++seed) {
    live(seed);
    ASSERT_FALSE(testing::Test::HasFailure()) << "replay with SLUICE_SIM_SEED=" << seed;
  }
}

}  // namespace sluice::test
