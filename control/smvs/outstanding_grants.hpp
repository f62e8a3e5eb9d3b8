#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "control/feedback/report.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Estimates at the Node-B the bytes on the way to one UE's queue. An allowance is the number of bytes that a report
/// permits the proxy to send. The estimate is the sum of the allowances that the proxy has not confirmed yet, and of
/// the unused rest of the confirmed one. That rest is at most one packet, because the proxy keeps no more when the next
/// allowance arrives. Allowances older than a round trip are not counted, because they were used or lost. Reads no
/// clock.
///
/// An unconfirmed allowance is counted completely. A proxy without data does not use it, but the Node-B cannot detect
/// that, and the proxy may use several allowances in one burst. tests/bench/figures/laws.md states the cost of counting
/// only a part.
class OutstandingGrants {
 public:
  explicit OutstandingGrants(Duration one_way_delay) : round_trip_(2 * one_way_delay) {}

  /// Records an allowance (bytes that the proxy may send) in a report to the proxy. `sequence` is the value of
  /// Session::next_sequence() before the reports of this step are sent. The datagram with the allowance has this number
  /// or a greater one, and the proxy's status confirms the datagram's number. At most 64 allowances are kept. `now`
  /// never decreases.
  void granted(Instant now, std::uint64_t sequence, Bytes allowance);
  /// Records an authenticated status message of the proxy about this UE. `arrived` is the current count of all bytes
  /// that have reached the UE's queue. A status that is received after a newer one is ignored.
  void on_status(Instant now, const feedback::BearerStatus& status, std::uint64_t arrived);
  /// Returns the bytes on the way to the UE's queue at `now`. `arrived` is the current count of all bytes that have
  /// reached that queue.
  [[nodiscard]] Bytes in_flight(Instant now, std::uint64_t arrived) const;
  /// Discards all recorded allowances (bytes that the proxy may send), because the Node-B's sequence numbers start
  /// again.
  void restart();

 private:
  static constexpr std::size_t capacity = 64;
  struct Grant {
    Instant at;
    std::uint64_t sequence = 0;
    Bytes allowance;
  };

  Duration round_trip_;
  std::array<Grant, capacity> grants_{};
  std::size_t next_ = 0;
  std::size_t used_ = 0;
  std::uint64_t applied_sequence_ = 0;
  Instant status_at_{};
  Bytes left_;
  std::uint64_t arrived_at_status_ = 0;
};

}  // namespace sluice::control
