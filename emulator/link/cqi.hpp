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

inline constexpr int max_cqi = 30;
/// Bytes of a MAC-d PDU, the radio frame of the SMVS paper.
inline constexpr Bytes pdu_size{40};

/// The CQI a UE reports for a chip-level SNR in dB: 0 (out of range) up to −16 dB, floor(SNR/1.02 + 16.62), 30 from
/// 14 dB on (EURANE).
[[nodiscard]] int cqi_of(double snr_db);

/// The CQIs of SNRs that are known to within `error_db`; false where one of them does not tell, and then each may be
/// wrong. Here, and written so that compilers take several at a time, because it is asked for every TTI of every UE.
template <std::size_t count>
[[nodiscard]] bool cqis_about(const std::array<double, count>& snr_db, double error_db,
                              std::span<std::uint64_t, count> cqis) {
  // Behind the last of the steps, and before the first, nothing changes any more.
  std::array<double, count> places;
  for (std::size_t i = 0; i < count; ++i) places[i] = std::max(snr_db[i] * (1 / 1.02) + 16.62, 0.5);
  for (double& place : places) place = std::min(place, max_cqi + 0.5);
  constexpr double to_integer = 0x1p52;  // added to a double, it leaves the nearest integer in the lowest bits
  std::uint64_t untold = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double middle = places[i] - 0.5;  // of the step, where it is a whole number
    const double shifted = middle + to_integer;
    const double off_middle = std::abs(middle - (shifted - to_integer));
    cqis[i] = std::bit_cast<std::uint64_t>(shifted) ^ std::bit_cast<std::uint64_t>(to_integer);
    untold |= off_middle < 0.5 - error_db ? 0U : 1U;
  }
  return untold == 0;
}

/// Transport block size in bits of a CQI for a UE category (3GPP TS 25.214 v5.5.0, tables 7A–7E). 0 for CQI 0. Throws
/// std::out_of_range unless 0 <= cqi <= 30 and 1 <= category <= 10.
[[nodiscard]] int transport_block_bits(int cqi, int category);

/// MAC-d PDUs in a transport block: floor((bits − 21) / 320), the header of MAC-hs being 21 bits; 0 when it is too
/// small.
[[nodiscard]] int pdus(int transport_block_bits);

/// Probability that a block sent at `cqi` is not received at chip-level `snr_db`, first transmission (Brouwer et al.,
/// ISSSTA 2004). Requires 1 <= cqi <= 30. 0 … 1.
[[nodiscard]] double block_error_rate(double snr_db, int cqi);

/// Whether a block is received when chance has drawn `draw`, uniform in [0, 1).
[[nodiscard]] inline bool block_received(double snr_db, int cqi, double draw) {
  return draw >= block_error_rate(snr_db, cqi);
}

/// Tells whether a block is received where its SNR is known to within an error. Nearly every draw is told by the rates
/// at the steps of a table that lie around it, without computing the formula: it is asked for every TTI of every UE.
class Receptions {
 public:
  /// `error_db` > 0, and more than what rounding makes of an SNR.
  explicit Receptions(double error_db);

  // For SNRs between -1000 and 1000 dB, and 1 <= cqi <= 30.
  /// What block_received() says; nothing where the SNR does not tell.
  [[nodiscard]] std::optional<bool> received(double snr_db, int cqi, double draw) const {
    if (surely_received(snr_db, cqi, draw)) return true;
    const Line& line = lines_[static_cast<std::size_t>(cqi)];
    if (draw < rate_at(snr_db * line.slope + line.lowest + line.further, 1, steps + 2)) return false;
    return std::nullopt;
  }
  /// It says so, as it does of most blocks.
  [[nodiscard]] bool surely_received(double snr_db, int cqi, double draw) const {
    const Line& line = lines_[static_cast<std::size_t>(cqi)];
    return draw >= rate_at(snr_db * line.slope + line.lowest, 0, steps + 1);
  }

 private:
  static constexpr int steps = 160;
  /// Where in the table an SNR lies at a CQI.
  struct Line {
    double slope = 0;    ///< places per dB
    double lowest = 0;   ///< the place of 0 dB, if that is too high by the error
    double further = 0;  ///< from there to the place behind the one of 0 dB, if that is too low by the error
  };
  [[nodiscard]] double rate_at(double place, int least, int most) const {
    return rates_[static_cast<std::size_t>(std::clamp(static_cast<int>(place), least, most))];
  }

  std::array<Line, max_cqi + 1> lines_{};
  std::array<double, steps + 3> rates_{};  ///< falling: 1, those at the steps, 0
};

}  // namespace sluice::emulator::link
