#pragma once

#include <cstdint>

#include "dataplane/flow/flow_table.hpp"
#include "dataplane/flow/slab.hpp"
#include "dataplane/packet/build.hpp"
#include "dataplane/packet/segment.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/engine/base/side.hpp"
#include "proxy/engine/flow/eviction_queue.hpp"

namespace sluice::proxy {

/// First SYN of a connection.
struct FirstSyn {
  flow::FlowKey key;
  flow::KeyTag tag{};  ///< hash tag of the key
  tcp::SeqNum isn;
  tcp::SynOptions options;
  std::uint16_t window = 0;
  Side from = Side::radio;
  std::uint8_t dscp = 0;
  bool retransmitted = false;  ///< a retransmission, so round trips are ambiguous (Karn)
  bool unfinished = false;     ///< unfinished checksum, left to an offload, in each copy seen
  Instant at{};
  packet::HeaderTemplate headers;  ///< frame headers of the SYN
};

/// Meaning of a segment that is no SYN for a handshake of which only the SYN was seen.
enum class AnswerToSyn : std::uint8_t {
  none,     ///< the numbers do not match the handshake
  accepts,  ///< SYN-ACK
  refuses,  ///< RST of either host
  crosses,  ///< SYN-ACK of the host that has sent the SYN: a simultaneous open
  unseen    ///< shows that segments passed unseen, so the hosts' state is unknown
};
/// Returns what a segment that arrived on `in` means for the handshake of `syn`.
[[nodiscard]] AnswerToSyn judge(const FirstSyn& syn, Side in, const tcp::Segment& segment);

/// Cache of unanswered SYNs. Anybody can forge a SYN, so it only occupies an entry here. A connection is created when
/// the other host answers with a SYN-ACK. The oldest entry is evicted when the cache is full, and its connection then
/// passes unsplit. All memory is allocated at construction. Thread: its shard's.
class SynCache {
 public:
  /// Rule for SYNs of one connection with different sequence numbers.
  enum class DuplicateSyn : std::uint8_t {
    keep_first,  ///< the first SYN counts, as long as its handshake may last
    keep_newest  ///< the newest SYN counts
  };
  /// Result of recording a SYN.
  enum class Result : std::uint8_t {
    stored,          ///< recorded
    evicted_oldest,  ///< recorded, and an older SYN was evicted
    rejected         ///< rejected: another SYN of the same connection counts
  };

  /// Allocates `places` entries, at least one. `patience`: maximum duration of a handshake.
  SynCache(std::uint32_t places, DuplicateSyn which, Duration patience, const flow::HashKey& secret);

  /// Records a SYN.
  Result record(const FirstSyn& syn);
  /// Returns the recorded SYN of the connection, or null. Valid until the next call.
  [[nodiscard]] const FirstSyn* find(const flow::FlowKey& key, flow::KeyTag tag) const;
  /// Removes the SYN that `syn_ack`, which arrived on `in`, answers, and copies it to `out`. Returns false if there is
  /// none.
  [[nodiscard]] bool take_answered(const flow::FlowKey& key, Side in, const tcp::Segment& syn_ack, FirstSyn& out,
                                   Instant now);
  /// Removes a SYN that find() has returned.
  void forget(const FirstSyn& noted);
  [[nodiscard]] bool empty() const { return entries_.size() == 0; }

 private:
  /// Recorded SYN with a serial number, which detects reuse of its place.
  struct Entry : FirstSyn {
    Entry(const FirstSyn& first, std::uint32_t number) noexcept : FirstSyn(first), ticket(number) {}
    std::uint32_t ticket;
  };
  /// Evicts the entry unless its place was reused. Returns true if one was evicted.
  bool forget(const EvictionQueue::Entry& oldest);
  void forget(std::uint32_t id);

  DuplicateSyn which_;
  Duration patience_;
  flow::Slab<Entry> entries_;
  flow::FlowTable table_;
  EvictionQueue ages_;
  std::uint32_t last_ticket_ = 0;
};

}  // namespace sluice::proxy
