#pragma once

#include <algorithm>
#include <cstdint>

#include "control/smvs/allowance.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Send budget of a UE bearer from the last controller step, and how much of it is left. Thread: the shard's.
class SendGrant {
 public:
  /// Starts a new step with `allowance` bytes. Unused bytes of the last step are discarded. At most one packet of them
  /// is kept if data is `waiting`, because a fraction of a packet could not be sent.
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
  /// True if bytes of the grant were spent since the last controller step.
  [[nodiscard]] bool touched() const { return touched_; }
  /// Returns the bytes left of the grant; negative if more were sent than granted.
  [[nodiscard]] Bytes left() const { return left_; }
  /// Returns the bytes granted at the last controller step.
  [[nodiscard]] Bytes given() const { return given_; }

 private:
  Bytes left_{};
  Bytes given_{};
  bool touched_ = false;
};

/// Timer and counter of the steps at the mean rate that replace missing reports of a UE bearer. Thread: the shard's.
class MissingReportExtrapolator {
 public:
  /// Arms the missing-report timer: the next report counts as missing from `at` on; `never`: no report is expected.
  void expect(Instant at) {
    at_ = at;
    suspended_ = false;
  }
  /// Returns when the next report counts as missing.
  [[nodiscard]] Instant at() const { return at_; }
  /// Suspends the missing-report timer, because the Node-B has omitted the unchanged UE from its reports.
  void suspend() {
    at_ = never;
    suspended_ = true;
  }
  /// True between suspend() and the next expect().
  [[nodiscard]] bool is_suspended() const { return suspended_; }
  /// Counts one step that replaces the missing report, and re-arms the missing-report timer one period later.
  void extrapolate(Duration period) {
    at_ += period;
    ++extrapolated_;
  }
  /// Handles a report; `lost` reports before it were lost. Returns how many of the counted steps replaced reports that
  /// were only late, this report included.
  [[nodiscard]] std::uint64_t take_late(std::uint64_t lost) {
    const std::uint64_t late = extrapolated_ > lost ? extrapolated_ - lost : 0;
    extrapolated_ = 0;
    return late;
  }
  /// Clears the count of steps, because another Node-B sends reports now and the missing ones will not arrive.
  void restart() { extrapolated_ = 0; }

 private:
  Instant at_ = never;
  std::uint64_t extrapolated_ = 0;  ///< steps without a report since the newest report was received
  bool suspended_ = false;
};

}  // namespace sluice::proxy
