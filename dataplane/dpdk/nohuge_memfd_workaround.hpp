#pragma once

namespace sluice::dpdk {

/// Makes DPDK allocate private memory during its lifetime; linking it replaces the C library's memfd_create() in the
/// whole process. Without huge pages DPDK maps a memory file, which other processes could map as well. The kernel backs
/// such a file with pages of 4 KiB, and private memory with huge pages if they are requested. If DPDK can create no
/// file, it maps private memory.
class PrivateMemory {
 public:
  /// Refuses DPDK's memory file if `wanted`.
  explicit PrivateMemory(bool wanted) noexcept;
  ~PrivateMemory();
  PrivateMemory(const PrivateMemory&) = delete;
  PrivateMemory& operator=(const PrivateMemory&) = delete;
};

}  // namespace sluice::dpdk
