#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// At the proxy: what it has injected towards one UE and the Node-B has not yet seen arrive, i.e.
/// SmvsObservation::in_flight. Count everything sent towards the UE: retransmissions, forwarded packets. No clock
/// inside.
///
/// The difference of the two counters is right from one report to the next, but wrong for ever after the first packet
/// that got lost or joined on the way, and their origins differ. What was injected within the last round trip is right
/// in the long run, but blind to jitter. So the difference is taken, its origin drifting to where the two agree
/// (within a fraction of a second), and it is never more than what was injected within `lifetime`.
class InFlight {
 public:
  /// `round_trip`: proxy → Node-B → proxy, 2·τp. `lifetime`: what has not arrived by then is lost; zero means two round
  /// trips and 20 ms.
  explicit InFlight(Duration round_trip, Duration lifetime = Duration::zero());

  /// So long after something was injected it no longer matters when that was. Of one with the usual lifetime.
  [[nodiscard]] static Duration horizon(Duration round_trip);
  /// So many bytes were injected longer ago than that. Requires that nothing else is known yet.
  void begin_at(std::uint64_t total);
  /// Only the total matters of what is known at `now`: begin_at(total()) would be the same.
  [[nodiscard]] bool is_past(Instant now) const;

  /// Bytes of IP that went towards the radio.
  void injected(Instant now, Bytes amount);
  /// A report with the Node-B's cumulative `arrived` came in at `now`. Returns what is under way. A counter that runs
  /// backwards (the Node-B has restarted) starts the measurement anew.
  Bytes on_report(Instant now, std::uint64_t arrived);
  /// The next report's counter is another's (a handover to another Node-B): the measurement starts anew with it.
  void restart() { synchronised_ = false; }
  /// Asks the processor to fetch what on_report() looks at.
  void prefetch() const {
    __builtin_prefetch(&round_trip_);
    __builtin_prefetch(&newest_);
    __builtin_prefetch(&synchronised_);
  }
  /// Cumulative, for BearerStatus::injected.
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  static constexpr std::size_t slices = 64;
  struct Slice {
    Duration::rep number = 0;
    std::uint64_t total = 0;  ///< cumulative at the end of the slice
  };
  [[nodiscard]] std::size_t age_at(Duration::rep number) const;
  static constexpr Duration slice_of(Duration lifetime) {
    return lifetime / static_cast<Duration::rep>(slices - 2) + Duration(1);
  }
  [[nodiscard]] std::uint64_t since(Instant when) const;
  [[nodiscard]] const Slice& back(std::size_t age) const { return ring_[(newest_ + slices - age) % slices]; }

  Duration round_trip_;
  Duration lifetime_;
  Duration slice_;
  std::array<Slice, slices> ring_{};
  std::size_t newest_ = 0;
  std::uint64_t total_ = 0;
  double offset_ = 0;  ///< injected = arrived + origin_ + offset_ + under way
  std::uint64_t origin_ = 0;
  std::uint64_t arrived_ = 0;
  Instant reported_{};
  bool synchronised_ = false;
};

}  // namespace sluice::control
