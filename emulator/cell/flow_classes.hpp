#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::emulator {

/// Bounds that separate short flows from long ones.
struct FlowClassParameters {
  Bytes short_limit{15'000};                 ///< IP bytes up to which a flow is short
  Duration reset = std::chrono::seconds(1);  ///< idle time after which a long flow counts as short again
};

/// Classifies flows as short or long, for queues that send short flows first (SFP; Chan and Ramjee, INFOCOM 2004).
class FlowClasses {
 public:
  explicit FlowClasses(const FlowClassParameters& parameters) : parameters_(parameters) {}

  /// Returns true if the packet in `frame`, which arrives now with `length` IP bytes, belongs to a short flow. Packets
  /// that are not IP count as short.
  bool is_short(std::span<const std::uint8_t> frame, Bytes length, Instant now);
  /// Records that a packet of a long flow (the Ethernet frame `frame`) left the queue or was dropped from it.
  void on_long_removed(std::span<const std::uint8_t> frame);
  /// Returns the number of flows whose sent bytes are counted.
  [[nodiscard]] std::size_t flows() const { return flows_.size(); }

 private:
  struct Flow {
    /// IP bytes since the flow began. After an idle time of FlowClassParameters::reset the count starts again at 0, so
    /// that the flow counts as short again.
    Bytes sent;
    Instant last{};  ///< arrival of the flow's latest packet

    /// Number of the flow's packets in the queue of long flows. While there are any, the flow stays long, so that its
    /// packets stay in order.
    std::uint32_t long_waiting = 0;
  };
  /// Number of flows from which on the state of idle flows is discarded.
  static constexpr std::size_t max_flows = 4096;
  /// Discards the state of flows that are idle and have no long packet queued.
  void forget_idle(Instant now);

  FlowClassParameters parameters_;
  std::unordered_map<std::uint64_t, Flow> flows_;
};

}  // namespace sluice::emulator
