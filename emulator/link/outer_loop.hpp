#pragma once

#include <cstdint>

namespace sluice::emulator::link {

/// Outer loop link adaptation: an offset on the reported SNR that keeps the loss of first transmissions at a target.
/// Each received block raises the offset by Δ · target / (1 − target), and each lost block lowers it by Δ. Sources:
/// Sampath, Kumar and Holtzman, VTC 1997 (power control); Pedersen et al., VTC Fall 2007 (LTE CQIs). An outcome is
/// known one hybrid-ARQ round trip later. Pure: no clock, no randomness.
class OuterLoop {
 public:
  /// Step Δ of the offset at a loss, in dB.
  static constexpr double step_db = 0.1;
  /// TTIs from a block to the first block that its outcome affects: LTE's hybrid-ARQ round trip (TS 36.213 section 8).
  static constexpr std::uint32_t round_trip = 8;

  /// Creates a loop with offset 0. Throws std::invalid_argument unless 0.001 <= target <= 0.5.
  explicit OuterLoop(double target);

  /// Starts a TTI and applies the outcomes that are known by now.
  void begin_tti();
  /// Returns the offset to be added to a reported SNR, in dB.
  [[nodiscard]] double offset_db() const { return offset_db_; }
  /// Records the outcome of this TTI's block: `received` is false if it was lost. `can_rise` and `can_fall` state
  /// whether a higher or lower offset could lead to another CQI. If no other CQI can result, the offset stays.
  /// Otherwise it would rise without bound on the best links, and fall on the worst.
  void sent(bool received, bool can_rise, bool can_fall);

 private:
  /// Effect of a block's outcome on the SNR offset.
  enum class Outcome : std::uint8_t { none, raises, lowers };

  double raise_db_;  ///< increase of the SNR offset per received block, dB
  double offset_db_ = 0;
  std::uint64_t ttis_ = 0;
  /// Outcomes that are not applied yet; that of TTI n is at index n modulo the round trip.
  Outcome outcomes_[round_trip]{};
};

}  // namespace sluice::emulator::link
