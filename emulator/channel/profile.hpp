#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/channel/channel.hpp"

namespace sluice::emulator {

/// What a link carried, interval by interval.
struct CapacityProfile {
  Duration interval{};  ///< > 0
  std::vector<Rate> rates;
};

/// A link that carries what a profile says, again and again: the links of the SMVS paper's sections 3.2 and 5 (Ren and
/// Lin, TMC 2011), driven by what was counted in a cell. A TTI in which the rate changes carries the sum of both parts.
class ProfileChannel final : public SteppedChannel {
 public:
  /// Throws std::invalid_argument when the profile is empty or its interval or the TTI is not positive.
  ProfileChannel(std::shared_ptr<const CapacityProfile> profile, Duration tti);

 protected:
  Grant step(std::uint64_t tti) override;

 private:
  std::shared_ptr<const CapacityProfile> profile_;
  Duration tti_;
  std::size_t next_ = 0;  ///< the interval that follows the present one
  Rate rate_;
  Duration left_{};      ///< of the present interval
  double fraction_ = 0;  ///< of a byte, not yet granted
};

}  // namespace sluice::emulator
