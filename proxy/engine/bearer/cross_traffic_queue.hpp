#pragma once

#include <cstdint>

#include "control/ack_based/answer_clock.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/bearer/delivery_ledger.hpp"
#include "proxy/engine/bearer/flow_queue.hpp"
#include "proxy/engine/bearer/pooled.hpp"

namespace sluice::proxy {

/// Cross traffic of one UE: packets to the UE that belong to no split or end-to-end connection, such as QUIC. Stores
/// packets that wait until the controller allows them, and counts the bytes in flight. Exists while the UE's bearer
/// limits cross traffic. The class Bearer creates and removes this object and the one in `clock`. Thread: the shard's.
struct CrossTrafficQueue {
  /// Updates `share`, the mean share of cross traffic, after an ACK. Since the last update, the UE has received `own`
  /// bytes of cross traffic and `others` bytes of TCP connections.
  void record_share(Bytes own, Bytes others) {
    constexpr double memory = 256 << 10;  // bytes over which the mean is taken
    const auto all = static_cast<double>((own + others).count());
    const double weight = all / (all + memory);
    if (all > 0) share += weight * (static_cast<double>(own.count()) / all - share);
  }

  /// True if TCP connections of the UE have bytes in flight, so that ACKs will come. The ACK of such bytes shows that
  /// all cross traffic sent before them was delivered. `flight` is the number of bytes in flight to the UE, including
  /// cross traffic.
  [[nodiscard]] bool awaits_acks(Bytes flight) const { return flight > in_flight(); }
  /// Returns the number of IP bytes of cross traffic (packets of no split or end-to-end connection) that are in flight
  /// to the UE.
  [[nodiscard]] Bytes in_flight() const { return sent.total() + (clock ? clock->in_flight() : Bytes{}); }
  /// True if packets with this hash (QueuedPacket::slot) belong to the QUIC download whose deliveries `clock`
  /// estimates.
  [[nodiscard]] bool is_clocked(std::uint32_t slot) const { return clock && slot == clocked_slot; }

  /// True while the QUIC download whose deliveries `clock` estimates must not send, so that the radio queue empties.
  /// Other flows of cross traffic may send.
  [[nodiscard]] bool is_holding() const { return clock && clock->holds(); }

  double share = 0;  ///< mean share (0 … 1) of cross traffic in the bytes that the UE has received
  FlowQueue queue;
  /// IP bytes that were sent and are not known to be delivered yet. Those of the QUIC download whose deliveries `clock`
  /// estimates are not included.
  DeliveryLedger sent;
  /// Estimates what one QUIC download has delivered, from the UE's short datagrams (answers) in the same flow. Set only
  /// if neither Node-B reports nor ACKs show what the link delivers.
  Pooled<control::AnswerClock> clock;
  /// QueuedPacket::slot of the packets of the QUIC download whose deliveries `clock` estimates.
  std::uint32_t clocked_slot = 0;
  /// Start of the current period (a round trip, at least 20 ms). In each period, sparse flows (those that send little)
  /// may together send 3000 bytes beyond the controller's window.
  Instant overdrawn_since{};
  /// IP bytes that sparse flows (those that send little) have sent beyond the controller's window since
  /// `overdrawn_since`
  Bytes overdrawn;
  /// Time of the newest ACK that showed how much the link delivers. Before the first such ACK, the time at which this
  /// object was created or ACKs became the controller's input.
  Instant ack_at{};
};

}  // namespace sluice::proxy
