#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "control/feedback/report.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// At the Node-B: what is under way to one UE's queue, i.e. SmvsObservation::in_flight where the Node-B computes the
/// law: allowances granted that the proxy has not been seen to take up, and what is left of the one it has, up to the
/// part of a packet that it keeps of it. More was left because there was nothing to send, and the next allowance
/// replaces it. What the proxy sends and its word of it travel the same way, so what it had sent before a status has
/// arrived with it: nothing adds up that is lost on the way. Without statuses it knows only its own grants. No clock
/// inside.
///
/// Allowances on their way to the proxy count whole, although one that has nothing to send will not spend them: nobody
/// can know that, and several at once may be spent on a burst. tests/bench/figures/laws.md has what it costs to count
/// less.
class GrantLedger {
 public:
  explicit GrantLedger(Duration one_way_delay) : round_trip_(2 * one_way_delay) {}

  /// An allowance goes out. `sequence` is Session::next_sequence() before the reports of this step are sent, so that it
  /// holds whichever of several datagrams carries the record. At most 64 are remembered. `now` never goes back.
  void granted(Instant now, std::uint64_t sequence, Bytes allowance);
  /// The proxy's word on this bearer, authenticated; `arrived` is the queue's cumulative counter now. Words that come
  /// out of order are passed over.
  void on_status(Instant now, const feedback::BearerStatus& status, std::uint64_t arrived);
  /// What is under way now.
  [[nodiscard]] Bytes in_flight(Instant now, std::uint64_t arrived) const;
  /// The Node-B's sequence numbers begin anew.
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
