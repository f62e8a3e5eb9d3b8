#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/units/bytes.hpp"
#include "emulator/cell/radio_cell.hpp"

namespace sluice::emulator {

/// Resources of an uplink TTI, and how many UEs may share them.
struct UplinkResources {
  std::uint32_t blocks = 50;  ///< resource blocks of a TTI, >= 1: 50 for 10 MHz of LTE
  std::uint32_t sharers = 8;  ///< maximum number of UEs granted in one TTI, >= 1; a PDCCH has no space for more grants

  /// Bytes granted in answer to a scheduling request, > 0. A request does not state how much data the UE has.
  Bytes first_grant{125};
};

/// Grant of a part of a TTI to a UE.
struct UplinkGrant {
  UeIndex ue = 0;
  std::uint32_t units = 0;  ///< number of resource blocks
  Bytes size;               ///< bytes that the granted blocks carry, with padding of radio frames
};

/// Uplink scheduler of the Node-B. A scheduling request shows that a UE has data; the latest buffer status report shows
/// how much (TS 36.321 section 5.4.5). Grants since that report are subtracted. UEs with data are served round robin
/// with an even share each. If a UE needs less than its share, the rest is given to other UEs. Pure: no packets, no
/// clock.
class UplinkScheduler {
 public:
  /// Creates a scheduler without UEs. Throws std::invalid_argument if a resource is out of its range.
  explicit UplinkScheduler(const UplinkResources& resources);
  /// Adds a UE. UEs are numbered from 0 in the order of these calls.
  void add_ue() { ues_.emplace_back(); }

  /// Handles a scheduling request that the UE sent in TTI `sent`. The request has no effect if the UE is known to have
  /// data, or has a grant for TTI `sent` or a later one.
  void request(UeIndex ue, std::uint64_t sent);
  /// Handles a buffer status report that was sent in a block. `sent` is the TTI in which that block was first sent.
  /// `left` bytes, with padding of radio frames, remained in the UE. Ignored if a report in a block first sent later
  /// was handled before.
  void report(UeIndex ue, std::uint64_t sent, Bytes left);
  /// Returns the bytes for which the UE still needs grants, as far as its requests and buffer status reports show.
  [[nodiscard]] Bytes known(UeIndex ue) const { return ues_[ue].known; }

  /// Allocates `units` resource blocks of TTI `tti`; `tti` must increase from call to call. `capacities` contains for
  /// each UE the bytes that the whole TTI would carry for it; a UE with 0 gets no grant. The result is valid until the
  /// next call.
  std::span<const UplinkGrant> grant(std::uint64_t tti, std::uint32_t units, std::span<const Bytes> capacities);

 private:
  /// A past grant.
  struct PastGrant {
    std::uint64_t tti = 0;
    Bytes size;
  };
  /// Scheduling state of one UE.
  struct Ue {
    Bytes known;  ///< bytes that the UE is known to have and that are not granted yet
    /// TTI in which the block with the latest handled buffer status report was first sent, plus one. It is 0 before the
    /// first report.
    std::uint64_t reported = 0;
    std::vector<PastGrant> past_grants;  ///< grants that no buffer status report covers yet, in the order of their TTIs
  };
  /// A UE that is granted a part of the current TTI.
  struct Sharer {
    UeIndex ue = 0;
    std::uint32_t needed = 0;  ///< number of resource blocks needed for all data of the UE
    std::uint32_t units = 0;   ///< resource blocks granted
  };
  void choose(std::span<const Bytes> capacities);
  void share(std::uint32_t units);
  /// Returns the number of resource blocks needed for the UE's known data, at least 1. `capacity` is the number of
  /// bytes that the whole TTI carries for this UE.
  [[nodiscard]] std::uint32_t needed_by(UeIndex ue, Bytes capacity) const;

  UplinkResources resources_;
  std::vector<Ue> ues_;
  UeIndex turn_ = 0;  ///< UE at which the round-robin search starts
  std::vector<Sharer> sharers_;
  std::vector<UplinkGrant> grants_;
};

}  // namespace sluice::emulator
