// Simulations of whole HSDPA cells with packets, in which all UEs are backlogged.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "emulator/cell/cell.hpp"
#include "emulator/channel/hsdpa.hpp"
#include "emulator/net/tap.hpp"
#include "emulator/random.hpp"
#include "tests/unit/emulator_models/frames.hpp"

namespace sluice::emulator {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t seed = 3;

IpAddress ue_address(std::size_t i) {
  return test::address("10.45.0." + std::to_string(i + 1));
}

/// Replaces each packet that leaves, so that every queue always holds something.
class Refill final : public CellObserver {
 public:
  explicit Refill(Cell& cell) : cell_(cell) {}
  void on_departure(UeIndex ue, const packet::Packet& packet, Bytes length, Duration /*queueing*/,
                    Instant now) override {
    static_cast<void>(packet);
    cell_.receive(test::frame(ue_address(ue), static_cast<std::size_t>(length.count())), now);
  }
  void on_drop(UeIndex /*ue*/, const packet::Packet& /*packet*/, Bytes /*length*/, DropReason /*reason*/,
               Instant /*now*/) override {}

 private:
  Cell& cell_;
};

std::vector<LinkUse> run(const std::string& scheduler, const std::vector<HsdpaParameters>& ues, Duration length,
                         LinkUse* air = nullptr) {
  EventLoop loop;
  Discard far;
  Cell cell(loop, milliseconds(2), make_scheduler(scheduler), far);
  Refill refill(cell);
  cell.set_observer(&refill);
  for (std::size_t i = 0; i < ues.size(); ++i) {
    cell.add_ue({ue_address(i),
                 {Bytes(40), BufferUnit::frames, 0},
                 std::make_unique<HsdpaChannel>(ues[i], milliseconds(2), Random::stream(seed, "ue", i)),
                 nullptr});
    for (int packet = 0; packet < 10; ++packet) cell.receive(test::frame(ue_address(i), 1500), loop.now());
  }
  loop.run_until(Instant(length));
  std::vector<LinkUse> use;
  for (UeIndex i = 0; i < ues.size(); ++i) use.push_back(cell.use(i, loop.now()));
  if (air != nullptr) *air = cell.use(loop.now());
  return use;
}

HsdpaParameters at_distance(double metres, double kmh) {
  HsdpaParameters parameters;
  parameters.distance_m = metres;
  parameters.speed_kmh = kmh;
  parameters.shadowing_db = 0;
  return parameters;
}

TEST(HsdpaCell, RoundRobinGivesEqualAirtimeNearAndFar) {
  const auto use =
      run("rr", {at_distance(100, 3), at_distance(300, 3), at_distance(300, 30)}, std::chrono::seconds(100));
  double total = 0;
  for (const LinkUse& ue : use) total += ue.airtime;
  for (const LinkUse& ue : use) EXPECT_NEAR(ue.airtime / total, 1.0 / 3, 0.0034);
  // Fading far out sometimes leaves no UE to serve, but never if a near UE exists.
  EXPECT_NEAR(total, 49'999, 1);
}

TEST(HsdpaCell, SchedulersThatFollowTheChannelCarryMoreAtWalkingSpeed) {
  const std::vector<HsdpaParameters> ues{at_distance(100, 3), at_distance(300, 3), at_distance(500, 3)};
  const auto mci = run("mci", ues, std::chrono::seconds(100));
  const auto rr = run("rr", ues, std::chrono::seconds(100));
  const auto pf = run("pf", ues, std::chrono::seconds(100));
  EXPECT_GT(mci[0].airtime, mci[1].airtime);
  EXPECT_GT(mci[1].airtime, mci[2].airtime);
  const auto carried = [](const std::vector<LinkUse>& use) { return use[0].carried + use[1].carried + use[2].carried; };
  EXPECT_GT(carried(mci), carried(pf));
  EXPECT_GT(carried(pf), carried(rr));
}

TEST(HsdpaCell, ASingleBackloggedUeUsesItsWholeLink) {
  const auto use = run("rr", {at_distance(300, 3)}, std::chrono::seconds(20));
  // All but the very first TTI, which the packets miss.
  EXPECT_GT(use[0].utilisation(), 0.9998);
  EXPECT_LE(use[0].carried, use[0].offered);
}

TEST(HsdpaCell, ASaturatedCellIsFullyUsedByEveryScheduler) {
  const HsdpaParameters near = at_distance(100, 3);
  const HsdpaParameters far = at_distance(300, 30);
  for (const char* scheduler : {"rr", "pf", "mci", "fcds"}) {
    for (const auto& ues : {std::vector{near}, std::vector{near, far}, std::vector{near, far, near, far}}) {
      SCOPED_TRACE(std::string(scheduler) + " " + std::to_string(ues.size()));
      LinkUse air;
      const auto use = run(scheduler, ues, std::chrono::seconds(20), &air);
      EXPECT_GT(air.utilisation(), 0.999);
      EXPECT_LE(air.carried, air.offered);
      std::uint64_t carried = 0;
      for (const LinkUse& ue : use) carried += ue.carried;
      EXPECT_EQ(air.carried, carried);
    }
  }
}

}  // namespace
}  // namespace sluice::emulator
