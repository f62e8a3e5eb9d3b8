#include "emulator/cell/cell.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "emulator/net/ip_header.hpp"

namespace sluice::emulator {

Cell::Cell(EventLoop& loop, Duration tti, std::unique_ptr<Scheduler> scheduler, Element& towards_ue)
    : loop_(loop), tti_(tti), scheduler_(std::move(scheduler)), towards_ue_(towards_ue) {
  if (tti <= Duration::zero()) throw std::invalid_argument("cell: the TTI must be positive");
  if (scheduler_ == nullptr) throw std::invalid_argument("cell: there is no scheduler");
}

UeIndex Cell::add_ue(UeConfig config) {
  if (config.channel == nullptr) throw std::invalid_argument("cell: a UE without a channel");
  const auto index = static_cast<UeIndex>(ues_.size());
  add_address(index, config.address);
  Element* const towards = config.towards_ue != nullptr ? config.towards_ue : &towards_ue_;
  ues_.push_back({config.address, UeQueue(config.queue), std::move(config.channel), towards, 0});
  candidates_.reserve(ues_.size());
  if (scheduler_->follows_idle()) wake_at(tti_of(loop_.now()) + 1);
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
  if (!index) {
    ++(header ? counters_.unknown_destination : counters_.not_ip);
    forward_unknown(std::move(packet), now);
    return;
  }
  Ue& ue = ues_[*index];
  const bool was_empty = ue.queue.empty();
  if (!ue.queue.push(std::move(packet), header->length, now)) {
    if (observer_ != nullptr) observer_->on_drop(*index, header->length, now);
    return;
  }
  if (arrivals_ != nullptr) arrivals_->on_arrival(*index, now);
  // What comes in a TTI's first instant misses that TTI.
  if (was_empty) wake_at(ue.channel->next_useful(tti_of(now) + 1));
}

void Cell::forward_unknown(packet::Packet packet, Instant now) {
  if (default_route_ == nullptr) {
    ++counters_.dropped_no_route;
    return;
  }
  default_route_->receive(std::move(packet), now);
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
  if (scheduler_->follows_idle()) return from;
  std::uint64_t next = asleep;
  for (Ue& ue : ues_) {
    if (!ue.queue.empty()) next = std::min(next, ue.channel->next_useful(from));
  }
  return next;
}

void Cell::run_tti(std::uint64_t tti, Instant now) {
  ++counters_.ttis;
  candidates_.clear();
  for (UeIndex i = 0; i < ues_.size(); ++i) {
    Ue& ue = ues_[i];
    const bool backlogged = ue.queue.ready(now);
    if (!backlogged && !scheduler_->follows_idle()) continue;
    const Grant& grant = ue.channel->at(tti);
    candidates_.push_back({i, backlogged, grant.capacity, grant.quality_db, grant.cqi});
  }
  const auto chosen = scheduler_->pick(candidates_, tti);
  if (!chosen) return;
  const UeIndex index = candidates_[*chosen].ue;
  const Grant& grant = ues_[index].channel->at(tti);
  account_served(tti, grant);
  const Bytes carried = serve(index, grant, now);
  scheduler_->served(index, carried, tti);
}

void Cell::account_served(std::uint64_t tti, const Grant& given) {
  offered_served_ += static_cast<std::uint64_t>(given.carried().count());
  for (Ue& ue : ues_) offered_to_all_ += static_cast<std::uint64_t>(ue.channel->at(tti).carried().count());
}

Bytes Cell::serve(UeIndex index, const Grant& grant, Instant now) {
  Ue& ue = ues_[index];
  ++ue.airtime;
  ++counters_.blocks;
  if (!grant.received) {
    ++counters_.blocks_lost;
    return {};
  }
  return ue.queue.serve(grant.capacity, now, [&](Departed departed) {
    ue.queue.delivered(departed.length);
    if (observer_ != nullptr) {
      observer_->on_departure(index, departed.packet, departed.length, departed.queueing, now);
    }
    ue.towards_ue->receive(std::move(departed.packet), now);
  });
}

LinkUse Cell::use(UeIndex index, Instant now) {
  Ue& ue = ues_[index];
  LinkUse use;
  use.carried = ue.queue.counters().carried;
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
    sum.offered += ue.offered;
    sum.carried += ue.carried;
    sum.airtime += ue.airtime;
    sum.ttis = ue.ttis;
  }
  if (!ues_.empty()) sum.offered = offered_served_ + (sum.offered - offered_to_all_) / ues_.size();
  return sum;
}

std::uint32_t Cell::active_users() const {
  std::uint32_t active = 0;
  for (const Ue& ue : ues_) active += ue.queue.empty() ? 0U : 1U;
  return active;
}

}  // namespace sluice::emulator
