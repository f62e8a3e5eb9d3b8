#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "dataplane/units/bytes.hpp"

namespace sluice::emulator {

/// A UE as the scheduler knows it at the start of a TTI.
struct Candidate {
  std::uint32_t ue = 0;     ///< number of the UE in the cell
  bool backlogged = false;  ///< true if the UE has something to send
  /// Bytes that the TTI carries if it is allocated to the UE; 0: not eligible, because its CQI carries no PDU.
  Bytes capacity;
  double quality_db = 0;    ///< reported SNR in dB for schedulers that use it, otherwise 0
  std::uint8_t cqi = 0;     ///< reported CQI, 0 for a channel without CQI
  bool short_head = false;  ///< true if the UE's next packet is known to be of a short flow
};

/// Chooses the UE to which a TTI is allocated. TTIs come in increasing order; a TTI in which no UE has data may be
/// omitted. If several UEs share a TTI by resource blocks, pick() is called several times for it. UEs already chosen
/// are then no longer backlogged.
class Scheduler {
 public:
  virtual ~Scheduler() = default;
  Scheduler() = default;
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Returns the candidate to serve; null if none is backlogged with a capacity above zero.
  virtual const Candidate* pick(std::span<const Candidate> candidates, std::uint64_t tti) = 0;
  /// Records the bytes carried for a UE in a TTI, 0 if the block was lost. Called once for each chosen UE, and for each
  /// retransmission.
  virtual void served(std::uint32_t ue, Bytes carried, std::uint64_t tti) = 0;
  /// True if the scheduler needs the channel quality of every UE in every TTI, also of idle UEs. The cell then omits no
  /// TTI.
  [[nodiscard]] virtual bool follows_idle() const { return false; }
  /// True if the scheduler uses the channel quality of the candidates (Candidate::quality_db). The quality is computed
  /// only then, because each value costs a logarithm.
  [[nodiscard]] virtual bool goes_by_quality() const { return false; }

 protected:
  /// True if the candidate has data and a capacity above zero.
  [[nodiscard]] static bool eligible(const Candidate& candidate) {
    return candidate.backlogged && candidate.capacity > Bytes(0);
  }
  /// Returns the eligible candidate with the highest rate among the candidates whose next packet is of a short flow;
  /// null if there is none.
  [[nodiscard]] static const Candidate* best_short(std::span<const Candidate> candidates);
};

/// A kind of scheduler that configurations can name.
struct SchedulerKind {
  std::string_view name;
  std::string_view text;  ///< description for users
  std::unique_ptr<Scheduler> (*make)(double window);
};
/// Returns all kinds of schedulers.
[[nodiscard]] std::span<const SchedulerKind> scheduler_kinds();

/// Creates a scheduler by its name; null if the name is unknown. `window` is the averaging window in TTIs; "rr" and
/// "mci" have none.
[[nodiscard]] std::unique_ptr<Scheduler> make_scheduler(std::string_view name, double window = 1000);

}  // namespace sluice::emulator
