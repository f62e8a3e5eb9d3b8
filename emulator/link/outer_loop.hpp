#pragma once

#include <cstdint>

namespace sluice::emulator::link {

/// Outer loop link adaptation: an offset on the reported SNR that keeps the share of blocks whose first transmission is
/// lost at a target. Each block received raises it by Δ · target / (1 − target), each block lost lowers it by Δ
/// (Sampath, Kumar and Holtzman, VTC 1997, for power control; Pedersen et al., VTC Fall 2007, for the CQIs of LTE).
/// What became of a block is known a round trip of hybrid ARQ later. Pure: no clock, no randomness.
class OuterLoop {
 public:
  /// Δ in dB.
  static constexpr double step_db = 0.1;
  /// TTIs from a block to the first one that its outcome counts for: LTE's round trip of hybrid ARQ (TS 36.213
  /// section 8).
  static constexpr std::uint32_t round_trip = 8;

  /// Throws std::invalid_argument unless 0.001 <= target <= 0.5.
  explicit OuterLoop(double target);

  /// A TTI begins: outcomes that are known by now count.
  void begin_tti();
  /// What is added to a reported SNR, in dB.
  [[nodiscard]] double offset_db() const { return offset_db_; }
  /// The block of the TTI was sent. `can_rise` and `can_fall`: a higher, or lower, offset would choose another CQI or
  /// come nearer to one. Where it would not the offset stays, so that it does not run away on the best and the worst
  /// links.
  void sent(bool received, bool can_rise, bool can_fall);

 private:
  enum class Outcome : std::uint8_t { none, raises, lowers };

  double raise_db_;
  double offset_db_ = 0;
  std::uint64_t ttis_ = 0;
  Outcome outcomes_[round_trip]{};  ///< by TTI modulo the round trip
};

}  // namespace sluice::emulator::link
