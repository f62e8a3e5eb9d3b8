#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/packet/packet.hpp"
#include "proxy/engine/flow_table/connection_table.hpp"
#include "proxy/engine/flow_table/parsed_burst.hpp"

namespace sluice::proxy {

/// Groups the packets of a burst by flow, because consecutive segments of a flow (GRO runs) cost less to process.
/// Segments of one flow keep their order. Some packets may concern a flow without being a segment, such as a fragment
/// or an ICMP error. No segment is moved across them. Thread: the shard's.
class BurstGrouping {
 public:
  /// Selects whether segments of flows (split connections and handshakes) may be moved across other packets. These are
  /// datagrams, and segments that belong to no flow.
  enum class CrossTrafficHandling : std::uint8_t {
    /// segments of flows may be moved across the other packets, which are forwarded at once
    passed,
    /// No segment is moved across the other packets, because a rate controller limits UEs. Some of the other packets
    /// may therefore have to wait for a UE's window.
    limited
  };

  /// True if grouping the burst saves more time than it costs, because segments of its flows are interleaved. That is
  /// so if more than half of the lookups find a flow that occurred earlier in the burst. `known` contains the
  /// connection of each packet. The result may be false although segments are interleaved, because flows whose ids have
  /// equal low bits share one entry of `last_`.
  [[nodiscard]] bool is_interleaved(const ParsedBurst& known, const ConnectionTable& connections) {
    const auto count = known.keys.size();
    std::size_t repeated = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const ConnectionId id = known.ids[i];
      std::uint8_t& last = last_[id % slots];
      if (last < i && known.ids[last] == id && connections.is_flow(id)) ++repeated;
      last = static_cast<std::uint8_t>(i);
    }
    return 2 * repeated > count;
  }
  /// Groups the packets of `burst` and their entries in `known` by flow. All segments of a flow move to the place of
  /// the flow's first segment in the burst.
  [[gnu::noinline]] void group(std::span<packet::Packet> burst, ParsedBurst& known, const ConnectionTable& connections,
                               CrossTrafficHandling cross_traffic);

 private:
  static constexpr std::size_t slots = 256;
  /// Index in the burst at which each flow was last found, indexed by the low bits of the flow's id. An entry is used
  /// only if the burst has the same flow there, so entries of earlier bursts need no reset.
  std::array<std::uint8_t, slots> last_{};
};

}  // namespace sluice::proxy
