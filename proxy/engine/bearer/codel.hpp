#pragma once

#include <cstdint>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Parameters of CoDel (RFC 8289) for one flow of a CrossTrafficQueue.
struct CodelParameters {
  Duration target;    ///< longest queueing delay of a packet that does not count as a standing queue, > 0
  Duration interval;  ///< time for which the sojourn time must exceed `target` before a packet is dropped, > 0
};

/// CoDel's state machine for one flow (RFC 8289 section 5). Names are those of the RFC. Reads no clock. The emulator's
/// class (emulator/aqm/codel.hpp) is a separate implementation, so that a fault of this one shows in networks of the
/// emulator.
class Codel {
 public:
  /// Returns true if CoDel drops or marks the packet at the head of the queue. `sojourn` is the time that it has
  /// waited; `backlog` is the number of bytes after it.
  [[nodiscard]] bool should_drop(const CodelParameters& parameters, Duration sojourn, Bytes backlog, Instant now);

 private:
  /// Returns true if the sojourn time has exceeded the target for an interval.
  [[nodiscard]] bool is_above(const CodelParameters& parameters, Duration sojourn, Bytes backlog, Instant now);
  /// Returns the time of the next drop: `from` plus interval / √count.
  [[nodiscard]] Instant next_drop(const CodelParameters& parameters, Instant from) const;

  Instant first_above_{};    ///< when the sojourn time will have been above the target for an interval; zero: never
  Instant drop_next_{};      ///< time of the next drop in the dropping state
  std::uint32_t count_ = 0;  ///< number of drops in this dropping state
  std::uint32_t last_count_ = 0;  ///< value of count_ when the dropping state was last entered
  bool dropping_ = false;         ///< true in the dropping state
};

}  // namespace sluice::proxy
