#pragma once

#include <cstdint>

#include "dataplane/flow/flow_table.hpp"
#include "dataplane/flow/slab.hpp"
#include "dataplane/packet/build.hpp"
#include "dataplane/tcp/segment.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/flows/age_ring.hpp"
#include "proxy/shard/side.hpp"

namespace sluice::proxy {

/// The first SYN of a connection.
struct FirstSyn {
  flow::FlowKey key;
  flow::KeyTag tag{};  ///< of the key
  tcp::SeqNum isn;
  tcp::SynOptions options;
  std::uint16_t window = 0;
  Side from = Side::radio;
  std::uint8_t dscp = 0;
  bool repeated = false;    ///< it came before: times prove nothing (Karn)
  bool unfinished = false;  ///< its checksum was left to an offload, each time it came
  Instant at{};
  packet::HeaderTemplate headers;  ///< it came with
};

/// What a segment that is no SYN means for a handshake of which only a SYN was seen.
enum class AnswerToSyn : std::uint8_t {
  none,     ///< its numbers are not the handshake's
  accepts,  ///< the SYN-ACK
  refuses,  ///< a reset by either host
  crosses,  ///< the SYN-ACK of the host that sent the SYN: a simultaneous open
  unseen    ///< it tells of segments that went by unseen: where the hosts stand cannot be known any more
};
[[nodiscard]] AnswerToSyn judge(const FirstSyn& syn, Side in, const tcp::Segment& segment);

/// SYNs that nobody has answered yet. Anybody can forge one, so it changes nothing by itself, and takes no more than
/// its place here: only when the other host answers it with a SYN-ACK have both agreed on a new connection. The oldest
/// are forgotten when there are too many, and then the new connection passes unsplit. All memory at construction.
/// Thread: its shard's.
class Newcomers {
 public:
  /// Of several SYNs of one connection that have different numbers.
  enum class Counts : std::uint8_t {
    first,  ///< … the first counts, as long as its handshake may last
    newest
  };
  /// What became of a SYN.
  enum class Noted : std::uint8_t {
    yes,
    displacing,  ///< yes, and an older one was forgotten for it
    no           ///< another one of its connection counts
  };

  /// At least one place. `patience`: how long a handshake may last.
  Newcomers(std::uint32_t places, Counts which, Duration patience, const flow::HashKey& secret);

  Noted note(const FirstSyn& syn);
  /// What is noted of the connection; null when nothing is. Valid until the next call.
  [[nodiscard]] const FirstSyn* find(const flow::FlowKey& key, flow::KeyTag tag) const;
  /// The SYN that this SYN-ACK, which came in on `in`, answers, and which is forgotten now; false when there is none.
  [[nodiscard]] bool take_answered(const flow::FlowKey& key, Side in, const tcp::Segment& syn_ack, FirstSyn& out,
                                   Instant now);
  /// Takes what find() has found.
  void forget(const FirstSyn& noted);
  [[nodiscard]] bool empty() const { return entries_.size() == 0; }

 private:
  struct Entry : FirstSyn {
    Entry(const FirstSyn& first, std::uint32_t number) noexcept : FirstSyn(first), ticket(number) {}
    std::uint32_t ticket;
  };
  bool forget(const AgeRing::Entry& oldest);
  void forget(std::uint32_t id);

  Counts which_;
  Duration patience_;
  flow::Slab<Entry> entries_;
  flow::FlowTable table_;
  AgeRing ages_;
  std::uint32_t last_ticket_ = 0;
};

}  // namespace sluice::proxy
