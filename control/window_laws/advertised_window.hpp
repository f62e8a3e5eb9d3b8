#pragma once

#include <cstdint>

#include "dataplane/units/bytes.hpp"

namespace sluice::control {

/// Converts a controller's window into the window field of ACKs that the proxy forwards, for one direction of one
/// connection:
///
/// - The field is never more than the receiver offers in that ACK.
/// - The controller's window is rounded down to the unit of the window scale. The furthest right edge (ack + window)
///   that results is remembered. The edge in ACKs does not move left of it (RFC 9293 section 3.8.6), unless the
///   receiver itself retracts its window.
/// - While the controller shrinks the window, the field is the distance from the ACK to that edge, rounded up. A later
///   ACK may therefore announce an edge that is lower by less than a unit. RFC 7323 section 2.4 requires senders to
///   accept this. The receiver accepts all data up to any announced edge, because the receiver itself offers more. The
///   rounded-up edge is not remembered, because each ACK would then move the edge further.
/// - A duplicate ACK repeats the window of the previous ACK, because otherwise the sender does not count it as a
///   duplicate (RFC 5681 section 2). If that window was closed, the duplicate ACK may open it. A sender with SACK does
///   not compare windows (RFC 6675 section 2), so there a duplicate ACK may carry a new window.
///
/// Windows in SYN segments are never scaled and must not be passed to this class. Reads no clock. Not thread-safe.
class AdvertisedWindow {
 public:
  /// Makes the state for the window scale that the receiver announced in its SYN, 0 … 14. Larger values count as 14
  /// (RFC 7323 section 2.3).
  explicit AdvertisedWindow(std::uint8_t scale);

  /// Selects the window of a duplicate ACK: that of the previous ACK (`repeat`), or a new one (`update`).
  enum class Duplicates : bool { repeat, update };
  /// Returns the window field to write into an ACK of position `ack` whose own field is `offered` (unscaled). `window`
  /// is the controller's window in bytes after `ack`; a negative one counts as 0.
  [[nodiscard]] std::uint16_t field(Bytes ack, std::uint16_t offered, Bytes window,
                                    Duplicates duplicates = Duplicates::repeat);

  /// Records the right edge of an ACK whose window this object did not write. Such an ACK belongs to the handshake, was
  /// sent before the controller was created, or was forwarded unchanged. If that edge is beyond all earlier ones, the
  /// next duplicate ACK does not repeat an earlier window.
  void advertise(Bytes edge);

  /// Returns the bytes that a window field represents at this connection's window scale.
  [[nodiscard]] Bytes in_bytes(std::uint16_t field) const { return Bytes(std::int64_t{field} << scale_); }
  /// Returns `window`, ≥ 0, rounded up to a number of bytes that a window field can express.
  [[nodiscard]] Bytes rounded_up(Bytes window) const {
    const std::int64_t part_of_unit = (std::int64_t{1} << scale_) - 1;
    return Bytes((window.count() + part_of_unit) & ~part_of_unit);
  }
  /// Returns the furthest right edge that was advertised to the sender. Later fields may be below it by less than one
  /// unit of the window scale.
  [[nodiscard]] Bytes edge() const { return edge_; }

 private:
  std::uint8_t scale_;
  bool any_ = false;         ///< true if field_ is valid, so that a duplicate ACK can repeat it
  bool advertised_ = false;  ///< true once a right edge has been advertised
  Bytes ack_;                ///< stream position that the last ACK acknowledged
  std::uint16_t offered_ = 0;
  std::uint16_t field_ = 0;
  Bytes edge_;  ///< furthest right edge that was advertised to the sender
  /// Furthest right edge that results from the controller's window, rounded down. It may lie below `edge_` by less than
  /// one unit of the window scale, because fields are rounded up.
  Bytes kept_;
};

}  // namespace sluice::control
