#pragma once

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/bearer/delivery_ledger.hpp"
#include "proxy/engine/bearer/flow_queue.hpp"

namespace sluice::proxy {

/// Cross traffic of one UE bearer while it waits for the bearer's window: packets to the UE that no split connection
/// sends, and the bytes of such packets that are in flight. Exists while the bearer limits cross traffic. Thread: its
/// shard's.
struct CrossTrafficQueue {
  /// Updates `share` for an ACK that shows `own` delivered bytes of cross traffic and `others` of connections.
  void record_share(Bytes own, Bytes others) {
    constexpr double memory = 256 << 10;  // bytes over which the mean is taken
    const auto all = static_cast<double>((own + others).count());
    const double weight = all / (all + memory);
    if (all > 0) share += weight * (static_cast<double>(own.count()) / all - share);
  }

  double share = 0;  ///< mean share of cross traffic in the delivered bytes, 0 … 1
  FlowQueue queue;
  DeliveryLedger sent;        ///< bytes sent and not known to be delivered
  Instant overdrawn_since{};  ///< start of the round trip in which `overdrawn` counts
  Bytes overdrawn;            ///< bytes that sparse flows have sent beyond the window in this round trip
  Instant ack_at{};           ///< time of the newest ACK that showed what was delivered
};

}  // namespace sluice::proxy
