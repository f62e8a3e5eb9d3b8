#pragma once

#include <cstdint>

#include "dataplane/flow/flow_table.hpp"
#include "dataplane/flow/slab.hpp"
#include "dataplane/packet/build.hpp"
#include "dataplane/tcp/segment.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/age_ring.hpp"
#include "proxy/side.hpp"

namespace sluice::proxy {

/// The first SYN of a connection.
struct FirstSyn {
  flow::FlowKey key;
  Side from = Side::radio;
  std::uint8_t dscp = 0;
  tcp::Segment segment;
  packet::HeaderTemplate headers;  ///< it came with
  Instant at{};
  bool repeated = false;  ///< it came before: times prove nothing (Karn)
};

/// SYNs that name a connection we know, or a handshake that began with another number. Anybody can forge one, so it
/// changes nothing by itself: only when the other host answers it with a SYN-ACK have both agreed on a new connection,
/// and what the addresses belonged to is over. The newest SYN of a connection counts; the oldest are forgotten when
/// there are too many, and then the new connection passes unsplit. All memory at construction. Thread: its shard's.
class Newcomers {
 public:
  /// A sixteenth as many as flows, 16 at least.
  Newcomers(std::uint32_t max_flows, const flow::HashKey& secret);

  void note(const FirstSyn& syn);
  /// The SYN that this SYN-ACK, which came in on `in`, answers, and which is forgotten now; false when there is none.
  [[nodiscard]] bool take_answered(const flow::FlowKey& key, Side in, const tcp::Segment& syn_ack, FirstSyn& out);

 private:
  struct Entry {
    FirstSyn syn;
    std::uint32_t ticket = 0;
  };
  void forget(std::uint32_t id);

  flow::Slab<Entry> entries_;
  flow::FlowTable table_;
  AgeRing ages_;
  std::uint32_t last_ticket_ = 0;
};

}  // namespace sluice::proxy
