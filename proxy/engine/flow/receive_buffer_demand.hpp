#pragma once

#include <array>

#include "dataplane/packet/seq.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Receive-buffer demand of one direction of a connection: the bytes that the proxy must hold and advertise so that
/// neither leg waits for the other one. The demand is twice the data delivered in one round trip over both legs, as in
/// dynamic right-sizing (Fisk and Feng, LACSI 2001). During slow start the data delivered doubles until it is measured,
/// and doubles again until a wider window takes effect. So twice the growth since the last round trip is added. The
/// demand decreases by at most an eighth per round trip.
class ReceiveBufferDemand {
 public:
  /// Demand before the first measurement: the largest window without scaling.
  static constexpr Bytes first{64 * 1024};
  /// Minimum demand: an initial window of ten segments (RFC 6928), with which a sender resumes after a pause.
  static constexpr Bytes least{16 * 1024};

  /// Creates a record of a direction without data.
  ReceiveBufferDemand() = default;
  /// Creates a record whose measurement starts at sequence number `delivered`.
  ReceiveBufferDemand(tcp::SeqNum delivered, Instant now) : mark_(delivered), since_(now) {}

  /// Updates the demand from the delivered data. `delivered` is SND.UNA of the leg to the receiver. `round_trip` is the
  /// sum of both legs, without the receiver's queueing delay but with the delay of its ACKs on the uplink.
  void follow(tcp::SeqNum delivered, Duration round_trip, Instant now);
  /// Returns the demand: bytes that the direction must hold and advertise.
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  /// True if the last measurement of the demand is so recent that follow() would do nothing, whatever the round trip.
  [[nodiscard]] bool is_fresh(Instant now) const { return now - since_ < shortest; }

 private:
  /// Shortest time over which delivered data is measured, because ACKs arrive in bursts.
  static constexpr Duration shortest = std::chrono::milliseconds(10);

  /// Returns by how much the delivered bytes have grown over the last round trip, at most that round trip's bytes.
  [[nodiscard]] Bytes growth(Bytes in_round_trip) const;

  Bytes bytes_ = first;
  Bytes last_;        ///< bytes delivered in one round trip, according to the last measurement
  tcp::SeqNum mark_;  ///< sequence number at which the current measurement started
  Instant since_{};   ///< time when the current measurement started
};

/// Demands of both directions of a connection, indexed by the Side that the data goes to.
using ReceiveBufferDemands = std::array<ReceiveBufferDemand, 2>;

}  // namespace sluice::proxy
