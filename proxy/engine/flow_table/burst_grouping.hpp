#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/packet/packet.hpp"
#include "proxy/engine/flow_table/connection_table.hpp"
#include "proxy/engine/flow_table/parsed_burst.hpp"

namespace sluice::proxy {

/// Groups the packets of a burst by flow, because consecutive segments of a flow (GRO runs) cost less. Segments of one
/// flow keep their order. A packet that may concern a flow without being a segment (a fragment, an ICMP error) keeps
/// its place: segments are grouped only before it and only behind it. Thread: the shard's.
class BurstGrouping {
 public:
  /// Selects whether segments may be moved before packets of cross traffic: datagrams, and segments that belong to no
  /// split connection or handshake.
  enum class CrossTrafficHandling : std::uint8_t {
    /// Cross traffic (packets that belong to no split connection) is forwarded at once, so segments may be moved before
    /// it.
    passed,
    /// A rate controller may limit cross traffic (packets that belong to no split connection), so no segment is moved
    /// before it.
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
  /// Groups the packets of `burst` and their entries in `known` by flow. The first segment of each flow determines the
  /// place of the flow's segments.
  [[gnu::noinline]] void group(std::span<packet::Packet> burst, ParsedBurst& known, const ConnectionTable& connections,
                               CrossTrafficHandling cross_traffic);

 private:
  static constexpr std::size_t slots = 256;
  /// Index in the burst at which each flow was last found, indexed by the low bits of the flow's id. An entry is used
  /// only if the burst has the same flow there, so entries of earlier bursts need no reset.
  std::array<std::uint8_t, slots> last_{};
};

}  // namespace sluice::proxy
