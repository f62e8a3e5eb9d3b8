#pragma once

#include <algorithm>
#include <cstdint>

#include "control/smvs/allowance.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Send grant of a UE bearer: the number of bytes that the controller allows to send until the next Node-B report, and
/// how many of them are left. Thread: the shard's.
class SendGrant {
 public:
  /// Starts a new grant of `allowance` bytes. If `waiting` is true (data waits to be sent), up to one packet of unused
  /// bytes of the old grant is added. These bytes may have been too few for a whole packet. All other unused bytes are
  /// discarded.
  void give(Bytes allowance, bool waiting) {
    const Bytes carried = std::min(std::max(left_, Bytes{}), waiting ? control::longest_packet : Bytes{});
    given_ = std::max(allowance, Bytes{});
    left_ = given_ + carried;
    is_used_ = false;
  }
  /// Subtracts `bytes` just sent.
  void spend(Bytes bytes) {
    left_ -= bytes;
    is_used_ = is_used_ || bytes > Bytes{};
  }
  /// True if bytes were sent since the controller last granted bytes.
  [[nodiscard]] bool is_used() const { return is_used_; }
  /// Returns how many granted bytes are left; negative if more bytes were sent than granted.
  [[nodiscard]] Bytes left() const { return left_; }
  /// Returns how many bytes the controller granted when it last ran: for a Node-B report, or in place of a missing one.
  [[nodiscard]] Bytes given() const { return given_; }

 private:
  Bytes left_{};
  Bytes given_{};
  bool is_used_ = false;
};

/// Timer that detects a missing Node-B report, and number of grants (bytes to send) that the proxy made in place of
/// missing reports. The owner makes these grants. Thread: the shard's.
class MissingReportExtrapolator {
 public:
  /// Sets the missing-report timer: the next Node-B report counts as missing from the time `at` on. With `never`, no
  /// report is expected.
  void expect(Instant at) {
    at_ = at;
    suspended_ = false;
  }
  /// Returns when the next Node-B report counts as missing.
  [[nodiscard]] Instant at() const { return at_; }
  /// Stops the timer until the next call of expect(): no report counts as missing, because the Node-B omits the
  /// unchanged UE from its reports.
  void suspend() {
    at_ = never;
    suspended_ = true;
  }
  /// True if suspend() was called and expect() has not been called since.
  [[nodiscard]] bool is_suspended() const { return suspended_; }
  /// Counts one grant that was made in place of a missing Node-B report, and postpones the missing-report timer by one
  /// period.
  void extrapolate(Duration period) {
    at_ += period;
    ++extrapolated_;
  }
  /// Handles a Node-B report before which `lost` reports were lost, and resets the number of grants in place of missing
  /// reports. Returns how many of these grants replaced reports that were only late. The caller must subtract the bytes
  /// of that many grants from the next grant, because the late reports grant them too.
  [[nodiscard]] std::uint64_t take_late(std::uint64_t lost) {
    const std::uint64_t late = extrapolated_ > lost ? extrapolated_ - lost : 0;
    extrapolated_ = 0;
    return late;
  }
  /// Resets the number of grants that replaced missing Node-B reports. Called when another Node-B now sends the
  /// reports, or the Node-B has restarted, because the missing ones then never arrive.
  void restart() { extrapolated_ = 0; }

 private:
  Instant at_ = never;
  std::uint64_t extrapolated_ = 0;  ///< number of grants in place of missing reports since the newest Node-B report
  bool suspended_ = false;
};

}  // namespace sluice::proxy
