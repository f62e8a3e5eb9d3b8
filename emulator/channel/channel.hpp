#pragma once

#include <cstdint>
#include <span>

#include "dataplane/units/bytes.hpp"

namespace sluice::emulator {

/// What one UE's link carries in one TTI when the TTI is given to that UE.
struct Grant {
  Bytes capacity;  ///< bytes on the air: of the transport block, or of the trace's opportunities
  /// The TTI's chance, uniform in [0, 1): a block is received when it is not below the block's error rate. Where
  /// nothing is lost by chance, 1.
  double draw = 1;
  std::uint8_t cqi = 0;  ///< the CQI in use, 1 … 30; 0 = out of range, or a channel without CQI
  bool received = true;  ///< false: a block sent for the first time now is lost on the air

  /// What gets across: the capacity, or nothing when the block is lost.
  [[nodiscard]] Bytes carried() const { return received ? capacity : Bytes(); }
};

/// The radio in one TTI: chip-level SNRs in dB, 0 where there is no radio.
struct RadioQuality {
  double reported_db = 0;  ///< on which the capacity was chosen (HSDPA: as old as the CQI)
  double present_db = 0;   ///< in this very TTI; what decides whether the block is received
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
    pass_to(tti);
    return *current_;
  }
  /// Bytes that TTIs 0 … `tti` would have carried, had all been this UE's. Same order as at().
  std::uint64_t offered_through(std::uint64_t tti) {
    pass_to(tti);
    return offered_;
  }
  /// The radio in the TTI that was asked for last. Apart from the grant, because of most TTIs nobody asks for it.
  [[nodiscard]] RadioQuality quality() const { return quality_of(next_ - 1); }
  /// Probability that a block coded for `cqi` is lost at `snr_db`, which for a repeated block is that of its attempts
  /// combined. 0 where nothing is lost by chance.
  [[nodiscard]] virtual double error_rate(double /*snr_db*/, std::uint8_t /*cqi*/) const { return 0; }
  /// The first TTI from `tti` on that may carry something; what a cell may sleep until. Never later than the truth.
  [[nodiscard]] virtual std::uint64_t next_useful(std::uint64_t tti) { return tti; }

 protected:
  /// The grants of TTI `tti` and, where they come cheaper together, of some behind it; at least one. Valid until the
  /// next call. Every TTI is given once, in order, except for those that skip() passed over.
  [[nodiscard]] virtual std::span<const Grant> ahead(std::uint64_t tti) = 0;
  /// Passes over TTIs `from` … `to`-1 at once and adds the bytes they would have carried to `offered`; false where it
  /// cannot, then each of them is computed. Called where ahead() has given no TTI from `from` on.
  [[nodiscard]] virtual bool skip(std::uint64_t /*from*/, std::uint64_t /*to*/, std::uint64_t& /*offered*/) {
    return false;
  }
  /// The radio in `tti`, which was asked for last.
  [[nodiscard]] virtual RadioQuality quality_of(std::uint64_t /*tti*/) const { return {}; }

 private:
  void pass_to(std::uint64_t tti) {
    if (tti < next_) return;
    if (tti > next_ || current_ == newest_) return advance(tti);
    take(current_ + 1);
  }
  void advance(std::uint64_t tti);
  void take(const Grant* grant) {
    current_ = grant;
    offered_ += static_cast<std::uint64_t>(current_->carried().count());
    ++next_;
  }

  const Grant* current_ = nullptr;  ///< of the TTI before next_; null before the first
  const Grant* newest_ = nullptr;   ///< that is known; the same where there is none for next_
  std::uint64_t next_ = 0;          ///< the first TTI not yet taken
  std::uint64_t offered_ = 0;       ///< by TTIs before next_
};

/// A channel whose TTIs are computed one at a time.
class SteppedChannel : public Channel {
 protected:
  /// The next TTI's grant. Called once for every TTI, in order, except for those that skip() passed over.
  virtual Grant step(std::uint64_t tti) = 0;

 private:
  [[nodiscard]] std::span<const Grant> ahead(std::uint64_t tti) final {
    grant_ = step(tti);
    return {&grant_, 1};
  }

  Grant grant_;
};

}  // namespace sluice::emulator
