#include "proxy/bearer/sent_to_ue.hpp"

namespace sluice::proxy {

void SentToUe::count_first(Instant now, Bytes bytes, const SentOfLatePlace& place) {
  if (bytes <= Bytes{}) return;
  if (now == last_at_) {
    last_ += static_cast<std::uint32_t>(bytes.count());
  } else if (last_ == 0 || now - last_at_ > control::InFlight::horizon(place.round_trip)) {
    last_ = static_cast<std::uint32_t>(bytes.count());
    last_at_ = now;
  } else {
    begin(place).bytes.on_sent(now, bytes);
    return;
  }
  sum_ += static_cast<std::uint64_t>(bytes.count());
}

SentOfLate& SentToUe::begin(const SentOfLatePlace& place) {
  SentOfLate& sent = of_late_.make(place.pool, place.round_trip, place.bearer);
  sent.bytes.begin_at(sum_ - last_);
  sent.bytes.on_sent(last_at_, Bytes(std::int64_t{last_}));
  return sent;
}

void SentToUe::rest(Instant now, flow::Slab<SentOfLate>& pool) {
  if (!of_late_ || !of_late_->bytes.is_past(now)) return;
  sum_ = of_late_->bytes.total();
  last_ = 0;
  of_late_.drop(pool);
}

void SentToUe::inherit(const SentToUe& before, const SentOfLatePlace& place) {
  sum_ = before.sum_;
  last_ = before.last_;
  last_at_ = before.last_at_;
  if (before.of_late_) in_flight(place) = before.of_late_->bytes;
}

}  // namespace sluice::proxy
