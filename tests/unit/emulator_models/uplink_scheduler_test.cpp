// Tests of the uplink scheduler: which UE is granted how many bytes in a TTI.
#include "emulator/cell/uplink_scheduler.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace sluice::emulator {
namespace {

/// A scheduler with several UEs and ten blocks per TTI, which carry 1000 bytes.
class UplinkGrantTest : public testing::Test {
 protected:
  void add(std::size_t ues) {
    for (std::size_t i = 0; i < ues; ++i) scheduler_.add_ue();
    capacities_.assign(ues, Bytes(1000));
  }
  /// Returns which UE is granted how many bytes in the next TTI.
  std::vector<std::pair<UeIndex, std::int64_t>> grant(std::uint32_t units = 10) {
    std::vector<std::pair<UeIndex, std::int64_t>> result;
    for (const UplinkGrant& granted : scheduler_.grant(tti_++, units, capacities_)) {
      result.emplace_back(granted.ue, granted.size.count());
    }
    return result;
  }
  using Grants = std::vector<std::pair<UeIndex, std::int64_t>>;
  UplinkScheduler scheduler_{{.blocks = 10, .sharers = 2, .first_grant = Bytes(150)}};
  std::vector<Bytes> capacities_;
  std::uint64_t tti_ = 10;
};

TEST_F(UplinkGrantTest, ARequestGetsTheFirstGrantOnly) {
  add(1);
  EXPECT_EQ(grant(), Grants());
  scheduler_.request(0, 6);
  EXPECT_EQ(grant(), Grants({{0, 200}})) << "whole blocks";
  EXPECT_EQ(grant(), Grants());
  scheduler_.request(0, 11);
  EXPECT_EQ(grant(), Grants()) << "that of TTI 11 answers it";
  scheduler_.request(0, 12);
  EXPECT_EQ(grant(), Grants({{0, 200}}));
}

TEST_F(UplinkGrantTest, GrantsSinceABufferStatusReportAreSubtracted) {
  add(1);
  scheduler_.report(0, 5, Bytes(2500));
  EXPECT_EQ(grant(), Grants({{0, 1000}}));  // TTI 10
  EXPECT_EQ(grant(), Grants({{0, 1000}}));  // TTI 11
  scheduler_.report(0, 10, Bytes(1800));    // the block of TTI 11 is still to come
  EXPECT_EQ(scheduler_.known(0), Bytes(800));
  scheduler_.report(0, 9, Bytes(9999));
  EXPECT_EQ(scheduler_.known(0), Bytes(800)) << "an old one, late by hybrid ARQ";
  EXPECT_EQ(grant(), Grants({{0, 800}}));
  scheduler_.report(0, 12, Bytes(0));
  EXPECT_EQ(grant(), Grants());
}

TEST_F(UplinkGrantTest, UesAreServedInTurnsAndUnusedBlocksGoToOthers) {
  add(3);
  for (UeIndex ue = 0; ue < 3; ++ue) scheduler_.report(ue, 5, Bytes(1200));
  EXPECT_EQ(grant(), Grants({{0, 500}, {1, 500}})) << "two share a TTI";
  EXPECT_EQ(grant(), Grants({{2, 500}, {0, 500}}));
  EXPECT_EQ(grant(6), Grants({{1, 300}, {2, 300}})) << "retransmissions have the rest";
  EXPECT_EQ(grant(), Grants({{0, 200}, {1, 400}}));
  EXPECT_EQ(grant(), Grants({{2, 400}}));
  EXPECT_EQ(grant(), Grants());
}

TEST_F(UplinkGrantTest, AUeWhoseLinkCarriesNothingIsSkipped) {
  add(2);
  scheduler_.report(0, 5, Bytes(5000));
  scheduler_.report(1, 5, Bytes(5000));
  capacities_ = {Bytes(0), Bytes(3)};
  EXPECT_EQ(grant(), Grants({{1, 3}}));
  EXPECT_EQ(scheduler_.known(0), Bytes(5000));
  EXPECT_EQ(grant(2), Grants()) << "two of ten blocks carry no byte";
  EXPECT_EQ(scheduler_.known(1), Bytes(4997));
}

TEST(UplinkScheduler, InvalidParametersAreRefused) {
  EXPECT_THROW(UplinkScheduler({.blocks = 0}), std::invalid_argument);
  EXPECT_THROW(UplinkScheduler({.sharers = 0}), std::invalid_argument);
  EXPECT_THROW(UplinkScheduler({.first_grant = Bytes(0)}), std::invalid_argument);
}

}  // namespace
}  // namespace sluice::emulator
