#pragma once

#include <cstdint>

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/parse.hpp"

namespace sluice::packet {

/// Lowers the MSS options of a SYN or SYN-ACK that exceed `most` to `most`, in the frame and in `parsed`. Returns false
/// and changes nothing if there is no such option, or if the checksum shows that the frame is damaged. A finished
/// checksum is updated (RFC 1624). An unfinished one, which the sender left to an offload, does not depend on options.
/// Requires that the frame parsed as TCP with SYN, and that its buffer is not shared.
[[nodiscard]] bool lower_mss(Packet& packet, Parsed& parsed, std::uint16_t most) noexcept;

}  // namespace sluice::packet
