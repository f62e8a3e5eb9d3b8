#pragma once

#include <algorithm>
#include <cstdint>

#include "control/smvs/allowance.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Send grant of a UE bearer: the bytes that the last step of its controller allows to send, and how much of them is
/// left. Thread: the shard's.
class SendGrant {
 public:
  /// Starts a new controller step that grants `allowance` bytes. Unused bytes of the last step are discarded. At most
  /// one packet of them is kept if data is `waiting`, because a fraction of a packet could not be sent.
  void give(Bytes allowance, bool waiting) {
    const Bytes carried = std::min(std::max(left_, Bytes{}), waiting ? control::longest_packet : Bytes{});
    given_ = std::max(allowance, Bytes{});
    left_ = given_ + carried;
    touched_ = false;
  }
  /// Subtracts `bytes` just sent.
  void spend(Bytes bytes) {
    left_ -= bytes;
    touched_ = touched_ || bytes > Bytes{};
  }
  /// True if granted bytes were sent since the last controller step.
  [[nodiscard]] bool touched() const { return touched_; }
  /// Returns the granted bytes that are left; negative if more were sent than granted.
  [[nodiscard]] Bytes left() const { return left_; }
  /// Returns the number of bytes that the controller permitted at its last step.
  [[nodiscard]] Bytes given() const { return given_; }

 private:
  Bytes left_{};
  Bytes given_{};
  bool touched_ = false;
};

/// Replaces missing Node-B reports of a UE by controller steps at the mean rate: has the timer that detects a missing
/// report, and counts the steps. Thread: the shard's.
class MissingReportExtrapolator {
 public:
  /// Arms the missing-report timer: the next Node-B report counts as missing from `at` on; `never`: no report is
  /// expected.
  void expect(Instant at) {
    at_ = at;
    suspended_ = false;
  }
  /// Returns when the next Node-B report counts as missing.
  [[nodiscard]] Instant at() const { return at_; }
  /// Suspends the timer, because the Node-B omits the unchanged UE from its reports.
  void suspend() {
    at_ = never;
    suspended_ = true;
  }
  /// True if suspend() was called and expect() has not been called since.
  [[nodiscard]] bool is_suspended() const { return suspended_; }
  /// Counts one controller step that replaces a missing Node-B report, and re-arms the missing-report timer one period
  /// later.
  void extrapolate(Duration period) {
    at_ += period;
    ++extrapolated_;
  }
  /// Handles a Node-B report; `lost` reports before it were lost. Returns how many of the counted steps replaced
  /// reports that were only late, this report included.
  [[nodiscard]] std::uint64_t take_late(std::uint64_t lost) {
    const std::uint64_t late = extrapolated_ > lost ? extrapolated_ - lost : 0;
    extrapolated_ = 0;
    return late;
  }
  /// Clears the count of replaced reports, because another Node-B sends reports now and the missing ones will not
  /// arrive.
  void restart() { extrapolated_ = 0; }

 private:
  Instant at_ = never;
  std::uint64_t extrapolated_ = 0;  ///< controller steps without a Node-B report since the newest report was received
  bool suspended_ = false;
};

}  // namespace sluice::proxy
