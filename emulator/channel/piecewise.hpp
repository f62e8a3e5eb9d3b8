#pragma once

#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/channel/channel.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

struct PiecewiseParameters {
  Rate min;           ///< the rate is drawn uniformly between these two
  Rate max;           ///< at least `min`
  Duration period{};  ///< how long a drawn rate holds; > 0, need not be a multiple of the TTI
};

/// A link whose rate is redrawn at random every period: the link of figures 11 and 12 of the SMVS paper (Ren and Lin,
/// TMC 2011). A TTI in which the rate changes carries the sum of both parts.
class PiecewiseChannel final : public SteppedChannel {
 public:
  /// Throws std::invalid_argument when a parameter is out of its range.
  PiecewiseChannel(const PiecewiseParameters& parameters, Duration tti, Random random);

  /// The rate at the end of the last TTI asked for.
  [[nodiscard]] Rate rate() const { return rate_; }

 protected:
  Grant step(std::uint64_t tti) override;

 private:
  void redraw();

  PiecewiseParameters parameters_;
  Duration tti_;
  Random random_;
  Rate rate_;
  Duration left_{};      ///< of the present period
  double fraction_ = 0;  ///< of a byte, not yet granted
};

}  // namespace sluice::emulator
