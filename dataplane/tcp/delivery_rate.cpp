#include "dataplane/tcp/delivery_rate.hpp"

#include <algorithm>
#include <bit>

#include "dataplane/tcp/tick.hpp"

namespace sluice::tcp {
namespace {

/// What a segment remembers beside DeliveryRate::delivered(), in its note's scratch64_c. Times are tick::micro.
struct Stamp {
  std::uint32_t delivered_at = 0;
  std::uint32_t first_sent : 31 = 0;
  std::uint32_t limited : 1 = 0;
};
static_assert(sizeof(Stamp) == sizeof(packet::PacketNote::scratch64_c));

constexpr std::uint32_t half = 0x7fffffff;  ///< what first_sent holds of a tick

}  // namespace

void DeliveryRate::on_sent(packet::PacketNote& note, Instant now, bool idle) {
  if (idle) first_sent_ = delivered_at_ = tick::micro(now);
  note.scratch32 = delivered_;
  const Stamp stamp{delivered_at_, first_sent_ & half, limited_ ? 1U : 0U};
  note.scratch64_c = std::bit_cast<std::uint64_t>(stamp);
}

void DeliveryRate::on_delivered(const packet::PacketNote& note) {
  newly_ += note.payload_len;
  delivered_ += note.payload_len;
  const Transmission sent{tick::micro(note.sent), SeqNum(note.seq) + note.payload_len};
  if (any_ && !(newest_ < sent)) return;
  const auto stamp = std::bit_cast<Stamp>(note.scratch64_c);
  any_ = true;
  newest_ = sent;
  prior_delivered_ = note.scratch32;
  prior_at_ = stamp.delivered_at;
  send_interval_ = (sent.at - stamp.first_sent) & half;
  sample_limited_ = stamp.limited != 0;
  sample_repeated_ = note.transmissions > 1;
  first_sent_ = sent.at;
}

void DeliveryRate::on_part_delivered(std::uint32_t bytes) {
  newly_ += bytes;
  delivered_ += bytes;
}

RateSample DeliveryRate::take(Instant now, Duration least_rtt) {
  RateSample sample;
  if (newly_ != 0) delivered_at_ = tick::micro(now);
  if (limited_ && static_cast<std::int32_t>(delivered_ - limited_until_) > 0) limited_ = false;
  sample.newly = newly_;
  if (any_) {
    sample.prior_delivered = prior_delivered_;
    sample.app_limited = sample_limited_;
    sample.repeated = sample_repeated_;
    sample.delivered = delivered_ - prior_delivered_;
    // Acknowledgements may come bunched, or segments may have left bunched: the slower of the two is what was seen.
    const std::uint32_t interval = std::max(send_interval_, tick::micro(now) - prior_at_);
    if (interval >= tick::micro(least_rtt)) sample.interval = interval;
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
