#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/packet/pool.hpp"
#include "emulator/net/element.hpp"
#include "emulator/net/event_loop.hpp"
#include "proxy/engine/shard/shard.hpp"

namespace sluice::emulator {

/// The proxy's packet-processing shard as a node of the virtual-time network. The two ports of the shard are elements,
/// and its timers are events of the event loop. Thread: the event loop's.
class ProxyNode final : public EventTarget, private proxy::Transmitter {
 public:
  /// Makes a shard with `config`. `loop`, `pool` and `config` must outlive it. Call connect() before the first packet.
  ProxyNode(EventLoop& loop, packet::PacketPool& pool, const proxy::ShardConfig& config, std::uint64_t seed);

  /// Sets the elements that receive the packets which the proxy sends.
  void connect(Element& towards_radio, Element& towards_core);
  [[nodiscard]] Element& radio_port() { return radio_; }
  [[nodiscard]] Element& core_port() { return core_; }

  /// Passes the authenticated reports of one datagram to the shard.
  void on_reports(std::span<proxy::ReportArrival> reports, Instant now);
  /// Passes notices to the shard. A notice states that the reports of a Node-B omit unchanged UEs, so a missing report
  /// is not a loss.
  void on_omissions(std::span<const proxy::OmissionNotice> omissions, Instant now) {
    shard_.on_omissions(omissions, now);
  }
  void collect_status(std::vector<control::feedback::BearerStatus>& out, bool all) { shard_.collect_status(out, all); }
  /// Activates new policies in the shard. The policies must outlive this object.
  void apply(const proxy::Policies& policies, Instant now) {
    shard_.apply(policies, now);
    advance_shard(now);
  }
  [[nodiscard]] const proxy::Shard& shard() const { return shard_; }
  /// Returns the number of packets that were lost because no buffer was free to copy them. A network device would lose
  /// such packets, too.
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
  /// Runs the shard's due timers and schedules the event for its next deadline.
  void advance_shard(Instant now);

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
