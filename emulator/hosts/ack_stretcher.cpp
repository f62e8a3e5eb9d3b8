#include "emulator/hosts/ack_stretcher.hpp"

namespace sluice::emulator {

bool AckStretcher::on_received(tcp::SeqNum next, std::uint32_t full, Instant now) {
  if (every_ <= 2 || !acknowledged_) return false;
  const std::int32_t news = next - *acknowledged_;
  if (news <= 0) return false;
  if (due_ == never) due_ = now + delay_;
  ack_due_ = static_cast<std::uint32_t>(news) >= every_ * full || due_ <= now;
  return ack_due_;
}

bool AckStretcher::holds(tcp::Segment& segment) {
  if (every_ <= 2) return false;
  const bool plain =
      segment.length() == 0 && segment.flags.bits == tcp::Flags::ack_bit && segment.sack_count == 0 && !reported_hole_;
  if (!plain || ack_due_ || !acknowledged_ || segment.ack <= *acknowledged_) {
    if (echo_) segment.ts_echo = *echo_;
    sent(segment);
    return false;
  }
  if (!echo_) echo_ = segment.ts_echo;
  waiting_ = segment;
  return true;
}

std::optional<tcp::Segment> AckStretcher::take(std::uint32_t time) {
  std::optional<tcp::Segment> segment;
  if (!ack_due_ || !waiting_) return segment;
  segment = waiting_;
  segment->ts_value = time;
  segment->ts_echo = *echo_;
  sent(*segment);
  return segment;
}

void AckStretcher::sent(const tcp::Segment& segment) {
  if (segment.flags.ack()) acknowledged_ = segment.ack;
  reported_hole_ = segment.sack_count > 0;
  waiting_.reset();
  echo_.reset();
  due_ = never;
  ack_due_ = false;
}

}  // namespace sluice::emulator
