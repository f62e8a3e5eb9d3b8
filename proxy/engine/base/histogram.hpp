#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace sluice::proxy {

/// Counts values of 0 … 2^32 - 1 with a relative precision of one eighth (log-linear buckets as in HdrHistogram). The
/// object is small, so that every snapshot can contain a copy. Thread: one; copies may be used in any thread.
class Histogram {
 public:
  static constexpr unsigned digit_bits = 3;  ///< log2 of the number of buckets per power of two
  static constexpr std::size_t bucket_count = (32 - digit_bits + 1) << digit_bits;

  void record(std::uint32_t value) {
    ++buckets_[bucket_of(value)];
    ++count_;
    largest_ = std::max(largest_, value);
  }
  Histogram& operator+=(const Histogram& other) {
    for (std::size_t i = 0; i < bucket_count; ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    largest_ = std::max(largest_, other.largest_);
    return *this;
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint32_t largest() const { return largest_; }
  [[nodiscard]] std::uint64_t at(std::size_t bucket) const { return buckets_.at(bucket); }
  /// Returns a value that at least the share `share` (0 … 1) of all recorded values does not exceed. The result is the
  /// upper end of a bucket, but at most the largest recorded value; 0 if the histogram is empty.
  [[nodiscard]] std::uint32_t percentile(double share) const {
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < bucket_count; ++i) {
      below += buckets_[i];
      if (below != 0 && static_cast<double>(below) >= share * static_cast<double>(count_)) {
        return std::min(last_of(i), largest_);
      }
    }
    return largest_;
  }

  /// Returns the index of the bucket that counts `value`. Each value below 2^digit_bits has its own bucket. Above, each
  /// range between two powers of two has 2^digit_bits buckets.
  [[nodiscard]] static constexpr std::size_t bucket_of(std::uint32_t value) {
    const unsigned width = 32 - static_cast<unsigned>(std::countl_zero(value));
    if (width <= digit_bits) return value;
    const unsigned shift = width - digit_bits - 1;
    return (std::size_t{shift} << digit_bits) + (value >> shift);
  }
  /// Returns the largest value that belongs to the bucket with index `bucket`.
  [[nodiscard]] static constexpr std::uint32_t last_of(std::size_t bucket) {
    if (bucket < std::size_t{2} << digit_bits) return static_cast<std::uint32_t>(bucket);
    const std::size_t shift = (bucket >> digit_bits) - 1;
    const std::uint64_t first = ((bucket & ((std::size_t{1} << digit_bits) - 1)) + (std::size_t{1} << digit_bits))
                                << shift;
    return static_cast<std::uint32_t>(first + (std::uint64_t{1} << shift) - 1);
  }

 private:
  std::array<std::uint64_t, bucket_count> buckets_{};
  std::uint64_t count_ = 0;
  std::uint32_t largest_ = 0;
};

}  // namespace sluice::proxy
