#include "emulator/cell/cell.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "emulator/net/ip_header.hpp"

namespace sluice::emulator {
namespace {

const char* name_of(control::feedback::RadioState state) {
  switch (state) {
    case control::feedback::RadioState::normal:
      return "normal";
    case control::feedback::RadioState::outage:
      return "outage";
    case control::feedback::RadioState::handover:
      return "handover";
    case control::feedback::RadioState::released:
      return "released";
  }
  return "unknown";
}

}  // namespace

Cell::Cell(EventLoop& loop, Duration tti, std::unique_ptr<Scheduler> scheduler, Element& towards_ue,
           CellResources resources)
    : loop_(loop), tti_(tti), towards_ue_(towards_ue), resources_(resources) {
  if (tti <= Duration::zero()) throw std::invalid_argument("cell: the TTI must be positive");
  if (scheduler == nullptr) throw std::invalid_argument("cell: there is no scheduler");
  if (resources.blocks == 0 || resources.sharers == 0) throw std::invalid_argument("cell: there is nothing to share");
  schedulers_.push_back(std::move(scheduler));
}

std::uint32_t Cell::add_sector(std::unique_ptr<Scheduler> scheduler) {
  if (scheduler == nullptr) throw std::invalid_argument("cell: there is no scheduler");
  schedulers_.push_back(std::move(scheduler));
  return static_cast<std::uint32_t>(schedulers_.size() - 1);
}

UeIndex Cell::add_ue(UeConfig config) {
  if (config.sector >= schedulers_.size()) throw std::invalid_argument("cell: a UE in a sector that there is not");
  if (config.channel == nullptr) throw std::invalid_argument("cell: a UE without a channel");
  const auto index = static_cast<UeIndex>(ues_.size());
  add_address(index, config.address);
  Element* const towards = config.towards_ue != nullptr ? config.towards_ue : &towards_ue_;
  AirLinkUser& user = *this;
  auto air = config.air ? std::make_unique<AirLink>(loop_, *config.air, index, user) : nullptr;
  ues_.push_back({config.address, UeQueue(config.queue), std::move(config.channel), towards, std::move(air),
                  config.attempts, 0, config.sector, control::feedback::RadioState::normal, 0, config.loss,
                  config.loss_draws, config.here, false});
  candidates_.reserve(ues_.size());
  if (schedulers_.front()->follows_idle()) wake_at(tti_of(loop_.now()) + 1);
  return index;
}

void Cell::add_address(UeIndex ue, const IpAddress& address) {
  if (!by_address_.emplace(address, ue).second) {
    throw std::invalid_argument("cell: two UEs with the address " + address.to_string());
  }
}

std::optional<UeIndex> Cell::find(const IpAddress& address) const {
  const auto found = by_address_.find(address);
  if (found == by_address_.end()) return std::nullopt;
  return found->second;
}

void Cell::receive(packet::Packet packet, Instant now) {
  const auto header = read_ip_header(packet.bytes());
  const auto index = header ? find(header->destination) : std::nullopt;
  if (!index || ues_[*index].state == control::feedback::RadioState::released) {
    ++(header ? counters_.unknown_destination : counters_.not_ip);
    forward_unknown(std::move(packet), now);
    return;
  }
  enqueue(*index, std::move(packet), header->length, now);
}

void Cell::enqueue(UeIndex index, packet::Packet packet, Bytes length, Instant now) {
  Ue& ue = ues_[index];
  const bool was_empty = ue.queue.empty();
  const auto refused = [&](const packet::Packet& gone, Bytes size) { drop(index, gone, size, DropReason::full, now); };
  if (!ue.queue.push(std::move(packet), length, now, refused)) return;
  if (arrivals_ != nullptr) arrivals_->on_arrival(index, now);
  // What comes in a TTI's first instant misses that TTI.
  if (was_empty) wake_at(ue.channel->next_useful(tti_of(now) + 1));
}

void Cell::take_over(UeIndex index, packet::Packet packet, Bytes length, Instant now) {
  if (ues_[index].state == control::feedback::RadioState::released) return forward_unknown(std::move(packet), now);
  note_taken_over(index, length);
  enqueue(index, std::move(packet), length, now);
}

void Cell::forward_unknown(packet::Packet packet, Instant now) {
  if (default_route_ == nullptr) {
    ++counters_.dropped_no_route;
    return;
  }
  default_route_->receive(std::move(packet), now);
}

void Cell::move(UeIndex index, std::uint32_t sector) {
  if (sector >= schedulers_.size()) throw std::invalid_argument("cell: a UE in a sector that there is not");
  ues_[index].sector = sector;
}

void Cell::reset_link(UeIndex index, Instant now) {
  if (ues_[index].air != nullptr) ues_[index].air->reset(now);
}

void Cell::part(UeIndex index, const Parting& parting, Instant now) {
  if (ues_[index].air == nullptr) return;
  parting_ = parting;
  ues_[index].air->abandon(now);
  parting_ = {};
}

void Cell::flush(UeIndex index, DropReason reason, Instant now) {
  part(index, {reason, nullptr}, now);
  ues_[index].queue.clear(now,
                          [&](const packet::Packet& gone, Bytes length) { drop(index, gone, length, reason, now); });
}

void Cell::hand_on(UeIndex index, Element& to, Instant now) {
  part(index, {DropReason::handover, &to}, now);
  ues_[index].queue.hand_on(now, [&](packet::Packet gone, Bytes) { to.receive(std::move(gone), now); });
}

void Cell::pass_on(UeIndex index, packet::Packet packet, Bytes length, Element& to, Instant now) {
  ues_[index].queue.pass_on(length);
  to.receive(std::move(packet), now);
}

void Cell::turn_away(UeIndex index, const packet::Packet& packet, Bytes length, DropReason reason, Instant now) {
  ues_[index].queue.turn_away(length);
  drop(index, packet, length, reason, now);
}

void Cell::attach(UeIndex index, Instant now) {
  settle_offers(now);
  ues_[index].here = true;
  ues_[index].losing = false;
  set_state(index, control::feedback::RadioState::normal);
  if (presence_ != nullptr) presence_->on_presence(index, true, now);
}

void Cell::detach(UeIndex index, Instant now) {
  settle_offers(now);
  ues_[index].here = false;
  if (presence_ != nullptr) presence_->on_presence(index, false, now);
}

void Cell::set_state(UeIndex index, control::feedback::RadioState state) {
  ues_[index].state = state;
  wake_at(tti_of(loop_.now()) + 1);
}

void Cell::wake_at(std::uint64_t tti) {
  if (tti >= wake_tti_) return;
  wake_tti_ = tti;
  loop_.at(start_of(tti), *this, tti);
}

void Cell::on_event(std::uint64_t tag, Instant now) {
  if (tag != wake_tti_) return;
  wake_tti_ = asleep;
  run_tti(tag, now);
  wake_at(next_tti(tag + 1));
}

std::uint64_t Cell::next_tti(std::uint64_t from) {
  if (schedulers_.front()->follows_idle()) return from;
  std::uint64_t next = asleep;
  for (Ue& ue : ues_) {
    if (next == from) break;  // the first UE that has something to send decides, where the cell is busy
    if (!ue.queue.empty()) next = std::min(next, ue.channel->next_useful(from));
    if (ue.air == nullptr) continue;
    next = std::min(next, ue.air->next_retransmission(from));
    if (const Instant repeat = ue.air->next_repeat(); repeat != never) {
      next = std::min(next, ue.channel->next_useful(std::max(from, tti_of(repeat + tti_ - Duration(1)))));
    }
  }
  return next;
}

void Cell::run_tti(std::uint64_t tti, Instant now) {
  ++counters_.ttis;
  allocations_.clear();
  std::uint32_t units = 0;
  for (std::uint32_t sector = 0; sector < schedulers_.size(); ++sector) units += run_sector(sector, tti, now);
  account(tti, units);
  for (std::size_t i = 0; i < allocations_.size(); ++i) transmit(tti, allocations_[i], now);
}

/// Sends a sector's retransmissions and allocates what is left of its TTI. Returns the units that are taken.
std::uint32_t Cell::run_sector(std::uint32_t sector, std::uint64_t tti, Instant now) {
  std::uint32_t units = repeat(sector, tti, now);
  gather(sector, tti, now);
  const std::size_t first = allocations_.size();
  allocate(*schedulers_[sector], tti, now, resources_.blocks - std::min(units, resources_.blocks));
  for (std::size_t i = first; i < allocations_.size(); ++i) units += allocations_[i].units;
  return units;
}

/// Sends the blocks again that are due in this TTI. Returns the units they take.
std::uint32_t Cell::repeat(std::uint32_t sector, std::uint64_t tti, Instant now) {
  std::uint32_t units = 0;
  for (UeIndex i = 0; i < ues_.size(); ++i) {
    Ue& ue = ues_[i];
    if (ue.air == nullptr || ue.sector != sector) continue;
    const link::HarqBlock* const waiting = ue.air->waiting(tti);
    if (waiting == nullptr) continue;
    const std::uint32_t taken = waiting->units;
    units += taken;
    ++counters_.blocks;
    ue.airtime += taken;
    const Bytes received = ue.air->transmit(tti, ue.channel->at(tti), Bytes(), taken, ue.queue, *ue.channel, now);
    if (received == Bytes(0)) ++counters_.blocks_lost;
    offered_served_ += static_cast<std::uint64_t>(received.count());
    schedulers_[sector]->served(i, received, tti);
  }
  return units;
}

void Cell::gather(std::uint32_t sector, std::uint64_t tti, Instant now) {
  candidates_.clear();
  for (UeIndex i = 0; i < ues_.size(); ++i) {
    Ue& ue = ues_[i];
    if (ue.sector != sector || !ue.here) continue;
    bool backlogged = ue.queue.ready(now);
    if (ue.air != nullptr) {
      // A UE has one process per TTI; what sent a block again in this one has no other.
      const bool taken = ue.air->last_tti() == tti;
      backlogged = !taken && (backlogged || ue.air->repeats(now) > Bytes(0));
    }
    if (!backlogged && !schedulers_.front()->follows_idle()) continue;
    const Grant& grant = ue.channel->at(tti);
    candidates_.push_back({i, backlogged, grant.capacity, grant.quality_db, grant.cqi, ue.queue.short_head()});
  }
}

void Cell::allocate(Scheduler& scheduler, std::uint64_t tti, Instant now, std::uint32_t units) {
  if (units == 0) {
    // Nothing left to give, but the scheduler's averages go on.
    for (Candidate& candidate : candidates_) candidate.backlogged = false;
    if (scheduler.follows_idle()) scheduler.pick(candidates_, tti);
    return;
  }
  const std::size_t first = allocations_.size();
  std::uint32_t left = units;
  while (left > 0) {
    const auto chosen = scheduler.pick(candidates_, tti);
    if (!chosen) break;
    Candidate& candidate = candidates_[*chosen];
    candidate.backlogged = false;
    const std::uint32_t needed = needed_by(candidate.ue, candidate.capacity, now);
    const std::uint32_t share = std::max(1U, units / resources_.sharers);
    const std::uint32_t given = std::min({left, needed, share});
    allocations_.push_back({candidate.ue, needed, given});
    left -= given;
  }
  for (std::size_t i = first; i < allocations_.size(); ++i) {
    Allocation& allocation = allocations_[i];
    const std::uint32_t more = std::min(left, allocation.needed - allocation.units);
    allocation.units += more;
    left -= more;
  }
}

std::uint32_t Cell::needed_by(UeIndex index, Bytes capacity, Instant now) const {
  if (resources_.blocks == 1) return 1;
  const Ue& ue = ues_[index];
  const Bytes backlog = ue.queue.air_bytes() + (ue.air != nullptr ? ue.air->repeats(now) : Bytes());
  const std::int64_t units = (backlog.count() * resources_.blocks + capacity.count() - 1) / capacity.count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(units, 1, resources_.blocks));
}

