// Tests of which proxy owns a UE, from the statuses of several proxies, and of where reports are sent.
#include "control/feedback/ue_ownership.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/unit/feedback/samples.hpp"

namespace sluice::control::feedback::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

constexpr std::uint64_t a = 11;
constexpr std::uint64_t b = 12;
constexpr std::uint64_t c = 13;

IpAddress ue(int number) {
  return IpAddress::v4(10, 45, static_cast<std::uint8_t>(number / 256), static_cast<std::uint8_t>(number % 256));
}

/// Claims, and proxies that speak of their UEs.
class UeOwnershipTest : public testing::Test {
 protected:
  /// Reports that the proxy has sent `injected` bytes to the UE since it began; returns whether it owns the UE.
  bool says(std::uint64_t proxy, std::uint64_t injected, int number = 1, std::uint32_t flows = 0) {
    BearerStatus status;
    status.ue = ue(number);
    status.injected = injected;
    status.active_flows = flows;
    return ownership.take(proxy, epoch, status, now);
  }
  std::optional<std::uint64_t> holder(int number = 1) { return ownership.holder(ue(number), now); }
  /// Returns where the reports of UEs 1 … count go, as lists of their numbers; the first list is for all proxies.
  std::vector<std::pair<std::optional<std::uint64_t>, std::vector<int>>> routed(int count) {
    std::vector<BearerReport> reports(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) reports[static_cast<std::size_t>(i)].ue = ue(i + 1);
    std::vector<std::pair<std::optional<std::uint64_t>, std::vector<int>>> result;
    for (const RoutedReports& way : ownership.route(reports, now)) {
      result.emplace_back(way.to, std::vector<int>{});
      for (const BearerReport& report : way.reports) result.back().second.push_back(report.ue.octets[15]);
    }
    return result;
  }

  UeOwnership ownership;
  Instant now{1h};
  std::uint64_t epoch = 1;
};

TEST_F(UeOwnershipTest, TheFirstProxyThatReportsAUeOwnsIt) {
  EXPECT_EQ(holder(), std::nullopt);
  EXPECT_TRUE(says(a, 1000));
  EXPECT_THAT(holder(), Optional(a));
  EXPECT_EQ(holder(2), std::nullopt);
  EXPECT_EQ(ownership.counters().begun, 1U);
}

TEST_F(UeOwnershipTest, AProxyWithoutBytesOrConnectionsDoesNotOwnTheUe) {
  EXPECT_FALSE(says(a, 0));
  EXPECT_EQ(holder(), std::nullopt);
  EXPECT_TRUE(says(a, 0, 1, 2)) << "connections are something";
}

TEST_F(UeOwnershipTest, AProxyThatSendsToTheUeBecomesItsOwner) {
  says(a, 1000);
  EXPECT_TRUE(says(b, 40));
  EXPECT_THAT(holder(), Optional(b));
  EXPECT_EQ(ownership.counters().moved, 1U);
}

// The last owner still answers the reports that it receives, and polls.
TEST_F(UeOwnershipTest, AProxyThatNoLongerSendsDoesNotBecomeOwnerAgain) {
  says(a, 1000);
  says(b, 40);
  EXPECT_FALSE(says(a, 1000, 1, 3));
  EXPECT_THAT(holder(), Optional(b));
  EXPECT_EQ(ownership.counters().moved, 1U);
  EXPECT_TRUE(says(a, 1001)) << "the UE has come back";
}

TEST_F(UeOwnershipTest, ARestartedProxyCountsFromZero) {
  says(a, 1000);
  says(b, 40);
  epoch = 2;
  EXPECT_TRUE(says(a, 1000));
  EXPECT_THAT(holder(), Optional(a));
}

TEST_F(UeOwnershipTest, AProxyThatForgotTheUeCountsFromZero) {
  says(a, 1000);
  says(b, 40);
  EXPECT_TRUE(says(a, 60));
}

TEST_F(UeOwnershipTest, AnyStatusOfTheOwnerRenewsTheLease) {
  says(a, 1000);
  for (int i = 0; i < 10; ++i) {
    now += UeOwnership::lease_time - 1ns;
    EXPECT_TRUE(says(a, 1000));
  }
  EXPECT_EQ(ownership.counters().lapsed, 0U);
}

