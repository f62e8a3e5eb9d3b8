#pragma once

// A shard with little packet memory of its own between several UEs and a server, and what uses up that memory: readers
// that stop, outages, tiny segments, windows of one byte, holes, resets.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "dataplane/packet/build_datagram.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/pool.hpp"
#include "emulator/hosts/application.hpp"
#include "emulator/hosts/connection.hpp"
#include "emulator/hosts/host.hpp"
#include "emulator/hosts/pattern_server.hpp"
#include "emulator/hosts/request.hpp"
#include "emulator/net/delay_line.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/random.hpp"
#include "proxy/engine/shard/shard.hpp"
#include "tests/sim/proxy/network.hpp"
#include "tests/support/eal.hpp"

namespace sluice::test::pressure {

using namespace emulator;  // NOLINT(google-build-using-namespace): the whole test plays inside it

using proxy::Side;
using std::chrono::milliseconds;
using std::chrono::seconds;

inline const IpAddress server_address = IpAddress::v4(198, 51, 100, 7);
inline const IpAddress datagram_address = IpAddress::v4(10, 45, 0, 250);
inline constexpr std::uint16_t pattern_port = 80;  ///< answers requests, in full segments
inline constexpr std::uint16_t dribble_port = 81;  ///< sends a byte at a time, without being asked
inline constexpr std::uint64_t dribble_size = 5000;

/// A time in which something lasts.
struct Period {
  Instant from = never;
  Instant until = never;
  [[nodiscard]] bool contains(Instant time) const { return from <= time && time < until; }
};

/// A shard behind two ports, with packet memory of its own. As a device would, a port copies what comes in into a
/// buffer of that memory, and drops it, counted, when there is none.
class Device final : public proxy::Transmitter, public EventTarget {
 public:
  Device(EventLoop& loop, const proxy::ShardConfig& config, std::uint32_t buffers)
      : memory("pressure", buffers), shard(config, memory, *this, {7, 8}, Instant{}), loop_(loop) {}

  class Port final : public Element {
   public:
    Port(Device& device, Side side) : device_(device), side_(side) {}
    void receive(packet::Packet packet, Instant now) override { device_.take(side_, packet, now); }

   private:
    Device& device_;
    Side side_;
  };

  void connect(Element& radio, Element& core) { out_ = {&radio, &core}; }
  void transmit(Side out, std::span<packet::Packet> burst, Instant now) override {
    for (packet::Packet& packet : burst) {
      log_packet("out", out, packet, now);
      packet::Packet frame = pool().copy(packet);
      packet.reset();
      if (frame) out_[static_cast<std::size_t>(out)]->receive(std::move(frame), now);
    }
  }
  void on_event(std::uint64_t, Instant now) override {
    if (now >= alarm_) alarm_ = never;
    shard.advance(now);
    turns_ = now == last_turn_ ? turns_ + 1 : 0;
    last_turn_ = now;
    arm();
  }
  /// Returns the frames that were dropped because no buffer was free.
  [[nodiscard]] std::uint64_t missed() const { return missed_; }
  /// Returns true if it requested calls repeatedly without time passing.
  [[nodiscard]] bool spun() const { return turns_ >= max_turns; }

 private:
  static constexpr int max_turns = 1000;  ///< without time passing

  void take(Side side, const packet::Packet& frame, Instant now) {
    log_packet("in ", side, frame, now);
    packet::Packet received = memory.copy(frame);
    if (!received) {
      ++missed_;
      return;
    }
    shard.receive(side, {&received, 1}, now);
    EXPECT_FALSE(received) << "it was neither kept nor dropped";
    turns_ = 0;
    arm();
  }
  void arm() {
    const Instant next = std::max(shard.next_deadline(), loop_.now());
    if (spun() || shard.next_deadline() == never || next >= alarm_) return;
    alarm_ = next;
    loop_.at(next, *this);
  }

 public:
  packet::PacketPool memory;
  proxy::Shard shard;

 private:
  EventLoop& loop_;
  std::array<Element*, 2> out_{};
  Instant alarm_ = never;
  Instant last_turn_{};
  int turns_ = 0;
  std::uint64_t missed_ = 0;
};

/// A radio that is away for a while: what is sent meanwhile is lost, or the first of it comes all at once afterwards.
class Gate final : public Element, public EventTarget {
 public:
  Gate(EventLoop& loop, Period away, std::size_t kept, Element& next) : away_(away), kept_(kept), next_(next) {
    if (away.from != never && kept > 0) loop.at(away.until, *this);
  }
  void receive(packet::Packet packet, Instant now) override {
    if (!away_.contains(now)) return next_.receive(std::move(packet), now);
    if (held_.size() < kept_) held_.push_back(std::move(packet));
  }
  void on_event(std::uint64_t, Instant now) override {
    for (packet::Packet& packet : std::exchange(held_, {})) next_.receive(std::move(packet), now);
  }

