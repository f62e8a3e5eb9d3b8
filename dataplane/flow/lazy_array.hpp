#pragma once

#include <sys/mman.h>

#include <cassert>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "dataplane/packet/huge_pages.hpp"

namespace sluice::flow {

/// Array of zeroed elements whose address space is reserved at construction. Memory is used page by page when elements
/// are first touched, so a large limit costs nothing until it is used. Large arrays request huge pages.
template <typename T>
class LazyArray {
  static_assert(std::is_trivially_copyable_v<T>, "elements begin as zero bytes");

 public:
  /// Size in bytes from which on an array requests transparent huge pages. In a smaller array the first element to be
  /// used would take 2 MiB, a large part of what the whole array can use.
  static constexpr std::size_t huge_from = std::size_t{16} << 20U;

  /// Reserves address space for `count` elements. Throws std::bad_alloc if the kernel refuses that much address space.
  explicit LazyArray(std::size_t count) : count_(count) {
    if (count == 0) return;
    void* const memory =
        mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<T*>(memory);
    if (count * sizeof(T) >= huge_from) packet::prefer_huge_pages(memory, count * sizeof(T));
  }
  ~LazyArray() {
    if (data_ != nullptr) munmap(data_, count_ * sizeof(T));
  }
  LazyArray(LazyArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  LazyArray& operator=(LazyArray&&) = delete;
  LazyArray(const LazyArray&) = delete;
  LazyArray& operator=(const LazyArray&) = delete;

  [[nodiscard]] T& operator[](std::size_t index) noexcept {
    assert(index < count_);
    return data_[index];
  }
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept {
    assert(index < count_);
    return data_[index];
  }
  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

}  // namespace sluice::flow
