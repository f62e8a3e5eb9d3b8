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
  flow::KeyTag tag{};  ///< keyed hash of the connection's key (5-tuple), for table lookups
  tcp::SeqNum isn;
  tcp::SynOptions options;
  std::uint16_t window = 0;
  Side from = Side::radio;
  std::uint8_t dscp = 0;
  bool retransmitted = false;  ///< true if the SYN is a retransmission, so round-trip times are ambiguous (Karn)
  /// true if every copy of the SYN had a checksum that the sender's kernel left unfinished for an offload
  bool unfinished = false;
  std::uint8_t ecn = 0;  ///< ECN field of the SYN's IP header
  /// true if copies of the SYN differ in their offer of accurate ECN, or if its ECN flags are a reserved combination
  bool ecn_unclear = false;
  /// options (bits of tcp::SynOptions::Agreed) in which copies of the SYN differ, so that it is unknown which ones
  /// apply
  std::uint8_t unclear_options = 0;
  Instant at{};
  packet::HeaderTemplate headers;  ///< frame headers (Ethernet, IP, tunnel) of the SYN
};

/// True if `number` is at most one unscaled window (64 KiB) after the initial sequence number `isn`.
[[nodiscard]] constexpr bool is_soon_after(tcp::SeqNum number, tcp::SeqNum isn) {
  return number > isn && number <= isn + 1 + UINT16_MAX;
}

/// Meaning of a segment for a handshake of which only the SYN was seen.
enum class AnswerToSyn : std::uint8_t {
  none,               ///< no meaning, because the segment's numbers do not match the handshake
  accepts,            ///< the segment is the SYN-ACK
  refuses,            ///< the segment is a RST that ends the handshake
  simultaneous_open,  ///< the segment is a SYN-ACK of the host that sent the SYN: a simultaneous open
  unseen              ///< the segment shows that other segments were missed, so that the state of the hosts is unknown
};
/// Returns the meaning of a segment that arrived on `in` for the handshake that the SYN `syn` has started.
[[nodiscard]] AnswerToSyn judge(const FirstSyn& syn, Side in, const tcp::Segment& segment);

/// Cache of SYNs without an answer. A SYN can be forged, so a SYN alone only occupies an entry here. A connection is
/// created when the other host answers with a SYN-ACK. If the cache is full, the oldest SYN is evicted, and its
/// connection is not split. All memory is allocated at construction. Thread: the shard's.
class SynCache {
 public:
  /// Selects which SYN is kept if several SYNs of one connection have different sequence numbers.
  enum class DuplicateSyn : std::uint8_t {
    keep_first,  ///< the first SYN is kept until the maximum duration of its handshake is over
    keep_newest  ///< the newest SYN is kept
  };
  /// Result of recording a SYN.
  enum class Result : std::uint8_t {
    stored,          ///< the SYN was stored in the cache, and no other SYN was evicted
    evicted_oldest,  ///< the SYN was stored in the cache, and the oldest SYN in the cache was evicted
    rejected         ///< the SYN was not stored in the cache, because another SYN of the connection is kept
  };

  /// Allocates `places` entries, at least one. `which` selects which of several SYNs of one connection is kept.
  /// `handshake_timeout` is the maximum duration of a handshake. `secret` keys the hash table.
  SynCache(std::uint32_t places, DuplicateSyn which, Duration handshake_timeout, const flow::HashKey& secret);

  /// Records the SYN with which a connection starts. Returns whether it was recorded, and whether another SYN was
  /// evicted for it.
  Result record(const FirstSyn& syn);
  /// Returns the recorded SYN of the connection, or null. The pointer is valid until the cache is next changed.
  [[nodiscard]] const FirstSyn* find(const flow::FlowKey& key, flow::KeyTag tag) const;
  /// Removes the SYN that the SYN-ACK `syn_ack` answers, and copies the SYN to `out`. Returns false if no such SYN is
  /// recorded, or if the SYN is older than the handshake timeout. `in` is the Side on which `syn_ack` arrived.
  [[nodiscard]] bool take_answered(const flow::FlowKey& key, Side in, const tcp::Segment& syn_ack, FirstSyn& out,
                                   Instant now);
  /// Removes a SYN that find() has returned.
  void forget(const FirstSyn& noted);
  [[nodiscard]] bool empty() const { return entries_.size() == 0; }

 private:
  /// Recorded SYN and its serial number. An EvictionQueue entry with another serial number belongs to an earlier SYN
  /// that was stored here.
  struct Entry : FirstSyn {
    Entry(const FirstSyn& first, std::uint32_t number) noexcept : FirstSyn(first), ticket(number) {}
    std::uint32_t ticket;
  };
  /// Evicts the SYN that `oldest` identifies. Returns false if its entry is free or was reused for another SYN.
  bool forget(const EvictionQueue::Entry& oldest);
  void forget(std::uint32_t id);

  DuplicateSyn which_;
  Duration handshake_timeout_;
  flow::Slab<Entry> entries_;
  flow::FlowTable table_;
  EvictionQueue ages_;
  std::uint32_t last_ticket_ = 0;
};

}  // namespace sluice::proxy