 private:
  Period away_;
  std::size_t kept_;
  Element& next_;
  std::vector<packet::Packet> held_;
};

/// Writes a window of 1 into every segment of a UE that has no SYN.
class WindowOfOne final : public Element {
 public:
  WindowOfOne(Period when, Element& next) : when_(when), next_(next) {}
  void receive(packet::Packet packet, Instant now) override {
    packet::Parsed parsed;
    if (when_.contains(now) && packet::parse(packet, parsed) == packet::ParseResult::tcp &&
        !parsed.segment.flags.syn()) {
      std::uint8_t* const tcp = packet.data() + parsed.l4_offset;
      const std::uint16_t before = packet::load16(tcp + 14);
      packet::store_be16(tcp + 14, 1);
      packet::store16(tcp + 16, packet::update_checksum(packet::load16(tcp + 16), before, packet::load16(tcp + 14)));
    }
    next_.receive(std::move(packet), now);
  }

 private:
  Period when_;
  Element& next_;
};

/// Loses one segment of every connection that carries data in its time, and every repetition of it until the end of
/// that time.
class HolePuncher final : public Element {
 public:
  explicit HolePuncher(Element& next) : next_(next) {}
  void punch(const IpAddress& address, Period when) { when_[address] = when; }
  void receive(packet::Packet packet, Instant now) override {
    packet::Parsed parsed;
    if (packet::parse(packet, parsed) != packet::ParseResult::tcp || !lost(parsed, now)) {
      next_.receive(std::move(packet), now);
    }
  }

 private:
  using Key = std::tuple<IpAddress, std::uint16_t, IpAddress, std::uint16_t>;
  bool lost(const packet::Parsed& parsed, Instant now) {
    const auto at = when_.contains(parsed.src) ? when_.find(parsed.src) : when_.find(parsed.dst);
    if (at == when_.end() || !at->second.contains(now) || parsed.segment.payload_len == 0) return false;
    const tcp::SeqNum seq = parsed.segment.seq;
    const auto hole = holes_.try_emplace(Key(parsed.src, parsed.src_port, parsed.dst, parsed.dst_port), seq).first;
    return seq <= hole->second && hole->second < seq + parsed.segment.payload_len;
  }

  Element& next_;
  std::map<IpAddress, Period> when_;
  std::map<Key, tcp::SeqNum> holes_;
};

/// Sends frames on by their destination address; those to datagram_address are counted.
class ToUes final : public Element {
 public:
  void add(const IpAddress& ue, Element& line) { lines_[ue] = &line; }
  void receive(packet::Packet packet, Instant now) override {
    packet::Parsed parsed;
    static_cast<void>(packet::parse(packet, parsed));
    if (parsed.dst == datagram_address) ++datagrams_;
    const auto line = lines_.find(parsed.dst);
    if (line != lines_.end()) line->second->receive(std::move(packet), now);
  }
  [[nodiscard]] std::uint64_t datagrams() const { return datagrams_; }

 private:
  std::map<IpAddress, Element*> lines_;
  std::uint64_t datagrams_ = 0;
};

/// Datagrams from the server's side at even intervals: what is only forwarded.
class DatagramSource final : public EventTarget {
 public:
  static constexpr Duration interval = milliseconds(10);
  DatagramSource(EventLoop& loop, Element& wire) : loop_(loop), wire_(wire) { loop.at(loop.now() + interval, *this); }
  void on_event(std::uint64_t, Instant now) override {
    packet::Packet packet = pool().allocate();
    if (packet) {
      std::fill_n(packet.append(500), 500, std::uint8_t{0x55});
      packet::write_udp_headers(packet, packet::make_template(mac, mac, 4),
                                {server_address, datagram_address, 5000, 5000}, 0);
      wire_.receive(std::move(packet), now);
      ++sent_;
    }
    loop_.at(now + interval, *this);
  }
  [[nodiscard]] std::uint64_t sent() const { return sent_; }

 private:
  static constexpr std::array<std::uint8_t, 6> mac{2, 0, 0, 0, 0, 9};
  EventLoop& loop_;
  Element& wire_;
  std::uint64_t sent_ = 0;
};

/// The server's end of a connection to dribble_port: dribble_size bytes, each in a segment of its own.
class DribbleServer final : public Application {
 public:
  explicit DribbleServer(const packet::Addresses& ours) : pattern_(server_pattern(ours.src_port, ours.dst_port)) {}
  void on_data(Connection&, std::span<const std::uint8_t>, Instant) override {}
  void on_room(Connection& connection, Instant) override {
    while (sent_ < dribble_size && may_dribble(connection) && connection.send_pattern(pattern_, sent_, 1) == 1) ++sent_;
    if (sent_ == dribble_size) connection.finish();
  }
  void on_peer_finished(Connection& connection, Instant) override { connection.finish(); }

