#pragma once

#include "dataplane/packet/packet.hpp"

namespace sluice::packet {

/// Appends the payload of `second` (its last note().payload_len bytes) to the payload of `first`. Copying a small
/// payload costs less than keeping its buffer. The metadata of `first` is updated (payload_len and payload_sum). The
/// new sum is computed from both old sums, so that damage to the bytes in memory is still detected. `second` is not
/// changed.
///
/// If space is missing at the end and `first` contains only payload, that payload is moved within its buffer; headroom
/// for every header remains. Returns false and changes nothing in two cases: the payloads together exceed `most` bytes
/// or the buffer, or another handle refers to the buffer of `first`.
[[nodiscard]] bool join(Packet& first, const Packet& second, std::uint32_t most) noexcept;

/// Copies the payload of `first` in front of the payload of `second`, which must contain only payload. Afterwards the
/// metadata of `second` (PacketNote), including seq, describes both payloads. Limits, checksum and result are those of
/// join().
[[nodiscard]] bool join_front(const Packet& first, Packet& second, std::uint32_t most) noexcept;

}  // namespace sluice::packet
