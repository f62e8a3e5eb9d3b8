// ACKs of a fast link, summed before the ACK-based controller gets them: the decisions are those without sums.

#include "proxy/engine/bearer/ack_controller.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>

#include "tests/unit/law_trace/recorded.hpp"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;

/// Gives the ACKs of a link to a controller that may sum them, and to one that gets each of them. Each ACK acknowledges
/// two segments. The base delay is `base`, and the queue adds 12 ms after slow start.
class SummedAcks {
 public:
  explicit SummedAcks(Rate rate, Duration base = 20ms) : interval_(rate.time_for(per_ack)), base_(base) {
    for (int i = 0; i < 20; ++i) ack(base);
    while (controller.law().in_slow_start()) ack(2 * base + 20ms);
  }
  SummedAcks(const SummedAcks&) = delete;
  SummedAcks& operator=(const SummedAcks&) = delete;

  void ack(Duration round_trip, Bytes in_flight = Bytes(300'000), Bytes lost = {}) {
    now += interval_;
    control::AckSample sample;
    sample.now = now;
    sample.delivered = per_ack;
    sample.round_trip = round_trip;
    sample.in_flight = in_flight;
    sample.window_limited = true;
    sample.ack_delay = 1ms;
    sample.lost = lost;
    controller.on_ack(sample);
    each.on_acknowledged(sample);
  }
  void acks_for(Duration lasts) {
    for (const Instant end = now + lasts; now < end;) ack(base_ + 12ms);
  }
  /// Number of samples so far.
  [[nodiscard]] std::size_t samples() const {
    return static_cast<std::size_t>(std::count_if(lines_.lines.begin(), lines_.lines.end(), [](const auto& line) {
      return line.find(R"("event":"acknowledged")") != std::string::npos;
    }));
  }
  /// The line of the newest sample but `earlier`.
  [[nodiscard]] const std::string& line(std::size_t earlier = 0) const {
    return lines_.lines[lines_.lines.size() - 1 - earlier];
  }

  static constexpr Bytes per_ack{3000};
  Instant now{1h + 1s};  // no routine drain begins within four seconds
  const control::DelayBasedParameters parameters;

 private:
  control::Recorded lines_;
  control::DecisionLog log_{lines_, {control::ue, {}}};
  control::DecisionLog* trace_ = &log_;
  Duration interval_;
  Duration base_;

 public:
  proxy::AckController controller{parameters, &trace_};
  control::DelayBasedController each{parameters};
};

TEST(AckController, SumsTheAcksOfAFastLinkWithTheSameDecisions) {
  for (const double rate : {60e6, 200e6, 2e9}) {
    SummedAcks link(Rate::bits_per_second(rate));
    link.acks_for(1s);
    const std::size_t before = link.samples();
    link.acks_for(1s);
    const control::DelayBasedController& law = link.controller.law();
    EXPECT_LE(link.samples() - before, 1000U) << rate;
    EXPECT_GE(link.samples() - before, 600U) << rate;
    EXPECT_NEAR(law.rate().bps(), rate, 0.01 * rate);
    EXPECT_EQ(law.base_delay(), link.each.base_delay());
    EXPECT_LE(std::chrono::abs(law.srtt() - link.each.srtt()), 1us);
    const auto window = static_cast<double>(link.each.window().count());
    EXPECT_NEAR(static_cast<double>(law.window().count()), window, 0.01 * window) << rate;
  }
}

TEST(AckController, SumsAcksForAnEighthOfAShortBaseDelay) {
  SummedAcks link(Rate::bits_per_second(200e6), 3ms);
  link.acks_for(1s);
  const std::size_t before = link.samples();
  link.acks_for(1s);
  EXPECT_EQ(link.controller.law().base_delay(), 2ms);
  EXPECT_NEAR(static_cast<double>(link.samples() - before), 8333.0 / 3, 10) << "three ACKs in 250 µs";
}

TEST(AckController, PassesEachAckOfASlowLink) {
  SummedAcks link(Rate::bits_per_second(20e6));
  const std::size_t before = link.samples();
  link.acks_for(1s);
  EXPECT_EQ(link.samples() - before, 834U);
  EXPECT_EQ(link.controller.law().window(), link.each.window());
}

TEST(AckController, PassesASumAtOnceIfNothingIsInFlightOrBytesWereLost) {
  SummedAcks link(Rate::bits_per_second(200e6));
  link.acks_for(1s);
  const auto newest_sample = [&] { return link.controller.law().newest_sample_at(); };
  for (int i = 0; i < 3 && newest_sample() == link.now; ++i) link.ack(32ms);
  link.ack(32ms, Bytes(0));
  EXPECT_EQ(newest_sample(), link.now);
  link.acks_for(100ms);
  for (int i = 0; i < 3 && newest_sample() == link.now; ++i) link.ack(32ms);
  link.ack(32ms, Bytes(300'000), Bytes(1500));
  EXPECT_EQ(newest_sample(), link.now);
}

TEST(AckController, AcksBeforeAPauseAreASampleOfTheirOwn) {
  SummedAcks link(Rate::bits_per_second(200e6));
  link.acks_for(1s);
  for (int i = 0; i < 3 && link.controller.law().newest_sample_at() == link.now; ++i) link.ack(32ms);
  ASSERT_NE(link.controller.law().newest_sample_at(), link.now);
  const Instant before = link.now;
  const std::size_t samples = link.samples();
  link.now += 50ms;
  link.ack(32ms);
  EXPECT_EQ(link.samples() - samples, 2U);
  EXPECT_NE(link.line(1).find(R"("now":)" + std::to_string(before.time_since_epoch().count())), std::string::npos);
  EXPECT_NE(link.line().find(R"("now":)" + std::to_string(link.now.time_since_epoch().count())), std::string::npos);
}

}  // namespace
}  // namespace sluice::test
