#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/units/bytes.hpp"
#include "emulator/cell/radio_cell.hpp"

namespace sluice::emulator {

/// What a TTI of the uplink has to give.
struct UplinkResources {
  std::uint32_t blocks = 50;  ///< resource blocks of a TTI, >= 1: 50 for 10 MHz of LTE
  std::uint32_t sharers = 8;  ///< UEs that are granted some of one TTI at most, >= 1: what a PDCCH has room for
  /// What a UE is granted for a scheduling request, which does not say how much there is; > 0.
  Bytes first_grant{125};
};

/// A UE's part of a TTI.
struct UplinkGrant {
  UeIndex ue = 0;
  std::uint32_t units = 0;  ///< resource blocks
  Bytes size;               ///< what they carry
};

/// The Node-B's scheduler of the uplink. It knows that a UE has something from its scheduling request, and how much
/// from the latest buffer status report it has received (TS 36.321 section 5.4.5); what it has granted since is taken
/// off. UEs that wait take turns; each is granted an even share, and what one does not need goes to the others. Pure:
/// no packets, no clock.
class UplinkScheduler {
 public:
  /// Throws std::invalid_argument when a resource is out of its range.
  explicit UplinkScheduler(const UplinkResources& resources);
  void add_ue() { ues_.emplace_back(); }

  /// A request has come that the UE sent in TTI `sent`. It changes nothing where the UE is known to wait, or where it
  /// sends by a grant from that TTI on.
  void request(UeIndex ue, std::uint64_t sent);
  /// A report has come, which a block of TTI `sent` brought: the UE had `left` bytes on the air behind that block. One
  /// that an earlier block brought than that of the latest report is old and changes nothing.
  void report(UeIndex ue, std::uint64_t sent, Bytes left);
  /// Bytes that the UE is known to have, and was not granted.
  [[nodiscard]] Bytes known(UeIndex ue) const { return ues_[ue].known; }

  /// Grants `units` of TTI `tti`, which no earlier call was for. `capacities`: of every UE, what the whole TTI would
  /// carry; 0: it cannot be granted any. The result holds until the next call.
  std::span<const UplinkGrant> grant(std::uint64_t tti, std::uint32_t units, std::span<const Bytes> capacities);

 private:
  struct Given {
    std::uint64_t tti = 0;
    Bytes size;
  };
  struct Ue {
    Bytes known;
    std::uint64_t reported = 0;  ///< the TTI after that of the block that brought the latest report
    std::vector<Given> given;    ///< by TTI, those that no report tells of yet; few
  };
  /// A UE that is granted something of the TTI at hand.
  struct Sharer {
    UeIndex ue = 0;
    std::uint32_t needed = 0;  ///< units that all it has would take
    std::uint32_t units = 0;
  };
  void choose(std::span<const Bytes> capacities);
  void share(std::uint32_t units);
  [[nodiscard]] std::uint32_t needed_by(UeIndex ue, Bytes capacity) const;

  UplinkResources resources_;
  std::vector<Ue> ues_;
  UeIndex turn_ = 0;  ///< who is asked first
  std::vector<Sharer> sharers_;
  std::vector<UplinkGrant> grants_;
};

}  // namespace sluice::emulator
