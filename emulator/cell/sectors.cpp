// Implements Sectors: allocates each TTI of each sector to UEs and sends their blocks. Cell::run_tti() calls run() once
// per TTI with work and next_tti() to skip idle ones. Retransmissions of hybrid ARQ precede new data in every sector.
// Allocations of all sectors are complete before the first new block is sent, so a block's effects do not change them.

#include "emulator/cell/sectors.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sluice::emulator {

Sectors::Sectors(std::vector<CellUe>& ues, std::unique_ptr<Scheduler> first, CellResources resources)
    : ues_(ues), resources_(resources) {
  if (resources.blocks == 0 || resources.sharers == 0) throw std::invalid_argument("cell: there is nothing to share");
  if (resources.whole_packets && resources.blocks > 1) {
    throw std::invalid_argument("cell: whole packets, and TTIs that are shared");
  }
  add(std::move(first));
}

std::uint32_t Sectors::add(std::unique_ptr<Scheduler> scheduler) {
  if (scheduler == nullptr) throw std::invalid_argument("cell: there is no scheduler");
  follow_idle_ = follow_idle_ || scheduler->follows_idle();
  go_by_quality_ = go_by_quality_ || scheduler->goes_by_quality();
  schedulers_.push_back(std::move(scheduler));
  holders_.emplace_back();
  return static_cast<std::uint32_t>(schedulers_.size() - 1);
}

void Sectors::check(std::uint32_t sector) const {
  if (sector >= schedulers_.size()) throw std::invalid_argument("cell: a UE in a sector that there is not");
}

std::uint64_t Sectors::next_tti(std::uint64_t from) {
  if (follow_idle()) return from;
  if (resources_.whole_packets && any_holds()) return from;
  std::uint64_t next = TtiClock::asleep;
  for (const CellUe& ue : ues_) {
    if (next == from) break;  // ends the search because no earlier TTI is possible
    next = std::min(next, ue.downlink->next_useful(from));
  }
  return next;
}

bool Sectors::any_holds() const {
  return std::any_of(holders_.begin(), holders_.end(), [](const auto& holder) { return holder.has_value(); });
}

void Sectors::run(std::uint64_t tti, Instant now) {
  ++counters_.ttis;
  allocations_.clear();
  std::uint32_t units = 0;
  for (std::uint32_t sector = 0; sector < schedulers_.size(); ++sector) units += run_sector(sector, tti, now);
  account(tti, units);
  for (const Allocation& allocation : allocations_) transmit(tti, allocation, now);
}

// The functions of every TTI are declared inline because each has one caller.

/// Sends a sector's retransmissions and allocates the remaining resource blocks of its TTI. Returns the number of
/// resource blocks used.
inline std::uint32_t Sectors::run_sector(std::uint32_t sector, std::uint64_t tti, Instant now) {
  std::uint32_t units = repeat(sector, tti, now);
  gather(sector, tti, now);
  const std::size_t first = allocations_.size();
  const bool kept = resources_.whole_packets && continue_packet(sector, tti, now);
  const std::uint32_t left = kept ? 0 : resources_.blocks - std::min(units, resources_.blocks);
  allocate(*schedulers_[sector], tti, now, left);
  for (std::size_t i = first; i < allocations_.size(); ++i) units += allocations_[i].units;
  return units;
}

/// Sends the hybrid-ARQ retransmissions of one sector that are due in this TTI. Returns the number of resource blocks
/// used.
inline std::uint32_t Sectors::repeat(std::uint32_t sector, std::uint64_t tti, Instant now) {
  std::uint32_t units = 0;
  for (UeIndex i = 0; i < ues_.size(); ++i) {
    if (ues_[i].sector != sector) continue;
    const link::HarqBlock* const waiting = ues_[i].downlink->to_repeat(tti);
    if (waiting == nullptr) continue;
    units += waiting->units;
    ++counters_.blocks;
    const Bytes received = ues_[i].downlink->repeat(tti, now);
    if (received == Bytes(0)) ++counters_.blocks_lost;
    air_.served(static_cast<std::uint64_t>(received.count()));
    schedulers_[sector]->served(i, received, tti);
  }
  return units;
}

/// Collects the UEs of a sector among which the scheduler may choose. These are the attached UEs with data, or all
/// attached UEs if the scheduler also evaluates idle ones.
inline void Sectors::gather(std::uint32_t sector, std::uint64_t tti, Instant now) {
  candidates_.clear();
  for (const CellUe& ue : ues_) {
    if (ue.sector != sector || !ue.here) continue;
    Downlink& downlink = *ue.downlink;
    const bool backlogged = downlink.backlogged(tti, now);
    if (!backlogged && !follow_idle_) continue;
    candidates_.push_back(downlink.candidate(tti, backlogged));
    if (go_by_quality_) candidates_.back().quality_db = downlink.channel().quality().reported_db;
  }
}

/// Allocates the remaining `units` of a TTI to the UEs that the scheduler chooses.
inline void Sectors::allocate(Scheduler& scheduler, std::uint64_t tti, Instant now, std::uint32_t units) {
  if (units == 0) {
    // Without a free block the scheduler is still called, because its averages include this TTI.
    for (Candidate& candidate : candidates_) candidate.backlogged = false;
    if (scheduler.follows_idle()) scheduler.pick(candidates_, tti);
    return;
  }
  if (resources_.blocks > 1) return allocate_blocks(scheduler, tti, now, units);
  const Candidate* const chosen = scheduler.pick(candidates_, tti);
  if (chosen != nullptr) give(chosen->ue, 1, 1, chosen->capacity);
}

