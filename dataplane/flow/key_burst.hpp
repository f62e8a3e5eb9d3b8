#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

#include "dataplane/flow/flow_key.hpp"

namespace sluice::flow {

/// Burst of keys for FlowTable::lookup_burst(); IPv4 keys are stored in their short form. Thread: one.
class KeyBurst {
 public:
  static constexpr std::size_t most = 32;

  /// Starts a burst of `size` keys; the caller then sets each of them. Requires size <= most.
  void begin(std::size_t size) noexcept {
    assert(size <= most);
    size_ = static_cast<std::uint32_t>(size);
    long_ones_ = 0;
  }
  // Set the key at index `at`, each once. Require at < size().
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

  /// Reduces the burst to its first `size` keys.
  void shrink(std::size_t size) noexcept {
    assert(size <= size_);
    size_ = static_cast<std::uint32_t>(size);
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// True if the key with index `at` is not IPv4.
  [[nodiscard]] bool is_long(std::size_t at) const noexcept { return (long_ones_ >> at & 1U) != 0; }
  /// Returns FlowKey::words() of the key with index `at`. Requires is_long(at), that is, a key that is not IPv4.
  [[nodiscard]] const std::array<std::uint64_t, 5>& long_words(std::size_t at) const noexcept { return long_[at]; }
  [[nodiscard]] const ShortKey& short_key(std::size_t at) const noexcept { return short_[at]; }
  /// Returns the key with index `at` as a FlowKey, also if it is stored in the short form.
  [[nodiscard]] FlowKey key(std::size_t at) const noexcept {
    return is_long(at) ? FlowKey::of(long_[at]) : short_[at].whole();
  }

 private:
  // Not initialised, because only elements that were set are read.
  std::array<ShortKey, most> short_;
  std::array<std::array<std::uint64_t, 5>, most> long_;
  std::uint32_t size_ = 0;
  std::uint32_t long_ones_ = 0;  ///< bit per key of the burst, set if the key is not IPv4
};

}  // namespace sluice::flow
