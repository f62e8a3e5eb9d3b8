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

  /// Returns the histogram, in which durations are in microseconds.
  [[nodiscard]] const Histogram& counts() const { return counts_; }
  [[nodiscard]] Duration sum() const { return sum_; }

 private:
  Histogram counts_;
  Duration sum_{};
};

/// Histograms of durations for one group of UEs. Durations are recorded when a Node-B report arrives, a connection
/// ends, or a periodic scan visits a connection, and not for each packet.
struct GroupTimes {
  /// Time since the state of a UE was last known, recorded when its next Node-B report arrives. The state is known from
  /// a report, or from a notice that the Node-B omitted the UE because it is unchanged.
  TimeHistogram feedback_age;
  /// estimated time that data from the server waits in the proxy until it is sent to the UE
  TimeHistogram relay_sojourn;
  TimeHistogram rtt;  ///< smoothed round-trip time between the proxy and the UE
  /// time from the split of a connection to the last segment of its hosts; recorded only if both hosts have closed it
  TimeHistogram flow_completion;

  GroupTimes& operator+=(const GroupTimes& other) {
    feedback_age += other.feedback_age;
    relay_sojourn += other.relay_sojourn;
    rtt += other.rtt;
    flow_completion += other.flow_completion;
    return *this;
  }
};

/// Duration histograms. Index 0: UEs that rate controllers may limit. Index 1: the control group, which they never
/// limit.
using Times = std::array<GroupTimes, 2>;
/// Returns the duration histograms of one group of UEs: of the control group, which rate controllers never limit, if
/// `in_control_group` is true. Otherwise returns those of all other UEs.
[[nodiscard]] inline GroupTimes& times_of(Times& times, bool in_control_group) {
  return times[in_control_group ? 1 : 0];
}

}  // namespace sluice::proxy
