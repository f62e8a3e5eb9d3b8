#include "proxy/engine/bearer/ue_send_history.hpp"

namespace sluice::proxy {

void UeSendHistory::start_history(Instant now, Bytes bytes, const RecentSendsPool& place) {
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

RecentSends& UeSendHistory::begin(const RecentSendsPool& place) {
  RecentSends& sent = recent_.make(place.pool, place.round_trip, place.bearer);
  sent.bytes.begin_at(sum_ - last_);
  sent.bytes.on_sent(last_at_, Bytes(std::int64_t{last_}));
  return sent;
}

void UeSendHistory::release_idle(Instant now, flow::Slab<RecentSends>& pool) {
  if (!recent_ || !recent_->bytes.is_past(now)) return;
  sum_ = recent_->bytes.total();
  last_ = 0;
  recent_.drop(pool);
}

void UeSendHistory::inherit(const UeSendHistory& before, const RecentSendsPool& place) {
  sum_ = before.sum_;
  last_ = before.last_;
  last_at_ = before.last_at_;
  if (before.recent_) in_flight(place) = before.recent_->bytes;
}

}  // namespace sluice::proxy
