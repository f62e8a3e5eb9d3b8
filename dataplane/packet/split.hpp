#pragma once

#include <cstdint>

#include "dataplane/packet/packet.hpp"

namespace sluice::packet {

/// Copies the first `count` bytes of the payload into a new packet of the same pool, with its own metadata
/// (PacketNote). The payload is the last note().payload_len bytes of `packet`. The metadata of `packet` then describes
/// the remaining payload: payload_len, payload_sum and seq change. The bytes of `packet` are not moved, so other
/// handles may refer to its buffer. Instead the copied bytes count as headers (header_len), which the next transmission
/// removes. Requires 0 < count < payload_len. Returns an empty handle and changes nothing if the pool is exhausted.
[[nodiscard]] Packet split_front(Packet& packet, std::uint16_t count) noexcept;

/// Excludes the first `count` bytes from the payload that the metadata of `packet` (PacketNote) describes. The metadata
/// changes as in split_front(), but nothing is copied. Requires count < payload_len.
void skip_front(Packet& packet, std::uint16_t count) noexcept;

}  // namespace sluice::packet
