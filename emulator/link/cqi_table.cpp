#include "emulator/link/cqi_table.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace sluice::emulator::link {
namespace {

/// Bits per modulation symbol, and information bits per 1024 coded ones.
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

constexpr double gap_db = 3;
constexpr double steepness_db = 0.25;

}  // namespace

double spectral_efficiency(CqiTable table, int cqi) {
  if (cqi < 1 || cqi > max_table_cqi) throw std::out_of_range("CQI: expected 1 to 15, got " + std::to_string(cqi));
  const Row& row = rows_of(table)[static_cast<std::size_t>(cqi - 1)];
  return row.modulation * row.code_rate / 1024.0;
}

double threshold_db(CqiTable table, int cqi) {
  return 10 * std::log10(std::exp2(spectral_efficiency(table, cqi)) - 1) + gap_db;
}

int table_cqi_of(CqiTable table, double snr_db) {
  static const auto thresholds = [] {
    std::array<std::array<double, max_table_cqi>, 3> all{};
    for (std::size_t t = 0; t < all.size(); ++t) {
      for (int cqi = 1; cqi <= max_table_cqi; ++cqi) {
        all[t][static_cast<std::size_t>(cqi - 1)] = threshold_db(static_cast<CqiTable>(t), cqi);
      }
    }
    return all;
  }();
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
