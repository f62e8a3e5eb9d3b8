#pragma once

#include <cstdint>
#include <span>

#include "dataplane/units/bytes.hpp"

namespace sluice::emulator {

/// Capacity of one UE's link in a TTI, if that TTI is allocated to the UE, and whether a block is received.
struct LinkGrant {
  /// Bytes that the whole TTI carries: those of the transport block, with padding of radio frames, or of the delivery
  /// opportunities of a trace.
  Bytes capacity;

  /// Random number of the TTI, uniform in [0, 1). A block is received if `draw` is not below the error rate of the
  /// block. `draw` is 1 if no block is lost at random. It is 0 or less if the link carries nothing, so that a
  /// retransmission is lost.
  double draw = 1;
  std::uint8_t cqi = 0;  ///< CQI in use, 1 … 30; 0: out of range, or a channel without CQI
  bool received = true;  ///< false: a block first sent in this TTI is lost on the air

  /// Returns the bytes that arrive: the capacity, or 0 if the block is lost.
  [[nodiscard]] Bytes carried() const { return received ? capacity : Bytes(); }
};

/// SNRs of a link in one TTI, in dB: chip-level in HSDPA, wideband in LTE and NR. Both are 0 for a channel without a
/// radio model.
struct RadioQuality {
  double reported_db = 0;  ///< SNR that determined the capacity; an earlier one if the CQI has a delay
  double present_db = 0;   ///< SNR in this TTI, which determines whether the block is received
};

/// Radio link of one UE, as a function of the TTI number alone. The link does not depend on earlier calls or on whether
/// the UE was served. TTI n begins n TTI lengths after the event loop's origin.
///
/// A channel's capacity is in whole bytes; the fraction of a byte is carried into the next TTI. So the capacity of n
/// TTIs together is rounded down only once.
class Channel {
 public:
  virtual ~Channel() = default;
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Returns the grant of TTI `tti`. Calls must not go back in time; the same TTI may be read again.
  const LinkGrant& at(std::uint64_t tti) {
    pass_to(tti);
    return *current_;
  }
  /// Returns the bytes that TTIs 0 … `tti` would have carried if all of them had been allocated to this UE. `tti` must
  /// not decrease.
  std::uint64_t offered_through(std::uint64_t tti) {
    pass_to(tti);
    return offered_;
  }
  /// Returns the radio quality in the TTI that was read last. The quality is not part of the grant, because it is
  /// needed in few TTIs.
  [[nodiscard]] RadioQuality quality() const { return quality_of(next_ - 1); }
  /// Returns the probability that a block coded for `cqi` is lost at `snr_db`. For a retransmission, `snr_db` is the
  /// combined SNR of all attempts. The result is 0 if no block is lost at random.
  [[nodiscard]] virtual double error_rate(double /*snr_db*/, std::uint8_t /*cqi*/) const { return 0; }
  /// Returns the earliest TTI, from `tti` on, in which the link may carry data. A cell can skip the TTIs before it. The
  /// result is UINT64_MAX if no such TTI follows.
  [[nodiscard]] virtual std::uint64_t next_useful(std::uint64_t tti) { return tti; }

 protected:
  /// Returns the grants of TTI `tti` and possibly of some TTIs after it, because some channels compute several TTIs at
  /// once. The result is valid until the next call. Every TTI is returned once, in order, except those that skip()
  /// passed.
  [[nodiscard]] virtual std::span<const LinkGrant> ahead(std::uint64_t tti) = 0;
  /// Skips TTIs `from` … `to`-1 and adds the bytes that they could have carried to `offered`. Returns false if the
  /// channel cannot skip; then each TTI is computed. Called only if ahead() has not returned TTI `from` yet.
  [[nodiscard]] virtual bool skip(std::uint64_t /*from*/, std::uint64_t /*to*/, std::uint64_t& /*offered*/) {
    return false;
  }
  /// Returns the radio quality in `tti`, the TTI that was read last.
  [[nodiscard]] virtual RadioQuality quality_of(std::uint64_t /*tti*/) const { return {}; }

 private:
  /// Advances to TTI `tti`, unless it is the current one.
  void pass_to(std::uint64_t tti) {
    if (tti < next_) return;
    if (tti > next_ || current_ == newest_) return advance(tti);
    take(current_ + 1);
  }
  /// Advances to TTI `tti` if there are TTIs between the current one and `tti`, or if the grant of `tti` is not
  /// computed yet.
  void advance(std::uint64_t tti);
  /// Makes `grant` the current grant and counts the bytes that it offers. `grant` must be that of the first TTI that
  /// was not read yet.
  void take(const LinkGrant* grant) {
    current_ = grant;
    offered_ += static_cast<std::uint64_t>(current_->carried().count());
    ++next_;
  }

  const LinkGrant* current_ = nullptr;  ///< grant of the TTI that was read last; null before the first TTI

  /// Last grant computed so far. It equals the current grant if the grant of the next TTI is not computed yet.
  const LinkGrant* newest_ = nullptr;
  std::uint64_t next_ = 0;     ///< first TTI that was not read yet
  std::uint64_t offered_ = 0;  ///< bytes offered by all TTIs that were read
};

/// A channel that computes one TTI at a time.
class SteppedChannel : public Channel {
 protected:
  /// Returns the grant of the next TTI. Called once per TTI, in order, except for those that skip() passed.
  virtual LinkGrant step(std::uint64_t tti) = 0;

 private:
  [[nodiscard]] std::span<const LinkGrant> ahead(std::uint64_t tti) final {
    grant_ = step(tti);
    return {&grant_, 1};
  }

  LinkGrant grant_;
};

}  // namespace sluice::emulator
