#pragma once

#include <algorithm>
#include <cstdint>

#include "control/allowance.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// What a bearer was granted at the last step, and what is left of it. Thread: the shard's.
class Grant {
 public:
  /// A new step. What is left of the last is forfeited but for the fraction of a packet that could not be sent while
  /// something waited.
  void give(Bytes allowance, bool waiting) {
    const Bytes carried = std::min(std::max(left_, Bytes{}), waiting ? control::longest_packet : Bytes{});
    given_ = std::max(allowance, Bytes{});
    left_ = given_ + carried;
    touched_ = false;
  }
  void spend(Bytes bytes) {
    left_ -= bytes;
    touched_ = touched_ || bytes > Bytes{};
  }
  /// Something of it was spent.
  [[nodiscard]] bool touched() const { return touched_; }
  /// Below zero when more was sent than granted.
  [[nodiscard]] Bytes left() const { return left_; }
  [[nodiscard]] Bytes given() const { return given_; }

 private:
  Bytes left_{};
  Bytes given_{};
  bool touched_ = false;
};

/// Steps that stand in for reports which are missing. Thread: the shard's.
class ReportBridge {
 public:
  /// The next report is missing from `at` on; never: none is waited for.
  void expect(Instant at) {
    at_ = at;
    rests_ = false;
  }
  [[nodiscard]] Instant at() const { return at_; }
  /// The report is not missing: the Node-B has left the UE out.
  void rest() {
    at_ = never;
    rests_ = true;
  }
  /// … and until expect() none is waited for.
  [[nodiscard]] bool rests() const { return rests_; }
  /// A step stands in for the report that is missing; the next one is due a period later.
  void cross(Duration period) {
    at_ += period;
    ++crossed_;
  }
  /// A report has come, before which so many were lost: how many steps stood in for it and others that were only late.
  [[nodiscard]] std::uint64_t take_late(std::uint64_t lost) {
    const std::uint64_t late = crossed_ > lost ? crossed_ - lost : 0;
    crossed_ = 0;
    return late;
  }
  /// What was stood in for will not come: another Node-B reports.
  void restart() { crossed_ = 0; }

 private:
  Instant at_ = never;
  std::uint64_t crossed_ = 0;  ///< since the newest report
  bool rests_ = false;
};

}  // namespace sluice::proxy
