#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice::control::feedback {

/// At the receiver: from which number on nothing is missing of what a sender has sent. A UE that a REPORT leaves out is
/// as its last report says; whoever has had all datagrams since that one knows that there was no later report. Of
/// datagrams that are accepted, none of them twice. Thread: one.
class Continuity {
 public:
  /// A datagram has come, perhaps late.
  void take(std::uint64_t epoch, std::uint64_t sequence);
  /// Something of the newest datagram went astray on this side.
  void lose() { whole_from_ = newest_ + 1; }
  /// All from this number on to the newest have come; one more than the newest where that is not so.
  [[nodiscard]] std::uint64_t since() const;
  [[nodiscard]] std::uint64_t newest() const { return newest_; }

 private:
  /// Numbers that may still come, late.
  static constexpr std::size_t most_missing = 32;

  std::uint64_t epoch_ = 0;
  std::uint64_t newest_ = 0;
  std::uint64_t whole_from_ = 0;  ///< what is before does not count: it is not known, or too much of it is missing
  std::array<std::uint64_t, most_missing> missing_{};  ///< from whole_from_ on, in order
  std::size_t missing_count_ = 0;
};

inline void Continuity::take(std::uint64_t epoch, std::uint64_t sequence) {
  if (epoch != epoch_) {
    *this = Continuity{};
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
  if (gap > most_missing - missing_count_) {
    whole_from_ = sequence;
    missing_count_ = 0;
  } else {
    for (std::uint64_t number = newest_ + 1; number < sequence; ++number) missing_[missing_count_++] = number;
  }
  newest_ = sequence;
}

inline std::uint64_t Continuity::since() const {
  return missing_count_ == 0 ? whole_from_ : std::max(whole_from_, missing_[missing_count_ - 1] + 1);
}

}  // namespace sluice::control::feedback
