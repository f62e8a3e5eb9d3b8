#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/packet/pool.hpp"
#include "emulator/net/element.hpp"
#include "emulator/net/event_loop.hpp"
#include "proxy/shard/shard.hpp"

namespace sluice::emulator {

/// The proxy's own shard as a part of the virtual-time network: its two ports are elements, its timers go through the
/// event loop. Thread: the loop's.
class ProxyNode final : public EventTarget, private proxy::Transmitter {
 public:
  /// `loop`, `pool` and `config` outlive it; connect() before the first packet.
  ProxyNode(EventLoop& loop, packet::PacketPool& pool, const proxy::ShardConfig& config, std::uint64_t seed);

  /// Where what it sends goes.
  void connect(Element& towards_radio, Element& towards_core);
  [[nodiscard]] Element& radio_port() { return radio_; }
  [[nodiscard]] Element& core_port() { return core_; }

  /// Reports that passed the session, all of one datagram.
  void on_reports(std::span<proxy::ReportArrival> reports, Instant now);
  void on_words(std::span<const proxy::SenderWord> words, Instant now) { shard_.on_words(words, now); }
  void collect_status(std::vector<control::feedback::BearerStatus>& out, bool all) { shard_.collect_status(out, all); }
  /// Other policies are put in force; they outlive it.
  void apply(const proxy::Policies& policies, Instant now) {
    shard_.apply(policies, now);
    settle(now);
  }
  [[nodiscard]] const proxy::Shard& shard() const { return shard_; }
  /// Packets lost because there was no buffer to copy them to, as a device would.
  [[nodiscard]] std::uint64_t copies_failed() const { return copies_failed_; }

  void on_event(std::uint64_t tag, Instant now) override;

 private:
  class Port final : public Element {
   public:
    Port(ProxyNode& node, proxy::Side side) : node_(node), side_(side) {}
    void receive(packet::Packet packet, Instant now) override { node_.receive(side_, std::move(packet), now); }

   private:
    ProxyNode& node_;
    proxy::Side side_;
  };

  void receive(proxy::Side side, packet::Packet packet, Instant now);
  void transmit(proxy::Side out, std::span<packet::Packet> burst, Instant now) override;
  void settle(Instant now);

  EventLoop& loop_;
  packet::PacketPool& pool_;
  Port radio_;
  Port core_;
  Element* towards_radio_ = nullptr;
  Element* towards_core_ = nullptr;
  Instant alarm_ = never;
  std::uint64_t copies_failed_ = 0;
  proxy::Shard shard_;
};

}  // namespace sluice::emulator
