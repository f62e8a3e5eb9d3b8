#pragma once

#include <array>
#include <functional>

#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// Minimum (`Better` = std::less_equal) or maximum (std::greater_equal) of the durations that were recorded within a
/// sliding time window. Keeps three values: the best one, the best of those after it, and the best of those after the
/// second. Uses Kathleen Nichols' filter, as Linux lib/win_minmax.c does. The length of the time window may differ
/// between calls.
template <class Better>
class WindowedMinMax {
 public:
  /// Records a value; values older than `window` are discarded.
  void record(Instant now, Duration window, Duration value) {
    const Seen seen{now, value};
    if (!any_ || Better()(value, best_[0].value) || now - best_[2].at > window) {
      best_.fill(seen);
      any_ = true;
      return;
    }
    if (Better()(value, best_[1].value)) {
      best_[1] = best_[2] = seen;
    } else if (Better()(value, best_[2].value)) {
      best_[2] = seen;
    }
    age(seen, window);
  }
  [[nodiscard]] bool known() const { return any_; }
  /// Returns the minimum or maximum of the values in the time window; zero before the first value.
  [[nodiscard]] Duration value() const { return best_[0].value; }

 private:
  struct Seen {
    Instant at{};
    Duration value{};
  };

  /// Discards the best value when its age exceeds the time window. A newer value becomes the second one after a quarter
  /// of that time, and the third one after half of it. Otherwise the three values could expire at the same time.
  void age(const Seen& seen, Duration window) {
    const Duration held = seen.at - best_[0].at;
    if (held > window) {
      best_ = {best_[1], best_[2], seen};
      if (seen.at - best_[0].at > window) best_ = {best_[1], best_[2], seen};
    } else if (best_[1].at == best_[0].at && held > window / 4) {
      best_[1] = best_[2] = seen;
    } else if (best_[2].at == best_[1].at && held > window / 2) {
      best_[2] = seen;
    }
  }

  std::array<Seen, 3> best_{};
  bool any_ = false;
};

using WindowedMinimum = WindowedMinMax<std::less_equal<>>;
using WindowedMaximum = WindowedMinMax<std::greater_equal<>>;

}  // namespace sluice::tcp
