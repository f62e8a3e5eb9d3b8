#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "dataplane/tcp/delivery_rate.hpp"

namespace sluice::tcp {

/// Counter of packet-timed round trips: a round ends when a packet is delivered that was sent after the round began.
/// Pauses and late timers therefore do not count as rounds. Sources: draft-cardwell-iccrg-bbr-congestion-control-00
/// section 4.1.1.3, draft-ietf-ccwg-bbr-06 section 5.5.1.
class RoundCount {
 public:
  /// Starts a round with the next packet sent. `delivered` is the total of bytes delivered, DeliveryRate::delivered().
  void begin(std::uint32_t delivered) { end_ = delivered; }
  /// Processes a delivery-rate sample; returns true if a new round starts with it, see started(). `delivered` is the
  /// total of bytes delivered, DeliveryRate::delivered().
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
  /// Total of delivered bytes when the round began. The next round begins when a segment that was sent later is
  /// delivered.
  std::uint32_t end_ = 0;
  std::uint32_t count_ = 0;
  bool started_ = false;
};

/// Maximum of the non-negative values of the last ten rounds. Old values are discarded only when a new value is
/// recorded, so an idle connection keeps its maximum.
class RoundMaximum {
 public:
  static constexpr std::uint32_t rounds = 10;

  void record(std::uint32_t round, double value) {
    const std::uint32_t passed = std::min(round - round_, rounds);
    for (std::uint32_t i = 0; i < passed; ++i) largest_of_[(round - i) % rounds] = 0;
    round_ = round;
    float& own = largest_of_[round % rounds];
    own = std::max(own, static_cast<float>(value));
    largest_ = *std::ranges::max_element(largest_of_);
  }
  [[nodiscard]] double value() const { return static_cast<double>(largest_); }
  /// Returns the maximum of the newest round alone.
  [[nodiscard]] double newest() const { return static_cast<double>(largest_of_[round_ % rounds]); }

 private:
  std::array<float, rounds> largest_of_{};  ///< maximum value of each round, indexed by round modulo `rounds`
  std::uint32_t round_ = 0;                 ///< number of the newest round
  float largest_ = 0;
};

}  // namespace sluice::tcp
