#include "proxy/engine/bearer/uplink_flows.hpp"

#include <algorithm>

namespace sluice::proxy {
namespace {

/// Time after which all counts are halved, so that they describe the last one to two seconds.
constexpr Duration half_life = std::chrono::seconds(1);
/// Bytes that a flow must have sent to count as large. With fewer than four packets in flight, a sender detects a loss
/// only by a timeout (RFC 5681 section 3.2).
constexpr std::uint64_t min_large = 4 * 1500;
/// Time over which packets must have been counted before their rate is known.
constexpr Duration min_measured = std::chrono::milliseconds(100);

}  // namespace

void UplinkFlows::age(Instant now) {
  if (since_ == Instant{}) since_ = now;
  const Duration passed = now - since_;
  if (passed < half_life) return;
  const auto halvings = std::min<std::int64_t>(passed / half_life, 31);
  largest_ = 0;
  used_ = 0;
  for (Slot& slot : slots_) {
    slot.bytes >>= halvings;
    largest_ = std::max(largest_, slot.bytes);
    used_ += slot.bytes != 0 ? 1U : 0U;
  }
  total_ >>= halvings;
  data_ >>= halvings;
  covered_ = Duration((covered_ + passed).count() >> halvings);
  since_ = now;
}

UplinkFlows::Slot& UplinkFlows::slot_for(std::uint32_t flow) {
  Slot& first = slots_[flow % slots];
  Slot& second = slots_[(flow >> 8U) % slots];
  if (first.flow == flow) return first;
  if (second.flow == flow) return second;
  return first.bytes <= second.bytes ? first : second;
}

void UplinkFlows::add(std::uint32_t flow, Bytes bytes, Instant now) {
  age(now);
  const auto size = static_cast<std::uint64_t>(bytes.count());
  total_ += size;
  data_ += size;
  Slot& slot = slot_for(flow);
  const bool was_used = slot.bytes != 0;
  if (slot.flow == flow || !was_used) {
    slot = {flow, slot.bytes + size};
  } else if (slot.bytes > size) {
    slot.bytes -= size;
  } else {
    slot = {flow, size - slot.bytes};
  }
  largest_ = std::max(largest_, slot.bytes);
  used_ += (slot.bytes != 0 ? 1U : 0U) - (was_used ? 1U : 0U);
}

std::uint64_t UplinkFlows::bytes_of(std::uint32_t flow) const {
  const Slot& first = slots_[flow % slots];
  const Slot& second = slots_[(flow >> 8U) % slots];
  if (first.flow == flow) return first.bytes;
  return second.flow == flow ? second.bytes : 0;
}

bool UplinkFlows::is_large(std::uint32_t flow) const {
  const std::uint64_t bytes = bytes_of(flow);
  return bytes >= min_large && bytes * used_ >= data_ && 2 * bytes >= largest_ && 2 * data_ >= total_;
}

Rate UplinkFlows::rate(Instant now) const {
  const Duration measured = covered_ + (now - since_);
  if (total_ == 0 || measured < min_measured) return Rate();
  return Rate::bytes_per_second(static_cast<double>(total_) / to_seconds(measured));
}

}  // namespace sluice::proxy
