#pragma once

namespace sluice::dpdk {

/// Makes DPDK allocate private memory while this object exists; linking it replaces the C library's memfd_create() in
/// the whole process. Without huge pages DPDK maps a memory file, which other processes could map too. The kernel backs
/// such a file with pages of 4 KiB, but can back private memory with transparent huge pages. If DPDK can create no
/// file, it maps private memory.
class PrivateMemory {
 public:
  /// Makes memfd_create() refuse DPDK's memory file, if `wanted` is true.
  explicit PrivateMemory(bool wanted) noexcept;
  ~PrivateMemory();
  PrivateMemory(const PrivateMemory&) = delete;
  PrivateMemory& operator=(const PrivateMemory&) = delete;
};

}  // namespace sluice::dpdk
