// Tests of link channels with constant, random and given rates: capacities are exact and reproducible.
#include "emulator/channel/channel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <vector>

#include "emulator/channel/constant.hpp"
#include "emulator/channel/piecewise.hpp"
#include "emulator/channel/profile.hpp"

namespace sluice::emulator {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(ConstantChannel, LosesNoFractionOfAByte) {
  // 1 Mb/s and 300 µs: 37.5 bytes a TTI.
  ConstantChannel channel(Rate::bits_per_second(1e6), microseconds(300));
  std::int64_t total = 0;
  for (std::uint64_t tti = 0; tti < 10'000; ++tti) {
    const std::int64_t now = channel.at(tti).capacity.count();
    ASSERT_TRUE(now == 37 || now == 38) << tti;
    total += now;
  }
  EXPECT_EQ(total, 375'000);
  EXPECT_EQ(channel.offered_through(9'999), 375'000U);
}

TEST(ConstantChannel, WholeBytesPerTtiAreExact) {
  ConstantChannel channel(Rate::bits_per_second(12e6), milliseconds(1));
  for (std::uint64_t tti = 0; tti < 100'000; ++tti) ASSERT_EQ(channel.at(tti).capacity, Bytes(1500)) << tti;
}

TEST(ConstantChannel, SkippingChangesNothing) {
  ConstantChannel every(Rate::bits_per_second(3.3e6), milliseconds(1));
  ConstantChannel some(Rate::bits_per_second(3.3e6), milliseconds(1));
  for (std::uint64_t tti = 0; tti < 5000; ++tti) {
    const Bytes expected = every.at(tti).capacity;
    if (tti % 37 == 5) {
      EXPECT_EQ(some.at(tti).capacity, expected);
    }
  }
  EXPECT_EQ(some.offered_through(4999), every.offered_through(4999));
}

TEST(ConstantChannel, ATtiHasOneCapacity) {
  ConstantChannel channel(Rate::bits_per_second(1e6), milliseconds(1));
  EXPECT_EQ(channel.at(7).capacity, channel.at(7).capacity);
  EXPECT_EQ(channel.offered_through(7), 1000U);
}

TEST(ConstantChannel, AcceptsZeroAndRefusesInvalidRates) {
  ConstantChannel dead(Rate(), milliseconds(1));
  EXPECT_EQ(dead.at(1000).capacity, Bytes(0));
  EXPECT_THROW(ConstantChannel(Rate::bits_per_second(1), milliseconds(0)), std::invalid_argument);
  EXPECT_THROW(ConstantChannel(Rate::bits_per_second(-1), milliseconds(1)), std::invalid_argument);
  EXPECT_THROW(ConstantChannel(Rate::bits_per_second(std::numeric_limits<double>::infinity()), milliseconds(1)),
               std::invalid_argument);
}

PiecewiseParameters figure_11(Duration period) {
  return {Rate::bits_per_second(1e6), Rate::bits_per_second(9e6), period};
}

/// TTI n carries n bytes. The TTIs are computed four at a time, and passed over where that is allowed.
class InFours final : public Channel {
 public:
  explicit InFours(bool may_skip) : may_skip_(may_skip) {}
  std::vector<std::uint64_t> computed;
  std::uint64_t skipped = 0;

 protected:
  [[nodiscard]] std::span<const LinkGrant> ahead(std::uint64_t tti) override {
    computed.push_back(tti);
    for (std::size_t i = 0; i < grants_.size(); ++i) grants_[i].capacity = Bytes(static_cast<std::int64_t>(tti + i));
    return grants_;
  }
  [[nodiscard]] bool skip(std::uint64_t from, std::uint64_t to, std::uint64_t& offered) override {
    if (!may_skip_) return false;
    skipped += to - from;
    offered += (from + to - 1) * (to - from) / 2;
    return true;
  }
  [[nodiscard]] RadioQuality quality_of(std::uint64_t tti) const override { return {0, static_cast<double>(tti)}; }

 private:
  bool may_skip_;
  std::array<LinkGrant, 4> grants_{};
};

TEST(Channel, TtisComputedInABatchAreReturnedOneByOne) {
  InFours channel(false);
  std::uint64_t offered = 0;
  for (std::uint64_t tti = 0; tti < 10; ++tti) {
    EXPECT_EQ(channel.at(tti).capacity, Bytes(static_cast<std::int64_t>(tti)));
    EXPECT_EQ(channel.at(tti).capacity, Bytes(static_cast<std::int64_t>(tti))) << "asked again";
    EXPECT_EQ(channel.quality().present_db, static_cast<double>(tti));
    offered += tti;
    EXPECT_EQ(channel.offered_through(tti), offered);
  }
  EXPECT_EQ(channel.computed, std::vector<std::uint64_t>({0, 4, 8}));
}

TEST(Channel, SkippedTtisCountAsOffered) {
  InFours channel(false);
  EXPECT_EQ(channel.at(2).capacity, Bytes(2));
  EXPECT_EQ(channel.at(21).capacity, Bytes(21));
  EXPECT_EQ(channel.offered_through(21), 231U);
  EXPECT_EQ(channel.quality().present_db, 21);
  EXPECT_EQ(channel.computed, std::vector<std::uint64_t>({0, 4, 8, 12, 16, 20}));
}

TEST(Channel, ComputedTtisAreNotSkipped) {
  InFours channel(true);
  EXPECT_EQ(channel.at(9).capacity, Bytes(9));
  EXPECT_EQ(channel.skipped, 9U);
  EXPECT_EQ(channel.at(30).capacity, Bytes(30));
  EXPECT_EQ(channel.offered_through(30), 465U);
  EXPECT_EQ(channel.at(60).capacity, Bytes(60));
  EXPECT_EQ(channel.offered_through(60), 1830U);
}

TEST(PiecewiseChannel, HoldsARateForAPeriod) {
  PiecewiseChannel channel(figure_11(milliseconds(20)), milliseconds(1), Random(1));
  std::set<double> rates;
  for (std::uint64_t tti = 0; tti < 1000; ++tti) {
    const std::int64_t bytes = channel.at(tti).capacity.count();
    rates.insert(channel.rate().bps());
    EXPECT_NEAR(static_cast<double>(bytes), channel.rate().bytes_per_second() * 0.001, 1.0) << tti;
    EXPECT_EQ(rates.size(), tti / 20 + 1) << tti;
  }
  EXPECT_GE(*rates.begin(), 1e6);
  EXPECT_LT(*rates.rbegin(), 9e6);
}

TEST(PiecewiseChannel, RatesAreUniform) {
  PiecewiseChannel channel(figure_11(milliseconds(1)), milliseconds(1), Random(2));
  double sum = 0;
  int low = 0;
  constexpr int n = 100'000;
  for (std::uint64_t tti = 0; tti < n; ++tti) {
    static_cast<void>(channel.at(tti));
    sum += channel.rate().bps();
    low += channel.rate().bps() < 3e6 ? 1 : 0;
  }
  EXPECT_NEAR(sum / n, 5e6, 0.02e6);
  EXPECT_NEAR(static_cast<double>(low) / n, 0.25, 0.005);
}

TEST(PiecewiseChannel, ATtiWithAChangeCarriesBothParts) {
  // A period of 2.5 TTIs: TTI 2 is half the first rate, half the second.
  PiecewiseChannel channel(figure_11(microseconds(2500)), milliseconds(1), Random(3));
  PiecewiseChannel same(figure_11(microseconds(2500)), microseconds(500), Random(3));
  std::int64_t total = 0;
  std::int64_t total_of_halves = 0;
  for (std::uint64_t tti = 0; tti < 1000; ++tti) {
    total += channel.at(tti).capacity.count();
    total_of_halves += same.at(2 * tti).capacity.count() + same.at(2 * tti + 1).capacity.count();
    ASSERT_LE(std::abs(total - total_of_halves), 1) << tti;
  }
}

TEST(PiecewiseChannel, DependsOnlyOnSeedAndTti) {
  PiecewiseChannel every(figure_11(milliseconds(20)), milliseconds(1), Random(4));
  PiecewiseChannel some(figure_11(milliseconds(20)), milliseconds(1), Random(4));
  PiecewiseChannel other(figure_11(milliseconds(20)), milliseconds(1), Random(5));
  for (std::uint64_t tti = 0; tti < 2000; ++tti) {
    const Bytes now = every.at(tti).capacity;
    if (tti % 101 == 0) {
      EXPECT_EQ(some.at(tti).capacity, now) << tti;
    }
  }
  EXPECT_EQ(some.offered_through(1999), every.offered_through(1999));
  EXPECT_NE(other.offered_through(1999), every.offered_through(1999));
}

TEST(PiecewiseChannel, RefusesWhatIsOutOfRange) {
  const Rate one = Rate::bits_per_second(1e6);
  const Rate two = Rate::bits_per_second(2e6);
  EXPECT_THROW(PiecewiseChannel({two, one, milliseconds(1)}, milliseconds(1), Random(1)), std::invalid_argument);
  EXPECT_THROW(PiecewiseChannel({one, two, milliseconds(0)}, milliseconds(1), Random(1)), std::invalid_argument);
  EXPECT_THROW(PiecewiseChannel({one, two, milliseconds(1)}, milliseconds(0), Random(1)), std::invalid_argument);
  EXPECT_THROW(PiecewiseChannel({Rate::bits_per_second(std::numeric_limits<double>::quiet_NaN()), two, milliseconds(1)},
                                milliseconds(1), Random(1)),
               std::invalid_argument);
}

std::shared_ptr<const CapacityProfile> profile_of(std::vector<double> bytes_per_s) {
  CapacityProfile profile{milliseconds(10), {}};
  for (const double rate : bytes_per_s) profile.rates.push_back(Rate::bytes_per_second(rate));
  return std::make_shared<const CapacityProfile>(std::move(profile));
}

TEST(ProfileChannel, RepeatsTheProfile) {
  ProfileChannel channel(profile_of({100'000, 0, 50'500}), milliseconds(5));
  std::vector<std::int64_t> bytes;
  for (std::uint64_t tti = 0; tti < 8; ++tti) bytes.push_back(channel.at(tti).capacity.count());
  EXPECT_EQ(bytes, (std::vector<std::int64_t>{500, 500, 0, 0, 252, 253, 500, 500})) << "252.5 is carried over";
}

TEST(ProfileChannel, ATtiWithAChangeCarriesBothParts) {
  ProfileChannel channel(profile_of({100'000, 20'000}), milliseconds(4));
  EXPECT_EQ(channel.at(0).capacity, Bytes(400));
  EXPECT_EQ(channel.at(1).capacity, Bytes(400));
  EXPECT_EQ(channel.at(2).capacity, Bytes(240)) << "2 ms of each";
}

TEST(ProfileChannel, RefusesAnEmptyProfile) {
  EXPECT_THROW(ProfileChannel(nullptr, milliseconds(1)), std::invalid_argument);
  EXPECT_THROW(ProfileChannel(profile_of({}), milliseconds(1)), std::invalid_argument);
  EXPECT_THROW(ProfileChannel(profile_of({1}), milliseconds(0)), std::invalid_argument);
}

}  // namespace
}  // namespace sluice::emulator
