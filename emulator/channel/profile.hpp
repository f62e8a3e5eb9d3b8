#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/channel/channel.hpp"

namespace sluice::emulator {

/// Rates of a link, interval by interval.
struct CapacityProfile {
  Duration interval{};  ///< length of an interval, > 0
  std::vector<Rate> rates;
};

/// A link that repeats the rates of a profile, for sections 3.2 and 5 of the SMVS paper (Ren and Lin, TMC 2011). The
/// profile contains the rates that a UE received in a cell. If the rate changes within a TTI, the TTI carries the bytes
/// of each rate for its part of the TTI.
class ProfileChannel final : public SteppedChannel {
 public:
  /// Creates the link. Throws std::invalid_argument if the profile is empty, or if its interval or the TTI is not
  /// positive.
  ProfileChannel(std::shared_ptr<const CapacityProfile> profile, Duration tti);

 protected:
  LinkGrant step(std::uint64_t tti) override;

 private:
  std::shared_ptr<const CapacityProfile> profile_;
  Duration tti_;
  std::size_t next_ = 0;  ///< index of the interval after the present one
  Rate rate_;
  Duration left_{};      ///< time for which the present interval of the profile still lasts
  double fraction_ = 0;  ///< fraction of a byte that is carried into the next TTI
};

}  // namespace sluice::emulator
