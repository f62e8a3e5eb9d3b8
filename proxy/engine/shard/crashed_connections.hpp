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

/// Resets the hosts of crashed connections. An earlier run of the program had split them, and acknowledged bytes were
/// lost with it. A host accepts a RST only at exactly the sequence number that it expects (RFC 5961 section 3.2), which
/// its ACKs contain. So each host is sent an unacceptable segment, which it must answer with an ACK (RFC 9293 section
/// 3.10.7.4). Any other segment from the host also contains that number. A host is probed until it answers with a RST,
/// because an earlier RST of the proxy may have been lost. Memory is allocated at construction. Thread: its shard's.
class CrashedConnections {
 public:
  static constexpr std::uint32_t none = flow::no_flow;

  /// Takes over `crashed_connections`, whose hosts must be reset. `entries`: their journal entries in the same order,
  /// or empty. `keep`: time from the first advance() during which segments of the hosts are answered. Silent hosts are
  /// probed only in the first seconds of that time.
  CrashedConnections(std::vector<CrashedConnection> crashed_connections, std::span<JournalEntry> entries,
                     const flow::HashKey& secret, Duration keep);

  /// Probes the next hosts of crashed connections, and removes all connections once the time `keep` is over.
  void advance(Instant now, const ShardContext& shard);
  /// Returns when advance() is due next; `never` if no connection is left.
  [[nodiscard]] Instant next_deadline() const { return size() == 0 ? never : next_; }

  [[nodiscard]] std::uint32_t size() const { return table_.size(); }
  /// Returns the index of the connection with this key, or `none`.
  [[nodiscard]] std::uint32_t find(const flow::FlowKey& key) const { return table_.find(key); }
  /// True if the SYN is a retransmitted SYN-ACK of the crashed connection, sent because the last ACK of the handshake
  /// was lost.
  [[nodiscard]] bool is_own_syn(std::uint32_t id, Side in, const tcp::Segment& segment) const;
  /// Sends a RST to the host of a crashed connection that has sent this segment. The segment is not forwarded and opens
  /// no other connection. Returns true if both hosts have now been reset.
  bool answer(std::uint32_t id, Side in, const tcp::Segment& segment, Instant now, const ShardContext& shard);
  /// Removes the crashed connection and marks its journal entry unused.
  void forget(std::uint32_t id);

 private:
  /// One crashed connection, and which of its hosts were reset.
  struct Kept {
    CrashedConnection crashed;
    std::uint8_t reset_sides = 0;  ///< bit per Side, set if the host was reset, or has sent a RST itself
    std::uint8_t gone = 0;  ///< bit per Side, set if the host has answered with a RST, so it has closed the connection
  };

  /// Sends a probe to both hosts, except a host that has closed the connection.
  void ask(const Kept& kept, Instant now, const ShardContext& shard) const;
  /// Ends a round of probes and computes the start of the next one.
  void end_round(Instant now);

  std::vector<Kept> kept_;
  std::span<JournalEntry> entries_;
  flow::FlowTable table_;  ///< maps the keys of the connections to their indices
  Duration keep_;
  std::uint32_t round_ = 0;   ///< number of completed rounds of probes
  std::uint32_t cursor_ = 0;  ///< index of the next connection to probe in this round
  Instant next_{};            ///< time when advance() is due next
  Instant end_ = never;       ///< time when all remaining connections are removed
};

}  // namespace sluice::proxy
