#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice::control::feedback {

/// Finds at the receiver the smallest sequence number of a sender from which on all datagrams were received. While
/// later REPORTs omit a UE, the UE's last report stays valid only if all later datagrams were received. The owner must
/// pass each accepted datagram once. Not thread-safe.
class SequenceGapTracker {
 public:
  /// Records an accepted datagram with the sender's `epoch` and the datagram's number in that epoch. Datagrams may be
  /// out of order.
  void take(std::uint64_t epoch, std::uint64_t sequence);
  /// Records that the receiver has discarded a report of the newest datagram. That datagram then counts as missing.
  void lose() { whole_from_ = newest_ + 1; }
  /// Returns the smallest sequence number from which on all datagrams up to the newest were received. If the newest
  /// datagram counts as missing after lose(), returns its number plus one.
  [[nodiscard]] std::uint64_t since() const;
  [[nodiscard]] std::uint64_t newest() const { return newest_; }

 private:
  /// Largest number of missing datagrams whose numbers are stored, because they may still arrive out of order.
  static constexpr std::size_t max_missing = 32;

  std::uint64_t epoch_ = 0;
  std::uint64_t newest_ = 0;
  std::uint64_t whole_from_ = 0;  ///< sequence number from which on missing datagrams are stored in missing_
  std::array<std::uint64_t, max_missing> missing_{};  ///< missing sequence numbers from whole_from_ on, ascending
  std::size_t missing_count_ = 0;
};

inline void SequenceGapTracker::take(std::uint64_t epoch, std::uint64_t sequence) {
  if (epoch != epoch_) {
    *this = SequenceGapTracker{};
    epoch_ = epoch;
    newest_ = whole_from_ = sequence;
    return;
  }
  const auto end = missing_.begin() + static_cast<std::ptrdiff_t>(missing_count_);
  if (sequence < newest_) {
    const auto late = std::find(missing_.begin(), end, sequence);
    if (late == end) return;
    std::copy(late + 1, end, late);
    --missing_count_;
    return;
  }
  const std::uint64_t gap = sequence - newest_ - 1;
  if (gap > max_missing - missing_count_) {
    whole_from_ = sequence;
    missing_count_ = 0;
  } else {
    for (std::uint64_t number = newest_ + 1; number < sequence; ++number) missing_[missing_count_++] = number;
  }
  newest_ = sequence;
}

inline std::uint64_t SequenceGapTracker::since() const {
  return missing_count_ == 0 ? whole_from_ : std::max(whole_from_, missing_[missing_count_ - 1] + 1);
}

}  // namespace sluice::control::feedback
