#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <filesystem>

namespace sluice::packet {

/// Requests transparent huge pages for private memory that mmap() has returned. A huge page needs one entry of the
/// processor's TLB instead of 512. Memory that is touched later gets huge pages in each aligned block of 2 MiB that
/// lies inside it. If the kernel does not support them, the memory keeps pages of 4 KiB.
inline void prefer_huge_pages(void* memory, std::size_t bytes) noexcept {
  static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));
}

/// True if the kernel grants the huge pages that prefer_huge_pages() requests. `root` is the directory that contains
/// /sys.
[[nodiscard]] bool grants_huge_pages(const std::filesystem::path& root = "/");

}  // namespace sluice::packet
