#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>

#include "dataplane/units/time.hpp"
#include "proxy/shard/histogram.hpp"

namespace sluice::proxy {

/// How long something took, how often: a histogram in microseconds. What took more than 71 minutes counts as that.
class TimeHistogram {
 public:
  void record(Duration time) {
    const std::int64_t microseconds = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    counts_.record(static_cast<std::uint32_t>(std::clamp<std::int64_t>(microseconds, 0, most)));
    sum_ += std::max(time, Duration::zero());
  }
  TimeHistogram& operator+=(const TimeHistogram& other) {
    counts_ += other.counts_;
    sum_ += other.sum_;
    return *this;
  }

  /// Of microseconds.
  [[nodiscard]] const Histogram& counts() const { return counts_; }
  [[nodiscard]] Duration sum() const { return sum_; }

 private:
  Histogram counts_;
  Duration sum_{};
};

/// Times of one group of UEs. None is taken on the packet path: at a report, at a connection's end, or when a snapshot
/// is made.
struct GroupTimes {
  TimeHistogram feedback_age;     ///< how old the last report had become when the next came
  TimeHistogram relay_sojourn;    ///< how long what has come from the server waits here for the radio leg
  TimeHistogram rtt;              ///< smoothed, between here and the UE
  TimeHistogram flow_completion;  ///< from the split to the last word of the hosts, where both have ended it

  GroupTimes& operator+=(const GroupTimes& other) {
    feedback_age += other.feedback_age;
    relay_sojourn += other.relay_sojourn;
    rtt += other.rtt;
    flow_completion += other.flow_completion;
    return *this;
  }
};

/// The treated UEs, then the control group.
using Times = std::array<GroupTimes, 2>;
/// Whose times those of a UE are.
[[nodiscard]] inline GroupTimes& times_of(Times& times, bool ordinary) {
  return times[ordinary ? 1 : 0];
}

}  // namespace sluice::proxy
