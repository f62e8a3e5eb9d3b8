#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/units/bytes.hpp"

namespace sluice::control {

/// Converts the sequence numbers of one direction of a connection into positions. A position counts bytes from the
/// first byte on and does not wrap. The sequence and acknowledgment numbers of that direction may be passed in any
/// order.
class StreamPosition {
 public:
  /// Starts at position 0 with sequence number `first`: the initial sequence number plus one, or the next number of a
  /// connection that already carries data.
  explicit StreamPosition(std::uint32_t first) : first_(first) {}

  /// Returns the position of `sequence`, which must be within 2³¹ of the furthest one seen (RFC 9293 section 3.4). The
  /// position is negative if it is before the first.
  [[nodiscard]] Bytes of(std::uint32_t sequence) {
    const std::uint32_t furthest = first_ + static_cast<std::uint32_t>(furthest_.count());
    const Bytes position = furthest_ + Bytes(static_cast<std::int32_t>(sequence - furthest));
    furthest_ = std::max(furthest_, position);
    return position;
  }
  /// Returns the sequence number at a position.
  [[nodiscard]] std::uint32_t sequence_at(Bytes position) const {
    return first_ + static_cast<std::uint32_t>(position.count());
  }

 private:
  std::uint32_t first_;
  Bytes furthest_;
};

}  // namespace sluice::control
