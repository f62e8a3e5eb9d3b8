#pragma once

#include <array>

#include "dataplane/packet/seq.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Receive-buffer demand of one direction of a split connection: the number of bytes that the proxy must hold and
/// advertise so that neither leg (TCP connection to one host) waits for the other. It is twice the data delivered in
/// one round trip over both legs, as in dynamic right-sizing (Fisk and Feng, LACSI 2001). Twice the growth of the
/// delivered data since the round trip before is added. The reason is slow start: the data doubles while it is
/// measured, and doubles again before a wider window takes effect. The demand decreases by at most 1/8 per round trip.
class ReceiveBufferDemand {
 public:
  /// Demand (bytes to hold and advertise) before the first measurement: the largest window that needs no window
  /// scaling.
  static constexpr Bytes first{64 * 1024};
  /// Minimum demand (bytes to hold and advertise): slightly more than the initial window of ten segments (RFC 6928)
  /// with which a sender restarts after a pause.
  static constexpr Bytes least{16 * 1024};

  /// Creates the demand of a direction that has carried no data.
  ReceiveBufferDemand() = default;
  /// Creates the demand of a direction whose measurement starts at sequence number `delivered`.
  ReceiveBufferDemand(tcp::SeqNum delivered, Instant now) : mark_(delivered), since_(now) {}

  /// Updates the demand. `delivered` is SND.UNA of the TCP endpoint that faces the receiver. `round_trip` is the sum of
  /// the round-trip times to both hosts. It excludes the queueing delay towards the receiver and includes the delay of
  /// the receiver's ACKs.
  void follow(tcp::SeqNum delivered, Duration round_trip, Instant now);
  /// Returns the demand, the number of bytes that the proxy must hold and advertise.
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  /// True if the last measurement is less than 10 ms (`shortest`) old, so that follow() would change nothing.
  [[nodiscard]] bool is_fresh(Instant now) const { return now - since_ < shortest; }
  /// True if follow() may increase the demand, because bytes up to sequence number `delivered` are not measured yet.
  [[nodiscard]] bool may_rise(tcp::SeqNum delivered, Instant now) const { return delivered != mark_ && !is_fresh(now); }

 private:
  /// Minimum duration of a measurement of delivered data. ACKs arrive in bursts, which would distort a shorter
  /// measurement.
  static constexpr Duration shortest = std::chrono::milliseconds(10);

  /// Returns by how many bytes the data delivered in the last round trip, `in_round_trip`, exceeds that of the round
  /// trip before. The result is at most the data of the round trip before.
  [[nodiscard]] Bytes growth(Bytes in_round_trip) const;

  Bytes bytes_ = first;
  Bytes last_;        ///< bytes delivered in one round trip, according to the measurement before the current one
  tcp::SeqNum mark_;  ///< sequence number from which the delivered bytes are being measured now
  Instant since_{};   ///< time since which the delivered bytes are being measured now
};

/// Demands of both directions of a connection, indexed by the Side towards which the data flows.
using ReceiveBufferDemands = std::array<ReceiveBufferDemand, 2>;

}  // namespace sluice::proxy
