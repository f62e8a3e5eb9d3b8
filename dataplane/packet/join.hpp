#pragma once

#include "dataplane/packet/packet.hpp"

namespace sluice::packet {

/// Copies the payload of `second` (its last note().payload_len bytes) after the payload of `first`, so that one buffer
/// holds both. Copying a small payload costs less than the buffer it occupies. payload_len and payload_sum of `first`
/// are updated. The sum is computed from both sums, so that bytes damaged in between are still detected. `second` is
/// not changed.
///
/// If space is missing at the end, a `first` that holds only payload is moved within its buffer; headroom for every
/// header remains. Returns false and changes nothing if the payloads together exceed `most` bytes or the buffer, or if
/// `first` is shared.
[[nodiscard]] bool join(Packet& first, const Packet& second, std::uint32_t most) noexcept;

/// Copies the payload of `first` in front of the payload of `second`, which must hold only payload. The note of
/// `second`, including seq, then describes both. In all other respects it works like join().
[[nodiscard]] bool join_front(const Packet& first, Packet& second, std::uint32_t most) noexcept;

}  // namespace sluice::packet
