#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dataplane/flow/flow_table.hpp"
#include "dataplane/tcp/segment.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/flows/flow_journal.hpp"
#include "proxy/relay/leg_output.hpp"
#include "proxy/shard/side.hpp"

namespace sluice::proxy {

/// Connections that an earlier run of the program had split and that lost bytes with it. Both hosts are to learn soon
/// that theirs is over, and each believes a reset only at exactly the number that it expects (RFC 5961 section 3.2).
/// That number is what it acknowledges, so it is asked: a segment that it cannot take has to be answered (RFC 9293
/// section 3.10.7.4). Whatever else it sends tells as much. Once reset it answers with a reset of its own, and is left
/// alone; until then the reset may have been lost. Memory is taken at construction. Thread: its shard's.
class Orphans {
 public:
  static constexpr std::uint32_t none = flow::no_flow;

  /// `entries` is the journal's of `orphans`, one for one, or empty. `keep`: for how long from the first advance() on
  /// hosts that speak are answered; those that do not are asked in its first seconds only.
  Orphans(std::vector<Orphan> orphans, std::span<JournalEntry> entries, const flow::HashKey& secret, Duration keep);

  /// Asks hosts whose turn it is, some at a time, and forgets those whose time is up.
  void advance(Instant now, const ShardContext& shard);
  /// When advance() has something to do next; never when nothing is left.
  [[nodiscard]] Instant next_deadline() const { return size() == 0 ? never : next_; }

  [[nodiscard]] std::uint32_t size() const { return table_.size(); }
  [[nodiscard]] std::uint32_t find(const flow::FlowKey& key) const { return table_.find(key); }
  /// The segment, a SYN, is of the connection that was: a host that has missed the end of the handshake repeats what it
  /// answered to it.
  [[nodiscard]] bool is_own_syn(std::uint32_t id, Side in, const tcp::Segment& segment) const;
  /// Resets the host that has sent this segment, which opens no other connection and goes no farther. True when both
  /// hosts have been told with it.
  bool answer(std::uint32_t id, Side in, const tcp::Segment& segment, Instant now, const ShardContext& shard);
  void forget(std::uint32_t id);

 private:
  struct Kept {
    Orphan orphan;
    std::uint8_t told = 0;  ///< bits of the sides whose host was reset, or has gone by itself
    std::uint8_t gone = 0;  ///< bits of those whose host has no such connection any more, by its own word
  };

  void ask(const Kept& kept, Instant now, const ShardContext& shard) const;
  void end_round(Instant now);

  std::vector<Kept> kept_;
  std::span<JournalEntry> entries_;
  flow::FlowTable table_;
  Duration keep_;
  std::uint32_t round_ = 0;
  std::uint32_t cursor_ = 0;  ///< whose turn it is in this round
  Instant next_{};
  Instant end_ = never;
};

}  // namespace sluice::proxy
