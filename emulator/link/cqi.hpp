#pragma once

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

/// The same of an SNR that is known to within `error_db`; nothing where that does not tell.
[[nodiscard]] std::optional<int> cqi_about(double snr_db, double error_db);

/// Transport block size in bits of a CQI for a UE category (3GPP TS 25.214 v5.5.0, tables 7A–7E). 0 for CQI 0. Throws
/// std::out_of_range unless 0 <= cqi <= 30 and 1 <= category <= 10.
[[nodiscard]] int transport_block_bits(int cqi, int category);

/// MAC-d PDUs in a transport block: floor((bits − 21) / 320), the header of MAC-hs being 21 bits; 0 when it is too
/// small.
[[nodiscard]] int pdus(int transport_block_bits);

/// Probability that a block sent at `cqi` is not received at chip-level `snr_db`, first transmission (Brouwer et al.,
/// ISSSTA 2004). Requires 1 <= cqi <= 30. 0 … 1.
[[nodiscard]] double block_error_rate(double snr_db, int cqi);

/// Whether a block is received when chance has drawn `draw`, uniform in [0, 1): draw >= block_error_rate(snr_db, cqi),
/// and nearly always told without computing that.
[[nodiscard]] bool block_received(double snr_db, int cqi, double draw);

/// The same of an SNR that is known to within `error_db`; nothing where that does not tell.
[[nodiscard]] std::optional<bool> block_received_about(double snr_db, double error_db, int cqi, double draw);

}  // namespace sluice::emulator::link
