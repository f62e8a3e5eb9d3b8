// Implements Downlink: the path of packets from a UE's radio queue over its channel to the UE. Cell pushes packets,
// Sectors allocates TTIs to it, and X2Forwarding empties it when the UE leaves. Every packet ends in exactly one
// counter: delivered, dropped, lost, or forwarded to another Node-B. Without an AirLink a lost block leaves its data in
// the queue; with one, hybrid ARQ and RLC decide.

#include "emulator/cell/downlink.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sluice::emulator {

Downlink::Downlink(UeIndex ue, UeConfig config, EventLoop& loop, TtiClock& clock)
    : ue_(ue),
      clock_(clock),
      queue_(config.queue),
      channel_(std::move(config.channel)),
      towards_ue_(*config.towards_ue),
      attempts_(config.attempts),
      loss_(config.loss),
      loss_run_(config.loss_run),
      loss_draws_(config.loss_draws),
      drx_(config.drx) {
  if (channel_ == nullptr) throw std::invalid_argument("cell: a UE without a channel");
  AirLinkUser& user = *this;
  if (config.air) air_ = std::make_unique<AirLink>(loop, *config.air, user);
  if (drx_ != nullptr) drx_->set_user(static_cast<DrxUser*>(this));
}

bool Downlink::push(packet::Packet&& packet, Bytes length, Instant now) {
  const bool was_empty = queue_.empty();
  const auto refused = [&](const packet::Packet& gone, Bytes size) { drop(gone, size, DropReason::full, now); };
  if (was_empty) end_idle(now);
  if (!queue_.push(std::move(packet), length, now, refused)) return false;
  // A packet that arrives in the first instant of a TTI misses that TTI.
  if (was_empty) clock_.wake_at(channel_->next_useful(next_reception(clock_.tti_of(now) + 1)));
  return true;
}

/// Informs a queue that is managed by ABC (Accel-Brake Control) how many bytes the link could have carried while the
/// queue was empty.
void Downlink::end_idle(Instant now) {
  if (queue_.config().management != QueueManagement::abc) return;
  const std::uint64_t offered = channel_->offered_through(clock_.tti_of(now));
  queue_.offer(Bytes(static_cast<std::int64_t>(offered - idle_from_)), idle_since_, now);
}

/// Records the start of the idle period of an empty queue, and how many bytes the channel has offered until then. Does
/// so only if ABC (Accel-Brake Control) manages the queue.
void Downlink::begin_idle(std::uint64_t tti, Instant now) {
  if (!queue_.empty() || queue_.config().management != QueueManagement::abc) return;
  idle_from_ = channel_->offered_through(tti);
  idle_since_ = now;
}

void Downlink::reset_link(Instant now) {
  if (air_ != nullptr) air_->reset(now);
}

void Downlink::part(const HandoverContext& handover_context, Instant now) {
  if (air_ == nullptr) return;
  handover_context_ = handover_context;
  air_->abandon(now);
  handover_context_ = {};
}

void Downlink::flush(DropReason reason, Instant now) {
  part({reason, nullptr}, now);
  queue_.clear(now, [&](const packet::Packet& gone, Bytes length) { drop(gone, length, reason, now); });
}

void Downlink::forward_all(Element& to, Instant now) {
  part({DropReason::handover, &to}, now);
  queue_.forward_all(now, [&](packet::Packet gone, Bytes) { to.receive(std::move(gone), now); });
}

void Downlink::pass_on(packet::Packet packet, Bytes length, Element& to, Instant now) {
  queue_.pass_on(length);
  to.receive(std::move(packet), now);
}

void Downlink::reject(const packet::Packet& packet, Bytes length, DropReason reason, Instant now) {
  queue_.reject(length);
  drop(packet, length, reason, now);
}

std::uint64_t Downlink::next_useful(std::uint64_t from) {
  std::uint64_t next = TtiClock::asleep;
  if (!queue_.empty()) next = channel_->next_useful(next_reception(from));
  if (air_ == nullptr) return next;
  next = std::min(next, air_->next_retransmission(from));
  const Instant repeat = air_->next_repeat();
  if (repeat == never) return next;
  return std::min(next, channel_->next_useful(next_reception(std::max(from, clock_.first_from(repeat)))));
}

