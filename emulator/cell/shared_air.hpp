#pragma once

#include <algorithm>
#include <cstdint>

namespace sluice::emulator {

/// Cumulative count of the bytes that the air shared by several UEs could have carried (offered bytes). A TTI allocated
/// to a UE counts with the bytes that this UE's link could carry. An unused TTI counts with the mean over the links of
/// the attached UEs. So a cell that fills every TTI has a use of 100 %, whichever UEs its scheduler chooses. In all
/// functions, `capacity_of_all` is the sum of the bytes that the links of all UEs could have carried in all TTIs so
/// far.
class SharedAir {
 public:
  /// Adds `offered`, the bytes that a UE's link could carry in its allocated TTI, or part of a TTI. Call it only if the
  /// block was received, because the link could carry nothing in the TTI of a lost block.
  void served(std::uint64_t offered) { served_ += offered; }
  /// Adds `offered_by_all`, the bytes that the links of all UEs together could carry in an allocated TTI. This sum is
  /// later subtracted from what these links could have carried in all TTIs. The difference belongs to the unused TTIs.
  void taken(std::uint64_t offered_by_all) { allocated_capacity_of_all_ += offered_by_all; }
  /// Adds the bytes that unused TTIs could have carried so far to the total; call it before a UE is attached or
  /// detached. `capacity_of_all` is what the links of all UEs could have carried in all TTIs so far. `here` is the
  /// number of UEs attached before this change.
  void add_unused_capacity(std::uint64_t capacity_of_all, std::uint64_t here) {
    unused_before_ += unused_since_change(capacity_of_all, here);
    capacity_of_all_before_ = capacity_of_all;
    allocated_capacity_of_all_before_ = allocated_capacity_of_all_;
  }
  /// Returns the bytes that the shared air could have carried. `capacity_of_all` is what the links of all UEs could
  /// have carried in all TTIs so far. `here` is the number of attached UEs.
  [[nodiscard]] std::uint64_t offered(std::uint64_t capacity_of_all, std::uint64_t here) const {
    return served_ + unused_before_ + unused_since_change(capacity_of_all, here);
  }

 private:
  /// Returns the bytes that unused TTIs could have carried since the set of attached UEs last changed. For each unused
  /// TTI this is the mean over the links of the `here` attached UEs. `capacity_of_all` is what the links of all UEs
  /// could have carried in all TTIs so far.
  [[nodiscard]] std::uint64_t unused_since_change(std::uint64_t capacity_of_all, std::uint64_t here) const {
    if (here == 0) return 0;
    const std::uint64_t all = capacity_of_all - capacity_of_all_before_;
    return (all - std::min(all, allocated_capacity_of_all_ - allocated_capacity_of_all_before_)) / here;
  }

  // Totals of the allocated TTIs or parts of TTIs: what the chosen UE's link offered, and what the links of all UEs
  // offered.
  std::uint64_t served_ = 0;
  std::uint64_t allocated_capacity_of_all_ = 0;
  // Totals up to the last time a UE came or went: of all TTIs over all links, of allocated TTIs over all links, and the
  // mean of unused TTIs.
  std::uint64_t capacity_of_all_before_ = 0;
  std::uint64_t allocated_capacity_of_all_before_ = 0;
  std::uint64_t unused_before_ = 0;
};

}  // namespace sluice::emulator
