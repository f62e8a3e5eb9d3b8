#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>

#include "dataplane/units/time.hpp"
#include "proxy/engine/base/histogram.hpp"

namespace sluice::proxy {

/// Counts durations in a histogram of microseconds. Durations above 71 minutes count as 71 minutes.
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

  /// Returns the histogram, whose values are microseconds.
  [[nodiscard]] const Histogram& counts() const { return counts_; }
  [[nodiscard]] Duration sum() const { return sum_; }

 private:
  Histogram counts_;
  Duration sum_{};
};

/// Histograms of durations for one group of UEs. They are recorded outside the packet path: at Node-B reports, at a
/// connection's end, and when a snapshot is made.
struct GroupTimes {
  TimeHistogram feedback_age;     ///< time from the last Node-B report or omission notice of a UE to its next report
  TimeHistogram relay_sojourn;    ///< time that data from the server waits in the proxy to be sent to the UE
  TimeHistogram rtt;              ///< smoothed round trip between the proxy and the UE
  TimeHistogram flow_completion;  ///< time from the split to the last segment of the hosts, for connections that both
                                  ///< hosts have closed

  GroupTimes& operator+=(const GroupTimes& other) {
    feedback_age += other.feedback_age;
    relay_sojourn += other.relay_sojourn;
    rtt += other.rtt;
    flow_completion += other.flow_completion;
    return *this;
  }
};

/// Duration histograms: index 0 for the UEs that rate controllers limit, index 1 for the control group, which they do
/// not.
using Times = std::array<GroupTimes, 2>;
/// Returns the duration histograms of a UE's group: `ordinary` selects the control group.
[[nodiscard]] inline GroupTimes& times_of(Times& times, bool ordinary) {
  return times[ordinary ? 1 : 0];
}

}  // namespace sluice::proxy