  /// Returns true if less than 2000 bytes are unsent or in flight and the window allows more.
  static bool may_dribble(const Connection& connection) {
    const Bytes held = connection.endpoint().unsent() + connection.endpoint().unacknowledged();
    return connection.send_room() > Bytes() && held < Bytes(2000);
  }

 private:
  PayloadPattern pattern_;
  std::uint64_t sent_ = 0;
};

struct ClientConfig {
  std::uint64_t size = 0;
  bool upload = false;
  bool dribbles = false;  ///< a byte a segment
  Instant start{};
  Period does_not_read;
  Instant abort_at = never;
  /// From this time on it sends keep-alives if it receives nothing, like a program with a timeout.
  Instant asks_from = never;
};

/// A client that downloads or uploads, reads or does not, and checks every byte.
class Client final : public Application, public EventTarget {
 public:
  Client(EventLoop& loop, Host& host, const ClientConfig& config) : loop_(loop), host_(host), config_(config) {
    loop.at(config.start, *this, start_tag);
    if (config.does_not_read.from != never) {
      loop.at(config.does_not_read.from, *this, stall_tag);
      loop.at(config.does_not_read.until, *this, resume_tag);
    }
    if (config.abort_at != never) loop.at(config.abort_at, *this, abort_tag);
    if (config.asks_from != never) loop.at(config.asks_from, *this, ask_tag);
  }

  void on_event(std::uint64_t tag, Instant now) override {
    if (tag == start_tag) {
      const bool from_dribbler = config_.dribbles && !config_.upload;
      host_.connect(server_address, from_dribbler ? dribble_port : pattern_port, *this, now);
      begun_ = true;
    }
    if (connection_ == nullptr) return;
    if (tag == stall_tag) connection_->endpoint().set_receive_room(Bytes());
    if (tag == resume_tag) connection_->endpoint().set_receive_room(host_.config().receive_buffer);
    if (tag == abort_tag && !complete()) connection_->abort();
    if (tag == ask_tag) {
      connection_->endpoint().send_keepalive();
      loop_.at(now + seconds(20), *this, ask_tag);
    }
    host_.push(connection_->number(), now);
  }
  void on_open(Connection& connection, Instant now) override {
    connection_ = &connection;
    if (config_.does_not_read.contains(now)) connection.endpoint().set_receive_room(Bytes());
    const packet::Addresses& ours = connection.addresses();
    pattern_ =
        config_.upload ? client_pattern(ours.dst_port, ours.src_port) : server_pattern(ours.dst_port, ours.src_port);
    const bool asks = config_.upload || !config_.dribbles;
    const auto verb = config_.upload ? Request::Verb::put : Request::Verb::fetch;
    if (asks) connection.send(Request{verb, config_.size}.encode());
  }
  void on_data(Connection& connection, std::span<const std::uint8_t> bytes, Instant) override {
    if (config_.upload) {
      answered_ += bytes.size();
    } else {
      if (!pattern_.matches(moved_, bytes)) ++corrupted_;
      moved_ += bytes.size();
    }
    if (complete()) connection.finish();
  }
  void on_room(Connection& connection, Instant) override {
    if (!config_.upload) return;
    while (moved_ < config_.size) {
      const auto room = static_cast<std::uint64_t>(connection.send_room().count());
      const bool may = config_.dribbles ? DribbleServer::may_dribble(connection) : room > 0;
      const std::uint64_t wanted = config_.dribbles ? 1 : std::min(room, config_.size - moved_);
      const std::uint64_t done = may ? connection.send_pattern(pattern_, moved_, wanted) : 0;
      moved_ += done;
      if (done == 0) break;
    }
  }
  void on_peer_finished(Connection& connection, Instant) override { connection.finish(); }
  void on_closed(Connection&, Instant) override {
    connection_ = nullptr;
    closed_ = true;
  }

  /// Returns true if everything arrived and, for an upload, the server has confirmed it.
  [[nodiscard]] bool complete() const {
    return moved_ == config_.size && (!config_.upload || answered_ == Request::length);
  }
  [[nodiscard]] bool begun() const { return begun_; }
  [[nodiscard]] bool closed() const { return closed_; }
  /// Bytes received, or acknowledged.
  [[nodiscard]] std::uint64_t progress() const {
    if (!config_.upload || connection_ == nullptr) return moved_;
    const tcp::Endpoint& endpoint = connection_->endpoint();
    const auto held = static_cast<std::uint64_t>((endpoint.unsent() + endpoint.unacknowledged()).count());
    return moved_ - std::min(moved_, held);
  }
  [[nodiscard]] std::uint64_t corrupted() const { return corrupted_; }
  [[nodiscard]] const ClientConfig& config() const { return config_; }

