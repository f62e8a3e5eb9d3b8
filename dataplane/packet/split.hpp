#pragma once

#include <cstdint>

#include "dataplane/packet/packet.hpp"

namespace sluice::packet {

/// Copies the first `count` bytes of the payload (the last note().payload_len bytes of `packet`) into a new packet of
/// the same pool. The note of `packet` then describes the remaining payload: payload_len, payload_sum and seq change.
/// The bytes of `packet` do not move (header_len grows instead), so it may be shared. The note of the new packet
/// describes the copied bytes. Requires 0 < count < payload_len. Returns an empty handle and changes nothing if the
/// pool is exhausted.
[[nodiscard]] Packet split_front(Packet& packet, std::uint16_t count) noexcept;

/// Removes the first `count` bytes of the payload from the note of `packet`, as split_front() does. Requires count <
/// payload_len.
void skip_front(Packet& packet, std::uint16_t count) noexcept;

}  // namespace sluice::packet
