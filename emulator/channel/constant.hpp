#pragma once

#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/channel/channel.hpp"

namespace sluice::emulator {

/// A link with a constant rate.
class ConstantChannel final : public SteppedChannel {
 public:
  /// Creates the link. Throws std::invalid_argument unless `tti` > 0 and the rate is 0 … 1 GB per TTI.
  ConstantChannel(Rate rate, Duration tti);

 protected:
  LinkGrant step(std::uint64_t tti) override;
  [[nodiscard]] bool skip(std::uint64_t from, std::uint64_t to, std::uint64_t& offered) override;

 private:
  /// Tolerance that is added before rounding down, because a product that should be a whole number may be slightly
  /// smaller.
  static constexpr double rounding = 1e-6;
  /// Returns the bytes that all TTIs before `tti` carry.
  [[nodiscard]] std::uint64_t before(std::uint64_t tti) const;

  double bytes_per_tti_;  ///< rate of the link in bytes per TTI, with fraction
};

}  // namespace sluice::emulator
