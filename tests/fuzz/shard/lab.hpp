#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "dataplane/units/time.hpp"
#include "proxy/engine/shard/shard.hpp"
#include "tests/fuzz/shard/model.hpp"

namespace sluice::proxy::fuzz {

/// A shard with little packet memory between model hosts, and what must hold of it whatever happens.
class Lab final : public Transmitter {
 public:
  static constexpr std::size_t connections = 6;

  struct Pools {
    packet::PacketPool& shard;
    packet::PacketPool& hosts;
  };
  Lab(const ShardConfig& config, const tcp::EndpointConfig& hosts, Pools pools)
      : partial_(config.accept_partial_checksums[0] || config.accept_partial_checksums[1]),
        hosts_(hosts),
        pools_(pools),
        shard(config, pools.shard, *this, {42, 43}, Instant{}) {}

  void transmit(Side out, std::span<packet::Packet> burst, Instant) override {
    for (packet::Packet& packet : burst) {
      require(static_cast<bool>(packet));
      check_sent(out, packet);
      wire_to_host(out).push(bytes_of(packet));
      packet.reset();
      ++transmitted_;
    }
  }

  // --- what happens ---

  /// Puts a frame in, as a device would that finds a buffer for it or does not.
  void put(Side in, const Frame& frame) {
    packet::Packet packet = to_packet(pools_.shard, frame);
    if (!packet) return;
    ++received_;
    shard.receive(in, {&packet, 1}, now);
    require(!packet);
    check();
  }
  /// The oldest frame of a host's, or the one at `which`, reaches the proxy; it may stay on the wire as well.
  void to_shard(Side from, std::size_t which = 0, bool again = false) {
    if (auto frame = take(wire_from_host(from), which, again)) put(from, *frame);
  }
  /// All that is on a host's wire, up to a burst, as one.
  void burst_to_shard(Side from) {
    constexpr std::size_t most = 32;
    std::vector<packet::Packet> burst;
    while (burst.size() < most && !wire_from_host(from).frames.empty()) {
      const auto frame = take(wire_from_host(from), 0, false);
      packet::Packet packet = frame ? to_packet(pools_.shard, *frame) : packet::Packet();
      if (packet) burst.push_back(std::move(packet));
    }
    received_ += burst.size();
    shard.receive(from, burst, now);
    for (const packet::Packet& packet : burst) require(!packet);
    check();
  }
  void to_host(Side to, std::size_t which = 0, bool again = false) {
    auto frame = take(wire_to_host(to), which, again);
    if (frame) frame = ip_[static_cast<std::size_t>(to)].take(std::move(*frame));
    if (!frame) return;
    packet::Packet packet = to_packet(pools_.hosts, *frame);
    packet::Parsed parsed;
    const bool segment = packet && packet::parse(packet, parsed) == packet::ParseResult::tcp &&
                         packet::verify_tcp_checksum(packet, parsed) == packet::ChecksumState::good;
    Connection* const connection = segment ? find(to, parsed) : nullptr;
    if (connection != nullptr) deliver(*connection, to, parsed, std::move(packet));
  }
  /// Everything on the wires arrives, and what it causes to be sent, up to `rounds` times.
  void exchange(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      bool moved = false;
      for (const Side side : {Side::radio, Side::core}) {
        for (; !wire_from_host(side).frames.empty(); moved = true) burst_to_shard(side);
        for (std::size_t left = wire_to_host(side).frames.size(); left > 0; --left, moved = true) to_host(side);
      }
      if (!moved) return;
    }
  }
  /// Timers of the proxy and of the hosts run; `delivers`: and everything arrives meanwhile.
  void pass(Duration time, bool delivers = false) {
    const Instant end = now + time;
    for (Instant next = next_deadline(); next <= end; next = next_deadline()) {
      now = std::max(now, next);
      if (shard.next_deadline() <= now) advance();
      for (auto& connection : connections_) {
        if (connection) run_timers(*connection);
      }
      if (delivers) exchange(64);
      turns_ = now == last_turn_ ? turns_ + 1 : 0;
      last_turn_ = now;
      require(turns_ < 2000);  // it spins
    }
    now = end;
    advance();
  }
  void serve(End& end) {
    end.endpoint.set_timestamp(static_cast<std::uint32_t>(now.time_since_epoch() / std::chrono::milliseconds(1)));
    end.endpoint.emit(now, end);
  }
  Connection& open(std::size_t slot, const IpAddress& ue, const IpAddress& server, Side initiator,
                   std::array<tcp::SynOptions, 2> options) {
    const std::uint32_t number = opened_++;
    const packet::Addresses addresses{ue, server, static_cast<std::uint16_t>(40'000 + number),
                                      static_cast<std::uint16_t>(initiator == Side::radio ? 80 : 5000)};
    End::Parts parts{number, Side::radio, addresses, options[0], &pools_.hosts, &wire_from_host(Side::radio)};
    End::Parts other{number, Side::core, addresses.reversed(), options[1], &pools_.hosts, &wire_from_host(Side::core)};
    connections_[slot] = std::make_unique<Connection>(parts, other, initiator);
    End& end = connections_[slot]->end(initiator);
    end.begun = true;
    end.endpoint.connect(hosts_, first_number(number, initiator), options[static_cast<std::size_t>(initiator)], now);
    serve(end);
    return *connections_[slot];
  }
  [[nodiscard]] Connection* at(std::size_t slot) { return connections_[slot % connections].get(); }
  void forget(std::size_t slot) { connections_[slot].reset(); }
  /// A damaged frame may be taken where checksums are left to the device: one in 65536 has the one it would need.
  [[nodiscard]] bool takes_partial_checksums() const { return partial_; }

  [[nodiscard]] Wire& wire_from_host(Side side) { return from_hosts_[static_cast<std::size_t>(side)]; }
  [[nodiscard]] Wire& wire_to_host(Side side) { return to_hosts_[static_cast<std::size_t>(side)]; }
  [[nodiscard]] const tcp::EndpointConfig& host_config() const { return hosts_; }

  // --- what must hold ---

  /// After everything that happened.
  void check() {
    const Counters& counters = shard.counters();
    require(counters.received() == received_);
    std::uint64_t outcomes = counters[Counter::optimised];
    for (const std::size_t outcome : untouched()) outcomes += counters.at(outcome);
    // A frame that waits in the queue of its UE has no outcome yet, and its buffer is in use.
    require(outcomes <= received_ && received_ - outcomes <= pools_.shard.in_use());
    require(counters[Counter::transmitted_radio] + counters[Counter::transmitted_core] == transmitted_);
    for (std::size_t i = 0; i < counter_count; ++i) {
      require(counters.at(i) >= before_[i] && counters.at(i) - before_[i] < 1'000'000);
      before_[i] = counters.at(i);
    }
  }
  /// When all has been delivered and every timer had its time: bytes that were written were read, or the connection
  /// ended visibly; and who was told of an end has all that came before it.
  void check_delivered() {
    for (const auto& connection : connections_) {
      if (!connection || connection->forged) continue;
      for (const Side side : {Side::radio, Side::core}) {
        const End& sender = connection->end(side);
        const End& reader = connection->end(opposite(side));
        if (reader.endpoint.peer_finished()) require(reader.read == sender.written);
        if (sender.open() && reader.open()) require(reader.read == sender.written);
      }
    }
  }
  /// When every connection is over, and none was ever disturbed: nothing is left of any.
  void check_at_rest() {
    for (const auto& connection : connections_) {
      if (connection && (connection->forged || !connection->ends[0].closed() || !connection->ends[1].closed())) return;
    }
    require(shard.flow_count() == 0 || disturbed_);
    require(pools_.shard.in_use() == 0 || disturbed_);
  }
  /// The oldest frame of a host's is about to become one that the proxy cannot read as a segment.
  void record_unreadable(Side from) {
    const packet::Packet packet = to_packet(pools_.hosts, wire_from_host(from).frames.front());
    packet::Parsed parsed;
    if (!packet || packet::parse(packet, parsed) != packet::ParseResult::tcp) return;
    if (Connection* const connection = find(opposite(from), parsed)) connection->unreadable = true;
  }
  /// Segments come that belong to no connection of the model's: what is made of them may last.
  void disturb() { disturbed_ = true; }

  Instant now{std::chrono::seconds(100)};

 private:
  /// The counters of frames that were forwarded or dropped: what Counters::forwarded() and dropped() add up, looked up
  /// once.
  static const std::vector<std::size_t>& untouched() {
    static const std::vector<std::size_t> list = [] {
      std::vector<std::size_t> found;
      for (std::size_t i = 0; i < counter_count; ++i) {
        const std::string_view name = counter_text(i).name;
        if (name.starts_with("forward_") || name.starts_with("drop_")) found.push_back(i);
      }
      return found;
    }();
    return list;
  }
  static tcp::SeqNum first_number(std::uint32_t connection, Side side) {
    const std::uint32_t base = side == Side::radio ? 0xfffff000U : 0x7fffff00U;
    return tcp::SeqNum(base + connection * 0x01234567U);
  }
  static std::optional<Frame> take(Wire& wire, std::size_t which, bool again) {
    if (wire.frames.empty()) return std::nullopt;
    const auto at = wire.frames.begin() + static_cast<std::ptrdiff_t>(which % wire.frames.size());
    Frame frame = *at;
    if (!again) wire.frames.erase(at);
    return frame;
  }
  Connection* find(Side side, const packet::Parsed& parsed) {
    for (const auto& connection : connections_) {
      if (connection && connection->end(side).addresses().reversed() == packet::addresses_of(parsed)) {
        return connection.get();
      }
    }
    return nullptr;
  }
  void check_sent(Side out, const packet::Packet& packet) {
    packet::Parsed parsed;
    if (packet::parse(packet, parsed) != packet::ParseResult::tcp) return;
    Connection* const connection = find(out, parsed);
    if (connection == nullptr || connection->forged) return;
    if (packet::verify_tcp_checksum(packet, parsed) != packet::ChecksumState::good) return;  // it came so
    // Which of them were idle for too long is not known here.
    const bool let_go = connection->unreadable || shard.counters()[Counter::released_idle] != 0;
    connection->check_honest(out, parsed.segment, let_go);
  }
  void deliver(Connection& connection, Side to, const packet::Parsed& parsed, packet::Packet&& packet) {
    End& end = connection.end(to);
    const tcp::Flags flags = parsed.segment.flags;
    if (!end.begun && flags.syn() && !flags.ack() && !flags.rst()) {
      end.begun = true;
      const tcp::SeqNum first = first_number(end.number(), to);
      end.record_options(parsed.segment);
      end.endpoint.accept(hosts_, parsed.segment, first, end.options(), now);
    } else if (end.closed()) {
      refuse(end, parsed.segment);
      return;
    } else {
      end.receive(parsed, std::move(packet), now);
    }
    end.read_all(connection.forged);
    serve(end);
  }
  /// RFC 9293 section 3.10.7.1.
  void refuse(End& end, const tcp::Segment& segment) {
    if (segment.flags.rst()) return;
    tcp::Segment reset;
    reset.flags.bits = tcp::Flags::rst_bit;
    if (segment.flags.ack()) {
      reset.seq = segment.ack;
    } else {
      reset.flags.bits |= tcp::Flags::ack_bit;
      reset.ack = segment.seq + segment.length();
    }
    end.transmit(reset, nullptr, now);
  }
  void run_timers(Connection& connection) {
    for (End& end : connection.ends) {
      if (end.endpoint.next_deadline() <= now) end.endpoint.on_timer(now);
      end.read_all(connection.forged);
      serve(end);
    }
  }
  void advance() {
    shard.advance(now);
    check();
  }
  [[nodiscard]] Instant next_deadline() const {
    Instant next = shard.next_deadline();
    for (const auto& connection : connections_) {
      if (!connection) continue;
      for (const End& end : connection->ends) next = std::min(next, end.endpoint.next_deadline());
    }
    return next;
  }

  bool partial_;
  bool disturbed_ = false;
  const tcp::EndpointConfig& hosts_;
  Pools pools_;
  std::array<Wire, 2> from_hosts_, to_hosts_;
  std::array<IpLayer, 2> ip_;
  std::array<std::unique_ptr<Connection>, connections> connections_;
  std::array<std::uint64_t, counter_count> before_{};
  std::uint64_t received_ = 0;
  std::uint64_t transmitted_ = 0;
  std::uint32_t opened_ = 0;
  Instant last_turn_{};
  int turns_ = 0;

 public:
  Shard shard;
};

}  // namespace sluice::proxy::fuzz
