#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "dataplane/flow/flow_key.hpp"

namespace sluice::flow {

/// Keys that are looked for together: those of IPv4 as short as a table keeps them. Thread: one.
class KeyBurst {
 public:
  static constexpr std::size_t most = 32;

  /// So many are to be set. Requires size <= most.
  void begin(std::size_t size) noexcept {
    assert(size <= most);
    size_ = static_cast<std::uint32_t>(size);
    long_ones_ = 0;
  }
  // Each once. Requires at < size().
  void set(std::size_t at, const ShortKey& key) noexcept {
    assert(at < size_);
    short_[at] = key;
  }
  void set(std::size_t at, const FlowKey& key) noexcept {
    const auto words = key.words();
    if (is_v4(words)) return set(at, ShortKey::of(words));
    assert(at < size_);
    long_ones_ |= 1U << at;
    long_[at] = words;
  }

  /// Of those that were to be set only so many have been.
  void shrink(std::size_t size) noexcept {
    assert(size <= size_);
    size_ = static_cast<std::uint32_t>(size);
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// The key is not one of IPv4.
  [[nodiscard]] bool is_long(std::size_t at) const noexcept { return (long_ones_ >> at & 1U) != 0; }
  /// Requires that it is, or that it is not.
  [[nodiscard]] const std::array<std::uint64_t, 5>& long_words(std::size_t at) const noexcept { return long_[at]; }
  [[nodiscard]] const ShortKey& short_key(std::size_t at) const noexcept { return short_[at]; }
  /// Whichever it is.
  [[nodiscard]] FlowKey key(std::size_t at) const noexcept {
    return is_long(at) ? FlowKey::of(long_[at]) : short_[at].whole();
  }

 private:
  // Not initialised: what counts is what was set.
  std::array<ShortKey, most> short_;
  std::array<std::array<std::uint64_t, 5>, most> long_;
  std::uint32_t size_ = 0;
  std::uint32_t long_ones_ = 0;  ///< a bit for each
};

}  // namespace sluice::flow
