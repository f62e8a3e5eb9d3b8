#pragma once

#include <cstdint>

#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Estimates the long-term rate of a UE's radio link: the mean rate at which the link delivers while it is the
/// bottleneck. Only such times count, because at other times the rate is that of the sources. An outage while data
/// waits counts as zero. Older samples lose weight over `period`, whether or not new ones come.
///
/// An object whose bytes are all zero is empty. Memory and work per sample are constant. Reads no clock. Not
/// thread-safe.
class LongTermRate {
 public:
  /// Time constant of the mean. It is the monitoring period of SCONE, over which a receiver keeps an advised rate.
  static constexpr Duration period = std::chrono::seconds(67);
  /// Shortest weighted time as the bottleneck from which on the rate of a link counts as known. On a recorded link,
  /// the mean of 2 s differed from that of the next 67 s by a factor of 3.7 (rms).
  static constexpr Duration min_observed = std::chrono::seconds(20);
  /// Longest time between two samples that are evaluated together. In a longer time the link may have been idle.
  static constexpr Duration max_gap = std::chrono::seconds(10);
  /// Largest plausible rate, which is that of the largest rate signal of SCONE. Faster samples are ignored.
  static constexpr Rate max_plausible = Rate::bits_per_second(200e9);

  /// Where the number of delivered bytes in a sample comes from. Numbers of different origin are not compared.
  enum class Origin : std::uint8_t { acks = 1, reports };
  /// State of a UE's link at one time.
  struct Sample {
    Instant now;
    Origin origin{};
    /// cumulative number of IP bytes that have left the radio queue
    std::uint64_t delivered = 0;
    bool is_bottleneck = false;  ///< true if data waits for the link
    /// time after which `delivered` shows what the link delivers: a round trip for ACKs, zero for reports
    Duration lag{};
  };
  /// Adds a sample. The time since the last one counts if the link was the bottleneck at both, and for at least the lag
  /// before. If `delivered` has decreased, its counter has restarted, and the time does not count.
  void add(const Sample& sample);
  /// Separates later samples from earlier ones, because `delivered` of later ones has another start. The mean is kept.
  void restart() { origin_ = 0; }

  /// Returns the time of the newest sample; zero before the first one.
  [[nodiscard]] Instant newest_at() const { return newest_at_; }
  /// Returns for how long the link was the bottleneck, weighted by age at `now`.
  [[nodiscard]] Duration observed(Instant now) const;
  /// Returns the mean rate; zero while it is unknown. It is known while observed() is at least `min_observed`.
  [[nodiscard]] Rate rate(Instant now) const;

 private:
  [[nodiscard]] static double weight_after(Duration age);

  double bytes_ = 0;    ///< delivered bytes of the counted times, weighted by age at `newest_at_`
  double seconds_ = 0;  ///< sum of the counted times in s, weighted by age at `newest_at_`
  Instant newest_at_{};
  Instant bottleneck_since_{};  ///< time since which each sample has shown the link as the bottleneck
  std::uint64_t delivered_ = 0;
  std::uint8_t origin_ = 0;  ///< origin of the newest sample; zero: the next sample is compared with none
  bool is_bottleneck_ = false;
};

}  // namespace sluice::control
