#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/units/bytes.hpp"

namespace sluice::emulator::link {

/// Stop-and-wait processes and attempts of hybrid ARQ.
struct HarqParameters {
  /// Process k owns the TTIs n with n mod processes = k, so a retransmission comes `processes` TTIs after the attempt
  /// before: 6 for HSDPA (12 ms), 8 for LTE, 16 for NR. 1 … 64.
  std::uint32_t processes = 6;
  std::uint32_t transmissions = 3;  ///< of one block in all, 1 … 16; after the last failure it is given up
  bool combining = true;            ///< Chase: the attempts' linear SNRs add up; false: each stands alone
};

/// A transport block on its way.
struct HarqBlock {
  std::uint64_t tsn = 0;            ///< transmission sequence number: 0, 1, 2 … per UE
  Bytes size;                       ///< bytes on the air
  std::uint32_t units = 1;          ///< of the cell's resources: resource blocks, or 1
  std::uint8_t cqi = 0;             ///< with which it was coded; retransmissions keep it
  std::uint32_t transmissions = 0;  ///< so far
  double snr = 0;                   ///< linear, as combined so far
};

enum class HarqOutcome : std::uint8_t {
  received,
  again,    ///< not received; comes again `processes` TTIs later
  given_up  ///< not received and no attempt is left
};

/// The hybrid-ARQ processes of one UE's downlink. Retransmissions are synchronous and take precedence over new data;
/// then two of them never meet, because blocks that fail in one TTI shared that TTI's resources when they were sent.
/// (LTE and NR may send them in any TTI from then on; sending them in the first is what schedulers do.) Pure: no
/// packets, no clock, no randomness; the channel's draws come as arguments.
class Harq {
 public:
  /// Throws std::invalid_argument when a parameter is out of its range.
  explicit Harq(const HarqParameters& parameters);

  /// The block that must be sent again in `tti`; null when there is none.
  [[nodiscard]] const HarqBlock* waiting(std::uint64_t tti) const {
    if (under_way_ == 0) return nullptr;
    const Process& process = processes_[tti % processes_.size()];
    return process.due == tti ? &process.block : nullptr;
  }
  /// The first TTI from `from` on with a retransmission; UINT64_MAX when none waits.
  [[nodiscard]] std::uint64_t next(std::uint64_t from) const;

  /// A transmission in `tti`: of the waiting block if there is one (then `fresh` is ignored), else of `fresh`.
  /// `snr_db`: in this TTI. `error_rate(snr_db, cqi)`: probability that a block coded for `cqi` is lost at an SNR.
  /// `draw`: uniform in [0, 1); the block is received when it is not below that probability.
  template <typename ErrorRate>
  HarqOutcome transmit(std::uint64_t tti, const HarqBlock& fresh, double snr_db, double draw, ErrorRate&& error_rate) {
    HarqBlock block = waiting(tti) != nullptr ? *waiting(tti) : fresh;
    combine(block, snr_db);
    const bool received = draw >= error_rate(in_db(block.snr), block.cqi);
    return settle(tti, block, received);
  }
  /// The block of the latest transmit().
  [[nodiscard]] const HarqBlock& latest() const { return latest_; }
  [[nodiscard]] const HarqParameters& parameters() const { return parameters_; }
  /// Blocks in processes: sent, neither received nor given up.
  [[nodiscard]] std::uint32_t under_way() const { return under_way_; }
  /// Forgets every block: the UE has left the cell.
  void flush();

 private:
  static constexpr std::uint64_t idle = UINT64_MAX;
  struct Process {
    std::uint64_t due = idle;  ///< the TTI of its retransmission
    HarqBlock block;
  };
  void combine(HarqBlock& block, double snr_db) const;
  [[nodiscard]] static double in_db(double linear);
  HarqOutcome settle(std::uint64_t tti, const HarqBlock& block, bool received);

  HarqParameters parameters_;
  std::vector<Process> processes_;
  HarqBlock latest_;
  std::uint32_t under_way_ = 0;
};

}  // namespace sluice::emulator::link