void Cell::account(std::uint64_t tti, std::uint32_t units) {
  if (units == 0) return;
  std::uint64_t all = 0;
  for (Ue& ue : ues_) all += static_cast<std::uint64_t>(ue.channel->at(tti).carried().count());
  offered_to_all_ += all * units / resources_.blocks;
}

void Cell::transmit(std::uint64_t tti, const Allocation& allocation, Instant now) {
  Ue& ue = ues_[allocation.ue];
  const Grant grant = ue.channel->at(tti);
  const Bytes capacity = grant.capacity * allocation.units / resources_.blocks;
  ue.airtime += allocation.units;
  ++counters_.blocks;
  Bytes carried;
  bool received = grant.received;
  if (ue.air != nullptr) {
    carried = ue.air->transmit(tti, grant, capacity, allocation.units, ue.queue, *ue.channel, now);
    received = carried > Bytes(0);
  } else if (received) {
    carried = serve(ue, allocation.ue, capacity, now);
  } else {
    drop_after_attempts(ue, allocation.ue, capacity, now);
  }
  if (received) {
    offered_served_ += static_cast<std::uint64_t>(capacity.count());
  } else {
    ++counters_.blocks_lost;
  }
  schedulers_[ue.sector]->served(allocation.ue, carried, tti);
}

