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
  /// Starts a new step with `allowance` bytes. The rest of the last step is discarded. At most one packet is kept if
  /// data is `waiting`, because a fraction of a packet could not be sent.
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
  /// True if any of the grant was spent since the last step.
  [[nodiscard]] bool touched() const { return touched_; }
  /// Returns the bytes left; negative if more was sent than granted.
  [[nodiscard]] Bytes left() const { return left_; }
  /// Returns the bytes granted at the last step.
  [[nodiscard]] Bytes given() const { return given_; }

 private:
  Bytes left_{};
  Bytes given_{};
  bool touched_ = false;
};

/// Steps at the mean rate that replace missing reports of a UE bearer. Thread: the shard's.
class MissingReportExtrapolator {
 public:
  /// Arms the timer: from `at` on the next report counts as missing; `never`: no report is expected.
  void expect(Instant at) {
    at_ = at;
    suspended_ = false;
  }
  /// Returns when the next report counts as missing.
  [[nodiscard]] Instant at() const { return at_; }
  /// Suspends the timer, because the Node-B has omitted the unchanged UE from its reports.
  void suspend() {
    at_ = never;
    suspended_ = true;
  }
  /// True while suspend() suspends the missing-report timer; cleared by expect().
  [[nodiscard]] bool is_suspended() const { return suspended_; }
  /// Counts one step in place of the missing report and re-arms the timer one period later.
  void extrapolate(Duration period) {
    at_ += period;
    ++extrapolated_;
  }
  /// Handles a report before which `lost` reports were lost. Returns how many steps replaced reports that were only
  /// late, this one included.
  [[nodiscard]] std::uint64_t take_late(std::uint64_t lost) {
    const std::uint64_t late = extrapolated_ > lost ? extrapolated_ - lost : 0;
    extrapolated_ = 0;
    return late;
  }
  /// Clears the count, because another Node-B reports now and the missing reports will not arrive.
  void restart() { extrapolated_ = 0; }

 private:
  Instant at_ = never;
  std::uint64_t extrapolated_ = 0;  ///< steps without a report since the newest report
  bool suspended_ = false;
};

}  // namespace sluice::proxy
