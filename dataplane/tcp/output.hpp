#pragma once

#include <cstdint>

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/segment.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// Smallest allowance (bytes that a caller of emit() permits to send) that counts as unlimited, because no connection
/// sends that many bytes.
inline constexpr Bytes min_unbounded{Bytes::max().count() / 2};

/// Receiver of an endpoint's segments: adds link, IP and TCP headers and passes the packets to a port.
class Output {
 public:
  /// Sends `segment`. Returns the size of the IP packet in bytes. Returns 0 if nothing could be sent: no buffer is
  /// free, or the payload is still in the device's queue. The endpoint then tries again later.
  ///
  /// `payload` is null for a segment without data. Otherwise the *last* segment.payload_len bytes of `payload` are the
  /// data, and note().payload_sum is their checksum. The endpoint keeps the packet. The output makes a second reference
  /// and writes the headers in front of the data, over those of an earlier transmission (note().header_len bytes). The
  /// buffer must not be changed before the device has released it (Packet::shared()).
  virtual std::uint32_t transmit(const Segment& segment, packet::Packet* payload, Instant now) = 0;

  /// Sends a pure ACK; the result is that of transmit(). Most segments without data are pure ACKs, so an implementation
  /// can override this function with a faster one.
  virtual std::uint32_t acknowledge(const Acknowledgement& ack, Instant now) {
    return transmit(ack.segment(), nullptr, now);
  }

  /// Returns the IP packet size that transmit() returns for `payload_len` bytes of data without SACK blocks. The
  /// endpoint compares this size with its allowance, the bytes that it may still send.
  [[nodiscard]] virtual std::uint32_t wire_size(std::uint32_t payload_len) const = 0;

  /// Asks whether the endpoint may use one more buffer to cut a packet in two; returns true if it may. `only` is true
  /// if the connection has nothing in flight, so that it stalls without the buffer.
  [[nodiscard]] virtual bool grant_cut([[maybe_unused]] bool only) { return true; }

 protected:
  ~Output() = default;
};

}  // namespace sluice::tcp
