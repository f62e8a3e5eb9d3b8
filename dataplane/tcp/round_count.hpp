#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "dataplane/tcp/delivery_rate.hpp"

namespace sluice::tcp {

/// Counts round trips by packets: one ends when something is delivered that was sent after it began
/// (draft-cardwell-iccrg-bbr-congestion-control-00 section 4.1.1.3, draft-ietf-ccwg-bbr-06 section 5.5.1). So pauses
/// and timers that were late count for nothing.
class RoundCount {
 public:
  /// A round begins with what is sent from now on; `delivered` is DeliveryRate::delivered().
  void begin(std::uint32_t delivered) { end_ = delivered; }
  /// Takes a sample; true when it begins a round, see started().
  bool advance(const RateSample& sample, std::uint32_t delivered) {
    started_ = sample.valid() && static_cast<std::int32_t>(sample.prior_delivered - end_) >= 0;
    if (started_) {
      end_ = delivered;
      ++count_;
    }
    return started_;
  }
  [[nodiscard]] bool started() const { return started_; }
  [[nodiscard]] std::uint32_t count() const { return count_; }

 private:
  std::uint32_t end_ = 0;  ///< value of delivered() that begins the next round
  std::uint32_t count_ = 0;
  bool started_ = false;
};

/// The largest of what was seen in the last ten rounds; nothing below zero counts. A round without anything seen moves
/// nothing out: a connection that is idle forgets nothing.
class RoundMaximum {
 public:
  static constexpr std::uint32_t rounds = 10;

  void note(std::uint32_t round, double value) {
    const std::uint32_t passed = std::min(round - round_, rounds);
    for (std::uint32_t i = 0; i < passed; ++i) largest_of_[(round - i) % rounds] = 0;
    round_ = round;
    float& own = largest_of_[round % rounds];
    own = std::max(own, static_cast<float>(value));
    largest_ = *std::ranges::max_element(largest_of_);
  }
  [[nodiscard]] double value() const { return static_cast<double>(largest_); }
  /// Of the newest round alone.
  [[nodiscard]] double newest() const { return static_cast<double>(largest_of_[round_ % rounds]); }

 private:
  std::array<float, rounds> largest_of_{};  ///< by round modulo the window
  std::uint32_t round_ = 0;                 ///< the newest of them
  float largest_ = 0;
};

}  // namespace sluice::tcp
