#include "emulator/report/delay_digest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace sluice::emulator {

// Slots 0 … 2·steps−1 are single microseconds. Every later doubling has `steps` slots, each twice as wide as those of
// the doubling before.
std::size_t DelayDigest::slot_of(std::uint64_t microseconds) {
  if (microseconds < 2 * steps) return microseconds;
  const unsigned shift = static_cast<unsigned>(std::bit_width(microseconds)) - (step_bits + 1);
  return (microseconds >> shift) + shift * steps;
}

std::uint64_t DelayDigest::upper_end_of(std::size_t slot) {
  if (slot < 2 * steps) return slot;
  const std::uint64_t shift = slot / steps - 1;
  const std::uint64_t base = slot - shift * steps;
  return ((base + 1) << shift) - 1;
}

void DelayDigest::add(Duration delay) {
  const Duration kept = std::max(delay, Duration::zero());
  const auto microseconds =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(kept).count());
  const std::size_t slot = slot_of(std::min(microseconds, longest_us));
  if (slot >= slots_.size()) slots_.resize(slot + 1);
  __builtin_prefetch(&slots_[slot]);
  if (count_ > 0) ++slots_[newest_];
  newest_ = slot;
  ++count_;
  sum_ += kept;
  max_ = std::max(max_, kept);
}

void DelayDigest::merge(const DelayDigest& other) {
  if (other.slots_.size() > slots_.size()) slots_.resize(other.slots_.size());
  for (std::size_t i = 0; i < other.slots_.size(); ++i) slots_[i] += other.slots_[i];
  if (other.count_ > 0) {
    if (count_ > 0) ++slots_[newest_];
    newest_ = other.newest_;
  }
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

Duration DelayDigest::percentile(double fraction) const {
  if (count_ == 0) return Duration::zero();
  const double wanted = std::ceil(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(count_));
  const std::uint64_t rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, count_);
  std::uint64_t seen = 0;
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    seen += slots_[slot] + (slot == newest_ ? 1 : 0);
    if (seen >= rank) {
      const Duration end = std::chrono::microseconds(upper_end_of(slot));
      return std::min(end, max_);
    }
  }
  return max_;
}

Duration DelayDigest::mean() const {
  return count_ == 0 ? Duration::zero() : sum_ / static_cast<std::int64_t>(count_);
}

DelaySummary summarize(const DelayDigest& digest) {
  return {digest.count(),
          to_milliseconds(digest.percentile(0.50)),
          to_milliseconds(digest.percentile(0.95)),
          to_milliseconds(digest.percentile(0.99)),
          to_milliseconds(digest.mean()),
          to_milliseconds(digest.max())};
}

}  // namespace sluice::emulator
