#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "dataplane/units/bytes.hpp"

namespace sluice::emulator {

/// A UE as the scheduler sees it at the start of a TTI.
struct Candidate {
  std::uint32_t ue = 0;     ///< its number in the cell
  bool backlogged = false;  ///< has something to send
  Bytes capacity;           ///< what the TTI would carry for it; 0 = its CQI carries no PDU, skip it
  double quality_db = 0;    ///< reported SNR, for schedulers that go by it; else 0
  std::uint8_t cqi = 0;     ///< reported CQI, 0 where there is none
  bool short_head = false;  ///< its next packet is of a short flow (where its queue tells them apart)
};

/// Chooses whom a TTI belongs to. TTIs come in increasing order, but a TTI in which nobody has anything to send may be
/// left out. Where a TTI is shared (resource blocks), it is asked several times for the same TTI, with those it chose
/// no longer backlogged.
class Scheduler {
 public:
  virtual ~Scheduler() = default;
  Scheduler() = default;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Whom of `candidates` to serve; null when none is backlogged with a capacity above zero.
  virtual const Candidate* pick(std::span<const Candidate> candidates, std::uint64_t tti) = 0;
  /// Is told after the TTI what a UE was carried (0 when the block was lost): once for each that was chosen, and for
  /// one whose block was sent again without being chosen.
  virtual void served(std::uint32_t ue, Bytes carried, std::uint64_t tti) = 0;
  /// True when the scheduler follows every UE in every TTI, idle ones included; the cell then leaves no TTI out.
  [[nodiscard]] virtual bool follows_idle() const { return false; }
  /// True when it goes by the candidates' quality, which costs a logarithm each.
  [[nodiscard]] virtual bool goes_by_quality() const { return false; }

 protected:
  [[nodiscard]] static bool eligible(const Candidate& candidate) {
    return candidate.backlogged && candidate.capacity > Bytes(0);
  }
  /// Among the eligible whose next packet is of a short flow the one with the highest rate.
  [[nodiscard]] static const Candidate* best_short(std::span<const Candidate> candidates);
};

/// A scheduler as configurations know it.
struct SchedulerKind {
  std::string_view name;
  std::string_view text;
  std::unique_ptr<Scheduler> (*make)(double window);
};
[[nodiscard]] std::span<const SchedulerKind> scheduler_kinds();

/// Makes a scheduler by its name. `window`, in TTIs, is that of the averages of those that have any (all but "rr" and
/// "mci"). Null when the name is unknown.
[[nodiscard]] std::unique_ptr<Scheduler> make_scheduler(std::string_view name, double window = 1000);

}  // namespace sluice::emulator
