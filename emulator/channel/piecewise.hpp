#pragma once

#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/channel/channel.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// Parameters of a link with a random rate.
struct PiecewiseParameters {
  Rate min;           ///< lower bound of the uniformly drawn rate
  Rate max;           ///< upper bound of the rate, at least the lower bound
  Duration period{};  ///< time for which a rate stays constant, > 0; need not be a multiple of the TTI
};

/// A link whose rate is redrawn at random every period, as in figures 11 and 12 of the SMVS paper (Ren and Lin, TMC
/// 2011). If the rate changes within a TTI, the TTI carries the bytes of each rate for its part of the TTI.
class PiecewiseChannel final : public SteppedChannel {
 public:
  /// Creates the link. Throws std::invalid_argument if a parameter is out of its range.
  PiecewiseChannel(const PiecewiseParameters& parameters, Duration tti, Random random);

  /// Returns the rate at the end of the TTI that was read last.
  [[nodiscard]] Rate rate() const { return rate_; }

 protected:
  LinkGrant step(std::uint64_t tti) override;

 private:
  /// Chooses the random rate of the next period.
  void redraw();

  PiecewiseParameters parameters_;
  Duration tti_;
  Random random_;
  Rate rate_;
  Duration left_{};      ///< remaining time of the present rate
  double fraction_ = 0;  ///< fraction of a byte that is carried into the next TTI
};

}  // namespace sluice::emulator
