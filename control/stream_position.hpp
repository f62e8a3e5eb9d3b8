#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/units/bytes.hpp"

namespace sluice::control {

/// One direction of a connection as the laws count it: sequence numbers become positions, bytes from the first one on,
/// that do not wrap. Feed it the sequence and acknowledgment numbers of that direction in any order.
class StreamPosition {
 public:
  /// `first`: the sequence number that is position 0 (the initial sequence number plus one, or where a running
  /// connection is picked up).
  explicit StreamPosition(std::uint32_t first) : first_(first) {}

  /// The position of `sequence`, which is within 2³¹ of the furthest one seen (RFC 9293 section 3.4). Negative when it
  /// is older than the first.
  [[nodiscard]] Bytes of(std::uint32_t sequence) {
    const std::uint32_t furthest = first_ + static_cast<std::uint32_t>(furthest_.count());
    const Bytes position = furthest_ + Bytes(static_cast<std::int32_t>(sequence - furthest));
    furthest_ = std::max(furthest_, position);
    return position;
  }
  /// The sequence number at a position.
  [[nodiscard]] std::uint32_t sequence_at(Bytes position) const {
    return first_ + static_cast<std::uint32_t>(position.count());
  }

 private:
  std::uint32_t first_;
  Bytes furthest_;
};

}  // namespace sluice::control