TEST_F(UeOwnershipTest, TheLeaseExpires) {
  says(a, 1000);
  now += UeOwnership::lease_time;
  EXPECT_EQ(holder(), std::nullopt);
  EXPECT_EQ(ownership.counters().lapsed, 1U);
  EXPECT_FALSE(says(a, 1000)) << "it has nothing new of it, and no connection";
  EXPECT_TRUE(says(b, 0, 1, 1));
  EXPECT_EQ(ownership.counters().moved, 0U) << "nobody held it";
}

TEST_F(UeOwnershipTest, TheNumberOfProxiesPerUeIsBounded) {
  for (std::uint64_t proxy = 1; proxy <= 20; ++proxy) {
    now += 1ms;
    EXPECT_TRUE(says(proxy, proxy));
  }
  EXPECT_THAT(holder(), Optional(20U));
  EXPECT_FALSE(says(19, 19)) << "the last ones are known";
}

// An id that no proxy of ours has, but that the protocol allows.
TEST_F(UeOwnershipTest, SenderZeroIsValid) {
  EXPECT_TRUE(says(0, 10));
  EXPECT_THAT(holder(), Optional(0U));
  EXPECT_FALSE(says(a, 0));
  EXPECT_TRUE(says(a, 1));
  EXPECT_FALSE(says(0, 10));
}

TEST_F(UeOwnershipTest, ReportsGoToTheOwnerOrToAllProxies) {
  says(a, 10, 1);
  says(b, 10, 3);
  says(a, 10, 4);
  EXPECT_THAT(routed(5),
              ElementsAre(testing::Pair(std::nullopt, ElementsAre(2, 5)), testing::Pair(Optional(a), ElementsAre(1, 4)),
                          testing::Pair(Optional(b), ElementsAre(3))));
  now += UeOwnership::lease_time;
  EXPECT_THAT(routed(5), ElementsAre(testing::Pair(std::nullopt, ElementsAre(1, 2, 3, 4, 5))));
  says(c, 10, 2);
  EXPECT_THAT(routed(2),
              ElementsAre(testing::Pair(std::nullopt, ElementsAre(1)), testing::Pair(Optional(c), ElementsAre(2))));
  EXPECT_THAT(routed(0), ElementsAre(testing::Pair(std::nullopt, IsEmpty())));
}

TEST_F(UeOwnershipTest, MemoryIsBounded) {
  ownership = UeOwnership(100);
  for (int number = 0; number < 100; ++number) EXPECT_TRUE(says(a, 1, number));
  EXPECT_FALSE(says(a, 1, 100)) << "all others are spoken of";
  EXPECT_EQ(ownership.counters().refused, 1U);
  EXPECT_TRUE(says(a, 2, 7)) << "those that are known are as ever";
  now += UeOwnership::lease_time;
  EXPECT_TRUE(says(a, 1, 100)) << "nobody spoke of the others for so long";
  EXPECT_EQ(ownership.ues(), 1U);
  EXPECT_EQ(ownership.counters().lapsed, 100U);
}

// What several proxies say at random, a key's holder among them: every UE has one way, and no report is lost or
// doubled.
TEST_F(UeOwnershipTest, EveryReportIsRoutedOnce) {
  std::mt19937_64 random(1);
  ownership = UeOwnership(40);
  for (int i = 0; i < 20'000; ++i) {
    now += Duration(random() % 100'000'000);
    epoch = 1 + random() % 2;
    says(random() % 8, random() % 5, static_cast<int>(random() % 60), static_cast<std::uint32_t>(random() % 2));
    ASSERT_LE(ownership.ues(), 40U);
    std::set<int> seen;
    std::set<std::optional<std::uint64_t>> ways;
    std::size_t reports = 0;
    for (const auto& [to, numbers] : routed(50)) {
      EXPECT_TRUE(ways.insert(to).second);
      seen.insert(numbers.begin(), numbers.end());
      reports += numbers.size();
      for (const int number : numbers) EXPECT_EQ(holder(number), to);
    }
    ASSERT_EQ(seen.size(), 50U);
    ASSERT_EQ(reports, 50U);
  }
  EXPECT_GT(ownership.counters().moved, 100U);
}

}  // namespace
}  // namespace sluice::control::feedback::test
