#pragma once

#include <cstdint>

#include "dataplane/units/time.hpp"
#include "proxy/engine/bearer/codel.hpp"
#include "proxy/engine/bearer/uplink_flows.hpp"

namespace sluice::proxy {

/// Finds the part of the wait for an uplink that signals (drops or marks) do not shorten. It is not caused by a queue
/// of uploads that react, but for example by a longer path. Reads no clock.
class UncontrolledWait {
 public:
  /// Returns the rest of the wait for the uplink, beyond the part that signals do not shorten. Must be called before
  /// each possible signal. `wait` is the present wait, and `target` the one that the signals are to reach.
  [[nodiscard]] Duration controlled_part(Duration wait, Duration target, Instant now);
  /// Records that a signal was given.
  void on_signal() { ++signals_; }

 private:
  /// number of signals since `since_`; zero if the controlled part of the wait was shorter than the target after them
  std::uint32_t signals_ = 0;
  Instant since_{};      ///< time of the first of these signals
  Duration floor_{};     ///< part of the wait that signals do not shorten
  Duration shortest_{};  ///< shortest wait since `since_`
  Duration longest_{};   ///< longest wait since `since_`
};

/// Uplink of one UE whose packets wait long for it. UplinkAqm creates this object when the wait exceeds its target, and
/// the class Bearer stores it. Thread: the shard's.
struct UplinkState {
  UplinkFlows flows;
  Codel codel;
  UncontrolledWait uncontrolled;
  Duration wait{};      ///< newest known wait for the uplink
  Instant wait_at{};    ///< time at which `wait` was read
  Instant long_at{};    ///< newest time at which a packet arrived while the wait for the uplink was long
  Instant judged_at{};  ///< time at which `codel` was last asked
  /// number of packets of large uploads since one was last dropped or marked by `codel`
  std::uint32_t since_signal = 0;
  std::uint64_t signals = 0;  ///< number of packets that were dropped or marked, or would be in mode observe
};

}  // namespace sluice::proxy
