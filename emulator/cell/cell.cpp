// Implements Cell: it maps destination addresses to UEs, puts packets into their queues, and reports the state of
// UEs. `runtime/radio_access` sets it up, the core side of the network calls receive(), and TtiClock calls run_tti()
// for each TTI with work. Calls go from Cell to TtiClock, Sectors and Downlink and never back; a Downlink reports to
// the observer. Packets for unknown or released UEs take the default route or are counted as dropped.

#include "emulator/cell/cell.hpp"

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
    : loop_(loop), towards_ue_(towards_ue), clock_(loop, tti, *this), sectors_(ues_, std::move(scheduler), resources) {}

std::uint32_t Cell::add_sector(std::unique_ptr<Scheduler> scheduler) {
  return sectors_.add(std::move(scheduler));
}

UeIndex Cell::add_ue(UeConfig config) {
  sectors_.check(config.sector);
  const auto index = static_cast<UeIndex>(ues_.size());
  if (config.towards_ue == nullptr) config.towards_ue = &towards_ue_;
  CellUe ue{config.address, nullptr, config.sector, control::feedback::RadioState::normal, config.here, false};
  ue.downlink = std::make_unique<Downlink>(index, std::move(config), loop_, clock_);
  ue.downlink->set_observer(observer_);
  ue.downlink->add_to(backlog_);
  add_address(index, ue.address);
  ues_.push_back(std::move(ue));
  if (sectors_.follow_idle()) clock_.wake_at(clock_.next());
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
  const auto ue = header ? by_address_.find(header->destination) : by_address_.end();
  if (ue == by_address_.end() || ues_[ue->second].state == control::feedback::RadioState::released) {
    ++(header ? counters_.unknown_destination : counters_.not_ip);
    forward_unknown(std::move(packet), now);
    return;
  }
  enqueue(ue->second, std::move(packet), header->length, now);
}

void Cell::enqueue(UeIndex index, packet::Packet&& packet, Bytes length, Instant now) {
  if (!ues_[index].downlink->push(std::move(packet), length, now)) return;
  if (arrivals_ != nullptr) arrivals_->on_arrival(index, now);
}

void Cell::take_over(UeIndex index, packet::Packet packet, Bytes length, Instant now) {
  if (ues_[index].state == control::feedback::RadioState::released) return forward_unknown(std::move(packet), now);
  ues_[index].downlink->record_taken_over(length);
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
  sectors_.check(sector);
  ues_[index].sector = sector;
}

void Cell::set_observer(CellObserver* observer) {
  observer_ = observer;
  for (CellUe& ue : ues_) ue.downlink->set_observer(observer);
}

void Cell::attach(UeIndex index, Instant now) {
  sectors_.add_unused_capacity(now);
  ues_[index].here = true;
  ues_[index].losing = false;
  set_state(index, control::feedback::RadioState::normal);
  if (presence_ != nullptr) presence_->on_presence(index, true, now);
}

void Cell::detach(UeIndex index, Instant now) {
  sectors_.add_unused_capacity(now);
  ues_[index].here = false;
  if (presence_ != nullptr) presence_->on_presence(index, false, now);
}

void Cell::set_state(UeIndex index, control::feedback::RadioState state) {
  ues_[index].state = state;
  clock_.wake_at(clock_.next());
}

std::uint64_t Cell::run_tti(std::uint64_t tti, Instant now) {
  sectors_.run(tti, now);
  return sectors_.next_tti(tti + 1);
}

Backlog Cell::backlog() const {
  return backlog_.sum();
}

UeSnapshot Cell::snapshot(UeIndex index, Instant now) {
  const QueueCounters counters = queue(index).counters(now);
  UeSnapshot snapshot;
  snapshot.state = name_of(ues_[index].state);
  snapshot.use = use(index, now);
  snapshot.queued = queue(index).air_bytes();
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
  for (const CellUe& ue : ues_) active += ue.here && !ue.downlink->queue().empty() ? 1U : 0U;
  return active;
}

}  // namespace sluice::emulator
