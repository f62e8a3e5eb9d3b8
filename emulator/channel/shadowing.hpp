#pragma once

#include <span>

#include "dataplane/units/time.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// Log-normal shadowing s in dB, correlated over distance (Gudmundson, Electronics Letters 1991), as in the simulator
/// EURANE. Each step computes s ← e^(−vΔ/D)·s + sqrt(1 − e^(−2vΔ/D))·σ·N(0,1).
class Shadowing {
 public:
  /// Creates the process in its stationary state. `speed` is v in m/s, `interval` the time Δ between steps, `deviation`
  /// σ in dB, and `distance` D in m. Throws std::invalid_argument if one of them is out of its range.
  Shadowing(double speed, Duration interval, double deviation, double distance, Random random);

  /// Returns the present attenuation in dB.
  [[nodiscard]] double db() const { return value_; }
  /// Advances by one step.
  void step() { value_ = after(value_, random_.normal()); }
  /// Writes the attenuation in dB of db.size() steps, from the present step on, to `db`. Advances by that number of
  /// steps.
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
  double keep_ = 1;   ///< weight e^(−vΔ/D) of the previous value in each step
  double renew_ = 0;  ///< weight sqrt(1 − e^(−2vΔ/D))·σ of the random number in each step
  double value_ = 0;  ///< present attenuation in dB
};

}  // namespace sluice::emulator
