// Simulations of schedulers with many UEs, compared with the known gains and shares.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "emulator/channel/fading.hpp"
#include "emulator/channel/hsdpa.hpp"
#include "emulator/link/cqi.hpp"
#include "emulator/scheduler/fcds.hpp"
#include "emulator/scheduler/max_ci.hpp"
#include "emulator/scheduler/proportional_fair.hpp"
#include "emulator/scheduler/round_robin.hpp"
#include "emulator/scheduler/scheduler.hpp"

namespace sluice::emulator {
namespace {

constexpr std::uint64_t seed = 1;

/// Rayleigh fading with a rate linear in the SNR, known without delay or error.
class LinearChannel final : public SteppedChannel {
 public:
  LinearChannel(double mean_bytes, std::uint64_t ue)
      : mean_bytes_(mean_bytes), fading_(222, std::chrono::milliseconds(2), Random::stream(seed, "linear", ue)) {}

 protected:
  LinkGrant step(std::uint64_t tti) override {
    LinkGrant grant;
    grant.capacity = Bytes(std::llround(mean_bytes_ * fading_.power(tti)));
    return grant;
  }

 private:
  double mean_bytes_;
  Fading fading_;
};

struct Outcome {
  std::vector<double> airtime;  ///< part of the TTIs that each UE was given
  double bytes_per_tti = 0;
};

using Channels = std::vector<std::unique_ptr<Channel>>;

/// Everybody always has something to send.
Outcome run(Scheduler& scheduler, const Channels& channels, std::uint64_t ttis) {
  Outcome outcome;
  outcome.airtime.assign(channels.size(), 0);
  std::vector<Candidate> candidates(channels.size());
  for (std::uint64_t tti = 0; tti < ttis; ++tti) {
    for (std::uint32_t ue = 0; ue < channels.size(); ++ue) {
      const LinkGrant& grant = channels[ue]->at(tti);
      candidates[ue] = {ue, true, grant.capacity, channels[ue]->quality().reported_db, grant.cqi};
    }
    const Candidate* const chosen = scheduler.pick(candidates, tti);
    if (chosen == nullptr) continue;
    const Bytes carried = channels[chosen->ue]->at(tti).carried();
    scheduler.served(chosen->ue, carried, tti);
    outcome.airtime[chosen->ue] += 1;
    outcome.bytes_per_tti += static_cast<double>(carried.count());
  }
  for (double& share : outcome.airtime) share /= static_cast<double>(ttis);
  outcome.bytes_per_tti /= static_cast<double>(ttis);
  return outcome;
}

Channels linear(const std::vector<double>& means) {
  Channels channels;
  for (std::size_t i = 0; i < means.size(); ++i) channels.push_back(std::make_unique<LinearChannel>(means[i], i));
  return channels;
}

Channels hsdpa(const HsdpaParameters& parameters, std::size_t ues) {
  Channels channels;
  for (std::size_t i = 0; i < ues; ++i) {
    channels.push_back(
        std::make_unique<HsdpaChannel>(parameters, std::chrono::milliseconds(2), Random::stream(seed, "hsdpa", i)));
  }
  return channels;
}

TEST(RoundRobin, GivesAllUesTheSameAirtime) {
  RoundRobin rr;
  const Outcome outcome = run(rr, linear({100, 1000, 10'000, 5000, 700}), 100'000);
  for (const double share : outcome.airtime) EXPECT_NEAR(share / 0.2, 1, 0.01);
}

TEST(MaxCi, GainEqualsTheHarmonicNumber) {
  for (const std::size_t users : {2U, 5U, 10U}) {
    double harmonic = 0;
    for (std::size_t k = 1; k <= users; ++k) harmonic += 1 / static_cast<double>(k);
    const std::vector<double> equal(users, 10'000);
    MaxCi mci;
    RoundRobin rr;
    const double gain = run(mci, linear(equal), 100'000).bytes_per_tti / run(rr, linear(equal), 100'000).bytes_per_tti;
    EXPECT_NEAR(gain / harmonic, 1, 0.03) << users << " users, seed " << seed;
  }
}

TEST(ProportionalFair, SharesAirtimeEquallyBetweenUsersTenDecibelsApart) {
  ProportionalFair pf(1000);
  const Outcome outcome = run(pf, linear({1000, 10'000}), 400'000);
  EXPECT_NEAR(outcome.airtime[0], 0.5, 0.01) << "seed " << seed;
  EXPECT_NEAR(outcome.airtime[1], 0.5, 0.01) << "seed " << seed;
}

HsdpaParameters moving(double kmh, int cqi_delay) {
  HsdpaParameters parameters;
  parameters.distance_m = 500;
  parameters.speed_kmh = kmh;
  parameters.shadowing_db = 0;
  parameters.cqi_delay = cqi_delay;
  return parameters;
}

double gain_of_pf(const HsdpaParameters& parameters) {
  ProportionalFair pf(1000);
  RoundRobin rr;
  constexpr std::uint64_t ttis = 60'000;
  return run(pf, hsdpa(parameters, 6), ttis).bytes_per_tti / run(rr, hsdpa(parameters, 6), ttis).bytes_per_tti - 1;
}

TEST(ProportionalFair, GainsOnlyWhileTheCqiIsAccurate) {
  EXPECT_LT(gain_of_pf(moving(120, 3)), 0.02) << "seed " << seed;  // 6 ms at 222 Hz: the fade is over
  EXPECT_GT(gain_of_pf(moving(120, 0)), 0.2) << "seed " << seed;
  EXPECT_GT(gain_of_pf(moving(3, 3)), 0.2) << "seed " << seed;
}

/// FCDS step by step, written down a second time: arrays, no early ends.
class FcdsOracle {
 public:
  explicit FcdsOracle(std::size_t ues) : p_(ues), v_(ues), served_(ues, -1) {}
  int pick(const std::vector<Candidate>& candidates, double alpha, int tti) {
    std::vector<double> metric(candidates.size());
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const double x = candidates[i].quality_db;
      if (tti == 0) {
        p_[i] = x;
        continue;
      }
      p_[i] = alpha * p_[i] + (1 - alpha) * x;
      v_[i] = alpha * v_[i] + (1 - alpha) * (x - p_[i]) * (x - p_[i]);
      metric[i] = v_[i] > 0 ? (x - p_[i]) / std::sqrt(v_[i]) : 0;
    }
    int best = -1;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (!candidates[i].backlogged || candidates[i].capacity == Bytes(0)) continue;
      const auto b = static_cast<std::size_t>(best);
      if (best < 0 || metric[i] > metric[b] || (metric[i] == metric[b] && served_[i] < served_[b])) {
        best = static_cast<int>(i);
      }
    }
    if (best >= 0) served_[static_cast<std::size_t>(best)] = tti;
    return best;
  }

 private:
  std::vector<double> p_, v_;
  std::vector<int> served_;
};

TEST(Fcds, EqualsAStepByStepOracle) {
  constexpr std::size_t ues = 4;
  Fcds fcds(1000);
  FcdsOracle oracle(ues);
  const Channels channels = hsdpa(moving(30, 3), ues);
  Random random(seed);
  std::vector<Candidate> candidates(ues);
  std::vector<int> airtime(ues, 0);
  for (int tti = 0; tti < 100'000; ++tti) {
    for (std::uint32_t ue = 0; ue < ues; ++ue) {
      const LinkGrant& grant = channels[ue]->at(static_cast<std::uint64_t>(tti));
      candidates[ue] = {ue, random.chance(0.7), grant.capacity, channels[ue]->quality().reported_db, grant.cqi};
    }
    const Candidate* const chosen = fcds.pick(candidates, static_cast<std::uint64_t>(tti));
    const int ue = chosen != nullptr ? static_cast<int>(chosen->ue) : -1;
    ASSERT_EQ(ue, oracle.pick(candidates, 1 - 1 / 1000.0, tti)) << "TTI " << tti;
    if (chosen == nullptr) continue;
    fcds.served(chosen->ue, Bytes(1), static_cast<std::uint64_t>(tti));
    ++airtime[chosen->ue];
  }
  for (const int ttis : airtime) EXPECT_GT(ttis, 20'000);  // fair: no UE far below a quarter
}

// First transmissions, at every CQI, at 0.01 dB and at 0.9 dB above where the CQI begins.
TEST(Hsdpa, LosesBlocksByTheFormulaAtEveryCqi) {
  for (int cqi = 1; cqi <= link::max_cqi; ++cqi) {
    for (const double above : {0.01, 0.9}) {
      const double snr = 1.02 * (cqi - 16.62) + above;
      HsdpaParameters parameters = moving(0, 3);
      parameters.fading = false;
      // Without interference from the own cell the SNR is power less path loss less the other cells' interference.
      parameters.intra_cell_dbm = -500;
      parameters.inter_cell_dbm = 0;
      parameters.power_dbm = snr + hsdpa_path_loss_db(parameters);
      HsdpaChannel channel(parameters, std::chrono::milliseconds(2),
                           Random::stream(seed, "bler", static_cast<std::uint64_t>(cqi)));
      ASSERT_EQ(channel.at(0).cqi, cqi);
      const double expected = link::block_error_rate(snr, cqi);
      // Enough blocks for a standard deviation of 2 % of the expected rate; rates that would need too many are skipped.
      const auto blocks = static_cast<std::uint64_t>(2500 / expected);
      if (blocks > 2'000'000) continue;
      std::uint64_t lost = 0;
      for (std::uint64_t tti = 0; tti < blocks; ++tti) lost += channel.at(tti).received ? 0U : 1U;
      const double rate = static_cast<double>(lost) / static_cast<double>(blocks);
      EXPECT_NEAR(rate / expected, 1, 0.1) << "CQI " << cqi << " at " << snr << " dB, expected " << expected;
    }
  }
}

}  // namespace
}  // namespace sluice::emulator
