#pragma once

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Checks the rule Ts < Bmax/b̄ of the SMVS paper (Ren & Lin, TMC 2011, section 5.2) with the measured mean rate b̄. If
/// a full buffer of Bmax bytes drains within one report period Ts, the reported queue alternates between empty and
/// full.
class StepLengthCheck {
 public:
  /// Checks Ts < Bmax/b̄ with the current values: `step` is Ts, `buffer` is Bmax and `mean` is b̄. Returns true only in
  /// the call in which the rule becomes broken. A buffer or rate of 0 is unknown, and the rule then counts as kept.
  bool look(Duration step, Bytes buffer, Rate mean) {
    const double drained = mean.bytes_per_second() * to_seconds(step);
    const auto full = static_cast<double>(buffer.count());
    // Hysteresis, because a mean rate near the bound would cross it at every other step.
    const bool before = broken_;
    broken_ = full > 0 && drained >= (before ? full * 0.8 : full);
    return broken_ && !before;
  }
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  bool broken_ = false;
};

}  // namespace sluice::control
