#pragma once

#include <cstdint>

#include "dataplane/units/bytes.hpp"

namespace sluice::emulator {

/// What one UE's link carries in one TTI when the TTI is given to that UE.
struct Grant {
  Bytes capacity;         ///< bytes on the air: of the transport block, or of the trace's opportunities
  double quality_db = 0;  ///< chip-level SNR on which `capacity` was chosen (HSDPA: as old as the CQI); 0 without radio
  double snr_db = 0;      ///< chip-level SNR in this very TTI; what decides whether the block is received
  std::uint8_t cqi = 0;   ///< the CQI in use, 1 … 30; 0 = out of range, or a channel without CQI
  bool received = true;   ///< false: a block sent for the first time now is lost on the air
  /// The TTI's chance, uniform in [0, 1): a block is received when it is not below the block's error rate. Where
  /// nothing is lost by chance, 1.
  double draw = 1;

  /// What gets across: the capacity, or nothing when the block is lost.
  [[nodiscard]] Bytes carried() const { return received ? capacity : Bytes(); }
};

/// One UE's radio link, a function of the TTI number alone: what was asked for before, how often, and whether the UE
/// was served does not change it. TTI n begins at n times its length after the event loop's origin.
///
/// Capacity is in whole bytes, and a fraction of a byte is carried into the next TTI, so that n TTIs offer what the
/// rate says for n TTIs, rounded down once.
class Channel {
 public:
  virtual ~Channel() = default;
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// The grant of TTI `tti`. TTIs are asked for in order; the same one may be asked for again, an earlier one may not.
  const Grant& at(std::uint64_t tti) {
    if (tti >= next_) advance(tti);
    return current_;
  }
  /// Bytes that TTIs 0 … `tti` would have carried, had all been this UE's. Same order as at().
  std::uint64_t offered_through(std::uint64_t tti) {
    if (tti >= next_) advance(tti);
    return offered_;
  }
  /// Probability that a block coded for `cqi` is lost at `snr_db`, which for a repeated block is that of its attempts
  /// combined. 0 where nothing is lost by chance.
  [[nodiscard]] virtual double error_rate(double /*snr_db*/, std::uint8_t /*cqi*/) const { return 0; }
  /// The first TTI from `tti` on that may carry something; what a cell may sleep until. Never later than the truth.
  [[nodiscard]] virtual std::uint64_t next_useful(std::uint64_t tti) { return tti; }

 protected:
  /// The next TTI's grant. Called once for every TTI, in order, except for those that skip() took.
  virtual Grant step(std::uint64_t tti) = 0;
  /// Passes over TTIs `from` … `to`-1 and returns the bytes they would have carried. By default, step() for each.
  virtual std::uint64_t skip(std::uint64_t from, std::uint64_t to);

 private:
  void advance(std::uint64_t tti);

  Grant current_;
  std::uint64_t next_ = 0;     ///< the first TTI not yet computed
  std::uint64_t offered_ = 0;  ///< by TTIs before next_
};

}  // namespace sluice::emulator