Bytes Cell::serve(Ue& ue, UeIndex index, Bytes capacity, Instant now) {
  ue.failures = 0;
  const auto leave = [&](Departed departed) {
    left_queue(index, departed, now);
    depart(index, std::move(departed), now);
  };
  return ue.queue.serve(capacity, now, leave,
                        [&](const packet::Packet& gone, Bytes length) { dropped(index, gone, length, now); });
}

void Cell::drop_after_attempts(Ue& ue, UeIndex index, Bytes capacity, Instant now) {
  if (ue.attempts == 0 || ++ue.failures < ue.attempts) return;
  ue.failures = 0;
  ue.queue.discard(capacity, now, [&](const packet::Packet& gone, Bytes length) {
    drop(index, gone, length, DropReason::given_up, now);
  });
}

void Cell::depart(UeIndex index, Departed departed, Instant now) {
  Ue& ue = ues_[index];
  if (ue.loss > 0 && ue.loss_draws.chance(ue.loss)) return lost(index, std::move(departed), now);
  ue.queue.delivered(departed.length);
  ue.towards_ue->receive(std::move(departed.packet), now);
}

void Cell::left_queue(std::uint32_t index, const Departed& departed, Instant now) {
  if (observer_ != nullptr) observer_->on_departure(index, departed.packet, departed.length, departed.queueing, now);
}

