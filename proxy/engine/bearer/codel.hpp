#pragma once

#include <cstdint>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Parameters of CoDel (RFC 8289) for one flow of a CrossTrafficQueue.
struct CodelParameters {
  Duration target;    ///< target sojourn time (RFC 8289), > 0; a longer one indicates a standing queue
  Duration interval;  ///< time for which the sojourn time must exceed the target before a packet is dropped; > 0
};

/// State machine of CoDel for one flow (RFC 8289 section 5), with the names of the RFC. Reads no clock. The emulator
/// has an implementation of its own (emulator/aqm/codel.hpp), because emulated networks would not show the faults of a
/// common implementation.
class Codel {
 public:
  /// Returns true if the packet at the head of the queue must be dropped or marked. `sojourn` is the time for which the
  /// packet has waited. `backlog` is the number of bytes behind it.
  [[nodiscard]] bool should_drop(const CodelParameters& parameters, Duration sojourn, Bytes backlog, Instant now);

 private:
  /// True if the sojourn time has been at or above the target for at least one interval. Throughout the interval,
  /// `backlog` must have been at least 1500 bytes (one full packet).
  [[nodiscard]] bool is_above(const CodelParameters& parameters, Duration sojourn, Bytes backlog, Instant now);
  /// Returns the time of the next drop: `from` + interval / √count.
  [[nodiscard]] Instant next_drop(const CodelParameters& parameters, Instant from) const;

  /// Time at which the sojourn time will have been at or above the target for one interval. Zero while the sojourn time
  /// is below the target, or while less than one packet of 1500 bytes is queued behind the first one.
  Instant first_above_{};
  Instant drop_next_{};  ///< time of the next drop in the dropping state
  /// Number of drops since the dropping state was entered. If the last dropping state ended shortly before, its drops
  /// are included (RFC 8289 section 5.4).
  std::uint32_t count_ = 0;
  std::uint32_t last_count_ = 0;  ///< value of count_ when the dropping state was entered last
  bool dropping_ = false;         ///< true while in the dropping state
};

}  // namespace sluice::proxy
