#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Records the send times of cross traffic: bytes to a UE that the UE does not acknowledge by TCP. The radio queue is a
/// FIFO queue. Therefore these bytes are delivered when a TCP segment that was sent later is acknowledged. Memory is
/// constant: bytes that are sent within 1 ms, or within 1/16 of the age of the oldest entry, share one entry. If all
/// entries are used, the newest one gets further bytes. Reads no clock.
class DeliveryLedger {
 public:
  /// Adds bytes that were just sent.
  void add(Instant now, Bytes bytes) {
    total_ += bytes;
    const bool joins = count_ > 0 && (count_ == size || now - newest().first < resolution(now));
    if (!joins) entries_[(oldest_ + count_++) % size] = {now, now, 0};
    newest().last = now;
    newest().bytes += static_cast<std::uint32_t>(bytes.count());
  }
  /// Removes the entries whose bytes were all sent at or before `until`, and returns the number of these bytes.
  Bytes take_until(Instant until) {
    Bytes sum;
    while (count_ > 0 && entries_[oldest_].last <= until) {
      sum += Bytes(entries_[oldest_].bytes);
      oldest_ = (oldest_ + 1) % size;
      --count_;
    }
    total_ -= sum;
    return sum;
  }
  /// Removes all bytes and returns their number.
  Bytes clear() {
    count_ = 0;
    return std::exchange(total_, Bytes{});
  }
  /// Returns the time at which the newest bytes of the oldest entry were sent. From this time on take_until() removes
  /// the entry. Requires total() > 0.
  [[nodiscard]] Instant oldest() const { return entries_[oldest_].last; }
  /// Returns the number of bytes that were sent and are not known to be delivered yet.
  [[nodiscard]] Bytes total() const { return total_; }

 private:
  static constexpr std::uint32_t size = 96;
  struct Entry {
    Instant first{};  ///< time at which the first bytes of the entry were sent
    Instant last{};   ///< time at which the last bytes of the entry were sent
    std::uint32_t bytes = 0;
  };
  /// Returns the maximum time between the first and the last bytes that share one entry: 1 ms, or 1/16 of the age of
  /// the oldest entry if that is more.
  [[nodiscard]] Duration resolution(Instant now) const {
    return std::max<Duration>(std::chrono::milliseconds(1), (now - entries_[oldest_].first) / 16);
  }
  [[nodiscard]] Entry& newest() { return entries_[(oldest_ + count_ - 1) % size]; }

  std::array<Entry, size> entries_{};
  std::uint32_t oldest_ = 0;
  std::uint32_t count_ = 0;
  Bytes total_;
};

}  // namespace sluice::proxy
