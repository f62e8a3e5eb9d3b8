#pragma once

#include "dataplane/units/bytes.hpp"
#include "proxy/engine/flow_table/rx_packet.hpp"

namespace sluice::proxy {

/// Maximum IP length of a UE's datagram that counts as an answer to a download, that is, as an acknowledgement. QUIC
/// packets that only contain acknowledgements are rarely longer. Longer datagrams are assumed to carry data of the UE.
inline constexpr Bytes max_answer{200};

/// True for a packet with which a connection begins or ends: a TCP segment with SYN, FIN or RST, or a packet of a QUIC
/// handshake.
[[nodiscard]] bool is_handshake(const RxPacket& rx);

}  // namespace sluice::proxy
