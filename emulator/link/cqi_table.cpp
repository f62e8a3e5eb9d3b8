// Implements the CQI tables of LTE and NR (TS 36.213 section 7.2.3, TS 38.214 section 5.2.2.1). OfdmaChannel calls them
// in every TTI: an SNR gives the CQI, and the CQI the bits of a resource block and the block error rate. Thresholds
// come from the Vienna LTE link level simulator. Those of efficiencies outside its table keep the distance to Shannon's
// bound of the nearest known one.

#include "emulator/link/cqi_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace sluice::emulator::link {
namespace {

/// Row of a CQI table: bits per modulation symbol, and information bits per 1024 coded bits.
struct Row {
  int modulation;
  int code_rate;
};
using Rows = std::array<Row, max_table_cqi>;

constexpr Rows qam64{{{2, 78},
                      {2, 120},
                      {2, 193},
                      {2, 308},
                      {2, 449},
                      {2, 602},
                      {4, 378},
                      {4, 490},
                      {4, 616},
                      {6, 466},
                      {6, 567},
                      {6, 666},
                      {6, 772},
                      {6, 873},
                      {6, 948}}};
constexpr Rows qam256{{{2, 78},
                       {2, 193},
                       {2, 449},
                       {4, 378},
                       {4, 490},
                       {4, 616},
                       {6, 466},
                       {6, 567},
                       {6, 666},
                       {6, 772},
                       {6, 873},
                       {8, 711},
                       {8, 797},
                       {8, 885},
                       {8, 948}}};
constexpr Rows qam64_low{{{2, 30},
                          {2, 50},
                          {2, 78},
                          {2, 120},
                          {2, 193},
                          {2, 308},
                          {2, 449},
                          {2, 602},
                          {4, 378},
                          {4, 490},
                          {4, 616},
                          {6, 466},
                          {6, 567},
                          {6, 666},
                          {6, 772}}};

const Rows& rows_of(CqiTable table) {
  if (table == CqiTable::qam64) return qam64;
  return table == CqiTable::qam256 ? qam256 : qam64_low;
}

/// SNRs in dB at which 10 % of the blocks of each CQI of the table `qam64` are lost, from the Vienna LTE link level
/// simulator.
constexpr std::array<double, max_table_cqi> published_db{-6.934, -5.147, -3.18, -1.254, 0.761, 2.70,  4.697, 6.528,
                                                         8.576,  10.37,  12.3,  14.18,  15.89, 17.82, 19.83};
/// Increase of the SNR in dB that divides the ratio of lost to received blocks by e.
constexpr double steepness_db = 0.25;

/// Returns Shannon's SNR bound in dB for the efficiency of a row.
double bound_db(const Row& row) {
  return 10 * std::log10(std::exp2(row.modulation * row.code_rate / 1024.0) - 1);
}

/// Returns the SNR in dB at which 10 % of the blocks of a CQI are lost. If a row of the table `qam64` has the same
/// efficiency, its SNR is used. Otherwise the SNR is above Shannon's bound by the same distance as that of the first or
/// last row of `qam64`.
double threshold_of(const Row& row) {
  const auto bits = [](const Row& of) { return of.modulation * of.code_rate; };
  for (std::size_t i = 0; i < qam64.size(); ++i) {
    if (bits(qam64[i]) == bits(row)) return published_db[i];
  }
  const std::size_t nearest = bits(row) < bits(qam64.front()) ? 0 : qam64.size() - 1;
  return bound_db(row) + published_db[nearest] - bound_db(qam64[nearest]);
}

}  // namespace

double spectral_efficiency(CqiTable table, int cqi) {
  if (cqi < 1 || cqi > max_table_cqi) throw std::out_of_range("CQI: expected 1 to 15, got " + std::to_string(cqi));
  const Row& row = rows_of(table)[static_cast<std::size_t>(cqi - 1)];
  return row.modulation * row.code_rate / 1024.0;
}

namespace {

/// SNR thresholds in dB of all tables and CQIs, computed once.
const auto thresholds = [] {
  std::array<std::array<double, max_table_cqi>, 3> all{};
  for (std::size_t t = 0; t < all.size(); ++t)
    std::ranges::transform(rows_of(static_cast<CqiTable>(t)), all[t].begin(), threshold_of);
  return all;
}();

}  // namespace

double threshold_db(CqiTable table, int cqi) {
  if (cqi < 1 || cqi > max_table_cqi) throw std::out_of_range("CQI: expected 1 to 15, got " + std::to_string(cqi));
  return thresholds[static_cast<std::size_t>(table)][static_cast<std::size_t>(cqi - 1)];
}

int table_cqi_of(CqiTable table, double snr_db) {
  int cqi = 0;
  for (const double threshold : thresholds[static_cast<std::size_t>(table)]) {
    if (snr_db < threshold) break;
    ++cqi;
  }
  return cqi;
}

double table_error_rate(CqiTable table, double snr_db, int cqi) {
  return 1 / (1 + 9 * std::exp((snr_db - threshold_db(table, cqi)) / steepness_db));
}

double resource_block_bits(CqiTable table, int cqi, std::uint32_t resource_blocks, double overhead) {
  constexpr double elements = 12 * 14;
  return elements * (1 - overhead) * spectral_efficiency(table, cqi) * resource_blocks;
}

}  // namespace sluice::emulator::link
