#pragma once

#include <memory>

#include "emulator/channel/channel.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// A link that loses the same share of its blocks at every attempt: what link adaptation aims at. What the link below
/// loses is lost as well, at every attempt in the same TTI. For links whose own blocks are not lost by chance.
class BlockErrorChannel final : public SteppedChannel {
 public:
  /// Throws std::invalid_argument when there is no link, or the rate is not 0 … 1.
  BlockErrorChannel(std::unique_ptr<Channel> link, double rate, Random draws);

  [[nodiscard]] double error_rate(double /*snr_db*/, std::uint8_t /*cqi*/) const override { return rate_; }
  [[nodiscard]] std::uint64_t next_useful(std::uint64_t tti) override { return link_->next_useful(tti); }

 protected:
  Grant step(std::uint64_t tti) override;
  [[nodiscard]] RadioQuality quality_of(std::uint64_t /*tti*/) const override { return link_->quality(); }

 private:
  std::unique_ptr<Channel> link_;
  double rate_;
  Random draws_;
};

}  // namespace sluice::emulator
