#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iostream>
#include <memory>
#include <string>

#include "emulator/cell/cell.hpp"
#include "emulator/channel/hsdpa.hpp"
#include "emulator/channel/trace_generator.hpp"
#include "emulator/net/tap.hpp"
#include "emulator/random.hpp"
#include "emulator/scheduler/round_robin.hpp"
#include "tests/unit/emulator_models/frames.hpp"

// How much faster than real time a link runs. Printed and recorded; what is checked is that the traffic got through.

namespace sluice::emulator {
namespace {

using std::chrono::milliseconds;

const IpAddress ue = test::address("10.45.0.2");

/// Keeps the queue full: sends a packet for each that leaves.
class Endless final : public CellObserver {
 public:
  explicit Endless(Cell& cell) : cell_(cell), bytes_(test::frame_bytes(ue, 1500)) {}
  void start(Instant now) {
    for (int i = 0; i < 20; ++i) cell_.receive(test::packet_of(bytes_), now);
  }
  void on_departure(UeIndex /*ue*/, const packet::Packet& /*packet*/, Bytes /*length*/, Duration /*queueing*/,
                    Instant now) override {
    cell_.receive(test::packet_of(bytes_), now);
  }
  void on_drop(UeIndex /*ue*/, const packet::Packet& /*packet*/, Bytes /*length*/, DropReason /*reason*/,
               Instant /*now*/) override {}

 private:
  Cell& cell_;
  std::vector<std::uint8_t> bytes_;
};

double measure(const std::string& name, std::unique_ptr<Channel> channel, Duration tti, Duration length) {
  EventLoop loop;
  Discard far;
  Cell cell(loop, tti, std::make_unique<RoundRobin>(), far);
  cell.add_ue({ue, {Bytes(0), BufferUnit::packets, 0}, std::move(channel), nullptr});
  Endless endless(cell);
  cell.set_observer(&endless);
  const std::clock_t begin = std::clock();  // processor time: other work on the machine does not count
  endless.start(loop.now());
  loop.run_until(Instant(length));
  const double taken = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  const double factor = to_seconds(length) / std::max(taken, 1e-6);
  std::cout << name << ": " << static_cast<long>(factor) << " times real time\n";
  testing::Test::RecordProperty(name, static_cast<int>(factor));
  return cell.use(0, loop.now()).utilisation();
}

TEST(Speed, ATraceLinkRunsAtFullUse) {
  const auto trace = std::make_shared<const CapacityTrace>(generate_trace({}, 1, std::chrono::seconds(120)));
  EXPECT_GT(measure("trace_5_mbps", std::make_unique<TraceChannel>(trace, milliseconds(1)), milliseconds(1),
                    std::chrono::seconds(1200)),
            0.999);
}

TEST(Speed, AnHsdpaLinkRunsAtFullUse) {
  EXPECT_GT(measure("hsdpa_300_m", std::make_unique<HsdpaChannel>(HsdpaParameters{}, milliseconds(2), Random(1)),
                    milliseconds(2), std::chrono::seconds(300)),
            0.999);
}

}  // namespace
}  // namespace sluice::emulator
