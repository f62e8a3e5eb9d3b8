#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "emulator/cell/radio_cell.hpp"
#include "emulator/net/flow_key.hpp"
#include "emulator/report/delay_digest.hpp"
#include "emulator/report/result.hpp"

namespace sluice::emulator {

/// Statistics of each flow in the radio queues: mean occupancy, queueing delay and drops. Thread: the event loop's.
class FlowQueues {
 public:
  /// Records a packet of `length` IP bytes that left the radio queue of `ue` after a queueing delay of `queueing`.
  void departed(UeIndex ue, const packet::Packet& packet, Bytes length, Duration queueing);
  /// Records a packet of `length` IP bytes for `ue` that was dropped.
  void dropped(UeIndex ue, const packet::Packet& packet, Bytes length);
  /// Returns one row per flow, in the order of the flows' first packets, for a measurement that lasted `seconds`.
  [[nodiscard]] std::vector<QueueRow> rows(const RadioCell& cell, double seconds) const;

 private:
  struct Flow {
    UeIndex ue = 0;
    FlowKey key;
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    std::uint64_t dropped_packets = 0;
    std::uint64_t dropped_bytes = 0;
    /// Sum over all packets of bytes times queueing delay, in byte-seconds. Divided by the measured time, it is the
    /// mean queue length in bytes (Little's law).
    double byte_seconds = 0;
    DelayDigest delays;
  };
  struct Hash {
    std::size_t operator()(const FlowKey& key) const { return key.hash(); }
  };
  Flow& flow_of(UeIndex ue, const packet::Packet& packet);

  std::vector<Flow> flows_;
  std::unordered_map<FlowKey, std::size_t, Hash> numbers_;
};

}  // namespace sluice::emulator
