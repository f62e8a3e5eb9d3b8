#pragma once

#include <array>
#include <functional>

#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// The least (`Better` = std::less_equal) or largest (std::greater_equal) duration of a sliding window of time, in the
/// memory of three (Kathleen Nichols' filter, which Linux has as lib/win_minmax.c): the best, the best of what came
/// after it, and the best of what came after that. The window may differ from call to call.
template <class Better>
class WindowedExtreme {
 public:
  /// Takes a value; what is older than `window` counts no more.
  void note(Instant now, Duration window, Duration value) {
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
  /// The extreme; zero before the first value.
  [[nodiscard]] Duration value() const { return best_[0].value; }

 private:
  struct Seen {
    Instant at{};
    Duration value{};
  };

  /// The best leaves when it is too old. Without a better one in a quarter of the window the second is chosen anew, and
  /// in the half of it the third, so that they do not all leave together.
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

using WindowedMinimum = WindowedExtreme<std::less_equal<>>;
using WindowedMaximum = WindowedExtreme<std::greater_equal<>>;

}  // namespace sluice::tcp
