// Tests of the ACK-based window with scripted ACK samples: slow start, ACK gaps, ACK delay, drains and probes.
// Expected values are computed by hand.
#include "control/ack_based/delay_based_controller.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <stdexcept>

namespace sluice::control {
namespace {

using namespace std::chrono_literals;

Instant at(Duration since) {
  return Instant(100s + since);
}

TEST(DelayBasedController, BeginsWithTheInitialWindowAndDoubles) {
  DelayBasedController law;
  law.on_resumed(at(0s));
  EXPECT_EQ(law.window(), Bytes(14600));
  law.on_acknowledged(
      {.now = at(20ms), .delivered = Bytes(14600), .round_trip = 20ms, .in_flight = Bytes(0), .window_limited = true});
  EXPECT_EQ(law.window(), Bytes(29200));
  EXPECT_TRUE(law.in_slow_start());
  EXPECT_EQ(law.base_delay(), 20ms);
}

TEST(DelayBasedController, DoesNotGrowForASourceThatHasNothingToSend) {
  DelayBasedController law;
  law.on_resumed(at(0s));
  for (int i = 1; i < 50; ++i)
    law.on_acknowledged({.now = at(i * 20ms), .delivered = Bytes(1500), .round_trip = 20ms, .in_flight = Bytes(1500)});
  EXPECT_EQ(law.window(), Bytes(14600));
}

// By hand: 1.25 · 1.25 MB/s · (20 + 10) ms + 3000 = 49 875.
TEST(DelayBasedController, EqualsRateTimesDelayPlusReference) {
  DelayBasedParameters parameters;
  parameters.ack_aggregation_share = 0;
  DelayBasedController law(parameters);
  for (int i = 1; i <= 2000; ++i) {
    const Duration took = i < 10 ? 20ms : 36ms;  // 16 ms of queue
    law.on_acknowledged({.now = at(i * 1200us),
                         .delivered = Bytes(1500),
                         .round_trip = took,
                         .in_flight = Bytes(30'000),
                         .window_limited = true});
  }
  law.on_acknowledged({.now = at(2001 * 1200us),
                       .delivered = Bytes(1500),
                       .round_trip = 40ms,
                       .in_flight = Bytes(45'000),
                       .window_limited = true});
  EXPECT_FALSE(law.in_slow_start());
  EXPECT_NEAR(law.rate().bps(), 10e6, 1e5);
  EXPECT_NEAR(static_cast<double>(law.window().count()), 49'875, 500);
  EXPECT_NEAR(static_cast<double>(law.queued(Bytes(45'000)).count()), 20'000, 300);
  EXPECT_NEAR(static_cast<double>(law.reference().count()), 24'875, 500);
}

// Half of the reference gives 1.25 · 1.25 MB/s · (20 + 5) ms + 3000 = 42 062. The next acknowledgement restores all of
// it.
TEST(DelayBasedController, AShortFlowLowersTheShareOfTheReference) {
  DelayBasedParameters parameters;
  parameters.ack_aggregation_share = 0;
  DelayBasedController law(parameters);
  const auto ack = [&](int i, Duration took, double part) {
    AckSample ack_sample{.now = at(i * 1200us),
                         .delivered = Bytes(1500),
                         .round_trip = took,
                         .in_flight = Bytes(30'000),
                         .window_limited = true};
    ack_sample.reference_factor = part;
    law.on_acknowledged(ack_sample);
  };
  // The link is not known for long enough to count as steady.
  for (int i = 1; i <= 1000; ++i) ack(i, i < 10 ? 20ms : 36ms, 1);
  ack(1001, 36ms, 0.5);
  EXPECT_NEAR(static_cast<double>(law.window().count()), 42'062, 500);
  for (int i = 1002; i <= 1500; ++i) ack(i, 31ms, 0.5);
  EXPECT_NEAR(static_cast<double>(law.window().count()), 42'062, 500) << "nothing else changes by it";
  EXPECT_NEAR(law.rate().bps(), 10e6, 1e5);
  ack(1501, 31ms, 1);
  EXPECT_NEAR(static_cast<double>(law.window().count()), 49'875, 500);
}

TEST(DelayBasedController, IsNeverLessThanTwoSegments) {
  DelayBasedController law;
  law.on_resumed(at(0s));
  for (int i = 1; i < 20; ++i) {
    law.on_acknowledged({.now = at(i * 10s),
                         .delivered = Bytes(1),
                         .round_trip = 9s,
                         .in_flight = Bytes(3000),
                         .window_limited = true});
  }
  EXPECT_GE(law.window(), Bytes(3000));
}

TEST(DelayBasedController, OnlyAProbeIsSentWhileNoAckArrives) {
  DelayBasedController law;
  law.on_resumed(at(0s));
  for (int i = 1; i <= 1000; ++i) {
    law.on_acknowledged({.now = at(i * 1ms),
                         .delivered = Bytes(1500),
                         .round_trip = 20ms,
                         .in_flight = Bytes(30'000),
                         .window_limited = true});
  }
  law.on_resumed(at(3s));  // all of it is taken for lost
  EXPECT_EQ(law.window(), Bytes(3000));
  law.on_acknowledged({.now = at(9s),
                       .delivered = Bytes(1500),
                       .round_trip = Duration::zero(),
                       .in_flight = Bytes(1500),
                       .window_limited = true});
  EXPECT_GT(law.window(), Bytes(15'000)) << "the link is back, and what was known of it holds";
  EXPECT_EQ(law.base_delay(), 20ms);
}

TEST(DelayBasedController, ForgetsTheLinkAfterALongPause) {
  DelayBasedController law;
  law.on_resumed(at(0s));
  for (int i = 1; i <= 1000; ++i) {
    law.on_acknowledged({.now = at(i * 1ms),
                         .delivered = Bytes(1500),
                         .round_trip = 45ms,
                         .in_flight = Bytes(60'000),
                         .window_limited = true});
  }
  law.on_acknowledged({.now = at(1001ms), .delivered = Bytes(60'000), .round_trip = 45ms, .in_flight = Bytes(0)});
  law.on_resumed(at(5s));
  EXPECT_GT(law.window(), Bytes(30'000));
  law.on_acknowledged({.now = at(5s + 45ms), .delivered = Bytes(1500), .round_trip = 45ms, .in_flight = Bytes(0)});
  law.on_resumed(at(16s));
  EXPECT_EQ(law.window(), Bytes(14600));
  EXPECT_EQ(law.base_delay(), Duration::zero());
}

// All ACKs of the last second are delayed by the uplink alone, so the rate stays as before.
TEST(DelayBasedController, AllowsWhatTheLinkCarriesDuringTheAckDelay) {
  const auto window_when = [](Duration late) {
    DelayBasedController law;
    for (int i = 1; i < 300; ++i) {
      const Duration by = i < 200 ? 0ms : std::max(late, Duration(0ms));
      const Bytes in_flight(50'000 + by / 1ms * 1250);
      law.on_acknowledged({.now = at(i * 10ms + by),
                           .delivered = Bytes(12500),
                           .round_trip = 40ms + by,
                           .in_flight = in_flight,
                           .window_limited = true,
                           .ack_delay = i < 200 ? 0ms : late});
    }
    return static_cast<double>(law.window().count());
  };
  const double punctual = window_when(0ms);
  // Half of the reference of 14 ms goes, since the window grows in silence.
  const double half = 1.25 * 1250 * 7;
  const double stretch = 12500 - 2 * 1500;
  EXPECT_NEAR(window_when(20ms) - punctual, 1.35 * 12500 * 2 - half - stretch, 100) << "in place of the stretch";
  EXPECT_NEAR(window_when(300ms) - punctual, 1.35 * 12500 * 30 - half - stretch, 100) << "behind an upload, too";
  EXPECT_NEAR(window_when(-1ms), punctual, 100) << "unknown: the stretch alone";
}

// An outage delays the uplink and the link. The data that arrived meanwhile is at most what was in flight.
TEST(DelayBasedController, AckDelayAddsAtMostTheBytesInFlight) {
  const auto window_after = [](Duration late) {
    DelayBasedController law;
    for (int i = 1; i < 300; ++i) {
      law.on_acknowledged({.now = at(i * 10ms),
                           .delivered = Bytes(12500),
                           .round_trip = 40ms,
                           .in_flight = Bytes(50'000),
                           .window_limited = true,
                           .ack_delay = Duration::zero()});
    }
    law.on_acknowledged({.now = at(3s + late),
                         .delivered = Bytes(12500),
                         .round_trip = 40ms + late,
                         .in_flight = Bytes(15'000),
                         .window_limited = true,
                         .ack_delay = late});
    return static_cast<double>(law.window().count());
  };
  EXPECT_LE(window_after(1s) - window_after(Duration::zero()), 1.35 * (15'000 + 12'500));
}

// A burst of the port or a TTI of the uplink brings several at the same time of day.
TEST(DelayBasedController, AcksOfOneInstantAreAllCounted) {
  DelayBasedController law;
  for (int i = 1; i <= 3000; ++i) {
    for (int n = 0; n < 4; ++n) {
      law.on_acknowledged({.now = at(i * 1ms),
                           .delivered = Bytes(1500),
                           .round_trip = 40ms,
                           .in_flight = Bytes(240'000),
                           .window_limited = true});
    }
  }
  EXPECT_NEAR(to_seconds(law.time_in_queue(Bytes(60'000))), 0.010, 0.0002) << "at 6000 bytes a millisecond";
}

// Two segments or eight for each acknowledgement: what the link needs until the next one is in the window.
TEST(DelayBasedController, AddsTheBytesOfOneAck) {
  const auto window_when = [](std::int64_t segments, std::uint32_t flows, Duration control_loop_delay = 0ms) {
    DelayBasedController law;
    const Duration apart = segments * 1ms;  // 12 Mb/s
    for (Duration now = apart; now <= 3s; now += apart) {
      AckSample ack_sample{.now = at(now),
                           .delivered = Bytes(1500 * segments),
                           .round_trip = 40ms,
                           .in_flight = Bytes(75'000),
                           .flows = flows,
                           .window_limited = true};
      ack_sample.control_loop_delay = control_loop_delay;
      law.on_acknowledged(ack_sample);
    }
    return static_cast<double>(law.window().count());
  };
  EXPECT_NEAR(window_when(8, 1) - window_when(2, 1), 6 * 1500, 300);
  EXPECT_NEAR(window_when(2, 4) - window_when(2, 1), 3 * 1500, 300) << "each further one waits for a second segment";
  EXPECT_NEAR(window_when(8, 4) - window_when(8, 1), 3 * 1500, 300) << "what the others are let have";
  EXPECT_NEAR(window_when(8, 4, 10ms) - window_when(8, 1, 10ms), 3 * 7 * 1500, 300) << "end to end for an eighth";
}

/// Returns a window after 10 Mb/s over a path of 40 ms. An ACK arrives every 10 ms, delayed by `late`; `change` alters
/// the ACKs of the last 1.2 s.
DelayBasedController after_late_acknowledgements(Duration late, const std::function<void(AckSample&)>& change = {}) {
  DelayBasedController law;
  for (int i = 1; i < 500; ++i) {
    const Duration waited = late + (i < 10 ? 0ms : 30ms);
    AckSample ack_sample{.now = at(i * 10ms),
                         .delivered = Bytes(12500),
                         .round_trip = 40ms + waited,
                         .in_flight = Bytes(90000),
                         .window_limited = true,
                         .ack_delay = late};
    if (change && i >= 380) change(ack_sample);
    law.on_acknowledged(ack_sample);
  }
  return law;
}

// By hand: 0.9 · 1.25 MB/s in the silence, up to 10 ms that are usual and 15 ms, less the 10 ms of the newest.
TEST(DelayBasedController, GrowsInAnAckGapUntilTheNextAckIsOverdue) {
  const DelayBasedController law = after_late_acknowledgements(10ms);
  const Instant last = at(4990ms);
  EXPECT_EQ(law.window(last), law.window());
  EXPECT_NEAR(static_cast<double>((law.window(last + 8ms) - law.window()).count()), 0.9 * 1250 * 8, 50);
  EXPECT_NEAR(static_cast<double>((law.window(last + 15ms) - law.window()).count()), 0.9 * 1250 * 15, 100);
  EXPECT_EQ(law.window(last + 16ms), law.window(last + 190ms)) << "the link may stand still";
}

TEST(DelayBasedController, ReportsWhenAnAckGapAllowsASegment) {
  const DelayBasedController law = after_late_acknowledgements(10ms);
  const Instant last = at(4990ms);
  const Instant available = law.budget_available_at(last, law.window());
  EXPECT_NEAR(to_seconds(available - last), 1500 / (0.9 * 1.25e6), 1e-4);
  EXPECT_GE(law.window(available + 1us), law.window() + Bytes(1500));
  EXPECT_EQ(law.budget_available_at(last + 5ms, law.window()), last + 6ms)
      << "it is there, and is not looked for all the time";
  EXPECT_EQ(law.budget_available_at(last, law.window() + Bytes(40'000)), never) << "more than a silence makes room for";
  EXPECT_EQ(law.budget_available_at(last + 115ms, Bytes(0)), last + 116ms)
      << "whoever could not use it is looked at again";
  EXPECT_EQ(law.budget_available_at(last, Bytes(std::int64_t{1} << 62)), never)
      << "however much is said to be in flight";
}

TEST(DelayBasedController, DoesNotGrowInAnAckGapThatTheLinkMayCause) {
  const Instant later = at(5s);
  const DelayBasedController punctual = after_late_acknowledgements(0ms);
  EXPECT_EQ(punctual.window(later), punctual.window());
  EXPECT_GE(punctual.budget_available_at(later, Bytes(0)), later + 190ms) << "not before news is overdue";
  const DelayBasedController unknown =
      after_late_acknowledgements(10ms, [](AckSample& ack_sample) { ack_sample.ack_delay = -1ms; });
  EXPECT_EQ(unknown.window(later), unknown.window()) << "not known any more";
  const DelayBasedController passing =
      after_late_acknowledgements(10ms, [](AckSample& ack_sample) { ack_sample.control_loop_delay = 60ms; });
  EXPECT_EQ(passing.window(later), passing.window()) << "it goes in acknowledgements, of which there are none";
  const DelayBasedController over =
      after_late_acknowledgements(10ms, [](AckSample& ack_sample) { ack_sample.in_flight = {}; });
  EXPECT_EQ(over.window(later), over.window()) << "nobody has anything to say";
}

// At 12 Mb/s over 40 ms, nothing is in flight after 200 ms that would still be acknowledged by itself.
TEST(DelayBasedController, AllowsOneProbeSegmentBeyondTheWindowWhenAnAckIsOverdue) {
  const auto law_with = [](Bytes in_flight) {
    DelayBasedController law;
    for (int i = 1; i < 3000; ++i) {
      law.on_acknowledged({.now = at(i * 1ms),
                           .delivered = Bytes(1500),
                           .round_trip = 40ms,
                           .in_flight = Bytes(60'000),
                           .window_limited = true});
    }
    law.on_acknowledged(
        {.now = at(3s), .delivered = Bytes(1500), .round_trip = 40ms, .in_flight = in_flight, .window_limited = true});
    return law;
  };
  const Bytes beyond(300'000);
  const DelayBasedController law = law_with(beyond);
  ASSERT_GT(beyond, law.window()) << "as an outage leaves it, and no room is made";
  const Instant last = at(3s);
  const Instant asks = law.budget_available_at(last, beyond);
  EXPECT_GE(asks, last + 200ms);
  EXPECT_LE(asks, last + 500ms);
  EXPECT_EQ(law.window(asks - 1us), law.window());
  EXPECT_EQ(law.window(asks), beyond + Bytes(1500));
  EXPECT_EQ(law.budget_available_at(asks, beyond), asks + 10ms) << "whoever could not use it is looked at again";
  EXPECT_EQ(law.budget_available_at(asks, beyond + Bytes(1500)), never) << "it has asked";
  const DelayBasedController over = law_with(Bytes(0));
  EXPECT_EQ(over.window(last + 10s), over.window()) << "nothing is to be heard of";
  EXPECT_EQ(over.budget_available_at(last, Bytes(0)), never);
  DelayBasedController lost = law_with(beyond);
  lost.on_resumed(last + 3s);
  EXPECT_EQ(lost.window(last + 10s), lost.window()) << "a timeout has asked";
}

// The connection whose clock measured the delay has ended; the clocks of the others give no measurement.
TEST(DelayBasedController, ForgetsAnAckDelayThatIsNoLongerKnown) {
  const auto window_after = [](Duration late) {
    DelayBasedController law;
    for (int i = 1; i < 600; ++i) {
      const Duration by = i < 200 ? late : Duration::zero();
      law.on_acknowledged({.now = at(i * 10ms + by),
                           .delivered = Bytes(12500),
                           .round_trip = 40ms + by,
                           .in_flight = Bytes(50000),
                           .window_limited = true,
                           .ack_delay = i < 200 ? late : -1ms});
    }
    return static_cast<double>(law.window().count());
  };
  EXPECT_NEAR(window_after(300ms), window_after(0ms), 5000);
}

// Acknowledgements of 100 ms wait for an upload and come at once. By the UE's clock they came evenly.
TEST(DelayBasedController, AckDelayDoesNotChangeTheRate) {
  DelayBasedController law;
  for (int i = 1; i < 500; ++i) {
    const Duration by = 10ms * (9 - i % 10);
    law.on_acknowledged({.now = at(i * 10ms + by),
                         .delivered = Bytes(12500),
                         .round_trip = 40ms + by,
                         .in_flight = Bytes(50000),
                         .window_limited = true,
                         .ack_delay = by});
    if (i < 100) continue;
    EXPECT_NEAR(law.rate().bps(), 10e6, 1e6);
  }
}

// A policy that is loaded again has parameters of its own, and those of the earlier one are destroyed.
TEST(DelayBasedController, AdoptsTheStateAndKeepsItsOwnParameters) {
  const DelayBasedParameters own;
  DelayBasedController law(own);
  {
    const DelayBasedParameters earlier;
    DelayBasedController before(earlier);
    before.adopt_in_flight(Bytes(50'000));
    law.adopt(before);
  }
  EXPECT_EQ(&law.parameters(), &own);
  EXPECT_EQ(law.window(), Bytes(50'000));
}

/// 10 Mb/s over 20 ms, with 16 ms of queue; what a change of the window brings comes `further` later.
DelayBasedController settled(Duration control_loop_delay) {
  static const DelayBasedParameters parameters{.ack_aggregation_share = 0};  // the result refers to it
  DelayBasedController law(parameters);
  for (int i = 1; i <= 2000; ++i) {
    AckSample ack_sample{.now = at(i * 1200us),
                         .delivered = Bytes(1500),
                         .round_trip = i < 10 ? 20ms : 36ms,
                         .in_flight = Bytes(30'000),
                         .window_limited = true};
    ack_sample.control_loop_delay = control_loop_delay;
    law.on_acknowledged(ack_sample);
  }
  AckSample last{.now = at(2001 * 1200us),
                 .delivered = Bytes(1500),
                 .round_trip = 60ms,
                 .in_flight = Bytes(45'000),
                 .window_limited = true};
  last.control_loop_delay = control_loop_delay;
  law.on_acknowledged(last);
  return law;
}

// By hand: the reference is 0.35 · (20 + 60) = 28 ms; 1.25 · 1.25 MB/s · (20 + 28) ms + 3000 = 78 000.
TEST(DelayBasedController, ALongerControlLoopHasALargerReference) {
  EXPECT_NEAR(static_cast<double>(settled(0ms).window().count()), 49'875, 600);
  EXPECT_NEAR(static_cast<double>(settled(60ms).window().count()), 78'000, 900);
}

TEST(DelayBasedController, AheadEqualsWhatTheLinkCarriesMeanwhile) {
  EXPECT_NEAR(static_cast<double>(settled(60ms).upstream_bytes(60ms).count()), 75'000, 900);
  EXPECT_EQ(settled(60ms).upstream_bytes(0ms), Bytes{});
}

// Behind a used-up window nothing is in flight until the ACK arrives, so this gap is no pause of the source.
TEST(DelayBasedController, ALongerControlLoopIsNotTakenForAPause) {
  DelayBasedController law = settled(60ms);
  for (int i = 1; i <= 6000 && !law.draining(); ++i) {
    AckSample ack_sample{.now = at(2500ms + i * 1200us),
                         .delivered = Bytes(1500),
                         .round_trip = 60ms,
                         .in_flight = Bytes(45'000),
                         .window_limited = true};
    ack_sample.control_loop_delay = 60ms;
    law.on_acknowledged(ack_sample);
  }
  ASSERT_TRUE(law.draining()) << "a queue that stands for so long";
  AckSample all{
      .now = at(11s), .delivered = Bytes(45'000), .round_trip = 60ms, .in_flight = Bytes{}, .window_limited = true};
  all.control_loop_delay = 60ms;
  law.on_acknowledged(all);
  law.on_resumed(at(11s + 60ms));
  EXPECT_TRUE(law.draining());
  law.on_resumed(at(11s + 500ms));
  EXPECT_FALSE(law.draining());
}

TEST(DelayBasedController, AnInheritedWindowIsNotReducedDuringStartUp) {
  DelayBasedController law;
  law.adopt_in_flight(Bytes(80'000));
  EXPECT_EQ(law.window(), Bytes(80'000));
  law.adopt_in_flight(Bytes(8'000));
  EXPECT_EQ(law.window(), Bytes(80'000));
}

// 10 Mb/s of four connections. Of the lateness of one 20 ms are not known.
TEST(DelayBasedController, TheRateCombinesConnectionsWithDifferentAckDelays) {
  DelayBasedController law;
  for (int i = 1; i < 2000; ++i) {
    const Duration late = i < 200 ? 0ms : 300ms;
    const Duration known = i >= 200 && i % 4 == 0 ? late - 20ms : late;
    law.on_acknowledged({.now = at(i * 1ms + late),
                         .delivered = Bytes(1250),
                         .round_trip = 40ms + late,
                         .in_flight = Bytes(400000),
                         .flows = 4,
                         .window_limited = true,
                         .ack_delay = known});
    if (i > 500) {
      EXPECT_NEAR(law.rate().bps(), 10e6, 2e6) << i;
    }
  }
}

// Half of what is acknowledged is of connections whose clocks are not known yet.
TEST(DelayBasedController, ConnectionsOfUnknownAckDelayDoNotRaiseTheRate) {
  DelayBasedController law;
  for (int i = 1; i < 500; ++i) {
    const Duration late = i < 100 ? 0ms : 300ms;
    const Duration known = i >= 100 && i % 2 == 1 ? -1ms : late;
    law.on_acknowledged({.now = at(i * 10ms + late),
                         .delivered = Bytes(12500),
                         .round_trip = 40ms + late,
                         .in_flight = Bytes(400000),
                         .flows = 2,
                         .window_limited = true,
                         .ack_delay = known});
    if (i <= 150) continue;
    EXPECT_LT(law.rate().bps(), 12e6);
  }
  EXPECT_EQ(law.ack_delay(), 300ms);
}

/// 200 kb/s after an outage: the first segment takes two seconds, and every later one finds a queue.
TEST(DelayBasedController, TheFirstRttAfterAnOutageIsNotTheBaseDelay) {
  DelayBasedController law;
  law.on_resumed(at(0s));
  Duration now = 2s;
  Bytes in_flight;
  for (int i = 0; law.in_slow_start(); ++i, now += 60ms) {
    ASSERT_LT(i, 1000);
    in_flight = law.window();
    law.on_acknowledged({.now = at(now),
                         .delivered = Bytes(1500),
                         .round_trip = 2s + i * 30ms,
                         .in_flight = in_flight,
                         .window_limited = true});
  }
  EXPECT_GT(in_flight, Bytes(50'000));
  for (; in_flight > Bytes(3000); in_flight -= Bytes(1500), now += 60ms) {
    law.on_acknowledged(
        {.now = at(now), .delivered = Bytes(1500), .round_trip = 3s, .in_flight = in_flight, .window_limited = true});
    EXPECT_TRUE(law.draining());
    EXPECT_EQ(law.window(), Bytes(3000));
  }
  for (int i = 0; i < 8 && law.draining(); ++i, now += 60ms) {
    law.on_acknowledged({.now = at(now),
                         .delivered = Bytes(1500),
                         .round_trip = i < 2 ? 3s : Duration(80ms),
                         .in_flight = in_flight,
                         .window_limited = true});
  }
  EXPECT_EQ(law.base_delay(), 80ms);
  EXPECT_FALSE(law.draining());
  EXPECT_LT(law.window(), Bytes(8000));
}

/// A start-up with an acknowledgement for two segments at a time, each pair behind the one before. True when it is
/// followed by a drain.
bool drains_after_start_up(DelayBasedController& law, Duration first, Duration pair) {
  law.on_resumed(at(0s));
  Duration now = first;
  for (int i = 0; law.in_slow_start(); ++i, now += pair) {
    if (i >= 1000) throw std::logic_error("the start-up does not end");
    law.on_acknowledged({.now = at(now),
                         .delivered = Bytes(3000),
                         .round_trip = std::min(now, first + i * pair),
                         .in_flight = law.window(),
                         .window_limited = true});
  }
  law.on_acknowledged(
      {.now = at(now), .delivered = Bytes(3000), .round_trip = now, .in_flight = law.window(), .window_limited = true});
  return law.draining();
}

/// At 400 kb/s over a base delay of 20 ms, the first acknowledgement includes the time to send two segments. That time
/// is not base delay.
TEST(DelayBasedController, SerialisationTimeOfASlowLinkIsNotBaseDelay) {
  DelayBasedController law;
  ASSERT_TRUE(drains_after_start_up(law, 80ms, 60ms));
  EXPECT_EQ(law.base_delay(), 80ms);
  EXPECT_EQ(law.window(), Bytes(3000));
  law.on_acknowledged({.now = at(1000ms),
                       .delivered = Bytes(1500),
                       .round_trip = 400ms,
                       .in_flight = Bytes(1500),
                       .window_limited = true});
  law.on_acknowledged({.now = at(1050ms),
                       .delivered = Bytes(1500),
                       .round_trip = 50ms,
                       .in_flight = Bytes(1500),
                       .window_limited = true});
  law.on_acknowledged({.now = at(1080ms),
                       .delivered = Bytes(1500),
                       .round_trip = 50ms,
                       .in_flight = Bytes(1500),
                       .window_limited = true});
  EXPECT_EQ(law.base_delay(), 50ms);
  EXPECT_FALSE(law.draining());
}

/// The first window takes 12 ms at 10 Mb/s and 146 ms at 800 kb/s. The base delay of 170 ms is longer than both.
TEST(DelayBasedController, NoDrainFollowsAStartUpThatMeasuredTheBaseDelay) {
  DelayBasedController fast;
  EXPECT_FALSE(drains_after_start_up(fast, 10ms, 2400us));
  DelayBasedController far;
  EXPECT_FALSE(drains_after_start_up(far, 170ms, 30ms));
}

/// Four end-to-end connections have two segments each in flight, whatever the window is.
TEST(DelayBasedController, ADrainEndsAtTheMinimumOfTwoSegmentsPerConnection) {
  DelayBasedController law;
  const auto ack = [&law](Duration now, Duration took, Bytes in_flight) {
    AckSample ack_sample{.now = at(now),
                         .delivered = Bytes(3000),
                         .round_trip = took,
                         .in_flight = in_flight,
                         .flows = 4,
                         .window_limited = true};
    ack_sample.control_loop_delay = 10ms;
    law.on_acknowledged(ack_sample);
  };
  Duration now = 20ms;
  for (; !law.draining(); now += 20ms) {
    ASSERT_LT(now, 20s);
    ack(now, now < 200ms ? 20ms : 80ms, Bytes(40'000));
  }
  const Duration began = now;
  for (; law.draining(); now += 20ms) {
    ASSERT_LT(now, began + 300ms);
    ack(now, 40ms, Bytes(12'000));
  }
}

TEST(DelayBasedController, ParametersOutOfRangeAreRefused) {
  EXPECT_TRUE(validate(DelayBasedParameters()).empty());
  const auto refused = [](auto change) {
    DelayBasedParameters parameters;
    change(parameters);
    EXPECT_THROW(DelayBasedController law(parameters), std::invalid_argument);
  };
  refused([](DelayBasedParameters& p) { p.reference = 0s; });
  refused([](DelayBasedParameters& p) { p.reference_share = -1; });
  refused([](DelayBasedParameters& p) { p.gain = 0.9; });
  refused([](DelayBasedParameters& p) { p.memory = 0s; });
  refused([](DelayBasedParameters& p) { p.ack_aggregation_share = 3; });
  refused([](DelayBasedParameters& p) { p.segment = Bytes(0); });
  refused([](DelayBasedParameters& p) { p.initial = Bytes(1500); });
  refused([](DelayBasedParameters& p) { p.restart_after_idle = 0s; });
}

}  // namespace
}  // namespace sluice::control
