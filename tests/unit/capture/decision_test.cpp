#include "proxy/ops/capture/decision.hpp"

#include <gtest/gtest.h>

namespace sluice::capture {
namespace {

using proxy::Counter;

constexpr Decision handshake = static_cast<Decision>(Counter::forward_handshake);

TEST(Decision, EqualsTheCounterThatRose) {
  proxy::Counters before;
  before.add(Counter::optimised, 5);
  proxy::Counters now = before;
  EXPECT_EQ(decision_between(before, now), std::nullopt);
  now.add(Counter::reports);
  EXPECT_EQ(decision_between(before, now), std::nullopt) << "of no frame";
  now.add(Counter::forward_handshake);
  EXPECT_EQ(decision_between(before, now), handshake);
}

TEST(Decision, ParseOutcomesAreDecisions) {
  proxy::Counters now;
  now.add(proxy::counter_of(packet::ParseResult::udp));
  const auto decision = decision_between({}, now);
  ASSERT_TRUE(decision);
  EXPECT_EQ(action_of(*decision), "forwarded");
  EXPECT_EQ(reason_of(*decision), "udp");
}

TEST(Decision, UsesTheNamesOfTheMetrics) {
  EXPECT_EQ(action_of(handshake), "forwarded");
  EXPECT_EQ(reason_of(handshake), "handshake");
  constexpr auto damaged = static_cast<Decision>(Counter::drop_tcp_checksum);
  EXPECT_EQ(action_of(damaged), "dropped");
  EXPECT_EQ(reason_of(damaged), "tcp_checksum");
  constexpr auto split = static_cast<Decision>(Counter::optimised);
  EXPECT_EQ(action_of(split), "optimised");
  EXPECT_EQ(reason_of(split), "split");
  EXPECT_EQ(action_of(sent_own), "sent");
  EXPECT_EQ(reason_of(sent_own), "own");
}

TEST(Decision, AResetOfTheProxyHasAReason) {
  constexpr Decision stalled = sent_reset(proxy::ResetReason::reset_stalled);
  EXPECT_EQ(comment_of(stalled), "action=sent reason=reset_stalled");
  EXPECT_EQ(reset_reason(stalled), proxy::ResetReason::reset_stalled);
  EXPECT_FALSE(is_forwarded(stalled));
  EXPECT_EQ(sent_reset(proxy::ResetReason::none), sent_own);
  EXPECT_EQ(reset_reason(handshake), proxy::ResetReason::none);
  EXPECT_FALSE(is_from_proxy(static_cast<Decision>(proxy::counter_count - 1)));
  EXPECT_TRUE(Decisions::named("reset_stalled")->contains(stalled));
  EXPECT_FALSE(Decisions::named("reset_stalled")->contains(sent_own));
  EXPECT_TRUE(Decisions::named("own")->contains(stalled)) << "resets are its own, too";
}

TEST(Decision, OnlyForwardedFramesGoOn) {
  EXPECT_TRUE(is_forwarded(handshake));
  EXPECT_FALSE(is_forwarded(static_cast<Decision>(Counter::optimised)));
  EXPECT_FALSE(is_forwarded(static_cast<Decision>(Counter::drop_tcp_checksum)));
  EXPECT_FALSE(is_forwarded(sent_own));
}

TEST(Decision, SetsAreNamedByReasonOrCounter) {
  for (const char* const name : {"handshake", "forward_handshake"}) {
    const auto set = Decisions::named(name);
    ASSERT_TRUE(set) << name;
    EXPECT_TRUE(set->contains(handshake));
    EXPECT_FALSE(set->contains(sent_own));
    EXPECT_FALSE(set->contains(static_cast<Decision>(Counter::optimised)));
  }
  EXPECT_TRUE(Decisions::named("own")->contains(sent_own));
  EXPECT_TRUE(Decisions::named("split")->contains(static_cast<Decision>(Counter::optimised)));
  for (const char* const name : {"", "weather", "forward_", "reports", "received_radio"})
    EXPECT_FALSE(Decisions::named(name)) << name;
}

}  // namespace
}  // namespace sluice::capture
