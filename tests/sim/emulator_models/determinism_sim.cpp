// Simulations that must give equal bytes for equal seeds, with every scheduler and any number of threads.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "emulator/cell/cell.hpp"
#include "emulator/cell/reporter.hpp"
#include "emulator/channel/hsdpa.hpp"
#include "emulator/channel/piecewise.hpp"
#include "emulator/channel/trace_generator.hpp"
#include "emulator/net/delay_line.hpp"
#include "emulator/net/impairment.hpp"
#include "emulator/random.hpp"
#include "tests/unit/emulator_models/frames.hpp"

namespace sluice::emulator {
namespace {

using std::chrono::milliseconds;

/// Writes down everything that reaches the UEs.
class Log final : public Element, public ReportSink {
 public:
  void receive(packet::Packet packet, Instant now) override {
    text_ << now.time_since_epoch().count() << ' ' << packet.size() << ' ' << int{packet.data()[packet.size() - 1U]}
          << '\n';
  }
  [[nodiscard]] std::uint64_t next_sequence() const override { return sent_ + 1; }
  void send(std::span<const control::feedback::BearerReport> reports, Instant now) override {
    ++sent_;
    for (const auto& report : reports) {
      text_ << "report " << now.time_since_epoch().count() << ' ' << report.ue.to_string() << ' ' << report.arrived
            << ' ' << report.transmitted << ' ' << report.queue.count() << ' '
            << report.allowance.value_or(Bytes()).count() << ' ' << report.mean_service_rate.bps() << '\n';
    }
  }
  [[nodiscard]] std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::uint64_t sent_ = 0;
};

/// Poisson traffic of random sizes to three UEs.
class Source final : public EventTarget {
 public:
  Source(EventLoop& loop, Element& next, Random random) : loop_(loop), next_(next), random_(random) {
    loop_.at(Instant(Duration(1)), *this);
  }
  void on_event(std::uint64_t /*tag*/, Instant now) override {
    const std::string ue = "10.45.0." + std::to_string(1 + random_.below(3));
    packet::Packet packet = test::frame(test::address(ue), 40 + random_.below(1460));
    packet.data()[packet.size() - 1U] = static_cast<std::uint8_t>(random_.below(256));
    next_.receive(std::move(packet), now);
    loop_.at(now + from_seconds(random_.exponential(0.002)), *this);
  }

 private:
  EventLoop& loop_;
  Element& next_;
  Random random_;
};

std::string run(std::uint64_t seed, const std::string& scheduler) {
  EventLoop loop;
  Log log;
  Cell cell(loop, milliseconds(2), make_scheduler(scheduler), log);
  const auto trace = std::make_shared<const CapacityTrace>(generate_trace({}, seed, std::chrono::seconds(2)));
  const QueueConfig queue{Bytes(40), BufferUnit::frames, 1000};
  const PiecewiseParameters rates{Rate::bits_per_second(1e6), Rate::bits_per_second(5e6), milliseconds(37)};
  cell.add_ue({test::address("10.45.0.1"), queue,
               std::make_unique<HsdpaChannel>(HsdpaParameters{}, milliseconds(2), Random::stream(seed, "ue", 1)),
               nullptr, AirLinkConfig{}});
  cell.add_ue({test::address("10.45.0.2"), queue,
               std::make_unique<PiecewiseChannel>(rates, milliseconds(2), Random::stream(seed, "ue", 2)), nullptr});
  cell.add_ue({test::address("10.45.0.3"), queue, std::make_unique<TraceChannel>(trace, milliseconds(2)), nullptr});

  ReporterConfig reports;
  reports.sharp_change = 0.5;
  reports.law = control::SmvsParameters{};
  Reporter reporter(loop, cell, reports, log);
  reporter.start(loop.now());
  ImpairmentConfig damage;
  damage.loss = damage.duplicate = damage.reorder = damage.corrupt = 0.02;
  DelayLine line(loop, {milliseconds(10), Rate::bits_per_second(100e6), Bytes(100'000)}, cell);
  Impairment impairment(loop, sluice::test::pool(), damage, Random::stream(seed, "wire"), line);
  Source source(loop, impairment, Random::stream(seed, "source"));
  loop.run_until(test::at_ms(10'000));
  return log.text();
}

TEST(Determinism, TheSameSeedGivesTheSameBytes) {
  for (const auto& kind : scheduler_kinds()) {
    const std::string scheduler(kind.name);
    const std::string first = run(1, scheduler);
    EXPECT_GT(first.size(), 100'000U);
    EXPECT_TRUE(first == run(1, scheduler)) << scheduler;
    EXPECT_FALSE(first == run(2, scheduler)) << scheduler;
  }
}

TEST(Determinism, TheNumberOfThreadsDoesNotChangeTheResult) {
  const std::string alone = run(5, "pf");
  std::string a;
  std::string b;
  std::thread first([&] { a = run(5, "pf"); });
  std::thread second([&] { b = run(6, "pf"); });
  first.join();
  second.join();
  EXPECT_TRUE(a == alone);
  EXPECT_FALSE(b == alone);
}

}  // namespace
}  // namespace sluice::emulator
