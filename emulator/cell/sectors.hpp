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

/// Resources of a TTI, and how UEs share them.
struct CellResources {
  std::uint32_t blocks = 1;  ///< resource blocks of a TTI, > 0; 1: a TTI belongs to one UE (time multiplexing)

  /// Number of even shares into which the blocks of a TTI are divided, > 0. Each UE that the scheduler chooses first
  /// gets at most one share. Blocks left over go to further UEs, and then to UEs that need more than one share.
  std::uint32_t sharers = 1;
  /// True if a packet keeps the air from its first to its last byte, at the rate of its first TTI (as in ns-2). If its
  /// last TTI has space left, the UE's next packet begins in it, but does not keep the air yet. Requires one block and
  /// no hybrid ARQ.
  bool whole_packets = false;
};

/// A UE of a Node-B: its address, downlink, sector and radio state, and whether this Node-B serves it.
struct CellUe {
  IpAddress address;
  std::unique_ptr<Downlink> downlink;
  std::uint32_t sector = 0;
  control::feedback::RadioState state = control::feedback::RadioState::normal;
  bool here = true;     ///< true if this Node-B serves the UE
  bool losing = false;  ///< true if packets for the UE are lost until it is attached again
};

/// Cumulative counters of TTIs and blocks.
struct TtiCounters {
  std::uint64_t ttis = 0;         ///< TTIs in which the scheduler ran
  std::uint64_t blocks = 0;       ///< transport blocks sent, retransmissions included
  std::uint64_t blocks_lost = 0;  ///< blocks lost on the air, retransmissions included
};

/// The sectors of a Node-B, each with a scheduler that allocates a TTI to one UE, or its resource blocks to several.
/// Hybrid-ARQ retransmissions are sent before new data. Thread: the event loop's.
class Sectors {
 public:
  /// Creates the first sector. `ues` must outlive it. Throws std::invalid_argument if there are no resources to share
  /// or no scheduler.
  Sectors(std::vector<CellUe>& ues, std::unique_ptr<Scheduler> first, CellResources resources);
  /// Adds a sector and returns its number. All schedulers must be of one kind, because every sector passes the same
  /// kinds of data to its scheduler. Idle UEs and channel qualities are passed in all sectors or in none.
  std::uint32_t add(std::unique_ptr<Scheduler> scheduler);
  /// Throws std::invalid_argument unless a sector of this number exists.
  void check(std::uint32_t sector) const;
  /// True if a scheduler also evaluates UEs without data, so every TTI has to run.
  [[nodiscard]] bool follow_idle() const { return follow_idle_; }

  /// Sends the blocks of one TTI in all sectors: hybrid-ARQ retransmissions, then new blocks of the UEs that the
  /// schedulers choose.
  void run(std::uint64_t tti, Instant now);
  /// Returns the first TTI from `from` on with work for a sector; TtiClock::asleep if none is known.
  [[nodiscard]] std::uint64_t next_tti(std::uint64_t from);

  /// Adds the bytes that unused TTIs could have carried to the total of the shared air (see SharedAir). Call it before
  /// a UE is attached or detached, because these bytes are a mean over the attached UEs.
  void add_unused_capacity(Instant now) { air_.add_unused_capacity(offered_by_all(now), here()); }
  /// Returns how much the shared air could carry and has carried in the TTIs that began before `now`. `now` must not
  /// decrease.
  [[nodiscard]] LinkUse use(Instant now);
  /// Returns how much the link of one UE could carry and has carried in the TTIs that began before `now`. `now` must
  /// not decrease.
  [[nodiscard]] LinkUse use(UeIndex ue, Instant now) { return ues_[ue].downlink->use(now, resources_.blocks); }
  [[nodiscard]] const TtiCounters& counters() const { return counters_; }

 private:
  /// Part of a TTI that is allocated to a UE.
  struct Allocation {
    UeIndex ue = 0;
    std::uint32_t needed = 0;  ///< resource blocks that the UE needs to empty its queue
    std::uint32_t units = 0;   ///< resource blocks allocated
    Bytes capacity;            ///< bytes that the whole TTI would carry for this UE
  };
  /// UE whose packet keeps the air until the packet is sent completely. Used with CellResources::whole_packets only.
  struct Holder {
    UeIndex ue = 0;
    Bytes capacity;  ///< bytes that a whole TTI could carry for the UE when the UE was chosen
    /// Number of packets that had left the UE's queue before the packet that is being transmitted.
    std::uint64_t predecessors = 0;
  };
  /// Returns the share of `all` that belongs to `units` of the TTI's resource blocks.
  template <typename Amount>
  [[nodiscard]] Amount part_of(Amount all, std::uint32_t units) const {
    // avoids the division for a TTI that is not shared, because dividing is slow
    return resources_.blocks == 1 ? all * units : all * units / resources_.blocks;
  }
  /// Adds the allocation of `units` resource blocks to a UE. `needed` is the number of blocks that would empty its
  /// queue, and `capacity` the bytes of the whole TTI. The object is built in place, because copying an object just
  /// after it was written stalls the processor.
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
  /// Sends the block of an allocation and reports its outcome to the scheduler.
  void transmit(std::uint64_t tti, const Allocation& allocation, Instant now);
  [[nodiscard]] bool continue_packet(std::uint32_t sector, std::uint64_t tti, Instant now);
  /// True if at present a packet occupies the air of some sector and is not yet sent completely.
  [[nodiscard]] bool any_holds() const;
  void hold(std::uint32_t sector, const Allocation& allocation, std::uint64_t packets);
  void account(std::uint64_t tti, std::uint32_t units);
  /// Returns the sum, over all UEs, of the bytes that their links could have carried up to `now`. The sum is multiplied
  /// by the number of sectors, because each sector has TTIs of its own.
  [[nodiscard]] std::uint64_t offered_by_all(Instant now);
  /// Returns the number of attached UEs.
  [[nodiscard]] std::uint64_t here() const;

  std::vector<CellUe>& ues_;
  std::vector<std::unique_ptr<Scheduler>> schedulers_;  ///< one scheduler per sector
  std::vector<std::optional<Holder>> holders_;          ///< UE whose packet keeps the air, one entry per sector
  bool follow_idle_ = false;                            ///< true if a scheduler also evaluates UEs without data
  bool go_by_quality_ = false;                          ///< true if a scheduler uses the candidates' channel quality
  CellResources resources_;
  std::vector<Candidate> candidates_;    ///< UEs of the current sector that the scheduler may choose
  std::vector<Allocation> allocations_;  ///< allocations of the current TTI, all sectors
  SharedAir air_;
  TtiCounters counters_;
};

}  // namespace sluice::emulator
