#pragma once

#include <array>

#include "dataplane/tcp/seq.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// What one direction of a connection needs to hold and advertise so that neither leg ever waits for the other: twice
/// what is delivered in a round trip over both legs. Dynamic right-sizing (Fisk and Feng, LACSI 2001), which hosts do
/// for their receive buffers. While a sender is in slow start, what it delivers grows by up to twice until it is heard
/// of, and twice again until a wider window takes effect; so as much again is granted as a round trip delivered more
/// than the one before. It falls by an eighth for each round trip that needs less.
class Demand {
 public:
  /// What is granted before anything is known: the window of a SYN that is not scaled.
  static constexpr Bytes first{64 * 1024};
  /// … and what stays of it: a first window of ten segments (RFC 6928), with which a sender that pauses goes on.
  static constexpr Bytes least{16 * 1024};

  /// Before the first byte is delivered.
  Demand() = default;
  Demand(tcp::SeqNum delivered, Instant now) : mark_(delivered), since_(now) {}

  /// `delivered`: acknowledged by the receiver up to here. `round_trip`: over both legs, without the
  /// receiver's queues, but with what its acknowledgements wait for the uplink.
  void follow(tcp::SeqNum delivered, Duration round_trip, Instant now);
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  /// It was measured so lately that follow() does nothing, whatever the round trip.
  [[nodiscard]] bool is_fresh(Instant now) const { return now - since_ < shortest; }

 private:
  /// Bursts of acknowledgements are averaged over so long at least.
  static constexpr Duration shortest = std::chrono::milliseconds(10);

  [[nodiscard]] Bytes growth(Bytes in_round_trip) const;

  Bytes bytes_ = first;
  Bytes last_;  ///< delivered in a round trip, when last measured
  tcp::SeqNum mark_;
  Instant since_{};
};

/// Of both directions, by the Side that the bytes go to.
using Demands = std::array<Demand, 2>;

}  // namespace sluice::proxy
