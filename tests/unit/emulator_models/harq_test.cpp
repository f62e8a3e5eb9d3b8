// Tests of hybrid ARQ: processes, timing of retransmissions, and error rates with chase combining.
#include "emulator/link/harq.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "emulator/channel/hsdpa.hpp"
#include "emulator/link/cqi.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator::link {
namespace {

double never_lost(double /*snr_db*/, std::uint8_t /*cqi*/) {
  return 0;
}
double always_lost(double /*snr_db*/, std::uint8_t /*cqi*/) {
  return 1;
}

HarqBlock block(std::uint64_t tsn) {
  HarqBlock block;
  block.tsn = tsn;
  block.size = Bytes(400);
  block.cqi = 15;
  return block;
}

TEST(Harq, AReceivedBlockFreesItsProcess) {
  Harq harq({});
  EXPECT_EQ(harq.transmit(10, block(0), 0, 0.5, never_lost), HarqOutcome::received);
  EXPECT_EQ(harq.in_flight(), 0U);
  EXPECT_EQ(harq.next(0), UINT64_MAX);
}

TEST(Harq, RetransmitsSixTtisLaterAtMostTwice) {
  Harq harq({});
  EXPECT_EQ(harq.transmit(10, block(7), 0, 0.5, always_lost), HarqOutcome::again);
  for (std::uint64_t tti = 11; tti < 16; ++tti) EXPECT_EQ(harq.waiting(tti), nullptr) << tti;
  ASSERT_NE(harq.waiting(16), nullptr);
  EXPECT_EQ(harq.waiting(16)->tsn, 7U);
  EXPECT_EQ(harq.next(11), 16U);
  EXPECT_EQ(harq.transmit(16, {}, 0, 0.5, always_lost), HarqOutcome::again);
  EXPECT_EQ(harq.next(17), 22U);
  EXPECT_EQ(harq.transmit(22, {}, 0, 0.5, always_lost), HarqOutcome::given_up);
  EXPECT_EQ(harq.latest().tsn, 7U);
  EXPECT_EQ(harq.latest().transmissions, 3U);
  EXPECT_EQ(harq.in_flight(), 0U);
}

TEST(Harq, SixProcessesAreInFlightAtOnce) {
  Harq harq({});
  for (std::uint64_t tti = 0; tti < 6; ++tti) {
    EXPECT_EQ(harq.transmit(tti, block(tti), 0, 0.5, always_lost), HarqOutcome::again);
  }
  EXPECT_EQ(harq.in_flight(), 6U);
  for (std::uint64_t tti = 6; tti < 12; ++tti) EXPECT_EQ(harq.waiting(tti)->tsn, tti - 6);
  harq.flush();
  EXPECT_EQ(harq.next(0), UINT64_MAX);
}

TEST(Harq, ChaseCombiningAddsLinearSnrs) {
  std::vector<double> seen;
  const auto watch = [&](double snr_db, std::uint8_t) {
    seen.push_back(snr_db);
    return 1.0;
  };
  Harq combining({});
  combining.transmit(0, block(0), 3, 0.5, watch);
  combining.transmit(6, {}, 0, 0.5, watch);
  EXPECT_NEAR(seen[0], 3, 1e-9);
  EXPECT_NEAR(seen[1], 10 * std::log10(std::pow(10, 0.3) + 1), 1e-9);
  Harq plain({.processes = 6, .transmissions = 3, .combining = false});
  plain.transmit(0, block(0), 3, 0.5, watch);
  plain.transmit(6, {}, 0, 0.5, watch);
  EXPECT_NEAR(seen[3], 0, 1e-9);
}

TEST(Harq, RefusesInvalidParameters) {
  EXPECT_THROW(Harq({.processes = 0}), std::invalid_argument);
  EXPECT_THROW(Harq({.processes = 65}), std::invalid_argument);
  EXPECT_THROW(Harq({.processes = 6, .transmissions = 0}), std::invalid_argument);
}

/// The lowest SNR for which a CQI is reported.
double threshold_db(int cqi) {
  return 1.02 * (cqi - 16.62);
}

TEST(Harq, FirstAttemptsFailWithTheRateOfTheFormulaAtEveryCqi) {
  Random random(1);
  for (int cqi = 1; cqi <= 30; ++cqi) {
    Harq harq({.processes = 1, .transmissions = 1});
    HarqBlock sent = block(0);
    sent.cqi = static_cast<std::uint8_t>(cqi);
    const double snr = threshold_db(cqi);
    const double expected = block_error_rate(snr, cqi);
    ASSERT_GT(expected, 0.05) << cqi;
    int failed = 0;
    constexpr int n = 100'000;
    for (std::uint64_t tti = 0; tti < n; ++tti) {
      failed += harq.transmit(tti, sent, snr, random.uniform(), block_error_rate) == HarqOutcome::given_up ? 1 : 0;
    }
    EXPECT_NEAR(failed / static_cast<double>(n) / expected, 1, 0.1) << "CQI " << cqi;
  }
}

TEST(Harq, ResidualErrorsEqualTheFormulaOfTheCombinedSnr) {
  Random random(2);
  for (const double below_db : {4.6, 4.8, 5.1}) {
    constexpr int cqi = 15;
    const double snr = threshold_db(cqi) - below_db;
    double expected = 1;
    for (int attempt = 1; attempt <= 3; ++attempt) expected *= block_error_rate(snr + 10 * std::log10(attempt), cqi);
    ASSERT_GT(expected, 0.003);
    Harq harq({});
    int given_up = 0;
    int blocks = 0;
    for (std::uint64_t tti = 0; blocks < 400'000; ++tti) {
      blocks += harq.waiting(tti) == nullptr ? 1 : 0;
      given_up +=
          harq.transmit(tti, block(tti), snr, random.uniform(), block_error_rate) == HarqOutcome::given_up ? 1 : 0;
    }
    EXPECT_NEAR(given_up / static_cast<double>(blocks) / expected, 1, 0.1) << below_db << " expected " << expected;
  }
}

}  // namespace
}  // namespace sluice::emulator::link
