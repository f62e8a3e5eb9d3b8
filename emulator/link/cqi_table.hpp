#pragma once

#include <cstdint>

namespace sluice::emulator::link {

/// The CQI tables of LTE and NR: what modulation and code rate each of 15 CQIs stands for.
enum class CqiTable : std::uint8_t {
  qam64,     ///< 3GPP TS 36.213 table 7.2.3-1, TS 38.214 table 5.2.2.1-2
  qam256,    ///< 3GPP TS 36.213 table 7.2.3-2, TS 38.214 table 5.2.2.1-3
  qam64_low  ///< 3GPP TS 38.214 table 5.2.2.1-4, for low spectral efficiency
};

inline constexpr int max_table_cqi = 15;

/// Information bits per resource element of a CQI, 1 … 15. Throws std::out_of_range for others.
[[nodiscard]] double spectral_efficiency(CqiTable table, int cqi);

/// The SNR in dB at which a block of this CQI is lost one time in ten: that of the Vienna LTE link level simulator for
/// the same efficiency. Efficiencies beyond the first table's are as far from Shannon's bound as its nearest one, 2.6
/// dB below and 3.2 dB above; reconstructed. Throws std::out_of_range unless 1 <= cqi <= 15.
[[nodiscard]] double threshold_db(CqiTable table, int cqi);
/// The highest CQI whose threshold `snr_db` reaches; 0 (out of range) when it is below all.
[[nodiscard]] int table_cqi_of(CqiTable table, double snr_db);
/// Probability that a block of this CQI is lost at `snr_db`: a logistic curve through 10 % at the threshold, as steep
/// as a turbo code of some thousand bits is (from 90 % to 1 % in 1.7 dB). Reconstructed, as the threshold is.
[[nodiscard]] double table_error_rate(CqiTable table, double snr_db, int cqi);

/// Bits that `resource_blocks` of 12 subcarriers and 14 symbols carry, `overhead` (0 … 1) of them control and reference
/// signals.
[[nodiscard]] double resource_block_bits(CqiTable table, int cqi, std::uint32_t resource_blocks, double overhead);

}  // namespace sluice::emulator::link
