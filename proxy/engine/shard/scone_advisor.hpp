#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "control/long_term_rate.hpp"
#include "dataplane/flow/flow_table.hpp"
#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/flow_table/context.hpp"
#include "proxy/engine/flow_table/rx_packet.hpp"

namespace sluice::proxy {

/// Lowers the rate signal of SCONE packets to UEs (draft-ietf-scone-protocol-07). The new rate is the configured one,
/// or a share of the long-term rate of the UE's link. The receiver passes the signal to the sender, whose application
/// then chooses a lower bit rate, for example of a video. The advisor changes only existing packets, never raises a
/// signal, and neither drops nor delays a packet.
///
/// A datagram of another protocol may look like a SCONE packet. At most `max_changes` datagrams of a flow are therefore
/// changed in quick succession, and later one per `change_interval`. State and work are constant. Thread: the shard's.
class SconeAdvisor {
 public:
  /// Monitoring period of the SCONE draft: a receiver uses the lowest rate signal that it gets within this time.
  static constexpr Duration period = control::LongTermRate::period;
  /// Maximum number of datagrams of a flow that are changed in quick succession. A sender sends several SCONE packets
  /// shortly after its handshake.
  static constexpr std::uint8_t max_changes = 4;
  /// Time after which one more datagram of a flow may be changed. A sender sends a SCONE packet every 20 to 30 s, and
  /// at least one of them must be changed per `period`.
  static constexpr Duration change_interval = period / max_changes;

  explicit SconeAdvisor(const ShardContext& shard) : shard_(shard) {}

  /// Lowers the rate signal of the datagram if it begins with a SCONE packet, and if the policy of its flow advises a
  /// known rate. In mode observe only counts the datagram. `rx` is a UDP datagram to a UE, whose checksum is complete.
  [[gnu::noinline]] void advise(RxPacket& rx);

 private:
  static constexpr std::size_t flows = 1024;
  struct Entry {
    flow::KeyTag flow{};
    /// number of tokens that the flow's recent changes have taken from its bucket; zero in an unused entry
    std::uint8_t changes = 0;
    Instant since{};  ///< time from which on tokens return to the bucket, one per `change_interval`
  };
  [[nodiscard]] bool is_ue(const IpAddress& address) const;
  [[nodiscard]] Rate link_rate(const IpAddress& ue, Instant now) const;
  [[nodiscard]] bool may_change(flow::KeyTag flow, Instant now);

  const ShardContext shard_;
  /// token buckets of flows, indexed by the hash tag of the flow; a flow takes over another flow's entry only if all
  /// tokens of that flow have returned
  std::array<Entry, flows> entries_{};
};

}  // namespace sluice::proxy
