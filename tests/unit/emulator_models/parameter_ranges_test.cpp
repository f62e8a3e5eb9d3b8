// Each channel accepts its parameters up to both ends of their ranges, and refuses the nearest values beyond them.
#include <gtest/gtest.h>

#include <cmath>
#include <concepts>
#include <limits>
#include <stdexcept>

#include "emulator/channel/clamp.hpp"
#include "emulator/channel/hsdpa.hpp"
#include "emulator/channel/ofdma.hpp"
#include "emulator/channel/trace_generator.hpp"

namespace sluice::emulator {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

void make(const HsdpaParameters& parameters) {
  const HsdpaChannel channel(parameters, milliseconds(2), Random(1));
}
void make(const OfdmaParameters& parameters) {
  const OfdmaChannel channel(parameters, milliseconds(1), Random(1));
}
void make(const ClampParameters& parameters) {
  const ClampChannel channel(parameters, milliseconds(3), Random(1));
}
void make(const TraceParameters& parameters) {
  static_cast<void>(generate_trace(parameters, 1, seconds(1)));
}

template <typename Parameters, typename Value>
bool accepts(Value Parameters::*member, Value value) {
  Parameters parameters;
  parameters.*member = value;
  try {
    make(parameters);
  } catch (const std::invalid_argument&) {
    return false;
  }
  return true;
}

double below(double value) {
  return std::nextafter(value, -std::numeric_limits<double>::infinity());
}
double above(double value) {
  return std::nextafter(value, std::numeric_limits<double>::infinity());
}

/// The parameter may be `least` to `most`.
template <typename Parameters>
void expect_range(double Parameters::*member, double least, double most) {
  SCOPED_TRACE(testing::Message() << least << " to " << most);
  EXPECT_FALSE(accepts(member, below(least)));
  EXPECT_TRUE(accepts(member, least));
  EXPECT_TRUE(accepts(member, most));
  EXPECT_FALSE(accepts(member, above(most)));
}
template <typename Parameters, std::integral Whole>
void expect_range(Whole Parameters::*member, int least, int most) {
  SCOPED_TRACE(testing::Message() << least << " to " << most);
  EXPECT_FALSE(accepts(member, static_cast<Whole>(least - 1)));
  EXPECT_TRUE(accepts(member, static_cast<Whole>(least)));
  EXPECT_TRUE(accepts(member, static_cast<Whole>(most)));
  EXPECT_FALSE(accepts(member, static_cast<Whole>(most + 1)));
}
/// The parameter may have any value above zero.
template <typename Parameters>
void expect_positive(double Parameters::*member) {
  EXPECT_FALSE(accepts(member, 0.0));
  EXPECT_TRUE(accepts(member, 1e-3));
}

TEST(ParameterRanges, Hsdpa) {
  expect_range(&HsdpaParameters::distance_m, 1, 100'000);
  expect_range(&HsdpaParameters::speed_kmh, 0, 500);
  expect_range(&HsdpaParameters::category, 1, 10);
  expect_range(&HsdpaParameters::shadowing_db, 0, 20);
  expect_positive(&HsdpaParameters::shadowing_distance_m);
  expect_range(&HsdpaParameters::cqi_delay, 0, 15);
  for (const auto power : {&HsdpaParameters::power_dbm, &HsdpaParameters::antenna_gain_db,
                           &HsdpaParameters::intra_cell_dbm, &HsdpaParameters::inter_cell_dbm})
    EXPECT_FALSE(accepts(power, std::numeric_limits<double>::infinity()));
}

TEST(ParameterRanges, LteAndNr) {
  expect_range(&OfdmaParameters::mean_snr_db, -30, 60);
  expect_range(&OfdmaParameters::speed_kmh, 0, 500);
  expect_range(&OfdmaParameters::shadowing_db, 0, 20);
  expect_positive(&OfdmaParameters::shadowing_distance_m);
  expect_range(&OfdmaParameters::cqi_delay, 0, 15);
  expect_range(&OfdmaParameters::overhead, 0, 0.9);
  expect_range(&OfdmaParameters::resource_blocks, 1, 1000);
}

TEST(ParameterRanges, Clamp) {
  expect_range(&ClampParameters::mean_snr_db, -30, 60);
  expect_range(&ClampParameters::speed_kmh, 0, 500);
  expect_range(&ClampParameters::bandwidth_hz, above(0), 1e9);
  expect_range(&ClampParameters::attempts, 1, 100);
  expect_range(&ClampParameters::target, above(0), below(1));
  for (const double bps : {1.0, 1e11}) EXPECT_TRUE(accepts(&ClampParameters::max_rate, Rate::bits_per_second(bps)));
  for (const double bps : {0.0, 1.001e11})
    EXPECT_FALSE(accepts(&ClampParameters::max_rate, Rate::bits_per_second(bps)));
}

TEST(ParameterRanges, GeneratedTraces) {
  expect_range(&TraceParameters::speed_kmh, above(0), 500);
  expect_range(&TraceParameters::mean_snr_db, -10, 40);
  expect_range(&TraceParameters::shadowing_db, 0, 20);
  for (const double bps : {1e5, 1e9}) EXPECT_TRUE(accepts(&TraceParameters::mean, Rate::bits_per_second(bps))) << bps;
  for (const double bps : {0.999e5, 1.001e9})
    EXPECT_FALSE(accepts(&TraceParameters::mean, Rate::bits_per_second(bps))) << bps;
  EXPECT_TRUE(accepts(&TraceParameters::outage_min, TraceParameters().outage_max));
  EXPECT_FALSE(accepts(&TraceParameters::outage_min, TraceParameters().outage_max + Duration(1)));
  EXPECT_TRUE(accepts(&TraceParameters::outage_min, Duration::zero()));
  EXPECT_FALSE(accepts(&TraceParameters::outage_min, Duration(-1)));
  EXPECT_TRUE(accepts(&TraceParameters::outage_every, Duration::zero())) << "no outages";
  EXPECT_FALSE(accepts(&TraceParameters::outage_every, Duration(-1)));
  EXPECT_FALSE(accepts(&TraceParameters::outage_every, TraceParameters().outage_max));
  EXPECT_TRUE(accepts(&TraceParameters::outage_every, TraceParameters().outage_max + Duration(1)));
  EXPECT_THROW(static_cast<void>(generate_trace({}, 1, seconds(1) - Duration(1))), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(generate_trace({}, 1, std::chrono::hours(24) + Duration(1))), std::invalid_argument);
}

}  // namespace
}  // namespace sluice::emulator