void Cell::dropped(std::uint32_t index, const packet::Packet& packet, Bytes length, Instant now) {
  drop(index, packet, length, DropReason::early, now);
}

void Cell::drop(UeIndex index, const packet::Packet& packet, Bytes length, DropReason reason, Instant now) {
  if (observer_ != nullptr) observer_->on_drop(index, packet, length, reason, now);
}

void Cell::arrived(std::uint32_t index, Departed departed, Instant now) {
  depart(index, std::move(departed), now);
}

void Cell::lost(std::uint32_t index, Departed departed, Instant now) {
  if (parting_.onwards != nullptr) {
    ues_[index].queue.recall(departed.length);
    parting_.onwards->receive(std::move(departed.packet), now);
    return;
  }
  ues_[index].queue.lost(departed.length);
  drop(index, departed.packet, departed.length, parting_.reason, now);
}

void Cell::ready_at(std::uint32_t index, Instant when) {
  const std::uint64_t first = std::max(tti_of(when + tti_ - Duration(1)), tti_of(loop_.now()) + 1);
  wake_at(ues_[index].channel->next_useful(first));
}

LinkUse Cell::use(UeIndex index, Instant now) {
  Ue& ue = ues_[index];
  LinkUse use;
  use.carried = ue.air != nullptr ? ue.air->counters().carried : ue.queue.counters().carried;
  use.airtime = ue.airtime;
  // A TTI that begins now may still have to run.
  use.ttis = now.time_since_epoch() > Duration::zero() ? tti_of(now - Duration(1)) + 1 : 0;
  if (use.ttis > 0) use.offered = ue.channel->offered_through(use.ttis - 1);
  return use;
}

