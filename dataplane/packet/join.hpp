#pragma once

#include "dataplane/packet/packet.hpp"

namespace sluice::packet {

/// Copies the payload of `second` (its last note().payload_len bytes) behind the payload of `first`, so that one buffer
/// holds both: a small payload that waits costs less to copy than the buffer it keeps. payload_len and payload_sum of
/// `first` follow; the sum is put together from both, so that bytes damaged in between are still found out. `second` is
/// left as it is. A `first` that holds nothing but payload is moved within its buffer where there is no room behind it;
/// headroom for every header stays. False, and nothing changed, when the payloads together exceed `most` bytes, do not
/// fit the buffer, or somebody else holds `first`.
[[nodiscard]] bool join(Packet& first, const Packet& second, std::uint32_t most) noexcept;

/// The same in front of `second`, which holds nothing but payload and whose note, seq too, then describes both.
[[nodiscard]] bool join_front(const Packet& first, Packet& second, std::uint32_t most) noexcept;

}  // namespace sluice::packet
