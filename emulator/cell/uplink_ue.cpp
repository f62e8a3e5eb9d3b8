// Implements UplinkUe: the UE's side of a scheduled uplink, with scheduling requests and buffer status reports.
// ScheduledUplink calls it in every TTI that runs; AirLink calls back for each packet. A request is pending while data
// waits that no grant or report covers (TS 36.321 sections 5.4.4 and 5.4.5). A retry timer (retxBSR-Timer) requests
// again if a report is followed by no grant.

#include "emulator/cell/uplink_ue.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sluice::emulator {

UplinkUe::UplinkUe(UeIndex ue, UplinkUeConfig config, const UplinkRequests& requests, const AirLinkConfig& air,
                   EventLoop& loop, TtiClock& clock, Element& next)
    : ue_(ue),
      requests_(requests),
      clock_(clock),
      next_(next),
      queue_(config.queue),
      channel_(std::move(config.channel)),
      air_(loop, air, static_cast<AirLinkUser&>(*this)),
      drx_(config.drx),
      ahead_(requests.distance + 1),
      reported_bsr_(air.harq.processes) {
  if (channel_ == nullptr) throw std::invalid_argument("uplink: a UE without a channel");
}

void UplinkUe::push(packet::Packet packet, Bytes length, Instant now) {
  const bool was_empty = empty(now);
  const auto refused = [&](const packet::Packet& gone, Bytes size) { drop(gone, size, DropReason::full, now); };
  if (!queue_.push(std::move(packet), length, now, refused)) return;
  // New data in an empty buffer triggers a buffer status report, and thereby a scheduling request (TS 36.321 section
  // 5.4.5).
  if (was_empty) pending_ = true;
  // A packet that arrives in the first instant of a TTI misses that TTI.
  if (was_empty) clock_.wake_at(clock_.tti_of(now) + 1);
}

void UplinkUe::begin(std::uint64_t tti) {
  for (known_ = std::max(known_, tti); known_ <= tti + requests_.distance; ++known_) {
    ahead_[known_ % ahead_.size()] = channel_->at(known_);
  }
}

std::optional<BufferStatus> UplinkUe::repeat(std::uint64_t tti, Instant now) {
  const std::uint32_t units = air_.waiting(tti)->units;
  if (!transmit(tti, Bytes(), units, now)) return std::nullopt;
  return reported_bsr_[tti % reported_bsr_.size()];
}

std::optional<BufferStatus> UplinkUe::send(std::uint64_t tti, Bytes size, std::uint32_t units, Instant now) {
  pending_ = false;
  retry_at_ = not_set;
  if (rlc_retx_at_ <= tti) rlc_retx_at_ = not_set;
  if (!has_data(now)) {
    if (!queue_.empty()) pending_ = true;  // true if the packet arrived in this instant
    return BufferStatus{tti, Bytes()};
  }
  const bool received = transmit(tti, size, units, now);
  const BufferStatus status{tti, queue_.air_bytes() + air_.repeats(now)};
  reported_bsr_[tti % reported_bsr_.size()] = status;
  if (status.left > Bytes(0)) retry_at_ = tti + requests_.retry;
  if (!received) return std::nullopt;
  return status;
}

bool UplinkUe::transmit(std::uint64_t tti, Bytes size, std::uint32_t units, Instant now) {
  const std::uint64_t before = air_.counters().received;
  air_.transmit(tti, link(tti), size, units, queue_, *channel_, now);
  return air_.counters().received != before;
}

bool UplinkUe::request(std::uint64_t tti, Instant now) {
  for (std::uint64_t* const due : {&retry_at_, &rlc_retx_at_}) {
    if (tti < *due) continue;
    pending_ = true;
    *due = not_set;
  }
  if (empty(now)) pending_ = false;  // active queue management has dropped the data
  if (!pending_ || opportunity(tti) != tti || !has_data(now)) return false;
  active(now);
  const LinkGrant& carried = link(tti);
  const bool silent = !carried.received && carried.capacity == Bytes(0);
  return !silent;
}

std::uint64_t UplinkUe::opportunity(std::uint64_t from) const {
  const std::uint64_t into = (from + requests_.period - requests_.phase) % requests_.period;
  return into == 0 ? from : from + requests_.period - into;
}

std::uint64_t UplinkUe::next_useful(std::uint64_t from) const {
  std::uint64_t next = air_.next_retransmission(from);
  next = std::min({next, std::max(from, retry_at_), std::max(from, rlc_retx_at_)});
  if (pending_) next = std::min(next, opportunity(from));
  return next;
}

void UplinkUe::active(Instant now) {
  if (drx_ != nullptr) drx_->active(now);
}

void UplinkUe::left_queue(const Departed& /*departed*/, Instant /*now*/) {}

void UplinkUe::dropped(const packet::Packet& packet, Bytes length, Instant now) {
  drop(packet, length, DropReason::early, now);
}

void UplinkUe::arrived(Departed&& departed, Instant now) {
  queue_.delivered(departed.length);
  const Duration way = now + clock_.tti() - departed.enqueued;
  if (observer_ != nullptr) observer_->on_departure(ue_, departed.packet, departed.length, way, now);
  next_.receive(std::move(departed.packet), now);
}

void UplinkUe::lost(Departed&& departed, Instant now) {
  queue_.lost(departed.length);
  drop(departed.packet, departed.length, DropReason::air, now);
}

void UplinkUe::ready_at(Instant when) {
  if (when <= sr_trigger_time_) return;
  sr_trigger_time_ = when;
  rlc_retx_at_ = std::max(clock_.first_from(when), clock_.next());
  clock_.wake_at(rlc_retx_at_);
}

void UplinkUe::drop(const packet::Packet& packet, Bytes length, DropReason reason, Instant now) {
  if (observer_ != nullptr) observer_->on_drop(ue_, packet, length, reason, now);
}

}  // namespace sluice::emulator
