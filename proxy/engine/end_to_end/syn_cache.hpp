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

/// First SYN of a connection, as the cache stores it.
struct FirstSyn {
  flow::FlowKey key;
  flow::KeyTag tag{};  ///< hash tag of the connection's key
  tcp::SeqNum isn;
  tcp::SynOptions options;
  std::uint16_t window = 0;
  Side from = Side::radio;
  std::uint8_t dscp = 0;
  bool retransmitted = false;  ///< true if the SYN is a retransmission, so round-trip times are ambiguous (Karn)
  /// True if each copy of the SYN had an unfinished checksum, which a kernel left to an offload.
  bool unfinished = false;
  Instant at{};
  packet::HeaderTemplate headers;  ///< frame headers of the SYN
};

/// Meaning of a segment, other than a SYN, for a handshake of which only the SYN was seen.
enum class AnswerToSyn : std::uint8_t {
  none,     ///< the segment's numbers do not match the handshake
  accepts,  ///< the segment is the SYN-ACK
  refuses,  ///< the segment is a RST of either host
  crosses,  ///< the segment is a SYN-ACK of the host that has sent the SYN: a simultaneous open
  unseen    ///< the segment shows that earlier segments were not seen, so that the hosts' state is unknown
};
/// Returns what a segment that arrived on `in` means for the handshake of `syn`.
[[nodiscard]] AnswerToSyn judge(const FirstSyn& syn, Side in, const tcp::Segment& segment);

/// Cache of unanswered SYNs. Anyone can forge a SYN, so a SYN alone only occupies an entry here. A connection is
/// created when the other host answers with a SYN-ACK. The oldest entry is evicted when the cache is full, and its
/// connection then passes unsplit. All memory is allocated at construction. Thread: its shard's.
class SynCache {
 public:
  /// Selects which of several SYNs of one connection with different sequence numbers is kept.
  enum class DuplicateSyn : std::uint8_t {
    keep_first,  ///< the first SYN is kept, for as long as its handshake may last
    keep_newest  ///< the newest SYN is kept
  };
  /// Result of recording a SYN.
  enum class Result : std::uint8_t {
    stored,          ///< the SYN was recorded
    evicted_oldest,  ///< the SYN was recorded, and the oldest one was evicted
    rejected         ///< the SYN was rejected, because another SYN of its connection is kept
  };

  /// Allocates `places` entries, at least one. `which` states which of several SYNs of one connection is kept.
  /// `patience` is the maximum duration of a handshake.
  SynCache(std::uint32_t places, DuplicateSyn which, Duration patience, const flow::HashKey& secret);

  /// Records the first SYN of a connection.
  Result record(const FirstSyn& syn);
  /// Returns the recorded SYN of the connection, or null. Valid until the next call.
  [[nodiscard]] const FirstSyn* find(const flow::FlowKey& key, flow::KeyTag tag) const;
  /// Removes the recorded SYN that `syn_ack` answers and copies it to `out`. `syn_ack` arrived on `in`. Returns false
  /// if there is no such SYN.
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
  /// Evicts the oldest SYN from the cache, given its queue entry, unless its place was reused. Returns true if one was
  /// evicted.
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
