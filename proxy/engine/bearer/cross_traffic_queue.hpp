#pragma once

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/bearer/delivery_ledger.hpp"
#include "proxy/engine/bearer/flow_queue.hpp"

namespace sluice::proxy {

/// Cross traffic of one UE: packets to the UE that no split connection sends. Holds the packets that wait for the UE's
/// window, and counts the bytes of those in flight. Exists while the UE's bearer limits cross traffic. Thread: its
/// shard's.
struct CrossTrafficQueue {
  /// Updates `share` when an ACK shows that `own` bytes of cross traffic and `others` bytes of connections were
  /// delivered.
  void record_share(Bytes own, Bytes others) {
    constexpr double memory = 256 << 10;  // bytes over which the mean is taken
    const auto all = static_cast<double>((own + others).count());
    const double weight = all / (all + memory);
    if (all > 0) share += weight * (static_cast<double>(own.count()) / all - share);
  }

  double share = 0;  ///< mean share of cross traffic in the delivered bytes, 0 … 1
  FlowQueue queue;
  DeliveryLedger sent;        ///< bytes sent and not known to be delivered
  Instant overdrawn_since{};  ///< start of the round trip for which `overdrawn` counts
  Bytes overdrawn;            ///< bytes that flows which send little have sent beyond the window in this round trip
  Instant ack_at{};           ///< time of the newest ACK that showed what was delivered
};

}  // namespace sluice::proxy
