#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <filesystem>

namespace sluice::packet {

/// Requests transparent huge pages for private memory that mmap() has returned. One huge page needs one entry of the
/// processor's table of address translations instead of 512. Memory that is touched later gets huge pages where 2 MiB
/// at an aligned address belong to it. Without support of the kernel the memory keeps pages of 4 KiB.
inline void prefer_huge_pages(void* memory, std::size_t bytes) noexcept {
  static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));
}

/// True if the kernel grants huge pages that are requested by prefer_huge_pages(). `root` is where /sys is found.
[[nodiscard]] bool grants_huge_pages(const std::filesystem::path& root = "/");

}  // namespace sluice::packet
