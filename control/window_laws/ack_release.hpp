#pragma once

#include <algorithm>
#include <cstddef>

#include "dataplane/units/bytes.hpp"

namespace sluice::control {

/// Selects which withheld ACKs a controller releases. ACKs are released oldest first, and an ACK that has just arrived
/// is the newest. The owner of the controller stores the ACKs in order of arrival, and informs the controller of each
/// ACK that it sends.
struct AckRelease {
  Bytes up_to = Bytes::max();  ///< withheld ACKs up to this stream position are released
  std::size_t at_least = 0;    ///< minimum number of the oldest withheld ACKs to release, even if `up_to` excludes them

  [[nodiscard]] static constexpr AckRelease all() { return {}; }
};

/// Recovery rule for controllers that withhold ACKs. If data was lost on its way to the queue, the event that would
/// release an ACK may never occur. So each time an event finds the data queue empty, ACKs are released: 2 the first
/// time, then 4, 8 and so on. After data was in the queue, the number restarts at 2 (Chan & Ramjee, INFOCOM 2004,
/// section IV-C).
class EmptyQueueRelease {
 public:
  /// Returns the number of withheld ACKs to release now, oldest first. `queue_empty` is true if the data queue is
  /// empty.
  [[nodiscard]] std::size_t next(bool queue_empty) {
    if (!queue_empty) {
      next_ = first;
      return 0;
    }
    const std::size_t now = next_;
    next_ = std::min(next_ * 2, most);
    return now;
  }

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  static constexpr std::size_t first = 2;
  static constexpr std::size_t most = 65536;
  std::size_t next_ = first;
};

}  // namespace sluice::control
