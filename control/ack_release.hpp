#pragma once

#include <algorithm>
#include <cstddef>

#include "dataplane/units/bytes.hpp"

namespace sluice::control {

/// What a law lets go of the ACKs that are held back for it, oldest first; an ACK that has just arrived is the newest
/// of them. Its owner keeps the ACKs in the order of arrival and tells the law of each that left.
struct AckRelease {
  Bytes up_to = Bytes::max();  ///< every ACK that acknowledges no position beyond this one
  std::size_t at_least = 0;    ///< so many of the oldest, whatever they acknowledge

  [[nodiscard]] static constexpr AckRelease all() { return {}; }
};

/// The way out for laws that hold ACKs, when data was lost on its way to the queue: each time something happens and the
/// data queue is found empty, 2 ACKs go, then 4, 8, …; it begins anew once the queue has held data (Chan & Ramjee,
/// INFOCOM 2004, section IV-C).
class EmptyQueueRelease {
 public:
  /// How many of the held ACKs go now.
  [[nodiscard]] std::size_t next(bool queue_empty) {
    if (!queue_empty) {
      next_ = first;
      return 0;
    }
    const std::size_t now = next_;
    next_ = std::min(next_ * 2, most);
    return now;
  }

  /// Its state, for a trace (control/trace/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  static constexpr std::size_t first = 2;
  static constexpr std::size_t most = 65536;
  std::size_t next_ = first;
};

}  // namespace sluice::control