LinkUse Cell::use(Instant now) {
  LinkUse sum;
  for (UeIndex i = 0; i < ues_.size(); ++i) {
    const LinkUse ue = use(i, now);
    sum.carried += ue.carried;
    sum.airtime += ue.airtime;
    sum.ttis = ue.ttis;
  }
  sum.offered = offered_served_ + nobodys_before_ + offered_to_nobody(offered_to_everybody(now));
  return sum;
}

std::uint64_t Cell::offered_to_everybody(Instant now) {
  std::uint64_t sum = 0;
  for (UeIndex i = 0; i < ues_.size(); ++i) sum += use(i, now).offered;
  return sum * schedulers_.size();
}

/// Since a UE came or went last: by the mean of those that are here.
std::uint64_t Cell::offered_to_nobody(std::uint64_t everybodys) const {
  const auto here = std::count_if(ues_.begin(), ues_.end(), [](const Ue& ue) { return ue.here; });
  if (here == 0) return 0;
  const std::uint64_t all = everybodys - everybodys_before_;
  return (all - std::min(all, offered_to_all_ - to_all_before_)) / static_cast<std::uint64_t>(here);
}

void Cell::settle_offers(Instant now) {
  const std::uint64_t everybodys = offered_to_everybody(now);
  nobodys_before_ += offered_to_nobody(everybodys);
  everybodys_before_ = everybodys;
  to_all_before_ = offered_to_all_;
}

Backlog Cell::backlog(std::size_t index) const {
  const UeQueue& queue = ues_[index].queue;
  const bool framed = queue.config().frame > Bytes(0);
  return {queue.air_bytes(), framed ? queue.frames() : static_cast<double>(queue.packets())};
}

UeSnapshot Cell::snapshot(UeIndex index, Instant now) {
  const Ue& ue = ues_[index];
  const QueueCounters counters = ue.queue.counters(now);
  UeSnapshot snapshot;
  snapshot.state = name_of(ue.state);
  snapshot.use = use(index, now);
  snapshot.queued = ue.queue.air_bytes();
  snapshot.queued_seconds = counters.air_seconds;
  snapshot.arrived_bytes = counters.arrived_bytes - counters.taken_over_bytes;
  snapshot.transmitted_bytes = counters.transmitted_bytes;
  snapshot.delivered_bytes = counters.delivered_bytes;
  snapshot.dropped_bytes = counters.dropped_bytes;
  snapshot.dropped_packets = counters.dropped_packets;
  snapshot.lost_packets = counters.lost_packets;
  snapshot.forwarded_bytes = counters.forwarded_bytes;
  snapshot.forwarded_packets = counters.forwarded_packets;
  return snapshot;
}

std::uint32_t Cell::active_users() const {
  std::uint32_t active = 0;
  for (const Ue& ue : ues_) active += ue.here && !ue.queue.empty() ? 1U : 0U;
  return active;
}

}  // namespace sluice::emulator
