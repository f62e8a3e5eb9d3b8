// Implements ScheduledUplink: the TTI loop of an LTE or NR uplink (TS 36.321 sections 5.4.4 and 5.4.5, TS 36.213
// section 8). Receives packets from the UEs and forwards them towards the core; TtiClock calls run_tti(). Each TTI
// sends retransmissions, granted blocks and configured blocks, in this order, and at most one block per UE. Requests
// and buffer status reports reach the scheduler `response` later; a grant is used `grant_delay` after it. Both delays
// are ring buffers indexed by TTI.

#include "emulator/cell/scheduled_uplink.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "emulator/net/ip_header.hpp"

namespace sluice::emulator {
namespace {

void check(bool fits, const char* problem) {
  if (!fits) throw std::invalid_argument(problem);
}

}  // namespace

ScheduledUplink::ScheduledUplink(EventLoop& loop, Duration tti, const ScheduledUplinkConfig& config, Element& next)
    : loop_(loop),
      clock_(loop, tti, static_cast<TtiUser&>(*this)),
      config_(config),
      next_(next),
      air_(loop, {tti, Rate(), Bytes()}, next),
      scheduler_(config.resources),
      response_(in_ttis(config.response)),
      distance_(in_ttis(config.grant_delay)),
      configured_period_(config.configured ? in_ttis(config.configured->period) : 0) {
  check(config.request_period > Duration::zero(), "uplink: the requests' period must be above 0");
  check(config.response >= Duration::zero(), "uplink: the response must not be negative");
  check(config.grant_delay > Duration::zero(), "uplink: the grant delay must be above 0");
  check(config.retry > Duration::zero(), "uplink: the retry must be above 0");
  check(config.air.harq.processes >= distance_, "uplink: at least as many processes as the grant delay has TTIs");
  check(!config.configured || (configured_period_ > 0 && config.configured->size > Bytes(0)),
        "uplink: configured grants must have a period and a size");
  decoding_.resize(response_ + 1);
  plans_.resize(distance_ + 1);
}

std::uint64_t ScheduledUplink::in_ttis(Duration span) const {
  return static_cast<std::uint64_t>((span + clock_.tti() - Duration(1)) / clock_.tti());
}

void ScheduledUplink::add_ue(UplinkUeConfig config) {
  const auto index = static_cast<UeIndex>(ues_.size());
  if (config.addresses.empty()) throw std::invalid_argument("uplink: a UE without an address");
  for (const IpAddress& address : config.addresses) {
    if (!by_address_.emplace(address, index).second) {
      throw std::invalid_argument("uplink: two UEs with the address " + address.to_string());
    }
  }
  const std::uint64_t period = in_ttis(config_.request_period);
  const UplinkRequests requests{period, index % period, in_ttis(config_.retry), distance_};
  ues_.push_back(std::make_unique<UplinkUe>(index, std::move(config), requests, config_.air, loop_, clock_, air_));
  ues_.back()->set_observer(observer_);
  scheduler_.add_ue();
  capacities_.emplace_back();
  sent_.push_back(false);
}

void ScheduledUplink::set_observer(CellObserver* observer) {
  observer_ = observer;
  for (const auto& ue : ues_) ue->set_observer(observer);
}

void ScheduledUplink::receive(packet::Packet packet, Instant now) {
  const auto header = read_ip_header(packet.bytes());
  const auto at = header ? by_address_.find(header->source) : by_address_.end();
  if (at == by_address_.end()) {
    next_.receive(std::move(packet), now);
    return;
  }
  ues_[at->second]->push(std::move(packet), header->length, now);
}

std::uint64_t ScheduledUplink::run_tti(std::uint64_t tti, Instant now) {
  for (const auto& ue : ues_) ue->begin(tti);
  transmit(tti, now);
  request(tti, now);
  learn(tti);
  grant(tti + distance_, now);
  return next_tti(tti + 1, now);
}

void ScheduledUplink::transmit(std::uint64_t tti, Instant now) {
  std::fill(sent_.begin(), sent_.end(), false);
  repeat(tti, now);
  use_grants(tti, now);
  if (config_.configured) use_configured(tti, now);
}

/// Sends the hybrid-ARQ retransmissions of this TTI. Retransmissions precede new blocks, because a UE sends at most one
/// block per TTI.
void ScheduledUplink::repeat(std::uint64_t tti, Instant now) {
  for (UeIndex i = 0; i < ues_.size(); ++i) {
    if (ues_[i]->to_repeat(tti) == nullptr) continue;
    sent_[i] = true;
    notify(i, tti, ues_[i]->repeat(tti, now));
  }
}

void ScheduledUplink::use_grants(std::uint64_t tti, Instant now) {
  std::vector<UplinkGrant>& plan = plans_[tti % plans_.size()];
  for (const UplinkGrant& granted : plan) {
    UplinkUe& ue = *ues_[granted.ue];
    counters_.padding += ue.has_data(now) ? 0U : 1U;
    sent_[granted.ue] = true;
    notify(granted.ue, tti, ue.send(tti, granted.size, granted.units, now));
  }
  plan.clear();
}

void ScheduledUplink::use_configured(std::uint64_t tti, Instant now) {
  for (UeIndex i = 0; i < ues_.size(); ++i) {
    UplinkUe& ue = *ues_[i];
    const Bytes size = std::min(config_.configured->size, ue.link(tti).capacity);
    if (sent_[i] || !is_configured(i, tti) || size == Bytes(0) || !ue.has_data(now)) continue;
    sent_[i] = true;
    notify(i, tti, ue.send(tti, size, units_for(size, ue.link(tti).capacity), now));
  }
}

/// Sends the scheduling requests of UEs that send no block in this TTI. A UE with a block needs no request, because the
/// block contains a buffer status report.
void ScheduledUplink::request(std::uint64_t tti, Instant now) {
  for (UeIndex i = 0; i < ues_.size(); ++i) {
    if (sent_[i] || !ues_[i]->request(tti, now)) continue;
    ++counters_.requests;
    decoding_[(tti + response_) % decoding_.size()].push_back({i, true, {tti, Bytes()}});
  }
}

void ScheduledUplink::notify(UeIndex ue, std::uint64_t tti, const std::optional<BufferStatus>& status) {
  if (status) decoding_[(tti + response_) % decoding_.size()].push_back({ue, false, *status});
}

void ScheduledUplink::learn(std::uint64_t tti) {
  std::vector<DecodedRequest>& known = decoding_[tti % decoding_.size()];
  for (const DecodedRequest& decoded : known) {
    if (decoded.request) {
      scheduler_.request(decoded.ue, decoded.status.sent);
    } else {
      scheduler_.report(decoded.ue, decoded.status.sent, decoded.status.left);
    }
  }
  known.clear();
}

/// Allocates the resource blocks of TTI `tti` that neither retransmissions nor configured grants use.
void ScheduledUplink::grant(std::uint64_t tti, Instant now) {
  std::uint32_t taken = 0;
  for (UeIndex i = 0; i < ues_.size(); ++i) {
    const UplinkUe& ue = *ues_[i];
    const Bytes capacity = ue.link(tti).capacity;
    const link::HarqBlock* const again = ue.to_repeat(tti);
    const bool configured = config_.configured && is_configured(i, tti);
    if (again != nullptr) {
      taken += again->units;
    } else if (configured && capacity > Bytes(0)) {
      taken += units_for(config_.configured->size, capacity);
    }
    capacities_[i] = again != nullptr || configured || !ue.awake(now) ? Bytes(0) : capacity;
  }
  const std::uint32_t blocks = config_.resources.blocks;
  for (const UplinkGrant& granted : scheduler_.grant(tti, blocks - std::min(taken, blocks), capacities_)) {
    ++counters_.grants;
    ues_[granted.ue]->active(now);
    plans_[tti % plans_.size()].push_back(granted);
  }
}

std::uint32_t ScheduledUplink::units_for(Bytes size, Bytes capacity) const {
  const std::int64_t blocks = config_.resources.blocks;
  const std::int64_t units = (size.count() * blocks + capacity.count() - 1) / capacity.count();
  return static_cast<std::uint32_t>(std::min(units, blocks));
}

std::uint64_t ScheduledUplink::next_tti(std::uint64_t from, Instant now) {
  std::uint64_t next = TtiClock::asleep;
  for (std::uint64_t tti = from; tti < from + decoding_.size(); ++tti) {
    if (!decoding_[tti % decoding_.size()].empty()) next = std::min(next, tti);
  }
  for (std::uint64_t tti = from; tti < from + plans_.size(); ++tti) {
    if (!plans_[tti % plans_.size()].empty()) next = std::min(next, tti);
  }
  for (UeIndex i = 0; i < ues_.size() && next != from; ++i) next = std::min(next, next_for(i, from, now));
  return next;
}

/// Returns the first TTI from `from` on in which one UE must be handled: it retransmits, sends a request or uses a
/// configured grant, or the Node-B sends it a grant.
std::uint64_t ScheduledUplink::next_for(UeIndex index, std::uint64_t from, Instant now) {
  UplinkUe& ue = *ues_[index];
  std::uint64_t next = ue.next_useful(from);
  if (config_.configured && (!ue.queue().empty() || ue.has_data(now))) {
    next = std::min(next, next_configured(index, from));
  }
  if (scheduler_.known(index) == Bytes(0)) return next;
  const std::uint64_t useful = ue.channel().next_useful(from + distance_);
  return useful == TtiClock::asleep ? next : std::min(next, useful - distance_);
}

/// Returns the first TTI from `from` on with a configured grant of the UE.
std::uint64_t ScheduledUplink::next_configured(UeIndex ue, std::uint64_t from) const {
  const std::uint64_t into = (from + configured_period_ - ue % configured_period_) % configured_period_;
  return into == 0 ? from : from + configured_period_ - into;
}

}  // namespace sluice::emulator
