#pragma once

#include <cstddef>

namespace sluice::flow {

/// Prefetches all cache lines of an object.
template <typename T>
void prefetch_all(const T& object) noexcept {
  constexpr std::size_t cache_line = 64;
  const auto* const begin = reinterpret_cast<const std::byte*>(&object);
  for (std::size_t offset = 0; offset < sizeof(T); offset += cache_line) __builtin_prefetch(begin + offset);
  if constexpr (alignof(T) < cache_line) __builtin_prefetch(begin + sizeof(T) - 1);
}

}  // namespace sluice::flow
