#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/channel/channel.hpp"

namespace sluice::emulator {

/// A UE's link over its whole way: the channel of one cell, then of another, with stretches in which it has none (holes
/// in coverage, the interruption of a handover). A function of the TTI alone, as every channel.
class TimelineChannel final : public SteppedChannel {
 public:
  /// Begins with `first`, from TTI 0 on.
  explicit TimelineChannel(std::unique_ptr<Channel> first);
  /// From TTI `tti` on there is no link. Stretches are added in the order of time; a later one at the same TTI wins.
  void silence_from(std::uint64_t tti) { add(tti, none); }
  /// From TTI `tti` on the link is the one it had last.
  void resume_from(std::uint64_t tti) { add(tti, channels_.size() - 1); }
  /// From TTI `tti` on the link is `channel`.
  void replace_from(std::uint64_t tti, std::unique_ptr<Channel> channel);

  [[nodiscard]] double error_rate(double snr_db, std::uint8_t cqi) const override;
  [[nodiscard]] std::uint64_t next_useful(std::uint64_t tti) override;

 protected:
  Grant step(std::uint64_t tti) override;
  [[nodiscard]] RadioQuality quality_of(std::uint64_t tti) const override;

 private:
  static constexpr std::size_t none = SIZE_MAX;
  struct Stretch {
    std::uint64_t from = 0;
    std::size_t channel = none;
  };
  void add(std::uint64_t tti, std::size_t channel);
  [[nodiscard]] std::size_t stretch_at(std::uint64_t tti) const;

  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<Stretch> stretches_;
  std::size_t current_ = 0;  ///< the stretch of the latest step
};

}  // namespace sluice::emulator
