#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "control/feedback/report.hpp"
#include "dataplane/units/ip_address.hpp"
#include "emulator/cell/downlink.hpp"
#include "emulator/cell/radio_cell.hpp"
#include "emulator/cell/shared_air.hpp"
#include "emulator/scheduler/scheduler.hpp"

namespace sluice::emulator {

/// What a TTI has to give away.
struct CellResources {
  std::uint32_t blocks = 1;  ///< resource blocks; 1: a TTI belongs to one UE (time multiplexing), > 0
  /// So many UEs get an even share of the blocks in a TTI; what they do not need goes to further ones. > 0
  std::uint32_t sharers = 1;
  /// A packet that has begun keeps the air until its last byte has gone, at the rate of the TTI in which it was chosen,
  /// as on a link of ns-2. What the last of its TTIs has left begins the next one of that UE, which keeps nothing yet.
  /// Needs one block, and no hybrid ARQ.
  bool whole_packets = false;
};

/// A UE as its Node-B knows it.
struct CellUe {
  IpAddress address;
  std::unique_ptr<Downlink> downlink;
  std::uint32_t sector = 0;
  control::feedback::RadioState state = control::feedback::RadioState::normal;
  bool here = true;     ///< this Node-B serves it
  bool losing = false;  ///< what comes for it is lost until it is here again
};

/// What became of TTIs; cumulative.
struct TtiCounters {
  std::uint64_t ttis = 0;         ///< in which the scheduler ran
  std::uint64_t blocks = 0;       ///< transport blocks sent
  std::uint64_t blocks_lost = 0;  ///< of these, lost on the air, repeated ones included
};

/// The sectors of a Node-B, each with a scheduler that gives its TTIs to one UE, or their resource blocks to several.
/// Retransmissions of hybrid ARQ go first. Thread: the loop's.
class Sectors {
 public:
  /// `ues` outlives it. Throws std::invalid_argument when there is nothing to share or no scheduler.
  Sectors(std::vector<CellUe>& ues, std::unique_ptr<Scheduler> first, CellResources resources);
  /// Returns its number. All schedulers must be of one kind.
  std::uint32_t add(std::unique_ptr<Scheduler> scheduler);
  /// Throws std::invalid_argument unless there is a sector of this number.
  void check(std::uint32_t sector) const;
  /// The schedulers follow UEs that have nothing to send, in every TTI.
  [[nodiscard]] bool follow_idle() const { return follow_idle_; }

  /// Runs a TTI in all of them.
  void run(std::uint64_t tti, Instant now);
  /// The first TTI from `from` on that has to run; TtiClock::asleep when none is known of.
  [[nodiscard]] std::uint64_t next_tti(std::uint64_t from);

  /// Is called before a UE comes or goes.
  void settle(Instant now) { air_.settle(offered_by_all(now), here()); }
  /// Use of the air by TTIs that began before `now`, which never goes back.
  [[nodiscard]] LinkUse use(Instant now);
  [[nodiscard]] const TtiCounters& counters() const { return counters_; }

 private:
  /// What a UE is given of a TTI.
  struct Allocation {
    UeIndex ue = 0;
    std::uint32_t needed = 0;  ///< units that its backlog takes
    std::uint32_t units = 0;
    Bytes capacity;  ///< of the whole TTI
  };
  /// A packet that keeps the air.
  struct Holder {
    UeIndex ue = 0;
    Bytes capacity;                  ///< of a TTI, when it was chosen
    std::uint64_t predecessors = 0;  ///< packets that had left that UE's queue then
  };
  /// What `units` of a TTI are of what all of it is.
  template <typename Amount>
  [[nodiscard]] Amount part_of(Amount all, std::uint32_t units) const {
    // A TTI that is not shared is not divided: processors take long for that.
    return resources_.blocks == 1 ? all * units : all * units / resources_.blocks;
  }
  /// Adds an allocation, where it lies: one that is put together elsewhere and copied is waited for.
  void give(UeIndex ue, std::uint32_t needed, std::uint32_t units, Bytes capacity) {
    Allocation& allocation = allocations_.emplace_back();
    allocation.ue = ue;
    allocation.needed = needed;
    allocation.units = units;
    allocation.capacity = capacity;
  }
  std::uint32_t run_sector(std::uint32_t sector, std::uint64_t tti, Instant now);
  std::uint32_t repeat(std::uint32_t sector, std::uint64_t tti, Instant now);
  void gather(std::uint32_t sector, std::uint64_t tti, Instant now);
  void allocate(Scheduler& scheduler, std::uint64_t tti, Instant now, std::uint32_t units);
  void allocate_blocks(Scheduler& scheduler, std::uint64_t tti, Instant now, std::uint32_t units);
  [[nodiscard]] std::uint32_t needed_by(UeIndex index, Bytes capacity, Instant now) const;
  void transmit(std::uint64_t tti, const Allocation& allocation, Instant now);
  [[nodiscard]] bool carry_on(std::uint32_t sector, std::uint64_t tti, Instant now);
  [[nodiscard]] bool any_holds() const;
  void hold(std::uint32_t sector, const Allocation& allocation, std::uint64_t packets);
  void account(std::uint64_t tti, std::uint32_t units);
  [[nodiscard]] std::uint64_t offered_by_all(Instant now);
  [[nodiscard]] std::uint64_t here() const;

  std::vector<CellUe>& ues_;
  std::vector<std::unique_ptr<Scheduler>> schedulers_;  ///< one per sector
  std::vector<std::optional<Holder>> holders_;          ///< likewise; of whole packets
  bool follow_idle_ = false;                            ///< one of them follows UEs that have nothing to send
  bool go_by_quality_ = false;                          ///< one of them goes by the candidates' quality
  CellResources resources_;
  std::vector<Candidate> candidates_;
  std::vector<Allocation> allocations_;
  SharedAir air_;
  TtiCounters counters_;
};

}  // namespace sluice::emulator
