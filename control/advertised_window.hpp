#pragma once

#include <cstdint>

#include "dataplane/units/bytes.hpp"

namespace sluice::control {

/// Turns the window a law wants into the window field of an ACK in passing, for one direction of one connection.
///
/// - Never more than the receiver offers in that ACK.
/// - The law's window is rounded down to the unit of the window scale. The furthest right edge, ack + window, that this
///   came to is kept: it never moves left (RFC 9293 section 3.8.6), unless the receiver itself takes it back.
/// - While the law shrinks the window, the ACKs carry what is left up to the edge that is kept, rounded up: it lies
///   within a unit of what is written, and a later ACK may say less than an earlier one, by less than a unit. RFC 7323
///   section 2.4 asks every sender to take such a retraction, since a receiver that rounds does the same; the receiver
///   behind offers more than is written here, so that what was sent up to any edge is taken. To keep what was rounded
///   up instead would move the edge on with every ACK, by packets in the end.
/// - An ACK that repeats the one before it repeats its window too, or the sender could not count it as a duplicate
///   (RFC 5681 section 2). A closed window is the exception: it must be able to open.
///
/// Windows in SYN segments are never scaled and not to be given to this. No clock inside; thread: its flow's.
class AdvertisedWindow {
 public:
  /// `scale`: the shift that the receiver announced in its SYN, 0 … 14; more counts as 14 (RFC 7323 section 2.3).
  explicit AdvertisedWindow(std::uint8_t scale);

  /// The field for an ACK that acknowledges `ack` (a StreamPosition) and offers `offered` (its own field, unscaled).
  /// `window`: what the law wants, in bytes after `ack`; less than nothing counts as nothing.
  [[nodiscard]] std::uint16_t field(Bytes ack, std::uint16_t offered, Bytes window);

  /// The sender knows of a right edge at this position from ACKs that were not written here: the handshake's, or those
  /// that passed before regulation began.
  void advertise(Bytes edge);

  /// The bytes that a field stands for.
  [[nodiscard]] Bytes in_bytes(std::uint16_t field) const { return Bytes(std::int64_t{field} << scale_); }
  /// The least that a field can say which is no less than `window`, ≥ 0.
  [[nodiscard]] Bytes rounded_up(Bytes window) const {
    const std::int64_t part_of_unit = (std::int64_t{1} << scale_) - 1;
    return Bytes((window.count() + part_of_unit) & ~part_of_unit);
  }
  /// The furthest right edge that was advertised; fields may now say less, by less than a unit.
  [[nodiscard]] Bytes edge() const { return edge_; }

 private:
  std::uint8_t scale_;
  bool any_ = false;         ///< a field was given out
  bool advertised_ = false;  ///< there is an edge
  Bytes ack_;                ///< of the last field: what was acknowledged, offered and written
  std::uint16_t offered_ = 0;
  std::uint16_t field_ = 0;
  Bytes edge_;  ///< the furthest that the sender was told
  Bytes kept_;  ///< the furthest that the law came to; less than a unit behind it
};

}  // namespace sluice::control
