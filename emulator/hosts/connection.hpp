#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dataplane/packet/build.hpp"
#include "dataplane/packet/pool.hpp"
#include "dataplane/tcp/endpoint.hpp"
#include "dataplane/tcp/paced_sender.hpp"
#include "dataplane/units/bytes.hpp"
#include "emulator/hosts/ack_stretcher.hpp"
#include "emulator/hosts/application.hpp"
#include "emulator/hosts/payload_pattern.hpp"
#include "emulator/net/element.hpp"

namespace sluice::emulator {

/// One TCP connection of a built-in host: the endpoint, the headers it sends with, and the application on top.
class Connection final : private tcp::Output {
 public:
  struct Parts {
    std::uint64_t number = 0;     ///< of the connection in its host
    packet::Addresses addresses;  ///< as seen in what it sends
    packet::HeaderTemplate headers;
    Bytes send_buffer;               ///< written and not acknowledged, at most
    std::uint32_t clock_offset = 0;  ///< of the timestamps it sends, ms
    std::uint16_t mtu = 1500;        ///< of its host: whatever the peer takes, no packet is longer
    std::uint32_t ack_every = 2;     ///< see AckStretcher
    Duration ack_delay{};            ///< of acknowledgements that wait for that
    bool accurate_ecn = false;       ///< it may agree on accurate ECN feedback
  };
  /// `pool`, `wire` and `application` outlive the connection.
  Connection(const Parts& parts, packet::PacketPool& pool, Element& wire, Application& application)
      : parts_(parts), pool_(pool), wire_(wire), application_(&application), acks_(parts.ack_every, parts.ack_delay) {}
  /// Owns its application.
  Connection(const Parts& parts, packet::PacketPool& pool, Element& wire, std::unique_ptr<Application> application)
      : parts_(parts),
        pool_(pool),
        wire_(wire),
        owned_(std::move(application)),
        application_(owned_.get()),
        acks_(parts.ack_every, parts.ack_delay) {}

  // --- for applications ---

  [[nodiscard]] std::uint64_t number() const { return parts_.number; }
  [[nodiscard]] const packet::Addresses& addresses() const { return parts_.addresses; }
  [[nodiscard]] const tcp::Endpoint& endpoint() const { return endpoint_; }
  /// Bytes that may be written now.
  [[nodiscard]] Bytes send_room() const;
  /// Writes all of it, for what is small: where packet memory is exhausted, the rest waits here until it is not.
  void send(std::span<const std::uint8_t> bytes);
  /// Writes `count` bytes of `pattern` from `position` on; returns how many were taken: fewer than given only when
  /// packet memory is exhausted. The application asks again when there is room.
  std::uint64_t send_pattern(const PayloadPattern& pattern, std::uint64_t position, std::uint64_t count);
  /// FIN after everything written.
  void finish();
  void abort() { endpoint_.abort(); }

  // --- for the host ---

  [[nodiscard]] tcp::Endpoint& endpoint() { return endpoint_; }
  /// What to open the endpoint with, of the host's `common`; which outlives the connection.
  [[nodiscard]] const tcp::EndpointConfig& endpoint_config(const tcp::EndpointConfig& common);
  /// Tells the application what has happened, and sends what is due. Returns false once the connection is closed and
  /// the application knows.
  bool serve(Instant now);
  /// The run is over: the application writes down what it has.
  void end_run(Instant now) { application_->on_run_end(*this, now); }
  /// When it is to be served at the latest; of the endpoint's timers, those that have expired must be told first.
  [[nodiscard]] Instant next_deadline() const { return std::min(endpoint_.next_deadline(), acks_.due()); }
  /// Packet memory ran out: serve again before long.
  [[nodiscard]] bool starved() const { return starved_; }

 private:
  std::uint32_t transmit(const tcp::Segment& segment, packet::Packet* payload, Instant now) override;
  /// Puts it on the wire, or nothing when packet memory is exhausted. Returns the IP bytes.
  std::uint32_t put(const tcp::Segment& segment, packet::Packet* payload, Instant now);
  [[nodiscard]] std::uint32_t wire_size(std::uint32_t payload_len) const override;
  /// What one packet of its host carries at most.
  [[nodiscard]] std::uint32_t full_payload() const;
  void tell_application(Instant now);
  void deliver(Instant now);
  [[nodiscard]] std::uint16_t segment_for(const packet::Packet& packet, std::uint64_t left) const;
  void write(packet::Packet packet);
  void write_waiting();

  Parts parts_;
  packet::PacketPool& pool_;
  Element& wire_;
  std::unique_ptr<Application> owned_;
  Application* application_;
  std::unique_ptr<tcp::PacedEndpoint> paced_;
  tcp::AccurateEcn accurate_ecn_;
  tcp::EndpointConfig config_;  ///< where it is the connection's own
  tcp::Endpoint endpoint_;
  AckStretcher acks_;
  std::vector<std::uint8_t> waiting_;  ///< written, for want of packet memory not yet in the endpoint's hands
  std::uint16_t ip_id_ = 0;
  bool open_ = false;
  bool peer_finished_ = false;
  bool finish_wanted_ = false;  ///< once nothing waits
  bool starved_ = false;
};

}  // namespace sluice::emulator
