#pragma once

#include <cstdint>

#include "dataplane/packet/packet.hpp"

namespace sluice::packet {

/// Copies the first `count` bytes of the payload (the last note().payload_len bytes of `packet`) into a packet of their
/// own from the same pool, and takes them off the note of `packet`: payload_len, payload_sum and seq then describe the
/// rest, whose bytes do not move (header_len grows instead), so that `packet` may be shared. The new packet has its
/// note filled the same way. Requires 0 < count < payload_len. An empty handle, and nothing changed, when the pool is
/// exhausted.
[[nodiscard]] Packet split_front(Packet& packet, std::uint16_t count) noexcept;

/// Takes the first `count` bytes of the payload off the note of `packet`, as split_front() does. Requires
/// count < payload_len.
void skip_front(Packet& packet, std::uint16_t count) noexcept;

}  // namespace sluice::packet
