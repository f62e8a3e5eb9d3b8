#pragma once

#include <span>

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
  void step() { value_ = after(value_, random_.normal()); }
  /// The values of so many steps, from the present one on; that behind them is the present one then.
  void take(std::span<double> db) {
    random_.normals(db);
    double value = value_;
    for (double& at : db) {
      const double normal = at;
      at = value;
      value = after(value, normal);
    }
    value_ = value;
  }

 private:
  [[nodiscard]] double after(double value, double normal) const { return keep_ * value + renew_ * normal; }

  Random random_;
  double keep_ = 1;
  double renew_ = 0;
  double value_ = 0;
};

}  // namespace sluice::emulator