/// Distributes `units` resource blocks of a TTI. Each chosen UE first gets at most an even share. The blocks left over
/// go to UEs that need more than this share.
void Sectors::allocate_blocks(Scheduler& scheduler, std::uint64_t tti, Instant now, std::uint32_t units) {
  const std::size_t first = allocations_.size();
  const std::uint32_t share = std::max(1U, units / resources_.sharers);
  std::uint32_t left = units;
  while (left > 0) {
    const Candidate* const chosen = scheduler.pick(candidates_, tti);
    if (chosen == nullptr) break;
    Candidate& candidate = candidates_[static_cast<std::size_t>(chosen - candidates_.data())];
    candidate.backlogged = false;
    const std::uint32_t needed = needed_by(candidate.ue, candidate.capacity, now);
    const std::uint32_t given = std::min({left, needed, share});
    give(candidate.ue, needed, given, candidate.capacity);
    left -= given;
  }
  for (std::size_t i = first; i < allocations_.size(); ++i) {
    Allocation& allocation = allocations_[i];
    const std::uint32_t more = std::min(left, allocation.needed - allocation.units);
    allocation.units += more;
    left -= more;
  }
}

/// Returns the number of resource blocks needed for the UE's backlog, at least 1. `capacity` is the number of bytes
/// that the whole TTI carries for this UE.
std::uint32_t Sectors::needed_by(UeIndex index, Bytes capacity, Instant now) const {
  const Bytes pending = ues_[index].downlink->pending(now);
  const std::int64_t units = (pending.count() * resources_.blocks + capacity.count() - 1) / capacity.count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(units, 1, resources_.blocks));
}

/// Adds the used part of the TTI, `units` resource blocks, to the totals of the shared air.
inline void Sectors::account(std::uint64_t tti, std::uint32_t units) {
  if (units == 0) return;
  std::uint64_t all = 0;
  for (const CellUe& ue : ues_) all += static_cast<std::uint64_t>(ue.downlink->channel().at(tti).carried().count());
  air_.taken(part_of(all, units));
}

inline void Sectors::transmit(std::uint64_t tti, const Allocation& allocation, Instant now) {
  Downlink& downlink = *ues_[allocation.ue].downlink;
  const Bytes capacity = part_of(allocation.capacity, allocation.units);
  ++counters_.blocks;
  const std::uint64_t packets = downlink.queue().counters().transmitted_packets;
  const Transmitted result = downlink.transmit(tti, capacity, allocation.units, now);
  if (result.received) {
    air_.served(static_cast<std::uint64_t>(capacity.count()));
  } else {
    ++counters_.blocks_lost;
  }
  const std::uint32_t sector = ues_[allocation.ue].sector;
  if (resources_.whole_packets) hold(sector, allocation, packets);
  schedulers_[sector]->served(allocation.ue, result.carried, tti);
}

/// Allocates this TTI of the sector to the UE whose packet keeps the air until its last byte is sent
/// (CellResources::whole_packets). Returns false if there is no such UE.
bool Sectors::continue_packet(std::uint32_t sector, std::uint64_t tti, Instant now) {
  std::optional<Holder>& holder = holders_[sector];
  if (!holder) return false;
  const CellUe& ue = ues_[holder->ue];
  const UeQueue& queue = ue.downlink->queue();
  const bool there = ue.here && ue.sector == sector && queue.in_transit() && ue.downlink->backlogged(tti, now);
  if (!there || queue.counters().transmitted_packets != holder->predecessors) {
    holder.reset();
    return false;
  }
  give(holder->ue, 1, 1, holder->capacity);
  return true;
}

/// Reserves the next TTIs of the sector for the UE whose packet this TTI served first, if that packet is not completely
/// sent. Used with CellResources::whole_packets only. `packets` is the number of packets that had left the UE's queue
/// before the TTI.
void Sectors::hold(std::uint32_t sector, const Allocation& allocation, std::uint64_t packets) {
  const UeQueue& queue = ues_[allocation.ue].downlink->queue();
  holders_[sector].reset();
  if (!queue.in_transit() || queue.counters().transmitted_packets != packets) return;
  holders_[sector] = Holder{allocation.ue, allocation.capacity, packets};
}

LinkUse Sectors::use(Instant now) {
  LinkUse sum;
  for (const CellUe& ue : ues_) {
    const LinkUse use = ue.downlink->use(now, resources_.blocks);
    sum.carried += use.carried;
    sum.airtime += use.airtime;
    sum.ttis = use.ttis;
  }
  sum.offered = air_.offered(offered_by_all(now), here());
  return sum;
}

std::uint64_t Sectors::offered_by_all(Instant now) {
  std::uint64_t sum = 0;
  for (const CellUe& ue : ues_) sum += ue.downlink->use(now, resources_.blocks).offered;
  return sum * schedulers_.size();
}

std::uint64_t Sectors::here() const {
  return static_cast<std::uint64_t>(std::count_if(ues_.begin(), ues_.end(), [](const CellUe& ue) { return ue.here; }));
}

}  // namespace sluice::emulator
