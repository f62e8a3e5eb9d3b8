#pragma once

#include <memory>

#include "emulator/channel/channel.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// A link that loses a constant share of its blocks at every transmission, because link adaptation aims at a constant
/// share. The capacity comes from an inner link, which must not lose blocks at random. If the inner link carries
/// nothing in a TTI, every transmission in that TTI is lost.
class BlockErrorChannel final : public SteppedChannel {
 public:
  /// Creates the link. Throws std::invalid_argument if `link` is null or `rate` is not 0 … 1.
  BlockErrorChannel(std::unique_ptr<Channel> link, double rate, Random draws);

  [[nodiscard]] double error_rate(double /*snr_db*/, std::uint8_t /*cqi*/) const override { return rate_; }
  [[nodiscard]] std::uint64_t next_useful(std::uint64_t tti) override { return link_->next_useful(tti); }

 protected:
  LinkGrant step(std::uint64_t tti) override;
  [[nodiscard]] RadioQuality quality_of(std::uint64_t /*tti*/) const override { return link_->quality(); }

 private:
  std::unique_ptr<Channel> link_;  ///< channel that determines the capacity of a TTI
  double rate_;                    ///< probability that a block is lost
  Random draws_;
};

}  // namespace sluice::emulator
