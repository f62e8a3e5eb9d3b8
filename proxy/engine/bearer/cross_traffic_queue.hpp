#pragma once

#include <cstdint>

#include "control/ack_based/answer_clock.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/bearer/delivery_ledger.hpp"
#include "proxy/engine/bearer/flow_queue.hpp"
#include "proxy/engine/bearer/pooled.hpp"

namespace sluice::proxy {

/// Cross traffic of one UE: packets to the UE that belong to no split connection. Stores packets that wait for the UE's
/// window, and counts the bytes in flight. Exists while the UE's bearer limits cross traffic. Bearer creates and
/// removes it and its clock. Thread: the shard's.
struct CrossTrafficQueue {
  /// Updates `share` after an ACK: `own` bytes of cross traffic and `others` bytes of connections have been delivered
  /// since the last update.
  void record_share(Bytes own, Bytes others) {
    constexpr double memory = 256 << 10;  // bytes over which the mean is taken
    const auto all = static_cast<double>((own + others).count());
    const double weight = all / (all + memory);
    if (all > 0) share += weight * (static_cast<double>(own.count()) / all - share);
  }

  /// True if connections of the UE have bytes in flight. The ACK of such a byte shows that the cross traffic sent
  /// before that byte was delivered. `flight` is the number of bytes in flight to the UE, with those of cross traffic.
  [[nodiscard]] bool awaits_acks(Bytes flight) const { return flight > in_flight(); }
  /// Returns the IP bytes of cross traffic (packets of no split connection) in flight to the UE.
  [[nodiscard]] Bytes in_flight() const { return sent.total() + (clock ? clock->in_flight() : Bytes{}); }
  /// True if packets with this hash (QueuedPacket::slot) belong to the QUIC download whose deliveries `clock`
  /// estimates.
  [[nodiscard]] bool is_clocked(std::uint32_t slot) const { return clock && slot == clocked_slot; }

  /// True if nothing of the flow whose answers are counted may be sent now. Other flows go on.
  [[nodiscard]] bool is_holding() const { return clock && clock->holds(); }

  double share = 0;  ///< mean share of cross traffic in the delivered bytes, 0 … 1
  FlowQueue queue;
  /// Bytes that were sent and are not known to be delivered yet. Those of the QUIC download whose deliveries `clock`
  /// estimates are not included.
  DeliveryLedger sent;
  /// Estimates what one QUIC download has delivered, from the UE's short datagrams (answers) in the same flow. Set only
  /// if neither Node-B reports nor ACKs show what the link delivers.
  Pooled<control::AnswerClock> clock;
  /// QueuedPacket::slot of the packets of the QUIC download whose deliveries `clock` estimates.
  std::uint32_t clocked_slot = 0;
  Instant overdrawn_since{};  ///< start of the round trip in which the bytes of `overdrawn` were sent
  /// bytes that sparse flows (those that send little) have sent beyond the window during this round trip
  Bytes overdrawn;
  Instant ack_at{};  ///< time of the newest ACK that showed deliveries, or of the switch from reports to ACKs
                     ///< as the controller's input
};

}  // namespace sluice::proxy
