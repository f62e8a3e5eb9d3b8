// Delivery-rate estimator: state at transmission in the packets' notes, and the sample of each ACK. Endpoint calls it
// on paced connections: on_sent() from paced.cpp, deliveries and losses from the scoreboard, take() at the end of each
// ACK. draft-cheng-iccrg-delivery-rate-estimation-00, and for excess losses draft-ietf-ccwg-bbr-06 section 5.5.10.2.

#include "dataplane/tcp/delivery_rate.hpp"

#include <algorithm>
#include <bit>

#include "dataplane/tcp/stream_range.hpp"
#include "dataplane/tcp/tick.hpp"

namespace sluice::tcp {
namespace {

/// State of the connection when a segment was sent, stored in the packet's metadata (PacketNote::scratch64_c). Times
/// are in ticks of 1.02 µs (tick::us).
struct Stamp {
  std::uint32_t delivered_at = 0;
  std::uint32_t first_sent : 31 = 0;
  std::uint32_t limited : 1 = 0;
};
static_assert(sizeof(Stamp) == sizeof(packet::PacketNote::scratch64_c));

/// Further state of the connection when a segment was sent, stored in the packet's metadata (PacketNote::scratch64).
/// Only segments that were sent once have it.
struct FlightStamp {
  std::uint32_t in_flight = 0;  ///< bytes in flight (pipe) including this segment
  std::uint32_t lost = 0;       ///< total of bytes marked lost when this segment was sent
};
static_assert(sizeof(FlightStamp) == sizeof(packet::PacketNote::scratch64));

/// Mask of the low 31 bits of a tick, which are all that Stamp::first_sent stores.
constexpr std::uint32_t half = 0x7fffffff;

}  // namespace

void DeliveryRate::on_sent(packet::PacketNote& note, Instant now, std::uint32_t in_flight, bool idle) {
  if (idle) first_sent_ = delivered_at_ = tick::us(now);
  note.scratch32 = delivered_;
  const Stamp stamp{delivered_at_, first_sent_ & half, limited_ ? 1U : 0U};
  note.scratch64_c = std::bit_cast<std::uint64_t>(stamp);
  if (note.transmissions == 0) {
    note.scratch64 = std::bit_cast<std::uint64_t>(FlightStamp{in_flight + note.payload_len, lost_});
  }
}

void DeliveryRate::on_delivered(const packet::PacketNote& note) {
  newly_ += note.payload_len;
  delivered_ += note.payload_len;
  const Transmission sent = transmission_of(note);
  if (any_ && !(newest_ < sent)) return;
  const auto stamp = std::bit_cast<Stamp>(note.scratch64_c);
  any_ = true;
  newest_ = sent;
  prior_delivered_ = note.scratch32;
  prior_at_ = stamp.delivered_at;
  send_interval_ = (sent.at - stamp.first_sent) & half;
  sample_limited_ = stamp.limited != 0;
  sample_retransmitted_ = note.transmissions > 1;
  const auto flight = sample_retransmitted_ ? FlightStamp() : std::bit_cast<FlightStamp>(note.scratch64);
  tx_in_flight_ = flight.in_flight;
  prior_lost_ = flight.lost;
  first_sent_ = sent.at;
}

void DeliveryRate::on_part_delivered(std::uint32_t bytes) {
  newly_ += bytes;
  delivered_ += bytes;
}

// Records a lost segment. For the segment that exceeds the tolerated share, only the part below the limit counts as in
// flight (draft-ietf-ccwg-bbr-06 section 5.5.10.2).
void DeliveryRate::on_lost(const packet::PacketNote& note) {
  const std::uint32_t size = note.payload_len;
  if (newly_lost_ == 0 || SeqNum(note.seq) != lost_end_) ++lost_runs_;
  lost_end_ = SeqNum(note.seq) + size;
  lost_ += size;
  newly_lost_ += size;
  if (excess_.found || note.transmissions != 1) return;
  const auto flight = std::bit_cast<FlightStamp>(note.scratch64);
  const auto tolerated = static_cast<double>(tolerated_loss_);
  if (lost_ - flight.lost <= tolerated * flight.in_flight) return;
  const double before = flight.in_flight - size;
  const double lost_before = lost_ - flight.lost - size;
  const double right = std::max(0.0, (tolerated * before - lost_before) / (1 - tolerated));
  excess_ = {.in_flight = static_cast<std::uint32_t>(before + right),
             .found = true,
             .app_limited = std::bit_cast<Stamp>(note.scratch64_c).limited != 0};
}

void DeliveryRate::forgive_losses() {
  newly_lost_ = lost_runs_ = 0;
  excess_ = {};
}

RateSample DeliveryRate::take(Instant now, Duration min_rtt) {
  RateSample sample;
  if (newly_ != 0) delivered_at_ = tick::us(now);
  if (limited_ && static_cast<std::int32_t>(delivered_ - limited_until_) > 0) limited_ = false;
  sample.newly = newly_;
  sample.newly_lost = newly_lost_;
  sample.lost_runs = lost_runs_;
  sample.excess = excess_;
  forgive_losses();
  if (any_) {
    sample.prior_delivered = prior_delivered_;
    sample.app_limited = sample_limited_;
    sample.retransmitted = sample_retransmitted_;
    sample.tx_in_flight = tx_in_flight_;
    sample.lost = tx_in_flight_ == 0 ? 0 : lost_ - prior_lost_;
    sample.delivered = delivered_ - prior_delivered_;
    // ACKs or segments may be bunched, so the longer of both intervals is the true one.
    const std::uint32_t interval = std::max(send_interval_, tick::us(now) - prior_at_);
    if (interval >= tick::us(min_rtt)) sample.interval = interval;
  }
  any_ = false;
  newly_ = 0;
  return sample;
}

void DeliveryRate::limit_by_application(std::uint32_t in_flight) {
  limited_ = true;
  limited_until_ = delivered_ + in_flight;
}

}  // namespace sluice::tcp
