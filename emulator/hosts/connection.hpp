#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dataplane/packet/build.hpp"
#include "dataplane/packet/pool.hpp"
#include "dataplane/tcp/accurate_ecn.hpp"
#include "dataplane/tcp/endpoint.hpp"
#include "dataplane/tcp/paced_sender.hpp"
#include "dataplane/units/bytes.hpp"
#include "emulator/hosts/ack_stretcher.hpp"
#include "emulator/hosts/application.hpp"
#include "emulator/hosts/payload_pattern.hpp"
#include "emulator/net/element.hpp"

namespace sluice::emulator {

/// One TCP connection of a built-in host: the endpoint, its packet headers and the application.
class Connection final : private tcp::Output {
 public:
  struct Parts {
    std::uint64_t number = 0;     ///< number of the connection in its host
    packet::Addresses addresses;  ///< addresses in the segments that the connection sends
    packet::HeaderTemplate headers;
    Bytes send_buffer;               ///< largest number of bytes written and not acknowledged
    std::uint32_t clock_offset = 0;  ///< offset added to the host's clock to form the connection's timestamps, in ms
    std::uint16_t mtu = 1500;        ///< MTU of the host, which limits packets whatever MSS the peer announces
    std::uint32_t ack_every = 2;     ///< number of in-order segments that one ACK acknowledges, see AckStretcher
    Duration ack_delay{};            ///< longest delay of a stretch ACK
    bool accurate_ecn = false;       ///< true if the connection may negotiate accurate ECN (RFC 9768)
  };
  /// Makes a connection for an application that the caller owns. `pool`, `wire` and `application` must outlive it.
  Connection(const Parts& parts, packet::PacketPool& pool, Element& wire, Application& application)
      : parts_(parts), pool_(pool), wire_(wire), application_(&application), acks_(parts.ack_every, parts.ack_delay) {}
  /// Makes a connection that owns its application.
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
  /// Returns the number of bytes that may be written now.
  [[nodiscard]] Bytes send_room() const;
  /// Writes all of `bytes`; meant for small messages. If packet memory is exhausted, the bytes that do not fit are kept
  /// and written later.
  void send(std::span<const std::uint8_t> bytes);
  /// Writes `count` bytes of `pattern` from `position` on. Returns the number of bytes written. It is less than `count`
  /// only if packet memory is exhausted; the application then continues at the next on_room().
  std::uint64_t send_pattern(const PayloadPattern& pattern, std::uint64_t position, std::uint64_t count);
  /// Sends a FIN after all written bytes.
  void finish();
  /// Resets the connection.
  void abort() { endpoint_.abort(); }

  // --- for the host ---

  [[nodiscard]] tcp::Endpoint& endpoint() { return endpoint_; }
  /// Returns the configuration for opening the endpoint: that of the host, `common`, to which the pacing and accurate
  /// ECN objects of this connection are added. `common` must outlive the connection.
  [[nodiscard]] const tcp::EndpointConfig& endpoint_config(const tcp::EndpointConfig& common);
  /// Informs the application of new events and sends what is due. Returns false once the connection is closed and
  /// on_closed() has been called.
  bool serve(Instant now);
  /// Ends the run: the application records its state.
  void end_run(Instant now) { application_->on_run_end(*this, now); }
  /// Returns the time by which serve() must be called next. If the deadline of the TCP endpoint is due then, call the
  /// endpoint's on_timer() before serve().
  [[nodiscard]] Instant next_deadline() const { return std::min(endpoint_.next_deadline(), acks_.due()); }
  /// True if packet memory was exhausted, so that a write or a segment failed. serve() must be called again soon.
  [[nodiscard]] bool starved() const { return starved_; }

 private:
  std::uint32_t transmit(const tcp::Segment& segment, packet::Packet* payload, Instant now) override;
  /// Sends one segment with `payload` (null: none) on the wire. Returns its IP bytes, or 0 if packet memory is
  /// exhausted.
  std::uint32_t put(const tcp::Segment& segment, packet::Packet* payload, Instant now);
  [[nodiscard]] std::uint32_t wire_size(std::uint32_t payload_len) const override;
  /// Returns the largest payload of a packet of the host.
  [[nodiscard]] std::uint32_t full_payload() const;
  void notify_application(Instant now);
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
  tcp::EndpointConfig config_;  ///< configuration of this connection, if it differs from the host's
  tcp::Endpoint endpoint_;
  AckStretcher acks_;
  /// Written bytes that are not in the endpoint yet, because packet memory is exhausted.
  std::vector<std::uint8_t> waiting_;
  std::uint16_t ip_id_ = 0;
  bool open_ = false;
  bool peer_finished_ = false;
  bool finish_wanted_ = false;  ///< true if a FIN must be sent once all written bytes are in the endpoint
  bool starved_ = false;
};

}  // namespace sluice::emulator
