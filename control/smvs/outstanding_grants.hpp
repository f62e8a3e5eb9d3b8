#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "control/feedback/report.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Estimates at the Node-B the bytes on the way to one UE's queue, for a controller that runs there
/// (SmvsObservation::in_flight). These are allowances not yet confirmed by the proxy, plus the unused rest of the
/// allowance that the proxy has applied. The rest counts up to one packet, because the proxy keeps no more when the
/// next allowance replaces it. Data sent before a status arrives with it on the same path, so losses do not accumulate.
/// Without statuses only the grants of the last round trip count. Reads no clock.
///
/// Allowances on their way to the proxy count whole, although a proxy with nothing to send will not use them. The
/// Node-B cannot know that, and several at once may be spent in a burst. tests/bench/figures/laws.md states the cost of
/// counting only a part.
class OutstandingGrants {
 public:
  explicit OutstandingGrants(Duration one_way_delay) : round_trip_(2 * one_way_delay) {}

  /// Records a grant. `sequence` is Session::next_sequence() before the reports of this step are sent, so that it holds
  /// for any of several datagrams.
  /// At most 64 grants are kept. `now` never decreases.
  void granted(Instant now, std::uint64_t sequence, Bytes allowance);
  /// Records an authenticated status of this bearer. `arrived` is the current value of the queue's cumulative counter.
  /// Reordered statuses are ignored.
  void on_status(Instant now, const feedback::BearerStatus& status, std::uint64_t arrived);
  /// Returns the bytes on the way to the queue at `now`. `arrived` is the current value of the queue's cumulative
  /// counter.
  [[nodiscard]] Bytes in_flight(Instant now, std::uint64_t arrived) const;
  /// Discards all grants, because the Node-B's sequence numbers start again.
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
