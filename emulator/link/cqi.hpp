#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dataplane/units/bytes.hpp"

namespace sluice::emulator::link {

/// Highest CQI of HSDPA.
inline constexpr int max_cqi = 30;
/// Size of a MAC-d PDU, the radio frame of the SMVS paper (Ren and Lin, TMC 2011).
inline constexpr Bytes pdu_size{40};

/// Returns the CQI that a UE reports for a chip-level SNR in dB (formula of the simulator EURANE). 0 (out of range) up
/// to −16 dB, floor(SNR/1.02 + 16.62) in between, 30 from 14 dB on.
[[nodiscard]] int cqi_of(double snr_db);

/// Computes the CQIs of SNRs that are known within `error_db`. Returns false if the CQI of one of them is not certain;
/// the results must then not be used. The function is inline and in a form that compilers vectorise, because it runs
/// for every TTI of every UE.
template <std::size_t count>
[[nodiscard]] bool cqis_about(const std::array<double, count>& snr_db, double error_db,
                              std::span<std::uint64_t, count> cqis) {
  // Clamping to half a step beyond the first and the last CQI changes no result.
  std::array<double, count> places;
  for (std::size_t i = 0; i < count; ++i) places[i] = std::max(snr_db[i] * (1 / 1.02) + 16.62, 0.5);
  for (double& place : places) place = std::min(place, max_cqi + 0.5);
  constexpr double to_integer = 0x1p52;  // leaves the nearest integer in the lowest bits of a sum with it
  std::uint64_t ambiguous = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double middle = places[i] - 0.5;  // a whole number in the middle of a CQI's step
    const double shifted = middle + to_integer;
    const double off_middle = std::abs(middle - (shifted - to_integer));
    cqis[i] = std::bit_cast<std::uint64_t>(shifted) ^ std::bit_cast<std::uint64_t>(to_integer);
    ambiguous |= off_middle < 0.5 - error_db ? 0U : 1U;
  }
  return ambiguous == 0;
}

/// Returns the transport block size in bits of a CQI for a UE category (TS 25.214 v5.5.0, tables 7A–7E); 0 for CQI 0.
/// Throws std::out_of_range unless 0 <= cqi <= 30 and 1 <= category <= 10.
[[nodiscard]] int transport_block_bits(int cqi, int category);

/// Returns the number of MAC-d PDUs in a transport block: floor((bits − 21) / 320), where 21 bits are the MAC-hs
/// header.
[[nodiscard]] int pdus(int transport_block_bits);

/// Returns the probability that the first transmission of a block at `cqi` is lost at chip-level `snr_db` (Brouwer et
/// al., ISSSTA 2004). Requires 1 <= cqi <= 30.
[[nodiscard]] double block_error_rate(double snr_db, int cqi);

/// True if a block coded for `cqi` is received at a chip-level SNR of `snr_db` dB: `draw`, a random number uniform in
/// [0, 1), is not below the block error rate.
[[nodiscard]] inline bool block_received(double snr_db, int cqi, double draw) {
  return draw >= block_error_rate(snr_db, cqi);
}

/// Decides at random whether a block is received, if its SNR is known with a limited error only. A table gives an upper
/// and a lower bound of the block error rate. A random number above or below both bounds decides without the exact
/// rate. So the slow formula of the exact rate is rarely computed.
class Receptions {
 public:
  /// Computes the table. `error_db` must be above 0 and larger than the rounding error of an SNR.
  explicit Receptions(double error_db);

  // The following functions require SNRs between -1000 and 1000 dB and 1 <= cqi <= 30.
  /// Returns the result of block_received() for these values, or nothing if `snr_db` is not exact enough to determine
  /// it.
  [[nodiscard]] std::optional<bool> received(double snr_db, int cqi, double draw) const {
    if (surely_received(snr_db, cqi, draw)) return true;
    const Line& line = lines_[static_cast<std::size_t>(cqi)];
    if (draw < rate_at(snr_db * line.slope + line.lowest + line.further, 1, steps + 2)) return false;
    return std::nullopt;
  }
  /// True if block_received() is certainly true for these values, as for most blocks; false if the block may be lost.
  [[nodiscard]] bool surely_received(double snr_db, int cqi, double draw) const {
    const Line& line = lines_[static_cast<std::size_t>(cqi)];
    return draw >= rate_at(snr_db * line.slope + line.lowest, 0, steps + 1);
  }

 private:
  static constexpr int steps = 160;
  /// Maps an SNR in dB to positions in the table of error rates, for one CQI. The SNR may be wrong by the largest error
  /// that the constructor was given.
  struct Line {
    double slope = 0;  ///< table positions per dB
    /// Table position for an SNR of 0 dB, if the true SNR is lower by the largest error. The error rate at this
    /// position is an upper bound.
    double lowest = 0;
    /// Distance from `lowest` to the table position for an SNR of 0 dB, if the true SNR is higher by the largest error.
    /// The error rate at that position is a lower bound.
    double further = 0;
  };
  /// Returns the error rate at a position of the table. A position outside `least` … `most` is replaced by the nearer
  /// of these two.
  [[nodiscard]] double rate_at(double place, int least, int most) const {
    return rates_[static_cast<std::size_t>(std::clamp(static_cast<int>(place), least, most))];
  }

  std::array<Line, max_cqi + 1> lines_{};
  std::array<double, steps + 3> rates_{};  ///< error rates in descending order: 1, the rates at the table's steps, 0
};

}  // namespace sluice::emulator::link
