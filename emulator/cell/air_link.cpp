// Implements AirLink: one transport block per TTI passes through hybrid ARQ, the reordering buffer and RLC (`link/`).
// Downlink calls it for its UE, and UplinkUe for the uplink. The byte stream that leaves the radio queue for the first
// time numbers all bytes, with padding of radio frames. A packet goes to the user, delivered or lost, once RLC has
// resolved every position up to its last byte, and packets keep their order. Sources: TS 25.321 section 11.6 (MAC-hs)
// and TS 25.322 (RLC).

#include "emulator/cell/air_link.hpp"

#include <stdexcept>
#include <utility>

namespace sluice::emulator {

AirLink::AirLink(EventLoop& loop, const AirLinkConfig& config, AirLinkUser& user)
    : loop_(loop), config_(config), user_(user), harq_(config.harq), reordering_(config.reordering), rlc_(config.rlc) {
  if (config.poll <= Duration::zero()) throw std::invalid_argument("air link: the poll timer must be above 0");
}

Bytes AirLink::transmit(std::uint64_t tti, const LinkGrant& grant, Bytes capacity, std::uint32_t units, UeQueue& queue,
                        const Channel& channel, Instant now) {
  last_tti_ = tti;
  const bool again = harq_.waiting(tti) != nullptr;
  const link::HarqBlock fresh = again ? link::HarqBlock{} : fill(grant, capacity, units, queue, now);
  ++(again ? counters_.retransmissions : counters_.blocks);
  const link::HarqOutcome outcome =
      harq_.transmit(tti, fresh, channel.quality().present_db, grant.draw,
                     [&channel](double snr_db, std::uint8_t cqi) { return channel.error_rate(snr_db, cqi); });
  const link::HarqBlock block = harq_.latest();
  if (outcome == link::HarqOutcome::given_up) {
    ++counters_.given_up;
    loop_.at(now + config_.poll, *this, block.tsn);
  }
  if (outcome != link::HarqOutcome::received) return {};
  ++counters_.received;
  counters_.carried += static_cast<std::uint64_t>(block.size.count());
  reordering_.received(block.tsn, now, [&](std::uint64_t /*tsn*/, bool here) { decide(here, now); });
  release_completed(now);
  return block.size;
}

link::HarqBlock AirLink::fill(const LinkGrant& grant, Bytes capacity, std::uint32_t units, UeQueue& queue,
                              Instant now) {
  Content content;
  content.repeated = rlc_.take(capacity, now);
  counters_.repeated += static_cast<std::uint64_t>(content.repeated.size().count());
  const auto depart = [&](Departed&& departed) {
    const link::RlcRange range{packed_, packed_ + static_cast<std::uint64_t>(departed.air.count())};
    packed_ = range.to;
    // The UE soon reads the whole packet, so its bytes are fetched now.
    departed.packet.prefetch(static_cast<std::size_t>(departed.length.count()));
    user_.left_queue(departed, now);
    held_.push({std::move(departed), range});
  };
  const auto dropped = [&](const packet::Packet& gone, Bytes length) { user_.dropped(gone, length, now); };
  const Bytes used = queue.serve(capacity - content.repeated.size(), now, depart, dropped);
  content.fresh = {sent_, sent_ + static_cast<std::uint64_t>(used.count())};
  sent_ = content.fresh.to;
  contents_.push_back(content);
  return {next_tsn_++, content.repeated.size() + content.fresh.size(), units, grant.cqi, 0, 0};
}

void AirLink::decide(bool received, Instant now) {
  const Content content = contents_.front();
  contents_.pop_front();
  for (const link::RlcRange& range : {content.repeated, content.fresh}) {
    if (received) {
      rlc_.received(range);
    } else {
      rlc_.lost(range, now);
    }
  }
}

void AirLink::release_completed(Instant now) {
  while (!held_.empty() && held_.front().range.to <= rlc_.completed_until()) {
    Held held = held_.pop();
    if (rlc_.damaged(held.range)) {
      user_.lost(std::move(held.departed), now);
    } else {
      user_.arrived(std::move(held.departed), now);
    }
  }
  if (rlc_.next_ready() != never) user_.ready_at(rlc_.next_ready());
  arm();
}

void AirLink::reset(Instant now) {
  harq_.flush();
  if (next_tsn_ > 0) reordering_.given_up(next_tsn_ - 1, now, [&](std::uint64_t, bool here) { decide(here, now); });
  release_completed(now);
}

void AirLink::abandon(Instant now) {
  reset(now);
  rlc_.give_up();
  release_completed(now);
}

void AirLink::arm() {
  if (reordering_.deadline() >= armed_) return;
  armed_ = reordering_.deadline();
  loop_.at(armed_, *this, stall_tag);
}

void AirLink::on_event(std::uint64_t tag, Instant now) {
  const auto decided = [&](std::uint64_t /*tsn*/, bool here) { decide(here, now); };
  if (tag == stall_tag) {
    if (now >= armed_) armed_ = never;
    reordering_.expire(now, decided);
  } else {
    reordering_.given_up(tag, now, decided);
  }
  release_completed(now);
}

}  // namespace sluice::emulator
