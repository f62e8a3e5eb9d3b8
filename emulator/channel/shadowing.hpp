#pragma once

#include "dataplane/units/time.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// Log-normal shadowing that is correlated over distance (Gudmundson, Electronics Letters 1991), as EURANE codes it:
/// s ← e^(−vΔ/D)·s + sqrt(1 − e^(−2vΔ/D))·σ·N(0,1).
class Shadowing {
 public:
  /// `speed` in m/s, `interval` between steps, `deviation` σ in dB, `distance` D in m. Begins in its stationary state.
  Shadowing(double speed, Duration interval, double deviation, double distance, Random random);

  [[nodiscard]] double db() const { return value_; }
  void step() { value_ = keep_ * value_ + renew_ * random_.normal(); }

 private:
  Random random_;
  double keep_ = 1;
  double renew_ = 0;
  double value_ = 0;
};

}  // namespace sluice::emulator
