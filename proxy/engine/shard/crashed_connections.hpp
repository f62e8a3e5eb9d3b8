#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/flow/flow_table.hpp"
#include "dataplane/packet/segment.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/side.hpp"
#include "proxy/engine/flow_table/flow_journal.hpp"
#include "proxy/engine/relay/leg_output.hpp"

namespace sluice::proxy {

/// Resets the hosts of crashed connections. An earlier run of the program had split these connections, and bytes that
/// it had acknowledged are lost. A host accepts a RST only with exactly the sequence number that it expects (RFC 5961
/// section 3.2). The proxy learns this number from an ACK of the host. To get one, it sends a segment with an
/// unacceptable number, which the host must answer (RFC 9293 section 3.10.7.4). A host is probed until it answers with
/// a RST, because an earlier RST of the proxy may have been lost. Memory is allocated at construction. Thread: the
/// shard's.
class CrashedConnections {
 public:
  static constexpr std::uint32_t none = flow::no_flow;

  /// Stores the connections whose hosts must be reset. `entries` are their entries in the state file in the same order,
  /// or empty. For the time `keep` after the first advance(), answer() resets a host that sends an ACK. Hosts that have
  /// not sent a RST are probed in rounds, with pauses of 1 s to 16 s.
  CrashedConnections(std::vector<CrashedConnection> crashed_connections, std::span<JournalEntry> entries,
                     const flow::HashKey& secret, Duration keep);

  /// Probes the hosts of some crashed connections if next_deadline() has passed. Each call continues where the last one
  /// stopped. Removes all connections when the time for which they are kept is over.
  void advance(Instant now, const ShardContext& shard);
  /// Returns when advance() must be called next; `never` if there are no more connections.
  [[nodiscard]] Instant next_deadline() const { return size() == 0 ? never : next_; }

  [[nodiscard]] std::uint32_t size() const { return table_.size(); }
  /// Returns the index of the crashed connection with this key, or `none`.
  [[nodiscard]] std::uint32_t find(const flow::FlowKey& key) const { return table_.find(key); }
  /// True if the segment is a retransmitted SYN-ACK of the crashed connection itself. A host retransmits its SYN-ACK if
  /// the last ACK of the handshake was lost.
  [[nodiscard]] bool is_own_syn(std::uint32_t id, Side in, const tcp::Segment& segment) const;
  /// Answers a segment of a host of a crashed connection with a RST. The segment is not forwarded. Returns true if both
  /// hosts have now been reset.
  bool answer(std::uint32_t id, Side in, const tcp::Segment& segment, Instant now, const ShardContext& shard);
  /// Removes the crashed connection, and sets its entry in the state file to `unused`, so that later runs ignore it.
  void forget(std::uint32_t id);

 private:
  /// One crashed connection, and which of its hosts were reset.
  struct Kept {
    CrashedConnection crashed;
    /// bit set of Sides; a bit is set if the host on that side was sent a RST or has sent one
    std::uint8_t reset_sides = 0;
    /// bit set of Sides; a bit is set if the host on that side has sent a RST, so that it has certainly closed the
    /// connection
    std::uint8_t gone = 0;
  };

  /// Sends a probe to both hosts of a crashed connection. Skips a host that has answered with a RST.
  void ask(const Kept& kept, Instant now, const ShardContext& shard) const;
  /// Ends a round, in which each crashed connection was probed once, and sets the start time of the next round.
  void end_round(Instant now);

  std::vector<Kept> kept_;
  std::span<JournalEntry> entries_;
  flow::FlowTable table_;  ///< maps the key of each crashed connection to its index
  Duration keep_;
  std::uint32_t round_ = 0;   ///< number of completed rounds of probes
  std::uint32_t cursor_ = 0;  ///< index of the next connection to probe in this round
  Instant next_{};            ///< time at which advance() must be called next
  Instant end_ = never;       ///< time at which all remaining connections are removed
};

}  // namespace sluice::proxy
