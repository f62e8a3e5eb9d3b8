#pragma once

#include <utility>

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Smallest recent value, or the largest if Better is std::greater, in constant memory. A value counts for one to two
/// times the duration `half` that is passed to add(), and longer while no other value is added. Reads no clock.
template <typename Value, typename Better>
class HalfWindowExtreme {
 public:
  /// Adds a value. `half` > 0 is half of the longest time for which a value counts. It must be equal in all calls. The
  /// object does not store `half`, because this saves memory in each object.
  void add(Instant now, Value value, Duration half) {
    if (!known_) {
      set(now, value);
    } else if (now - since_ >= half) {
      before_ = std::exchange(newest_, value);
      since_ = now;
    } else if (Better()(value, newest_)) {
      newest_ = value;
    }
  }
  /// Sets the extreme to `value`, and discards all earlier values.
  void set(Instant now, Value value) {
    before_ = newest_ = value;
    since_ = now;
    known_ = true;
  }
  void clear() { known_ = false; }

  [[nodiscard]] bool known() const { return known_; }
  /// Returns the smallest recent value, or the largest if Better is std::greater. Requires known().
  [[nodiscard]] Value value() const { return Better()(before_, newest_) ? before_ : newest_; }

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  Instant since_{};
  Value before_{};
  Value newest_{};
  bool known_ = false;
};

}  // namespace sluice::control
