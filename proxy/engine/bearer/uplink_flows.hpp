#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Measures which flows of one UE have sent most data over the uplink in the last one to two seconds. Each flow has one
/// of two slots, which its keyed hash selects. If other flows use both, their bytes in the smaller slot are
/// subtracted (majority vote of Boyer and Moore). A flow is thus never credited with more bytes than it has sent.
/// Memory and work per packet are constant. Reads no clock. Thread: the shard's.
class UplinkFlows {
 public:
  static constexpr std::size_t slots = 32;

  /// Returns the hash of a split connection by its number in the registry.
  [[nodiscard]] static constexpr std::uint32_t hash_of(std::uint32_t connection) {
    constexpr std::uint32_t golden = 0x9e3779b1U;
    return connection * golden | 1U;
  }
  /// Counts packets with data of the flow with the hash `flow`.
  void add(std::uint32_t flow, Bytes bytes, Instant now);
  /// Counts packets that are no data of an upload, such as acknowledgements.
  void add_other(Bytes bytes, Instant now) {
    age(now);
    total_ += static_cast<std::uint64_t>(bytes.count());
  }
  /// True if the flow is a large upload. It has recently sent at least four full packets and at least the mean of all
  /// flows with data. It has also sent at least half as much as the largest one. In addition, at least half of all
  /// bytes must be data, because otherwise acknowledgements fill the uplink.
  [[nodiscard]] bool is_large(std::uint32_t flow) const;
  /// Returns the rate of all counted packets over the last one to two seconds; zero while nothing was counted for 100
  /// ms.
  [[nodiscard]] Rate rate(Instant now) const;

 private:
  /// Bytes of the flow that uses a slot; zero if no flow does.
  struct Slot {
    std::uint32_t flow = 0;
    std::uint64_t bytes = 0;
  };
  /// Halves all counts once for each second that has passed.
  void age(Instant now);
  [[nodiscard]] Slot& slot_for(std::uint32_t flow);
  [[nodiscard]] std::uint64_t bytes_of(std::uint32_t flow) const;

  std::array<Slot, slots> slots_{};
  std::uint64_t total_ = 0;    ///< bytes of all packets
  std::uint64_t data_ = 0;     ///< bytes of packets with data, also of those in no slot
  std::uint64_t largest_ = 0;  ///< greatest number of bytes in a slot, at or since the last halving
  std::uint32_t used_ = 0;     ///< number of slots with bytes
  Instant since_{};            ///< time of the last halving
  Duration covered_{};         ///< time before `since_` to which the counts refer, halved like them
};

}  // namespace sluice::proxy