Bytes Downlink::repeat(std::uint64_t tti, Instant now) {
  const std::uint32_t units = air_->waiting(tti)->units;
  airtime_ += units;
  return air_->transmit(tti, channel_->at(tti), Bytes(), units, queue_, *channel_, now);
}

Transmitted Downlink::transmit(std::uint64_t tti, Bytes capacity, std::uint32_t units, Instant now) {
  const LinkGrant grant = channel_->at(tti);
  airtime_ += units;
  if (drx_ != nullptr) drx_->active(now);
  if (air_ != nullptr) {
    const Bytes carried = air_->transmit(tti, grant, capacity, units, queue_, *channel_, now);
    begin_idle(tti, now);
    return {carried, carried > Bytes(0)};
  }
  if (grant.received) {
    const Bytes carried = serve(capacity, now);
    begin_idle(tti, now);
    return {carried, true};
  }
  drop_after_attempts(capacity, now);
  return {Bytes(), false};
}

Bytes Downlink::pending(Instant now) const {
  return queue_.air_bytes() + (air_ != nullptr ? air_->repeats(now) : Bytes());
}

Bytes Downlink::serve(Bytes capacity, Instant now) {
  failures_ = 0;
  const auto leave = [&](Departed&& departed) {
    left_queue(departed, now);
    arrived(std::move(departed), now);
  };
  return queue_.serve(capacity, now, leave,
                      [&](const packet::Packet& gone, Bytes length) { dropped(gone, length, now); });
}

/// Counts a lost block of `capacity` bytes. After as many losses in a row as UeConfig::attempts states, drops the
/// packets that the last of these blocks would have completed.
void Downlink::drop_after_attempts(Bytes capacity, Instant now) {
  if (attempts_ == 0 || ++failures_ < attempts_) return;
  failures_ = 0;
  queue_.discard(capacity, now,
                 [&](const packet::Packet& gone, Bytes length) { drop(gone, length, DropReason::given_up, now); });
}

void Downlink::drop(const packet::Packet& packet, Bytes length, DropReason reason, Instant now) {
  if (observer_ != nullptr) observer_->on_drop(ue_, packet, length, reason, now);
}

void Downlink::left_queue(const Departed& departed, Instant now) {
  if (observer_ != nullptr) observer_->on_departure(ue_, departed.packet, departed.length, departed.queueing, now);
}

void Downlink::dropped(const packet::Packet& packet, Bytes length, Instant now) {
  drop(packet, length, DropReason::early, now);
}

/// Returns at random whether a packet is lost, with Gilbert's two-state channel. A run of losses ends at each packet
/// with probability 1/loss_run_. The probability that a run begins is such that the share of lost packets is loss_.
bool Downlink::is_lost() {
  if (loss_run_ <= 1) return loss_draws_.chance(loss_);
  losing_ = loss_draws_.chance(losing_ ? 1 - 1 / loss_run_ : loss_ / (loss_run_ * (1 - loss_)));
  return losing_;
}

void Downlink::arrived(Departed&& departed, Instant now) {
  if (loss_ > 0 && is_lost()) return lost(std::move(departed), now);
  queue_.delivered(departed.length);
  towards_ue_.receive(std::move(departed.packet), now);
}

void Downlink::lost(Departed&& departed, Instant now) {
  if (handover_context_.onwards != nullptr) {
    queue_.recall(departed.length);
    handover_context_.onwards->receive(std::move(departed.packet), now);
    return;
  }
  queue_.lost(departed.length);
  drop(departed.packet, departed.length, handover_context_.reason, now);
}

void Downlink::ready_at(Instant when) {
  clock_.wake_at(channel_->next_useful(std::max(clock_.first_from(when), clock_.next())));
}

std::uint64_t Downlink::next_reception(std::uint64_t from) const {
  if (drx_ == nullptr) return from;
  return std::max(from, clock_.first_from(drx_->next_awake(clock_.begin_of(from))));
}

void Downlink::on_active(Instant /*now*/) {
  clock_.wake_at(next_useful(clock_.next()));
}

LinkUse Downlink::use(Instant now, std::uint32_t blocks) {
  LinkUse use;
  use.carried = air_ != nullptr ? air_->counters().carried : queue_.counters().carried;
  use.airtime = static_cast<double>(airtime_) / blocks;
  use.ttis = clock_.passed(now);
  if (use.ttis > 0) use.offered = channel_->offered_through(use.ttis - 1);
  return use;
}

}  // namespace sluice::emulator
