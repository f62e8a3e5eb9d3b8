#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/units/bytes.hpp"

namespace sluice::emulator::link {

/// Parameters of hybrid ARQ with stop-and-wait processes.
struct HarqParameters {
  /// Number of processes, 1 … 64. Process k owns the TTIs n with n mod processes = k, so a retransmission comes
  /// `processes` TTIs after the last attempt. HSDPA: 6 (12 ms), LTE: 8, NR: 16.
  std::uint32_t processes = 6;
  /// Largest number of transmissions of a block, 1 … 16; after the last failure it is given up.
  std::uint32_t transmissions = 3;
  /// true: Chase combining, in which the linear SNRs of the attempts are added; false: each attempt counts alone
  bool combining = true;
};

/// A transport block in hybrid ARQ.
struct HarqBlock {
  std::uint64_t tsn = 0;    ///< transmission sequence number: 0, 1, 2 … per UE
  Bytes size;               ///< bytes that the block carries, with padding of radio frames
  std::uint32_t units = 1;  ///< number of resource blocks that the block uses; 1 on links without resource blocks
  std::uint8_t cqi = 0;     ///< CQI for which the block is coded; retransmissions use it too
  std::uint32_t transmissions = 0;  ///< transmissions so far
  double snr = 0;  ///< linear SNR: the sum over the attempts, or without combining that of the latest attempt
};

/// Outcome of one transmission of a block.
enum class HarqOutcome : std::uint8_t {
  received,
  again,    ///< the block was not received, and the same process retransmits it at its next TTI
  given_up  ///< the block was not received, and no attempt is left
};

/// Hybrid-ARQ processes of one UE in one direction. Retransmissions are synchronous and precede new data.
/// Retransmissions always fit into their TTI, because the blocks that are retransmitted in it have shared one earlier
/// TTI. LTE and NR permit a retransmission in any later TTI, but schedulers use the first possible one. Pure: no
/// packets, no clock; random numbers are arguments.
class Harq {
 public:
  /// Creates idle processes. Throws std::invalid_argument if a parameter is out of its range.
  explicit Harq(const HarqParameters& parameters);

  /// Returns the block that must be retransmitted in `tti`; null if there is none.
  [[nodiscard]] const HarqBlock* waiting(std::uint64_t tti) const {
    if (in_flight_ == 0) return nullptr;
    const Process& process = processes_[tti % processes_.size()];
    return process.due == tti ? &process.block : nullptr;
  }
  /// Returns the first TTI from `from` on with a retransmission; UINT64_MAX if none is pending.
  [[nodiscard]] std::uint64_t next(std::uint64_t from) const;

  /// Sends one block in `tti`: the block to be retransmitted if there is one (then `fresh` is ignored), otherwise
  /// `fresh`. `snr_db` is the SNR in this TTI. `error_rate(snr_db, cqi)` returns the probability that a block coded for
  /// `cqi` is lost. `draw` is uniform in [0, 1); the block is received if `draw` is not below that probability.
  template <typename ErrorRate>
  HarqOutcome transmit(std::uint64_t tti, const HarqBlock& fresh, double snr_db, double draw, ErrorRate&& error_rate) {
    HarqBlock block = waiting(tti) != nullptr ? *waiting(tti) : fresh;
    combine(block, snr_db);
    const bool received = draw >= error_rate(in_db(block.snr), block.cqi);
    return finish_attempt(tti, block, received);
  }
  /// Returns the block of the latest transmit().
  [[nodiscard]] const HarqBlock& latest() const { return latest_; }
  [[nodiscard]] const HarqParameters& parameters() const { return parameters_; }
  /// Returns the number of blocks in processes: sent, and neither received nor given up.
  [[nodiscard]] std::uint32_t in_flight() const { return in_flight_; }
  /// Discards every block, because the UE's link is re-established at a handover or the UE has left.
  void flush();

 private:
  /// Value in place of a TTI number for a process that has no block.
  static constexpr std::uint64_t idle = UINT64_MAX;
  /// One stop-and-wait process.
  struct Process {
    std::uint64_t due = idle;  ///< TTI of the retransmission
    HarqBlock block;
  };
  /// Adds `snr_db`, the SNR of an attempt, to the combined SNR of the block.
  void combine(HarqBlock& block, double snr_db) const;
  /// Converts a linear SNR to dB.
  [[nodiscard]] static double in_db(double linear);
  HarqOutcome finish_attempt(std::uint64_t tti, const HarqBlock& block, bool received);

  HarqParameters parameters_;
  std::vector<Process> processes_;
  HarqBlock latest_;
  std::uint32_t in_flight_ = 0;
};

}  // namespace sluice::emulator::link
