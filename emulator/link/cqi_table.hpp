#pragma once

#include <cstdint>

namespace sluice::emulator::link {

/// CQI tables of LTE and NR: modulation and code rate of 15 CQIs.
enum class CqiTable : std::uint8_t {
  qam64,     ///< table for up to 64QAM: TS 36.213 table 7.2.3-1, TS 38.214 table 5.2.2.1-2
  qam256,    ///< table for up to 256QAM: TS 36.213 table 7.2.3-2, TS 38.214 table 5.2.2.1-3
  qam64_low  ///< table for up to 64QAM with low spectral efficiency: TS 38.214 table 5.2.2.1-4
};

/// Highest CQI of LTE and NR.
inline constexpr int max_table_cqi = 15;

/// Returns the information bits per resource element of a CQI. Throws std::out_of_range unless 1 <= cqi <= 15.
[[nodiscard]] double spectral_efficiency(CqiTable table, int cqi);

/// Returns the SNR in dB at which 10 % of the blocks of this CQI are lost, from the Vienna LTE link level simulator.
/// For an efficiency outside the simulator's table, the SNR is above Shannon's bound by the same distance as for the
/// table's nearest efficiency. This distance is 2.6 dB for lower and 3.2 dB for higher efficiencies. Throws
/// std::out_of_range unless 1 <= cqi <= 15.
[[nodiscard]] double threshold_db(CqiTable table, int cqi);
/// Returns the highest CQI whose SNR threshold is at most `snr_db`; 0 (out of range) if there is none.
[[nodiscard]] int table_cqi_of(CqiTable table, double snr_db);
/// Returns the probability that a block of this CQI is lost at `snr_db`. The curve is logistic, with 10 % at the SNR
/// that threshold_db() returns. It falls from 90 % to 1 % in 1.7 dB, as for a turbo code of some thousand bits. The
/// form of the curve is an assumption and does not come from a simulator.
[[nodiscard]] double table_error_rate(CqiTable table, double snr_db, int cqi);

/// Returns the bits that `resource_blocks` of 12 subcarriers and 14 symbols carry at this `cqi` (1 … 15). `overhead` (0
/// … 1) is the share of control and reference signals.
[[nodiscard]] double resource_block_bits(CqiTable table, int cqi, std::uint32_t resource_blocks, double overhead);

}  // namespace sluice::emulator::link
