#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "dataplane/units/bytes.hpp"

namespace sluice::emulator::link {

inline constexpr int max_cqi = 30;
/// Bytes of a MAC-d PDU, the radio frame of the SMVS paper.
inline constexpr Bytes pdu_size{40};

/// The CQI a UE reports for a chip-level SNR in dB: 0 (out of range) up to −16 dB, floor(SNR/1.02 + 16.62), 30 from
/// 14 dB on (EURANE).
[[nodiscard]] int cqi_of(double snr_db);

/// The same of an SNR that is known to within `error_db`; nothing where that does not tell. Here, because it is asked
/// for every TTI of every UE.
[[nodiscard]] inline std::optional<int> cqi_about(double snr_db, double error_db) {
  // Behind the last of the steps, and before the first, nothing changes any more.
  const double place = std::min(std::max(snr_db * (1 / 1.02) + 16.62, 0.5), max_cqi + 0.5);
  const int cqi = static_cast<int>(place);
  const double beyond = place - cqi;
  if (beyond > error_db && beyond < 1 - error_db) return cqi;
  return std::nullopt;
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

  /// What block_received() says; nothing where the SNR does not tell. Requires 1 <= cqi <= 30.
  [[nodiscard]] std::optional<bool> received(double snr_db, int cqi, double draw) const {
    const Line& line = lines_[static_cast<std::size_t>(cqi)];
    const double place = snr_db * line.slope + line.lowest;
    if (draw >= rate_at(place, 0, steps + 1)) return true;
    if (draw < rate_at(place + line.further, 1, steps + 2)) return false;
    return std::nullopt;
  }

 private:
  static constexpr std::size_t steps = 160;
  /// Where in the table an SNR lies at a CQI.
  struct Line {
    double slope = 0;    ///< places per dB
    double lowest = 0;   ///< the place of 0 dB, if that is too high by the error
    double further = 0;  ///< from there to the place behind the one of 0 dB, if that is too low by the error
  };
  [[nodiscard]] double rate_at(double place, double least, double most) const {
    return rates_[static_cast<std::size_t>(static_cast<int>(std::min(std::max(place, least), most)))];
  }

  std::array<Line, max_cqi + 1> lines_{};
  std::array<double, steps + 3> rates_{};  ///< falling: 1, those at the steps, 0
};

}  // namespace sluice::emulator::link
