#pragma once

#include <array>
#include <cstdint>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Datagrams of one flow that were sent to a UE and are not known to be delivered, oldest first. Datagrams that were
/// sent within a short time are stored as one *run*, so memory is bounded and the work per datagram is constant. Reads
/// no clock. Not thread-safe.
class DatagramsInFlight {
 public:
  /// Adds a datagram of `bytes` IP bytes, sent at `now`. `is_behind_drop` is true if the proxy has dropped the datagram
  /// before it. With the maximum number of runs in use, the datagram joins the newest run, and the drop is not stored.
  void add(Instant now, Bytes bytes, bool is_behind_drop);
  /// Removes up to `datagrams` datagrams of the oldest run (datagrams sent within a short time), and returns their
  /// bytes. Requires !empty().
  Bytes remove_oldest(std::uint32_t datagrams);
  /// Removes the datagrams that were sent before `until`.
  void remove_before(Instant until);
  void clear();

  [[nodiscard]] bool empty() const { return run_count_ == 0; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }
  /// Returns the number of datagrams in flight. It is a sum over up to 128 runs (datagrams sent within a short time),
  /// so the function is not called per datagram.
  [[nodiscard]] std::uint64_t count() const;
  /// True if at least `datagrams` datagrams are in flight. To avoid counting, it is also true for fewer datagrams that
  /// are stored as two runs or more, because they were sent at different times.
  [[nodiscard]] bool holds_at_least(double datagrams) const {
    return run_count_ > 1 || (run_count_ == 1 && oldest().datagrams >= datagrams);
  }
  /// Returns the time at which the oldest datagrams were sent. Datagrams that were sent within a short time (a run)
  /// share one time. It is that of the first of them, or a later one if all 128 runs are used. Requires !empty().
  [[nodiscard]] Instant oldest_sent() const { return oldest().last; }
  /// Returns the number of datagrams in the oldest run (datagrams sent within a short time). Requires !empty().
  [[nodiscard]] std::uint32_t oldest_count() const { return oldest().datagrams; }
  /// True if the proxy has dropped the datagram before the oldest one. Requires !empty().
  [[nodiscard]] bool oldest_is_behind_drop() const { return oldest().is_behind_drop; }

 private:
  struct Run {
    /// Time at which the first datagram of the run (datagrams sent within a short time) was sent. If all 128 runs are
    /// used, later datagrams join the newest run and replace its time by theirs.
    Instant last{};
    std::uint32_t datagrams = 0;
    std::uint32_t bytes = 0;
    bool is_behind_drop = false;  ///< true if the proxy has dropped the datagram directly before the first of the run
  };
  static constexpr std::uint32_t max_runs = 128;

  [[nodiscard]] const Run& oldest() const { return runs_[oldest_run_]; }
  [[nodiscard]] Run& newest() { return runs_[(oldest_run_ + run_count_ - 1) % max_runs]; }

  Bytes bytes_;  ///< bytes of all datagrams in flight
  std::uint32_t oldest_run_ = 0;
  std::uint32_t run_count_ = 0;
  std::array<Run, max_runs> runs_{};
};

}  // namespace sluice::control
