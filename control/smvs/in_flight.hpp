#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Estimates the bytes that the proxy has sent towards one UE and that have not arrived at the Node-B. Retransmissions
/// and forwarded packets count too. Reads no clock.
///
/// Two estimates are combined. The first one is the proxy's count of sent bytes minus the Node-B's count of arrived
/// bytes. It is right even if packets arrive earlier or later than usual (jitter). It has a constant error, because
/// packets are lost or added on the way, and because the counters start at different values. The second estimate is the
/// number of bytes sent within the last round trip. It is right on average, but wrong during jitter. The result is the
/// first estimate plus an offset, which adapts within a fraction of a second until both estimates agree on average. The
/// result never exceeds the bytes sent within `lifetime`.
class InFlight {
 public:
  /// Makes the estimator for a `round_trip` from the proxy to the Node-B and back, 2·τp. Bytes that have not arrived
  /// after `lifetime` count as lost; zero means two round trips and 20 ms.
  explicit InFlight(Duration round_trip, Duration lifetime = Duration::zero());

  /// Returns the default lifetime (two round trips and 20 ms) plus two slices (short intervals) of the history of sent
  /// bytes. Bytes sent longer ago no longer change the estimate. `round_trip` is that between proxy and Node-B.
  [[nodiscard]] static Duration horizon(Duration round_trip);
  /// Sets the number of bytes sent so far to `total`. All of them must have been sent longer than horizon() ago,
  /// because the history of recently sent bytes does not contain them. Requires a new object.
  void begin_at(std::uint64_t total);
  /// True if a new object, initialised by begin_at(total()), can replace this one: no report was processed, and all
  /// bytes were sent longer than horizon() before `now`.
  [[nodiscard]] bool is_past(Instant now) const;

  /// Records that `amount` IP bytes were sent towards the radio at `now`.
  void on_sent(Instant now, Bytes amount);
  /// Processes a report that was received at `now`. `arrived` is the Node-B's count of all bytes that have reached the
  /// UE's queue. Returns the bytes in flight. If `arrived` is smaller than before, the Node-B has restarted, and the
  /// estimate restarts.
  Bytes on_report(Instant now, std::uint64_t arrived);
  /// Restarts the estimate with the next report. Called after a handover, because the report then comes from another
  /// Node-B with another counter.
  void restart() { synchronised_ = false; }
  /// Prefetches the members that on_report() reads.
  void prefetch() const {
    __builtin_prefetch(&round_trip_);
    __builtin_prefetch(&newest_);
    __builtin_prefetch(&synchronised_);
  }
  /// Returns the number of all bytes sent towards the UE so far, for BearerStatus::injected.
  [[nodiscard]] std::uint64_t total() const { return total_; }

 private:
  static constexpr std::size_t slices = 64;
  struct Slice {
    Duration::rep number = 0;
    std::uint64_t total = 0;  ///< number of all bytes sent until the end of this slice (a short interval of time)
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
  /// Slowly adapting offset in bytes between the counters of sent and arrived bytes: total_ = arrived_ + origin_ +
  /// offset_ + bytes in flight. The offset is fractional; `origin_` is constant.
  double offset_ = 0;
  std::uint64_t origin_ = 0;
  std::uint64_t arrived_ = 0;
  Instant reported_{};
  bool synchronised_ = false;
};

}  // namespace sluice::control
