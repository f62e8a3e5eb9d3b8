#pragma once

#include <utility>

#include "dataplane/units/time.hpp"

namespace sluice::control {

/// The least (or, with std::greater, the greatest) value of the last while, in a few bytes: a value counts for between
/// one and two `half`s, and as long as none has come since. No clock inside.
template <typename Value, typename Better>
class WindowedExtreme {
 public:
  /// `half` > 0.
  explicit WindowedExtreme(Duration half) : half_(half) {}

  void add(Instant now, Value value) {
    if (!known_) {
      set(now, value);
    } else if (now - since_ >= half_) {
      before_ = std::exchange(newest_, value);
      since_ = now;
    } else if (Better()(value, newest_)) {
      newest_ = value;
    }
  }
  /// From now on it is this.
  void set(Instant now, Value value) {
    before_ = newest_ = value;
    since_ = now;
    known_ = true;
  }
  void clear() { known_ = false; }

  [[nodiscard]] bool known() const { return known_; }
  /// Requires known().
  [[nodiscard]] Value value() const { return Better()(before_, newest_) ? before_ : newest_; }

  /// Its state, for a trace (control/trace/states.hpp).
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  Duration half_;
  Instant since_{};
  Value before_{};
  Value newest_{};
  bool known_ = false;
};

}  // namespace sluice::control
