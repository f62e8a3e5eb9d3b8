#pragma once

#include <algorithm>
#include <cstdint>

namespace sluice::emulator {

/// What the air that UEs share has offered, in bytes, cumulative. A TTI that went to a UE offered what that UE's link
/// could carry, one that went to nobody the mean of the links of the UEs that are here: a cell that always serves
/// somebody is used to 100 %, whatever its scheduler. `everybodys` is what the links of all UEs offered in all TTIs so
/// far.
class SharedAir {
 public:
  /// Some TTI, or a part of one, went to a UE. What that UE's link offered, where its block was received; and what the
  /// links of all offered in it.
  void served(std::uint64_t offered) { served_ += offered; }
  void taken(std::uint64_t offered_by_all) { to_all_ += offered_by_all; }
  /// A UE comes or goes: up to now so many were here.
  void settle(std::uint64_t everybodys, std::uint64_t here) {
    nobodys_before_ += to_nobody(everybodys, here);
    everybodys_before_ = everybodys;
    to_all_before_ = to_all_;
  }
  [[nodiscard]] std::uint64_t offered(std::uint64_t everybodys, std::uint64_t here) const {
    return served_ + nobodys_before_ + to_nobody(everybodys, here);
  }

 private:
  /// Since a UE came or went last.
  [[nodiscard]] std::uint64_t to_nobody(std::uint64_t everybodys, std::uint64_t here) const {
    if (here == 0) return 0;
    const std::uint64_t all = everybodys - everybodys_before_;
    return (all - std::min(all, to_all_ - to_all_before_)) / here;
  }

  // What TTIs, or parts of TTIs, that went to some UE offered: that UE's link, and the links of all together.
  std::uint64_t served_ = 0;
  std::uint64_t to_all_ = 0;
  // Up to the last time that a UE came or went: what the links of all offered in all TTIs, in those that went to some
  // UE, and on average in those that went to nobody.
  std::uint64_t everybodys_before_ = 0;
  std::uint64_t to_all_before_ = 0;
  std::uint64_t nobodys_before_ = 0;
};

}  // namespace sluice::emulator
