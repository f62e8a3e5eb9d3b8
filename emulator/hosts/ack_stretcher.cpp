#include "emulator/hosts/ack_stretcher.hpp"

namespace sluice::emulator {

bool AckStretcher::holds(const tcp::Segment& segment, std::uint32_t full, Instant now) {
  if (every_ <= 2) return false;
  const bool plain =
      segment.length() == 0 && segment.flags.bits == tcp::Flags::ack_bit && segment.sack_count == 0 && acknowledged_;
  const std::int32_t news = plain ? segment.ack - *acknowledged_ : 0;
  if (news <= 0 || static_cast<std::uint32_t>(news) >= every_ * full) {
    sent(segment.ack);
    return false;
  }
  if (!waiting_) due_ = now + delay_;
  waiting_ = segment;
  return true;
}

tcp::Segment AckStretcher::take() {
  const tcp::Segment segment = *waiting_;
  sent(segment.ack);
  return segment;
}

void AckStretcher::sent(tcp::SeqNum ack) {
  acknowledged_ = ack;
  waiting_.reset();
  due_ = never;
}

}  // namespace sluice::emulator
