#pragma once

#include <cstdint>

#include "dataplane/packet/packet.hpp"
#include "dataplane/tcp/segment.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// An allowance from here on bounds nothing.
inline constexpr Bytes least_unbounded{Bytes::max().count() / 2};

/// Where an endpoint's segments go: puts link, IP and TCP headers on them and hands them to a port.
class Output {
 public:
  /// Sends `segment`. `payload` is null for a segment without data; otherwise its *last* segment.payload_len bytes are
  /// the data (note().payload_sum is their checksum) and it stays the endpoint's: the output takes a second reference
  /// and writes the headers in front, where those of an earlier transmission may still stand (note().header_len bytes).
  /// Until the device has let go of the buffer (Packet::shared()) nobody may change it.
  /// Returns the size of the IP packet in bytes, or 0 when nothing could be sent (no buffer, payload still in the
  /// device's queue): the endpoint then keeps what it wanted to send and tries again.
  virtual std::uint32_t transmit(const Segment& segment, packet::Packet* payload, Instant now) = 0;

  /// The same of a segment that does nothing but acknowledge, as most without data.
  virtual std::uint32_t acknowledge(const Acknowledgement& ack, Instant now) {
    return transmit(ack.segment(), nullptr, now);
  }

  /// IP packet size that transmit would return for `payload_len` bytes of data (without SACK blocks); for allowances.
  [[nodiscard]] virtual std::uint32_t wire_size(std::uint32_t payload_len) const = 0;

  /// Asks for the buffer that cutting a packet takes; true when it may be taken. `only`: nothing of the connection is
  /// in flight, so that without it nothing would ever be.
  [[nodiscard]] virtual bool grant_cut([[maybe_unused]] bool only) { return true; }

 protected:
  ~Output() = default;
};

}  // namespace sluice::tcp