 private:
  static constexpr std::uint64_t start_tag = 0, stall_tag = 1, resume_tag = 2, abort_tag = 3, ask_tag = 4;

  EventLoop& loop_;
  Host& host_;
  ClientConfig config_;
  Connection* connection_ = nullptr;  ///< while it is open
  PayloadPattern pattern_{0};
  std::uint64_t moved_ = 0;  ///< received, or written
  std::uint64_t answered_ = 0;
  std::uint64_t corrupted_ = 0;
  bool begun_ = false;
  bool closed_ = false;
};

struct UeConfig {
  HostConfig host;
  Period outage;
  std::size_t kept = 0;  ///< frames that an outage delays instead of losing them, each way
  Period window_of_one;
  Period holes;
};

/// A UE and its radio path.
class Ue {
 public:
  Ue(EventLoop& loop, const UeConfig& config, Random random, ToUes& router, Element& radio_port)
      : host(loop, pool(), config.host, random, window_),
        down_gate_(loop, config.outage, config.kept, host),
        down_(loop, {milliseconds(20), Rate::bits_per_second(20e6), Bytes(100'000)}, down_gate_),
        up_(loop, {milliseconds(20), {}, {}}, radio_port),
        up_gate_(loop, config.outage, config.kept, up_),
        window_(config.window_of_one, up_gate_) {
    router.add(config.host.address, down_);
  }

  Host host;

 private:
  Gate down_gate_;
  DelayLine down_, up_;
  Gate up_gate_;
  WindowOfOne window_;
};

/// UEs — radio paths — shard with little memory — wire — server.
class Network {
 public:
  Network(std::uint64_t seed, const proxy::ShardConfig& config, std::uint32_t buffers)
      : device(loop, config, buffers),
        radio_port_(device, Side::radio),
        core_port_(device, Side::core),
        seed_(seed),
        up_(loop, {milliseconds(15), {}, {}}, server_),
        down_(loop, {milliseconds(15), Rate::bits_per_second(100e6), Bytes(300'000)}, core_port_),
        down_holes_(down_),
        up_holes_(radio_port_),
        server_(loop, pool(), server_config(), Random::stream(seed, "server"), down_holes_),
        datagrams_(loop, down_) {
    device.connect(to_ues_, up_);
    server_.listen(pattern_port, [this](const packet::Addresses& ours) {
      return std::make_unique<PatternServer>(ours, server_counters);
    });
    server_.listen(dribble_port, [](const packet::Addresses& ours) { return std::make_unique<DribbleServer>(ours); });
  }

  Host& add_ue(UeConfig config) {
    const auto number = static_cast<std::uint8_t>(ues_.size() + 1);
    config.host.address = IpAddress::v4(10, 45, 0, number);
    if (config.holes.from != never) {
      down_holes_.punch(config.host.address, config.holes);
      up_holes_.punch(config.host.address, config.holes);
    }
    const Random random = Random::stream(seed_, "ue", number);
    ues_.push_back(std::make_unique<Ue>(loop, config, random, to_ues_, up_holes_));
    return ues_.back()->host;
  }
  Client& add_client(Host& ue, const ClientConfig& config) {
    clients.push_back(std::make_unique<Client>(loop, ue, config));
    return *clients.back();
  }
  [[nodiscard]] std::uint64_t datagrams_sent() const { return datagrams_.sent(); }
  [[nodiscard]] std::uint64_t datagrams_arrived() const { return to_ues_.datagrams(); }
  /// Connections that the hosts still have.
  [[nodiscard]] std::size_t connections() const {
    std::size_t sum = server_.connections();
    for (const auto& ue : ues_) sum += ue->host.connections();
    return sum;
  }

  EventLoop loop;
  ServerCounters server_counters;
  Device device;
  std::vector<std::unique_ptr<Client>> clients;

 private:
  static HostConfig server_config() {
    HostConfig config;
    config.address = server_address;
    config.send_buffer = Bytes(65'536);
    return config;
  }

  Device::Port radio_port_, core_port_;
  std::uint64_t seed_;
  ToUes to_ues_;
  DelayLine up_, down_;
  HolePuncher down_holes_, up_holes_;
  Host server_;
  DatagramSource datagrams_;
  std::vector<std::unique_ptr<Ue>> ues_;
};

}  // namespace sluice::test::pressure
