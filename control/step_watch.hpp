#pragma once

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Watches Ts < Bmax/b̄ (SMVS, section 5.2) on the mean rate that is measured: whoever hears of a queue only once in the
/// time in which the link empties the full buffer finds it empty and full by turns.
class StepWatch {
 public:
  /// True when the rule begins to be broken: once for each time that it is. `step`: Ts; `buffer`: Bmax; `mean`: b̄. A
  /// buffer or a rate of 0 is unknown and breaks nothing.
  bool look(Duration step, Bytes buffer, Rate mean) {
    const double drained = mean.bytes_per_second() * to_seconds(step);
    const auto full = static_cast<double>(buffer.count());
    // A mean rate that stays near the bound crosses it at every other step, which is no news.
    const bool before = broken_;
    broken_ = full > 0 && drained >= (before ? full * 0.8 : full);
    return broken_ && !before;
  }
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  bool broken_ = false;
};

}  // namespace sluice::control
